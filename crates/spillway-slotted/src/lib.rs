//! The model in which buffer sharing is analysed: time slots, packets of one size, N ports with one
//! queue each, and a shared buffer of B packets.
//!
//! In every slot packets arrive, one after the other, and are admitted or refused. Then every queue
//! that is not empty sends one packet. What counts is the number of packets sent in the end (V.
//! Addanki, M. Pacut, S. Schmid, "Credence", NSDI 2024, appendix A). The policies are those of the
//! packet simulator, from the same files. [`optimum`] is the best that any policy could have done
//! with knowledge of all arrivals.

mod arrivals;
mod error;
pub mod generators;
mod model;
mod optimum;
mod policy;

pub use arrivals::{Arrivals, ArrivalsError};
pub use error::{Confusion, PredictionError, flipped, prediction_error};
pub use model::{Outcome, environment, run, run_observed, run_policy};
pub use optimum::optimum;
pub use policy::read_policy;

/// The results number of the slotted model. It rises when its results change although no policy has
/// changed.
pub const RESULTS: u32 = 1;
