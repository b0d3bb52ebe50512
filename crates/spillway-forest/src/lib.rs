//! Random forests for classification: trained elsewhere and evaluated here, with the same answers.
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
//! | `value` | f64, nodes x 2 | at a leaf the shares of the two classes |
//!
//! The header's metadata has `format` (`spillway-forest`), `version` (`2`), `features` (their
//! names, separated by commas), `crc32` (of all bytes of the file, with zeros in the place of its
//! own eight hexadecimal digits; written without spaces, `"crc32":"..."`), and whatever else the
//! trainer adds. Of these additions, switches read `least` and `greatest` (the range of each
//! feature in training), `buffers` (the switches' buffers in bytes) and `rates` (their ports' rates
//! in bits per second), all separated by commas. A missing one is unknown.
//!
//! # The answer
//! The same as that of scikit-learn's `RandomForestClassifier.predict`: single-precision features
//! are compared with double-precision thresholds; the leaves' shares are summed in the order of the
//! trees and divided by their number; the positive class wins if its share is the larger one.

mod checksum;
mod forest;
mod layout;

pub use checksum::checksum;
pub use forest::Forest;
pub use layout::ForestError;
