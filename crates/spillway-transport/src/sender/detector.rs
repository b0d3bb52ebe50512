//! The one way in which a sender finds losses, with what it keeps for this.

use super::by_nacks::ByNacks;
use super::by_order::ByOrder;
use super::by_rack::ByRack;
use super::by_timeout::ByTimeout;
use crate::ranges::Range;
use crate::recovery::scoreboard::Scoreboard;
use crate::{Access, ClosedLoop, LossDetection};
use spillway_engine::Time;

/// How a sender finds losses.
#[derive(Clone, Debug)]
pub(super) enum Detector {
    /// By its scoreboard: ranges that have arrived, or acks of nothing new.
    Scoreboard,
    /// By timeouts alone. What is in flight is then a range that ends at the next byte to be sent,
    /// whatever part of it has arrived.
    Timeout,
    /// By timeouts alone, whose length never changes.
    FixedTimeout(Box<ByTimeout>),
    /// By the times at which segments were sent.
    Rack(Box<ByRack>),
    /// By the order in which packets were sent.
    Order(Box<ByOrder>),
    /// By NACKs, and by timeouts whose length never changes.
    Nacks(Box<ByNacks>),
}

impl Detector {
    /// The state of a flow that starts.
    pub fn new(mss: u64, transport: &ClosedLoop, access: &Access) -> Detector {
        if let Some(timeouts) = transport.timeouts {
            return Detector::FixedTimeout(Box::new(ByTimeout::new(timeouts, access)));
        }
        if let Some(nacks) = &transport.nacks {
            return Detector::Nacks(Box::new(ByNacks::new(nacks, mss, access)));
        }
        let dupthresh = transport.losses.dupthresh;
        match transport.losses.detection {
            LossDetection::Sack | LossDetection::Ns3 | LossDetection::DuplicateAcks => {
                Detector::Scoreboard
            }
            LossDetection::Timeout | LossDetection::Nacks => Detector::Timeout,
            LossDetection::Rack => Detector::Rack(Box::new(ByRack::new(mss, transport))),
            LossDetection::PerPriority { or_worse } => {
                Detector::Order(Box::new(ByOrder::new(mss, dupthresh, or_worse)))
            }
        }
    }

    /// The next lost segment that has not been retransmitted.
    pub fn next_lost(&self, board: &Scoreboard) -> Option<Range> {
        match self {
            Detector::Scoreboard
            | Detector::Timeout
            | Detector::FixedTimeout(_)
            | Detector::Nacks(_) => board.next_lost(),
            Detector::Rack(by_rack) => by_rack.next_lost(),
            Detector::Order(by_order) => by_order.next_lost(),
        }
    }

    /// The last new segment was not sent after all.
    pub fn take_back(&mut self, seq: u64) {
        match self {
            Detector::Scoreboard
            | Detector::Timeout
            | Detector::FixedTimeout(_)
            | Detector::Nacks(_) => {}
            Detector::Rack(by_rack) => by_rack.take_back(seq),
            Detector::Order(by_order) => by_order.take_back(seq),
        }
    }

    /// The next flow of the same connection begins, with this byte.
    pub fn begin_next(&mut self, first: u64) {
        match self {
            Detector::Scoreboard
            | Detector::Timeout
            | Detector::FixedTimeout(_)
            | Detector::Rack(_) => {}
            Detector::Order(by_order) => by_order.begin_next(),
            Detector::Nacks(by_nacks) => by_nacks.begin_next(first),
        }
    }

    /// The timeout with nothing in flight, if it never changes.
    pub fn fixed_timeout(&self) -> Option<Time> {
        match self {
            Detector::Nacks(by_nacks) => Some(by_nacks.rto(0)),
            _ => None,
        }
    }
}
