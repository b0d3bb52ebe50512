//! A forest that predicts sizes, and lower bounds of them.

use crate::layout::{self, File, ForestError, Kind};
use crate::trees::Trees;
use std::collections::BTreeMap;

/// The largest logarithm of a size: sizes end at 2^53 bytes.
const MOST_LOG: f64 = 36.8;

/// A forest for regression: the logarithm of a size in bytes, and a lower bound of the size.
#[derive(Clone, Debug)]
pub struct Regressor {
    trees: Trees,
    /// The mean logarithm of the sizes at each leaf.
    value: Vec<f64>,
    method: Method,
    factor: f64,
    /// Features are divided by these.
    scale: Vec<f64>,
    features: Vec<String>,
    metadata: BTreeMap<String, String>,
}

/// How the leaves that a flow reaches give a bound.
#[derive(Clone, Debug)]
enum Method {
    /// The least size in any of the leaves. Holds the least size at each leaf.
    Least(Vec<f64>),
    /// The mean, over the trees, of the least size in each tree's leaf.
    Mean(Vec<f64>),
    /// A quantile of all sizes in the leaves.
    Quantile(Pool),
    /// The predicted size itself.
    Point,
}

/// The sizes at the leaves. Each leaf has a part of `ranks`, in ascending order. These numbers are
/// places in `sizes`.
#[derive(Clone, Debug)]
struct Pool {
    quantile: f64,
    first: Vec<u32>,
    count: Vec<u32>,
    ranks: Vec<u32>,
    sizes: Vec<f64>,
}

impl Regressor {
    /// Reads a forest from the bytes of a file.
    ///
    /// # Errors
    /// If it is damaged, a forest for classification, or not a forest of this version.
    pub fn read(bytes: &[u8]) -> Result<Regressor, ForestError> {
        let file = layout::read(bytes, Kind::Regression)?;
        for leaf in file.leaves() {
            let value = file.value[leaf];
            if !(0.0..=MOST_LOG).contains(&value) {
                let problem = format!("leaf {leaf} has the value {value}, no size's logarithm");
                return Err(ForestError::Damaged(problem));
            }
        }
        let factor = share(&file, "factor").filter(|&factor| factor > 0.0);
        let factor = factor.ok_or_else(|| wrong(&file, "factor", "a number above 0, at most 1"))?;
        let scale: Option<Vec<f64>> = file.told("scale").split(',').map(positive).collect();
        let scale = scale.filter(|scale| scale.len() == file.features.len());
        let scale = scale.ok_or_else(|| {
            wrong(&file, "scale", "a number above 0 for each feature, separated by commas")
        })?;
        let (trees, places) = Trees::of(&file.nodes);
        let method = Method::read(&file, &places)?;
        let value = places.iter().map(|&place| file.value[place]).collect();
        let File { features, metadata, .. } = file;
        Ok(Regressor { trees, value, method, factor, scale, features, metadata })
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

    /// The features in the form in which the trees compare them: each divided by its scale, then
    /// rounded to single precision.
    pub fn scaled(&self, features: &[f64]) -> Vec<f32> {
        features.iter().zip(&self.scale).map(|(value, scale)| (value / scale) as f32).collect()
    }

    /// The predicted logarithm of the size in bytes, for scaled features: the mean over the trees,
    /// as scikit-learn's `predict` gives it.
    ///
    /// # Panics
    /// If there are fewer values than features.
    pub fn log_size(&self, scaled: &[f32]) -> f64 {
        let scaled = &scaled[..self.features.len()];
        let mut sum = 0.0;
        self.trees.each_leaf(scaled, |leaf| sum += self.value[leaf]);
        sum / self.trees.count() as f64
    }

    /// The predicted size in bytes, for scaled features.
    ///
    /// # Panics
    /// If there are fewer values than features.
    pub fn size(&self, scaled: &[f32]) -> f64 {
        libm::exp(self.log_size(scaled))
    }

    /// The lower bound of the size in bytes, for scaled features, rounded down. None may be NaN.
    ///
    /// # Panics
    /// If there are fewer values than features.
    pub fn bound(&self, scaled: &[f32]) -> u64 {
        let values = &scaled[..self.features.len()];
        let bound = match &self.method {
            Method::Least(least) => {
                let mut found = f64::INFINITY;
                self.trees.each_leaf(values, |leaf| found = found.min(least[leaf]));
                found
            }
            Method::Mean(least) => {
                let mut sum = 0.0;
                self.trees.each_leaf(values, |leaf| sum += least[leaf]);
                sum / self.trees.count() as f64
            }
            Method::Quantile(pool) => {
                let mut leaves = Vec::with_capacity(self.trees.count());
                self.trees.each_leaf(values, |leaf| leaves.push(pool.ranks(leaf)));
                pool.quantile(&leaves)
            }
            Method::Point => self.size(values),
        };
        (self.factor * bound) as u64
    }
}

impl Method {
    /// The method of a file; `places` are those of the trees' nodes in it.
    fn read(file: &File, places: &[usize]) -> Result<Method, ForestError> {
        Ok(match file.told("method") {
            "least" => Method::Least(least(file, places)?),
            "mean" => Method::Mean(least(file, places)?),
            "quantile" => Method::Quantile(Pool::read(file, places)?),
            "point" => Method::Point,
            _ => return Err(wrong(file, "method", "least, mean, quantile or point")),
        })
    }
}

/// The least size at each leaf.
fn least(file: &File, places: &[usize]) -> Result<Vec<f64>, ForestError> {
    let least = file.doubles("least")?;
    if least.len() != file.value.len() || file.leaves().any(|leaf| !is_size(least[leaf])) {
        return Err(ForestError::Damaged("its array \"least\" has no size for each leaf".into()));
    }
    Ok(places.iter().map(|&place| least[place]).collect())
}

impl Pool {
    fn read(file: &File, places: &[usize]) -> Result<Pool, ForestError> {
        let damaged = |problem: &str| Err(ForestError::Damaged(problem.into()));
        let quantile = share(file, "quantile").filter(|&q| q > 0.0 && q < 1.0);
        let quantile = quantile.ok_or_else(|| wrong(file, "quantile", "a number in (0, 1)"))?;
        let (first, count) = (file.whole("first")?, file.whole("count")?);
        let (ranks, sizes) = (file.whole("ranks")?, file.doubles("sizes")?);
        if !sizes.iter().all(|&size| is_size(size)) || !sizes.is_sorted_by(|a, b| a < b) {
            return damaged("its sizes are not in order");
        }
        if ranks.iter().any(|&rank| rank as usize >= sizes.len()) {
            return damaged("a leaf has a size that there is not");
        }
        if [first.len(), count.len()] != [file.value.len(); 2] {
            return damaged("its arrays \"first\" and \"count\" are not of its nodes");
        }
        for leaf in file.leaves() {
            let range = first[leaf] as usize..first[leaf] as usize + count[leaf] as usize;
            if count[leaf] == 0 || !ranks.get(range).is_some_and(|own| own.is_sorted()) {
                return damaged("a leaf has no sizes, or they are not in order");
            }
        }
        let at = |array: &[u32]| places.iter().map(|&place| array[place]).collect();
        Ok(Pool { quantile, first: at(&first), count: at(&count), ranks, sizes })
    }

    fn ranks(&self, leaf: usize) -> &[u32] {
        let first = self.first[leaf] as usize;
        &self.ranks[first..first + self.count[leaf] as usize]
    }

    /// The least size at which the trees' leaves, each with the same weight, hold the quantile: the
    /// least s with sum over trees of (sizes at the leaf that are <= s) / (sizes at the leaf) >=
    /// quantile x trees.
    fn quantile(&self, leaves: &[&[u32]]) -> f64 {
        let wanted = self.quantile * leaves.len() as f64;
        let holds = |rank: u32| {
            let share = |ranks: &&[u32]| {
                ranks.partition_point(|&own| own <= rank) as f64 / ranks.len() as f64
            };
            leaves.iter().map(share).sum::<f64>() >= wanted
        };
        let ends = |ranks: &&[u32]| (ranks[0], ranks[ranks.len() - 1]);
        let (mut low, mut high) = (u32::MAX, 0);
        for (least, most) in leaves.iter().map(ends) {
            (low, high) = (low.min(least), high.max(most));
        }
        // At `high` all sizes count.
        while low < high {
            let middle = low + (high - low) / 2;
            (low, high) = if holds(middle) { (low, middle) } else { (middle + 1, high) };
        }
        self.sizes[low as usize]
    }
}

fn is_size(bytes: f64) -> bool {
    (1.0..=9_007_199_254_740_992.0).contains(&bytes)
}

fn positive(text: &str) -> Option<f64> {
    text.trim().parse().ok().filter(|&number: &f64| number > 0.0 && number.is_finite())
}

/// A number from 0 to 1 in the metadata.
fn share(file: &File, key: &str) -> Option<f64> {
    file.told(key).parse().ok().filter(|number| (0.0..=1.0).contains(number))
}

fn wrong(file: &File, key: &str, expected: &str) -> ForestError {
    ForestError::Other(format!("its {key} is {:?}; expected {expected}", file.told(key)))
}

#[cfg(test)]
mod tests;
