//! Go-back-N, as RDMA's NICs have it: a receiver accepts only the packet that it expects and tells
//! of a gap in a NACK, and the sender goes back to it. Losses cut neither windows nor paces.
//!
//! # Reference
//! InfiniBand Trade Association, InfiniBand Architecture Specification, volume 1, chapter 9, as
//! RoCE's NICs have it; in the details as the simulator of HPCC
//! (alibaba-edu/High-Precision-Congestion-Control, rdma-hw.cc).
//!
//! # Rule
//! - What is in flight is a range, whatever of it has arrived: from the first unacknowledged byte
//!   to the next one to be sent. A window ends so far behind the first unacknowledged byte. The
//!   first unacknowledged segment may always be sent.
//! - A NACK acknowledges everything before the byte that it names. The sender goes on from that
//!   byte, and sends data again that it has sent before. A timeout does the same. A NACK for a byte
//!   that has been acknowledged comes too late and changes nothing.
//! - The timeout is fixed. It runs while something is in flight; every ack and NACK restarts it
//!   (o9-85).
//!
//! # In composition
//! Made for lossless priorities. Elsewhere each loss costs all that was sent behind it, and what
//! overtakes costs as much: a run warns of taggers that let it. Losses slow nobody, so without
//! marks, or a transport that measures, a full buffer stays full. What waits for longer than
//! `ack_timeout`, behind better levels or pauses, is sent again while it waits. Under pFabric's
//! queues a flow may never end.

use super::own::{Flight, OwnAck, OwnRecovery, Reaction, TimedOut};
use super::{Kind, Settings};
use crate::Access;
use crate::ranges::Range;
use crate::receiver::{InOrderRule, Tells};
use spillway_engine::Time;
use spillway_settings::quantity::RttTime;
use spillway_settings::{Form, Takes};

/// The row of the catalogue.
pub const KIND: Kind = Kind {
    id: "go-back-n",
    results: 1,
    summary: "NACKs tell of gaps, and the sender goes back to them, as RDMA's NICs do",
    citation: "InfiniBand Architecture Specification, volume 1, chapter 9",
    read: |reader| {
        let section = &mut reader.section;
        let meaning = "time after which a receiver tells of the same gap again, if packets still come \
                       from behind it";
        let nack_interval = section.time("nack_interval", "500us", meaning)?;
        let meaning = "how a receiver answers a packet that has arrived before";
        let answers_old =
            section.choice("old_packets", &[("ack", true), ("silent", false)], meaning)?;
        let takes = "a time above 0 such as \"45us\", a multiple of the base RTT such as \"3rtt\", or \"none\"";
        let rto = section.quantity(
            "ack_timeout",
            "4ms",
            Takes::new(takes, [RttTime::form(), Form::word("none")]),
            "the retransmission timeout, which never changes; with \"none\" a flow whose last packets \
             are lost never ends",
            |text| match text {
                "none" => Some(None),
                _ => RttTime::parse(text).map(Some),
            },
        )?;
        Ok(Settings::of_own(Box::new(GoBackN {
            receiver: InOrderRule { nack_interval, answers_old },
            timeout: rto,
            rto: Time::MAX,
        })))
    },
};

/// The settings, and the state of a flow.
#[derive(Clone, Copy, Debug)]
struct GoBackN {
    /// How the receiver answers what it discards.
    receiver: InOrderRule,
    /// The timeout, if there is one.
    timeout: Option<RttTime>,
    /// The same, for the base RTT of the flow; [`Time::MAX`] if there is none.
    rto: Time,
}

impl OwnRecovery for GoBackN {
    fn tells(&self) -> Tells {
        Tells::Packet
    }

    fn in_order(&self) -> Option<InOrderRule> {
        Some(self.receiver)
    }

    fn shortest_rto(&self, base_rtt: Time) -> Option<(Time, &'static str)> {
        self.timeout.map(|rto| (rto.of(base_rtt), "recovery.ack_timeout"))
    }

    fn start(&mut self, _mss: u64, access: &Access) {
        self.rto = self.timeout.map_or(Time::MAX, |rto| rto.of(access.base_rtt));
    }

    fn on_ack(&mut self, flight: &mut Flight, ack: &OwnAck) -> Reaction {
        let una = flight.board.una;
        if ack.sack.is_some() && ack.seq == una {
            flight.course.sent_to = una;
            flight.course.after_timeout = false;
        }
        Reaction { tells: true, restarts: true }
    }

    fn next(&self, flight: &Flight) -> Option<Range> {
        flight.allowed(flight.from(flight.course.sent_to), u64::MAX)
    }

    fn rto(&self, flight: &Flight) -> Option<Time> {
        (flight.course.sent_to > flight.board.una).then_some(self.rto)
    }

    fn on_timeout(&mut self, flight: &mut Flight) -> TimedOut {
        flight.course.sent_to = flight.board.una;
        TimedOut::WAITS
    }

    fn idle_timeout(&self) -> Time {
        self.rto
    }
}
