//! Priority flow control (IEEE 802.1Qbb): lossless priorities, whose packets are not lost because
//! the sender is paused in time.
//!
//! A switch accounts for a lossless packet twice, with the same bytes: in the queue in which it
//! waits, as for any packet, and in the account of the port and priority by which it came in. An
//! account takes from its reserve first, then from what all share, then from its headroom. When its
//! part of what is shared reaches the pause threshold, or its headroom is touched, the neighbour at
//! that port is to pause; when its headroom is free again and its part lies below the threshold by
//! the resume offset, the neighbour may go on.

mod account;

pub use account::Accounts;

/// The part of the shared buffer at which an account pauses its neighbour.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PauseThreshold {
    /// So many bytes.
    Bytes(u64),
    /// This multiple (alpha) of what is free of the buffer less headroom and reserves.
    OfFree(f64),
}

impl PauseThreshold {
    /// The threshold in bytes if `free` bytes of what is shared are free.
    #[inline]
    pub fn bytes(self, free: u64) -> u64 {
        match self {
            PauseThreshold::Bytes(bytes) => bytes,
            PauseThreshold::OfFree(alpha) => (alpha * free as f64) as u64,
        }
    }
}

/// Where the packet goes that takes an account over its threshold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Crossing {
    /// Into what is shared, if it fits there: headroom is for what comes after it.
    Shared,
    /// Into headroom.
    Headroom,
}

/// How a switch accounts for lossless packets.
#[derive(Clone, Debug, PartialEq)]
pub struct LosslessParts {
    /// The queue classes that are lossless, in order.
    pub queue_classes: Box<[u8]>,
    /// For every port, when its accounts pause their neighbour.
    pub thresholds: Box<[PauseThreshold]>,
    /// How far below the threshold it lets the neighbour go on, in bytes.
    pub resume_offset: u64,
    /// Bytes that belong to each account.
    pub reserve: u64,
    /// For every port, the bytes that each of its accounts may take beyond what is shared.
    pub headroom: Box<[u64]>,
    /// Where the packet goes that crosses the threshold.
    pub crossing: Crossing,
    /// Whether the sharing policy sees lossless queues, too. It never decides about them.
    pub sees_all: bool,
}

impl LosslessParts {
    /// Bytes of all reserves and headrooms.
    pub fn set_aside(&self) -> u64 {
        let classes = self.queue_classes.len() as u64;
        let of_port =
            |headroom: &u64| classes.saturating_mul(headroom.saturating_add(self.reserve));
        self.headroom.iter().map(of_port).fold(0, u64::saturating_add)
    }
}

/// An account has to pause its neighbour, or to let it go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PauseChange {
    /// The port by which the neighbour's packets come in.
    pub port: u32,
    /// The priority: a queue class.
    pub queue_class: u8,
    /// Whether the neighbour is to pause.
    pub pauses: bool,
}
