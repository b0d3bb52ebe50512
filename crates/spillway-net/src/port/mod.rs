//! Ports: the line, the queues of a NIC, and the ring below the queues.

pub(crate) mod line;
pub(crate) mod nic;
pub(crate) mod ring;
pub(crate) mod shortcuts;
pub(crate) mod timetable;

pub use shortcuts::Shortcuts;
