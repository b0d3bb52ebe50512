//! A fully connected network: layers of weighted sums, with a rectifier between them.

/// A layer: `bias + sum of input i times weights i`, for every output.
#[derive(Clone, Debug)]
pub struct Layer {
    bias: Vec<f32>,
    /// For input after input, the weights of all outputs.
    weights: Vec<f32>,
}

impl Layer {
    /// A layer from weights in the order of files: for output after output, the weights of all
    /// inputs. There are inputs times outputs weights, and at least one output.
    pub fn new(bias: Vec<f32>, by_output: &[f32]) -> Layer {
        let outputs = bias.len();
        let inputs = by_output.len() / outputs;
        let of_input = |input| (0..outputs).map(move |output| by_output[output * inputs + input]);
        Layer { weights: (0..inputs).flat_map(of_input).collect(), bias }
    }

    /// The outputs. Inputs are added one after the other, so every program that adds in this order
    /// gets the same sums. Inputs of 0 are left out.
    fn sums(&self, inputs: &[f32], outputs: &mut Vec<f32>) {
        outputs.clone_from(&self.bias);
        for (&input, weights) in inputs.iter().zip(self.weights.chunks_exact(self.bias.len())) {
            if input != 0.0 {
                for (output, weight) in outputs.iter_mut().zip(weights) {
                    *output += input * weight;
                }
            }
        }
    }
}

/// A network. Its last layer has no rectifier.
#[derive(Clone, Debug)]
pub struct Network {
    layers: Vec<Layer>,
}

/// Room for the numbers between the layers, which is made once.
#[derive(Clone, Debug, Default)]
pub struct Scratch {
    from: Vec<f32>,
    to: Vec<f32>,
}

impl Network {
    /// A network of at least one layer. Each has as many inputs as the one before has outputs.
    pub fn new(layers: Vec<Layer>) -> Network {
        Network { layers }
    }

    /// The outputs for these inputs.
    pub fn outputs<'a>(&self, inputs: &[f32], scratch: &'a mut Scratch) -> &'a [f32] {
        let Scratch { from, to } = scratch;
        inputs.clone_into(to);
        for (number, layer) in self.layers.iter().enumerate() {
            std::mem::swap(from, to);
            if number > 0 {
                from.iter_mut().for_each(|value| *value = value.max(0.0));
            }
            layer.sums(from, to);
        }
        to
    }

    /// The number of the greatest output; of equal ones, the first. An output that has overflowed
    /// to NaN is not chosen.
    pub fn best(&self, inputs: &[f32], scratch: &mut Scratch) -> u32 {
        let outputs = self.outputs(inputs, scratch);
        let mut best = 0;
        for (number, output) in outputs.iter().enumerate() {
            if *output > outputs[best] || (outputs[best].is_nan() && !output.is_nan()) {
                best = number;
            }
        }
        best as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two inputs, two rectified sums, three outputs.
    fn network() -> Network {
        // h0 = 1 + 2 x0 - x1, h1 = -1 + x0 + x1.
        let first = Layer::new(vec![1.0, -1.0], &[2.0, -1.0, 1.0, 1.0]);
        // y0 = h0, y1 = h1, y2 = 0.5 + h0 - h1.
        let second = Layer::new(vec![0.0, 0.0, 0.5], &[1.0, 0.0, 0.0, 1.0, 1.0, -1.0]);
        Network::new(vec![first, second])
    }

    #[test]
    fn sums_and_rectifiers_by_hand() {
        let mut scratch = Scratch::default();
        // h = (1 + 1 - 2, -1 + 0.5 + 2) = (0, 1.5).
        assert_eq!(network().outputs(&[0.5, 2.0], &mut scratch), [0.0, 1.5, -1.0]);
        // h = (1, -1), of which the second is cut off; the last layer has negative outputs.
        assert_eq!(network().outputs(&[0.0, 0.0], &mut scratch), [1.0, 0.0, 1.5]);
        // h = (1 - 4, -1 + 4) = (0, 3).
        assert_eq!(network().outputs(&[0.0, 4.0], &mut scratch), [0.0, 3.0, -2.5]);
    }

    #[test]
    fn the_greatest_wins_and_the_first_of_equals() {
        let mut scratch = Scratch::default();
        assert_eq!(network().best(&[0.5, 2.0], &mut scratch), 1);
        assert_eq!(network().best(&[0.0, 0.0], &mut scratch), 2);
        // 3e38 + 3e38 is infinite, and infinite less infinite is no number.
        let [huge, low] = [3e38, -3e38];
        let weights = [huge, huge, low, low, 0.0, 0.0, 0.0, 0.0];
        let first = Layer::new(vec![0.0; 2], &[huge, huge, huge, huge]);
        let nan = Network::new(vec![first, Layer::new(vec![0.0; 4], &weights)]);
        let outputs = nan.outputs(&[1.0, 1.0], &mut scratch).to_vec();
        assert!(outputs[2].is_nan() && outputs[0].is_infinite(), "{outputs:?}");
        let second = Layer::new(vec![0.0; 2], &[0.0, 0.0, 1.0, 1.0]);
        let first = Layer::new(vec![0.0; 2], &[huge, huge, huge, huge]);
        assert_eq!(Network::new(vec![first, second]).best(&[1.0, 1.0], &mut scratch), 1);
        let alike = Network::new(vec![Layer::new(vec![1.0, 2.0, 2.0], &[0.0; 3])]);
        assert_eq!(alike.best(&[5.0], &mut scratch), 1);
    }
}
