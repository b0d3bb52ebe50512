//! A forest, ready to be evaluated.

use crate::layout::{self, ForestError, Layout};
use std::collections::BTreeMap;

/// A node; its two children are neighbours. A leaf is its own left child, whatever the features
/// are. So all walks are equally long, and no branch depends on comparisons.
#[derive(Clone, Copy, Debug)]
struct Node {
    /// Rounded down: single-precision features compare with it as with the threshold in double
    /// precision.
    threshold: f32,
    feature: u32,
    left: u32,
}

/// A forest that distinguishes two classes.
#[derive(Clone, Debug)]
pub struct Forest {
    nodes: Vec<Node>,
    /// The shares of the two classes at each leaf.
    shares: Vec<[f64; 2]>,
    roots: Vec<u32>,
    depth: u32,
    features: Vec<String>,
    metadata: BTreeMap<String, String>,
}

impl Forest {
    /// Reads a forest from the bytes of a file.
    ///
    /// # Errors
    /// If it is damaged, or not a forest of this version.
    pub fn read(bytes: &[u8]) -> Result<Forest, ForestError> {
        let (layout, metadata) = layout::read(bytes)?;
        let features: Vec<String> =
            metadata["features"].split(',').map(|name| name.trim().to_string()).collect();
        layout.check(features.len())?;
        let mut forest = Forest {
            nodes: Vec::with_capacity(layout.feature.len()),
            shares: Vec::with_capacity(layout.feature.len()),
            roots: Vec::with_capacity(layout.root.len()),
            depth: 0,
            features,
            metadata,
        };
        layout.root.iter().for_each(|&root| forest.plant(&layout, root));
        Ok(forest)
    }

    /// Adds the tree with this root.
    fn plant(&mut self, layout: &Layout, root: u32) {
        self.roots.push(self.nodes.len() as u32);
        let mut level = vec![root];
        let mut next = self.nodes.len() as u32 + 1;
        for depth in 0.. {
            let mut below = Vec::new();
            for old in level {
                let place = old as usize;
                let own = self.nodes.len() as u32;
                self.shares.push(layout.value[place]);
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

    /// The names of the features, in the order of their values.
    pub fn features(&self) -> &[String] {
        &self.features
    }

    /// The number of trees.
    pub fn trees(&self) -> usize {
        self.roots.len()
    }

    /// The length of the longest path from a root to a leaf.
    pub fn depth(&self) -> u32 {
        self.depth
    }

    /// The value of a key in the file's metadata.
    pub fn metadata(&self, key: &str) -> Option<&str> {
        self.metadata.get(key).map(String::as_str)
    }

    /// Whether features with these values are of the positive class. No value may be NaN.
    ///
    /// # Panics
    /// If there are fewer values than features.
    #[inline]
    pub fn is_positive(&self, values: &[f32]) -> bool {
        let values = &values[..self.features.len()];
        let (mut negative, mut positive) = (0.0, 0.0);
        let mut count = |leaf: u32| {
            let [n, p] = self.shares[leaf as usize];
            negative += n;
            positive += p;
        };
        let (fours, rest) = self.roots.as_chunks::<4>();
        for &roots in fours {
            self.leaves(roots, values).into_iter().for_each(&mut count);
        }
        for &root in rest {
            self.leaves([root], values).into_iter().for_each(&mut count);
        }
        // The division may make different sums equal, but cannot change their order.
        let trees = self.roots.len() as f64;
        positive > negative && positive / trees > negative / trees
    }

    /// The leaves at which the walks from some roots end. The walks proceed together, step by step,
    /// so that none waits for another.
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
mod tests;
