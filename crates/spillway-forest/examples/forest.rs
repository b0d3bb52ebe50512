//! Measures the cost of evaluating a forest: nanoseconds per packet, with features drawn at random.
//!
//! `cargo run --release -p spillway-forest --example forest -- MODEL...`

// A measurement needs a clock.
#![allow(clippy::disallowed_methods, clippy::disallowed_types)]

use spillway_forest::Forest;
use std::hint::black_box;
use std::time::Instant;

const ROWS: usize = 1 << 16;
const ROUNDS: usize = 41;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("trees  depth  ns per packet  fastest  positive  model");
    for file in std::env::args().skip(1) {
        let forest = Forest::read(&std::fs::read(&file)?)?;
        // Squares, so that some values are near 0 and some near 1: both branches are taken at most
        // nodes.
        let mut state = 1u64;
        let mut draw = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            1.0 - ((state >> 40) as f32 / (1u32 << 24) as f32).powi(2)
        };
        let width = forest.features().len();
        let values: Vec<f32> = (0..ROWS * width).map(|_| draw()).collect();
        let mut positive = 0;
        let mut round = || {
            let start = Instant::now();
            let rows = black_box(&values).chunks_exact(width);
            positive = rows.filter(|row| forest.is_positive(row)).count();
            start.elapsed().as_secs_f64() * 1e9 / ROWS as f64
        };
        let mut times: Vec<f64> = (0..ROUNDS).map(|_| round()).collect();
        times.sort_unstable_by(f64::total_cmp);
        let (median, fastest) = (times[ROUNDS / 2], times[0]);
        let share = 100.0 * positive as f64 / ROWS as f64;
        let (trees, depth) = (forest.trees(), forest.depth());
        println!("{trees:5}  {depth:5}  {median:13.1}  {fastest:7.1}  {share:7.1}%  {file}");
    }
    Ok(())
}
