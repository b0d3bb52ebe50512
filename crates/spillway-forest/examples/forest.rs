//! Measures the cost of evaluating a forest, with features drawn at random: nanoseconds per packet
//! for one that tells drops, and per flow for one that bounds sizes.
//!
//! `cargo run --release -p spillway-forest --example forest -- MODEL...`

// A measurement needs a clock.
#![allow(clippy::disallowed_methods, clippy::disallowed_types)]

use spillway_forest::{Forest, ForestError, Regressor};
use std::hint::black_box;
use std::time::Instant;

const ROWS: usize = 1 << 16;
const ROUNDS: usize = 41;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("trees  depth  ns per packet or flow  fastest  told  model");
    for file in std::env::args().skip(1) {
        let bytes = std::fs::read(&file)?;
        let (trees, depth, (median, fastest), told) = match Forest::read(&bytes) {
            Ok(forest) => {
                let width = forest.features().len();
                let values: Vec<f32> = draws(width).map(|value| value as f32).collect();
                let mut positive = 0;
                let times = times(|| {
                    let rows = black_box(&values).chunks_exact(width);
                    positive = rows.filter(|row| forest.is_positive(row)).count();
                });
                let share = 100.0 * positive as f64 / ROWS as f64;
                (forest.trees(), forest.depth(), times, format!("{share:.1}% positive"))
            }
            Err(ForestError::IsRegression) => {
                let forest = Regressor::read(&bytes)?;
                let width = forest.features().len();
                let scale = forest.metadata("scale").unwrap_or_default().split(',');
                let scale: Vec<f64> = scale.map(str::parse).collect::<Result<_, _>>()?;
                // As lists have them: from 0 to the greatest of the training.
                let values: Vec<f64> =
                    draws(width).zip(scale.iter().cycle()).map(|(value, by)| value * by).collect();
                let mut sum = 0;
                let times = times(|| {
                    let rows = black_box(&values).chunks_exact(width);
                    sum = rows.map(|row| forest.bound(&forest.scaled(row))).sum();
                });
                let method = forest.metadata("method").unwrap_or_default();
                let told = format!("{method}, mean bound {}", sum / ROWS as u64);
                (forest.trees(), forest.depth(), times, told)
            }
            Err(error) => return Err(error.into()),
        };
        println!("{trees:5}  {depth:5}  {median:21.1}  {fastest:7.1}  {told}  {file}");
    }
    Ok(())
}

/// Numbers from 0 to 1. Squares, so that some are near 0 and some near 1: both branches are taken
/// at most nodes.
fn draws(width: usize) -> impl Iterator<Item = f64> {
    let mut state = 1u64;
    (0..ROWS * width).map(move |_| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        1.0 - ((state >> 40) as f64 / (1u32 << 24) as f64).powi(2)
    })
}

/// The median and the least time of a round, in nanoseconds for each row.
fn times(mut round: impl FnMut()) -> (f64, f64) {
    let mut time = || {
        let start = Instant::now();
        round();
        start.elapsed().as_secs_f64() * 1e9 / ROWS as f64
    };
    let mut times: Vec<f64> = (0..ROUNDS).map(|_| time()).collect();
    times.sort_unstable_by(f64::total_cmp);
    (times[ROUNDS / 2], times[0])
}
