//! Random forests: trained elsewhere and evaluated here, with the same answers. [`Forest`] tells
//! two classes apart, [`Regressor`] predicts sizes and bounds them from below.
//!
//! # The file
//! [safetensors](https://github.com/huggingface/safetensors), version 2 of our layout. The nodes of
//! all trees are numbered consecutively; a tree's root comes first, and every node before its
//! children.
//!
//! | array | type, shape | |
//! | --- | --- | --- |
//! | `root` | u32, trees | the first node of every tree, in order; 0 for the first |
//! | `feature` | i32, nodes | what is compared at a node; -1 at a leaf |
//! | `threshold` | f64, nodes | `x <= threshold` goes left, else right |
//! | `left`, `right` | u32, nodes | the nodes to go to |
//! | `value` | f64, nodes x 2 | for classification, at a leaf: the shares of the two classes |
//! | `value` | f64, nodes | for regression, at a leaf: the mean natural logarithm of sizes in bytes |
//! | `least` | f64, nodes | of `least` and `mean`, at a leaf: its least size in bytes |
//! | `first`, `count` | u32, nodes | of `quantile`, at a leaf: where its sizes are in `ranks` |
//! | `ranks` | u32 | of `quantile`: the sizes at the leaves, ascending in each, as places in `sizes` |
//! | `sizes` | f64 | of `quantile`: all sizes, each once, ascending |
//!
//! The header's metadata has `format` (`spillway-forest`), `version` (`2`), `kind`
//! (`classification`, which is also meant if it is missing, or `regression`), `features` (their
//! names, separated by commas), `crc32` (of all bytes of the file, with zeros in the place of its
//! own eight hexadecimal digits; written without spaces, `"crc32":"..."`), and whatever else the
//! trainer adds. Of these additions to a classification, switches read `least` and `greatest` (the
//! range of each feature in training), `buffers` (the switches' buffers in bytes) and `rates`
//! (their ports' rates in bits per second), all separated by commas. A missing one is unknown.
//!
//! A regression also has `scale` (a number for each feature, by which it is divided), `method`
//! (`least`, `mean`, `quantile` or `point`), `quantile` (of that method), and `factor` (at most 1,
//! by which bounds are multiplied). The name of a feature is that of a column, for its value some
//! flows back with a number behind a dot: `cpu`, `cpu.1`.
//!
//! # The answer
//! The same as that of scikit-learn's `RandomForestClassifier.predict`: single-precision features
//! are compared with double-precision thresholds; the leaves' shares are summed in the order of the
//! trees and divided by their number; the positive class wins if its share is the larger one. For a
//! regression, the same as that of `RandomForestRegressor.predict` on scaled features; a size is
//! the exponential of it. A bound is the least, or the mean over the trees, of the leaves' least
//! sizes; or the quantile of the leaves' sizes, where every tree has the same weight, and within it
//! every size; or the predicted size. It is multiplied by the factor and rounded down.

mod checksum;
mod forest;
mod layout;
mod regressor;
#[cfg(test)]
mod testing;
mod trees;

pub use checksum::checksum;
pub use forest::Forest;
pub use layout::ForestError;
pub use regressor::Regressor;
