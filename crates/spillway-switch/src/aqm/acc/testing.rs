//! Files of agents, made for tests.

use safetensors::tensor::TensorView;
use safetensors::{Dtype, serialize};
use std::collections::BTreeMap;

/// A file before it is written. Tests change it as they like.
#[derive(Clone, Debug)]
pub struct Agent {
    pub metadata: BTreeMap<String, String>,
    /// By name: type, shape, and bytes.
    pub arrays: BTreeMap<String, (Dtype, Vec<usize>, Vec<u8>)>,
}

impl Agent {
    /// An agent that sees `history` intervals of this length, with these lines and layers. A layer
    /// is the weights of each output, its bias behind them.
    pub fn new(
        interval_ps: u64,
        history: usize,
        ranges: [f64; 6],
        actions: &[[f64; 3]],
        layers: &[Vec<Vec<f32>>],
    ) -> Agent {
        let metadata = [
            ("format", "spillway-acc".to_string()),
            ("version", "1".into()),
            ("crc32", "00000000".into()),
            ("interval_ps", interval_ps.to_string()),
            ("history", history.to_string()),
        ];
        let metadata = metadata.map(|(key, value)| (key.to_string(), value)).into();
        let mut agent = Agent { metadata, arrays: BTreeMap::new() };
        agent.doubles("ranges", &[6], &ranges);
        agent.doubles("actions", &[actions.len(), 3], actions.as_flattened());
        for (number, layer) in layers.iter().enumerate() {
            let inputs = layer[0].len() - 1;
            let weights: Vec<f32> =
                layer.iter().flat_map(|output| &output[..inputs]).copied().collect();
            let bias: Vec<f32> = layer.iter().map(|output| output[inputs]).collect();
            agent.singles(&format!("layer{number}.weight"), &[layer.len(), inputs], &weights);
            agent.singles(&format!("layer{number}.bias"), &[layer.len()], &bias);
        }
        agent
    }

    /// Gives it an array in double precision.
    pub fn doubles(&mut self, name: &str, shape: &[usize], numbers: &[f64]) {
        let bytes = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
        self.arrays.insert(name.into(), (Dtype::F64, shape.to_vec(), bytes));
    }

    /// Gives it an array in single precision.
    pub fn singles(&mut self, name: &str, shape: &[usize], numbers: &[f32]) {
        let bytes = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
        self.arrays.insert(name.into(), (Dtype::F32, shape.to_vec(), bytes));
    }

    /// The bytes of the file. If it has a checksum, the checksum is right.
    pub fn written(&self) -> Vec<u8> {
        let views = self.arrays.iter().map(|(name, (dtype, shape, bytes))| {
            (name, TensorView::new(*dtype, shape.clone(), bytes).unwrap())
        });
        let mut bytes =
            serialize(views, Some(self.metadata.clone().into_iter().collect())).unwrap();
        if let Some((place, sum)) = spillway_forest::checksum(&bytes) {
            bytes[place].copy_from_slice(sum.as_bytes());
        }
        bytes
    }
}
