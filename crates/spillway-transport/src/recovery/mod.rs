//! Loss recovery: how a sender finds out what is lost, and what it sends again.

mod losses;
mod nacks;
pub mod orders;
pub mod rack;
pub mod reduction;
pub mod scoreboard;
mod segments;
mod timeouts;

pub use losses::{LossDetection, Losses};
pub use nacks::{Nacks, Selective};
pub use timeouts::{Remaining, Timeouts};
