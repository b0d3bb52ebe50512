//! The trees of a forest, ready to be walked: what classification and regression have in common.

use crate::layout::Nodes;

/// A node; its two children are neighbours. A leaf is its own left child for all features. So all
/// walks are equally long, and no branch depends on comparisons.
#[derive(Clone, Copy, Debug)]
struct Node {
    /// Rounded down. Single-precision features compare with it as with the threshold in double
    /// precision.
    threshold: f32,
    feature: u32,
    left: u32,
}

/// Trees over a number of features.
#[derive(Clone, Debug, Default)]
pub(crate) struct Trees {
    nodes: Vec<Node>,
    roots: Vec<u32>,
    depth: u32,
}

impl Trees {
    /// The trees of a file's nodes, which have been checked. Also returns, for each node of the
    /// trees, its place in the file.
    pub fn of(layout: &Nodes) -> (Trees, Vec<usize>) {
        let mut trees = Trees {
            nodes: Vec::with_capacity(layout.feature.len()),
            roots: Vec::with_capacity(layout.root.len()),
            depth: 0,
        };
        let mut places = Vec::with_capacity(layout.feature.len());
        layout.root.iter().for_each(|&root| trees.plant(layout, root, &mut places));
        (trees, places)
    }

    /// Adds the tree with this root.
    fn plant(&mut self, layout: &Nodes, root: u32, places: &mut Vec<usize>) {
        self.roots.push(self.nodes.len() as u32);
        let mut level = vec![root];
        let mut next = self.nodes.len() as u32 + 1;
        for depth in 0.. {
            let mut below = Vec::new();
            for old in level {
                let place = old as usize;
                let own = self.nodes.len() as u32;
                places.push(place);
                self.nodes.push(match u32::try_from(layout.feature[place]) {
                    Err(_) => Node { threshold: f32::INFINITY, feature: 0, left: own },
                    Ok(feature) => {
                        below.extend([layout.left[place], layout.right[place]]);
                        next += 2;
                        Node {
                            threshold: rounded_down(layout.threshold[place]),
                            feature,
                            left: next - 2,
                        }
                    }
                });
            }
            if below.is_empty() {
                self.depth = self.depth.max(depth);
                return;
            }
            level = below;
        }
    }

    /// The number of trees.
    pub fn count(&self) -> usize {
        self.roots.len()
    }

    /// The length of the longest path from a root to a leaf.
    pub fn depth(&self) -> u32 {
        self.depth
    }

    /// Passes on the leaf of every tree, in order.
    #[inline]
    pub fn each_leaf(&self, values: &[f32], mut tell: impl FnMut(usize)) {
        let mut tell = |leaf: u32| tell(leaf as usize);
        let (fours, rest) = self.roots.as_chunks::<4>();
        for &roots in fours {
            self.leaves(roots, values).into_iter().for_each(&mut tell);
        }
        for &root in rest {
            self.leaves([root], values).into_iter().for_each(&mut tell);
        }
    }

    /// The leaves at which the walks from some roots end. The walks proceed together, step by step,
    /// so that no walk waits for another.
    #[inline]
    fn leaves<const TREES: usize>(&self, mut places: [u32; TREES], values: &[f32]) -> [u32; TREES] {
        for _ in 0..self.depth {
            places = places.map(|place| {
                let Node { threshold, feature, left } = self.nodes[place as usize];
                left + u32::from(values[feature as usize] > threshold)
            });
        }
        places
    }
}

/// The largest single-precision number that is not above this finite one.
fn rounded_down(x: f64) -> f32 {
    let nearest = x as f32;
    if f64::from(nearest) > x { nearest.next_down() } else { nearest }
}

#[cfg(test)]
mod tests {
    use super::rounded_down;

    #[test]
    fn thresholds_between_two_numbers_of_single_precision_part_them() {
        // 0.1 is between 0.099999994 and 0.1f32 = 0.100000001...; 1e-60 is above 0, and 1e300 above
        // every single-precision number.
        assert_eq!(rounded_down(0.1), 0.1f32.next_down());
        assert_eq!((rounded_down(0.5), rounded_down(1e-60)), (0.5, 0.0));
        assert_eq!((rounded_down(1e300), rounded_down(-1e300)), (f32::MAX, f32::NEG_INFINITY));
        for (threshold, low) in [(0.1, 0.1f32.next_down()), (-1e-60, -f32::from_bits(1))] {
            assert!(f64::from(low) <= threshold && f64::from(low.next_up()) > threshold);
            assert_eq!(rounded_down(threshold), low);
        }
    }
}
