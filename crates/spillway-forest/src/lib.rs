//! Random forests, which are trained elsewhere and evaluated here, with the same answers.
//! [`Forest`] tells two classes apart. [`Regressor`] predicts sizes and gives lower bounds of them.
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
//! The header's metadata has these keys: `format` (`spillway-forest`); `version` (`2`); `kind`
//! (`classification`, also if it is missing, or `regression`); `features` (their names, separated
//! by commas); and `crc32` (of all bytes of the file, with zeros in the place of its own eight
//! hexadecimal digits; written without spaces, `"crc32":"..."`). The trainer may add other keys.
//! For a classification, switches read some of these: `least` and `greatest` (the range of each
//! feature in training), `buffers` (the switches' buffers in bytes) and `rates` (their ports' rates
//! in bits per second), all separated by commas. What a missing key would state is unknown.
//!
//! A regression also has `scale` (a number for each feature, by which it is divided), `method`
//! (`least`, `mean`, `quantile` or `point`), `quantile` (of that method), and `factor` (at most 1,
//! by which bounds are multiplied). A feature has the name of a column. For the value of an earlier
//! flow, the number of flows back follows a dot: `cpu`, `cpu.1`.
//!
//! # The answer
//! The same answer as that of scikit-learn's `RandomForestClassifier.predict`. Single-precision
//! features are compared with double-precision thresholds. The leaves' shares are summed in the
//! order of the trees and divided by their number. The positive class wins if its share is the
//! larger one. For a regression, the same answer as that of `RandomForestRegressor.predict` on
//! scaled features; a size is the exponential of it. With `least`, a bound is the least of the
//! leaves' least sizes, and with `mean` their mean over the trees. With `quantile`, it is a
//! quantile of the leaves' sizes: every tree has the same weight, and so has every size within a
//! tree. With `point`, it is the predicted size. The bound is multiplied by the factor and rounded
//! down.

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
