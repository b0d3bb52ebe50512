//! Priority flow control (IEEE 802.1Qbb): lossless priorities. Their packets are not lost, because
//! the sender is paused in time.
//!
//! A switch counts the bytes of a lossless packet twice: in the queue in which the packet waits, as
//! for any packet, and in the account of the port and priority by which the packet came in. An
//! account first uses its reserve, then the bytes that all accounts share, and then its headroom.
//! The account pauses the neighbour at its port when its shared bytes reach the pause threshold, or
//! when it uses headroom. It lets the neighbour go on when its headroom is empty again and its
//! shared bytes lie below the threshold by the resume offset. With Reverie's threshold the low-pass
//! filtered bytes of the account stand in place of its shared bytes.

mod account;

pub use crate::low_pass::LowPassParams;
pub use account::Accounts;

/// The number of shared bytes at which an account pauses its neighbour.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PauseThreshold {
    /// So many bytes.
    Bytes(u64),
    /// This multiple (alpha) of the shared bytes that are free. Headrooms and reserves are not
    /// shared.
    OfFree(f64),
    /// This multiple (alpha) of the shared bytes that are free, over the congested accounts of a
    /// priority. An account pauses when its filtered bytes are over it. The filter is the same for
    /// all ports.
    Filtered(f64, LowPassParams),
}

impl PauseThreshold {
    /// The threshold in bytes if `free` shared bytes are free and no account is congested.
    #[inline]
    pub fn bytes(self, free: u64) -> u64 {
        match self {
            PauseThreshold::Bytes(bytes) => bytes,
            PauseThreshold::OfFree(alpha) | PauseThreshold::Filtered(alpha, _) => {
                (alpha * free as f64) as u64
            }
        }
    }
}

/// Which bytes a packet takes that would bring its account over the threshold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Crossing {
    /// Shared bytes, if enough are free. Headroom is for the packets after it.
    Shared,
    /// Headroom.
    Headroom,
}

/// How a switch accounts for lossless packets.
#[derive(Clone, Debug, PartialEq)]
pub struct LosslessParts {
    /// The queue classes that are lossless, in order.
    pub queue_classes: Box<[u8]>,
    /// For every port, when its accounts pause their neighbour.
    pub thresholds: Box<[PauseThreshold]>,
    /// An account lets its neighbour go on when it is this many bytes below the threshold.
    pub resume_offset: u64,
    /// The reserve of each account, in bytes.
    pub reserve: u64,
    /// For every port, the headroom of each of its accounts, in bytes.
    pub headroom: Box<[u64]>,
    /// Which bytes a packet takes that crosses the threshold.
    pub crossing: Crossing,
    /// Whether the sharing policy also sees lossless queues. It never decides about their packets.
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
