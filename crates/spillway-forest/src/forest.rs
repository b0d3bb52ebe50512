//! A forest that distinguishes two classes.

use crate::layout::{self, ForestError, Kind};
use crate::trees::Trees;
use std::collections::BTreeMap;

/// A forest that distinguishes two classes.
#[derive(Clone, Debug)]
pub struct Forest {
    trees: Trees,
    /// The shares of the two classes at each leaf.
    shares: Vec<[f64; 2]>,
    features: Vec<String>,
    metadata: BTreeMap<String, String>,
}

impl Forest {
    /// Reads a forest from the bytes of a file.
    ///
    /// # Errors
    /// If it is damaged, a forest for regression, or not a forest of this version.
    pub fn read(bytes: &[u8]) -> Result<Forest, ForestError> {
        let file = layout::read(bytes, Kind::Classification)?;
        let (trees, places) = Trees::of(&file.nodes);
        let (shares, _) = file.value.as_chunks::<2>();
        for leaf in file.leaves() {
            if !shares[leaf].iter().all(|share| (0.0..=1.0).contains(share)) {
                let problem = format!("leaf {leaf} has the shares {:?}", shares[leaf]);
                return Err(ForestError::Damaged(problem));
            }
        }
        let shares = places.into_iter().map(|place| shares[place]).collect();
        Ok(Forest { trees, shares, features: file.features, metadata: file.metadata })
    }

    /// The names of the features, in the order of their values.
    pub fn features(&self) -> &[String] {
        &self.features
    }

    /// The number of trees.
    pub fn trees(&self) -> usize {
        self.trees.count()
    }

    /// The length of the longest path from a root to a leaf.
    pub fn depth(&self) -> u32 {
        self.trees.depth()
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
        self.trees.each_leaf(values, |leaf| {
            let [n, p] = self.shares[leaf];
            negative += n;
            positive += p;
        });
        // The division may make different sums equal, but cannot change their order.
        let trees = self.trees.count() as f64;
        positive > negative && positive / trees > negative / trees
    }
}

#[cfg(test)]
mod tests;
