//! The basis of Spillway: time, the event queue, random streams, threads that work in rounds. It
//! knows nothing of networks.

mod crew;
mod event_queue;
mod growth;
mod prefetch;
mod random;
mod units;

pub use crew::{Crew, Ending};
pub use event_queue::{Event, EventQueue};
pub use growth::{ask_for_huge_pages, push};
pub use prefetch::prefetch;
pub use random::{Stream, mix};
pub use units::{ByteTime, Clock, Rate, Time};
