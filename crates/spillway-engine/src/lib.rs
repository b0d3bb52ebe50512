//! The basis of Spillway: time, the event queue, random streams. It knows nothing of networks.

mod event_queue;
mod prefetch;
mod random;
mod units;

pub use event_queue::{Event, EventQueue};
pub use prefetch::prefetch;
pub use random::{Stream, mix};
pub use units::{ByteTime, Clock, Rate, Time};
