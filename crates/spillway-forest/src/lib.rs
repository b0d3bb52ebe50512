//! Random forests that classify: trained elsewhere, evaluated here, with the same answers.
//!
//! # The file
//! [safetensors](https://github.com/huggingface/safetensors), version 2 of our layout. Nodes of all
//! trees are numbered through, a tree's root first and every node before its children.
//!
//! | array | type, shape | |
//! | --- | --- | --- |
//! | `root` | u32, trees | the first node of every tree, in order; 0 for the first |
//! | `feature` | i32, nodes | what is compared at a node; -1 at a leaf |
//! | `threshold` | f64, nodes | `x <= threshold` goes left, else right |
//! | `left`, `right` | u32, nodes | the nodes to go to |
//! | `value` | f64, nodes x 2 | at a leaf the shares of the two classes |
//!
//! The header's metadata has `format` (`spillway-forest`), `version` (`2`), `features` (their names,
//! with commas between them), `crc32` (of all bytes of the file, with zeros for its own eight
//! hexadecimal digits, and written without spaces: `"crc32":"..."`), and whatever else the trainer had
//! to say. Of that switches read `least` and `greatest` (what the features were in training, a number
//! for each), `buffers` (of the switches, in bytes) and `rates` (of their ports, in bits per second), all
//! with commas between them; where one is missing it is unknown.
//!
//! # The answer
//! That of scikit-learn's `RandomForestClassifier.predict`: features in single precision are compared
//! with thresholds in double precision; the leaves' shares are summed up in the order of the trees
//! and divided by their number; the positive class wins if its share is the larger one.

mod checksum;
mod forest;
mod layout;

pub use checksum::checksum;
pub use forest::Forest;
pub use layout::ForestError;
