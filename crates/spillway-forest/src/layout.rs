//! The arrays of a file, and whether they form trees.

use crate::checksum::checksum;
use safetensors::{Dtype, SafeTensors};
use std::collections::BTreeMap;

/// Why a file is not a forest.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ForestError {
    /// It cannot be read as safetensors.
    #[error("it is not a model file, or it is damaged: {0}")]
    Unreadable(String),
    /// It can be read, but is something else.
    #[error("it is not a forest: {0}")]
    Other(String),
    /// It was written by another version.
    #[error("its version is {0}; this program reads version {VERSION}")]
    Version(String),
    /// Its bytes have changed since it was written, or form no forest.
    #[error("it is damaged: {0}")]
    Damaged(String),
    /// It predicts numbers where classes are needed.
    #[error(
        "it is a forest for regression, as `spillway bounds train` writes; expected one for \
         classification, as `spillway oracle train` writes"
    )]
    IsRegression,
    /// It predicts classes where numbers are needed.
    #[error(
        "it is a forest for classification, as `spillway oracle train` writes; expected one for \
         regression, as `spillway bounds train` writes"
    )]
    IsClassification,
}

/// What a forest predicts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Classification,
    Regression,
}

const FORMAT: &str = "spillway-forest";
const VERSION: &str = "2";
/// The most levels: deeper trees would be too slow to evaluate for every packet.
const MOST_DEPTH: u32 = 64;

/// The nodes, as they are in the file.
pub(crate) struct Nodes {
    pub root: Vec<u32>,
    pub feature: Vec<i32>,
    pub threshold: Vec<f64>,
    pub left: Vec<u32>,
    pub right: Vec<u32>,
}

/// A file whose nodes form trees.
pub(crate) struct File<'a> {
    pub nodes: Nodes,
    /// The values: for each node as many numbers as `per_node` says.
    pub value: Vec<f64>,
    pub features: Vec<String>,
    pub metadata: BTreeMap<String, String>,
    arrays: SafeTensors<'a>,
}

/// Reads a file, which must be of this kind and name its features, and checks its trees.
pub(crate) fn read(bytes: &[u8], kind: Kind) -> Result<File<'_>, ForestError> {
    let unreadable =
        |error: safetensors::SafeTensorError| ForestError::Unreadable(error.to_string());
    let (_, read) = SafeTensors::read_metadata(bytes).map_err(unreadable)?;
    let arrays = SafeTensors::deserialize(bytes).map_err(unreadable)?;
    let pairs = read.metadata().iter().flatten();
    let metadata: BTreeMap<String, String> = pairs.map(|(k, v)| (k.clone(), v.clone())).collect();
    let told = |key: &str| metadata.get(key).map_or("", String::as_str);
    if told("format") != FORMAT {
        return Err(ForestError::Other(format!("its metadata has no format = {FORMAT:?}")));
    }
    if told("version") != VERSION {
        return Err(ForestError::Version(told("version").to_string()));
    }
    let Some((place, sum)) = checksum(bytes) else {
        return Err(ForestError::Damaged("it has no checksum".into()));
    };
    if bytes[place] != *sum.as_bytes() {
        let problem = format!("its checksum is {sum} and should be {:?}", told("crc32"));
        return Err(ForestError::Damaged(problem));
    }
    match (kind, told("kind")) {
        (Kind::Classification, "" | "classification") | (Kind::Regression, "regression") => {}
        (Kind::Classification, "regression") => return Err(ForestError::IsRegression),
        (Kind::Regression, "" | "classification") => return Err(ForestError::IsClassification),
        (_, other) => return Err(ForestError::Other(format!("its kind is {other:?}"))),
    }
    if told("features").is_empty() {
        return Err(ForestError::Other("it does not name its features".into()));
    }
    let features: Vec<String> =
        told("features").split(',').map(|name| name.trim().to_string()).collect();
    let mut file = File {
        nodes: Nodes {
            root: vec![],
            feature: vec![],
            threshold: vec![],
            left: vec![],
            right: vec![],
        },
        value: Vec::new(),
        features,
        metadata,
        arrays,
    };
    file.value = file.doubles("value")?;
    file.nodes = Nodes {
        root: file.whole("root")?,
        feature: file.numbers("feature", Dtype::I32, i32::from_le_bytes)?,
        threshold: file.doubles("threshold")?,
        left: file.whole("left")?,
        right: file.whole("right")?,
    };
    let per_node = if kind == Kind::Classification { 2 } else { 1 };
    file.nodes.check(file.features.len(), file.value.len(), per_node)?;
    Ok(file)
}

impl File<'_> {
    /// An array of numbers in double precision.
    pub fn doubles(&self, name: &str) -> Result<Vec<f64>, ForestError> {
        self.numbers(name, Dtype::F64, f64::from_le_bytes)
    }

    /// An array of whole numbers.
    pub fn whole(&self, name: &str) -> Result<Vec<u32>, ForestError> {
        self.numbers(name, Dtype::U32, u32::from_le_bytes)
    }

    /// The value of a key in the metadata; empty if it is missing.
    pub fn told(&self, key: &str) -> &str {
        self.metadata.get(key).map_or("", String::as_str)
    }

    /// The nodes that are leaves.
    pub fn leaves(&self) -> impl Iterator<Item = usize> {
        (0..self.nodes.feature.len()).filter(|&node| self.nodes.feature[node] < 0)
    }

    fn numbers<T, const SIZE: usize>(
        &self,
        name: &str,
        dtype: Dtype,
        read: fn([u8; SIZE]) -> T,
    ) -> Result<Vec<T>, ForestError> {
        let array = self.arrays.tensor(name);
        let array = array.map_err(|_| ForestError::Other(format!("it has no array {name:?}")))?;
        if array.dtype() != dtype {
            let problem = format!("its array {name:?} is of {:?}, not {dtype:?}", array.dtype());
            return Err(ForestError::Other(problem));
        }
        let (items, _) = array.data().as_chunks::<SIZE>();
        Ok(items.iter().map(|item| read(*item)).collect())
    }
}

impl Nodes {
    /// Checks that the arrays form trees over this number of features, with so many values.
    fn check(&self, features: usize, values: usize, per_node: usize) -> Result<(), ForestError> {
        let damaged = |problem: String| Err(ForestError::Damaged(problem));
        let nodes = self.feature.len();
        let lengths = [self.threshold.len(), self.left.len(), self.right.len(), values / per_node];
        if lengths.iter().any(|&length| length != nodes) || nodes > u32::MAX as usize / 4 {
            return damaged(format!("it has {nodes} nodes, and arrays of {lengths:?} for them"));
        }
        let starts = self.root.first() == Some(&0) && self.root.is_sorted_by(|a, b| a < b);
        if !starts || self.root.iter().any(|&root| root as usize >= nodes) {
            return damaged(format!("its trees begin at {:?} of {nodes} nodes", self.root));
        }
        // Every node except a root is the child of exactly one node, which comes before it in the
        // same tree.
        let mut depth = vec![None; nodes];
        self.root.iter().for_each(|&root| depth[root as usize] = Some(0));
        let ends = self.root.iter().skip(1).map(|&root| root as usize).chain([nodes]);
        for (&root, end) in self.root.iter().zip(ends) {
            for node in root as usize..end {
                let Some(own) = depth[node] else {
                    return damaged(format!("nothing leads to node {node}"));
                };
                if own > MOST_DEPTH {
                    return damaged(format!("a tree is deeper than {MOST_DEPTH}"));
                }
                let Ok(feature) = usize::try_from(self.feature[node]) else { continue };
                if feature >= features || !self.threshold[node].is_finite() {
                    let threshold = self.threshold[node];
                    return damaged(format!("node {node} asks for {feature} <= {threshold}"));
                }
                for child in [self.left[node] as usize, self.right[node] as usize] {
                    if child <= node || child >= end || depth[child].is_some() {
                        return damaged(format!("node {node} leads to {child}"));
                    }
                    depth[child] = Some(own + 1);
                }
            }
        }
        Ok(())
    }
}
