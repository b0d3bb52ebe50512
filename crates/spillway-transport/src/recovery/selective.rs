//! Selective retransmission, as IRN's NICs have it: a receiver accepts all packets and tells of a
//! gap in a NACK, and the sender sends what is missing. Losses cut neither windows nor paces.
//!
//! # Reference
//! R. Mittal, A. Shpiner, A. Panda, E. Zahavi, A. Krishnamurthy, S. Ratnasamy, S. Shenker,
//! "Revisiting Network Support for RDMA", SIGCOMM 2018 (IRN), sections 3.1, 3.2 and 4.1.
//! doi:10.1145/3230543.3230557
//!
//! # Rule
//! - Windows and timers are as with go-back-N, and no more than `max_in_flight` is in flight
//!   (BDP-FC, section 3.2).
//! - A NACK begins a recovery, which lasts until everything is acknowledged that had been sent
//!   before. In a recovery the first missing segment is sent again, once. So are the missing
//!   segments behind which something has arrived. Then new data follow (section 3.1).
//! - If a retransmission is lost, a timeout shows that, and begins the recovery anew. With few
//!   packets in flight the timeout is short (`rto_low`). If more packets are in flight when it
//!   expires, it is extended to `rto_high`.
//!
//! # In composition
//! A gap is taken for a loss, so what overtakes is sent again, once; a run warns of taggers that
//! let it. Losses slow nobody, so without marks, or a transport that measures, a full buffer stays
//! full. `rto_low` and `rto_high` are short and fixed: what waits for longer, behind better levels
//! or pauses, is sent again while it waits.

use super::own::{Flight, OwnAck, OwnRecovery, Reaction, TimedOut};
use super::scoreboard::Scoreboard;
use super::{Kind, Settings};
use crate::Access;
use crate::ranges::Range;
use crate::receiver::Tells;
use spillway_engine::Time;
use spillway_settings::quantity::{BdpSize, RttTime};

/// The row of the catalogue.
pub const KIND: Kind = Kind {
    id: "selective",
    results: 1,
    summary: "NACKs tell of gaps, and the sender sends only what is missing (IRN)",
    citation: "IRN: Mittal et al.: SIGCOMM 2018, doi:10.1145/3230543.3230557",
    read: |reader| {
        let section = &mut reader.section;
        let meaning = "the most bytes in flight, whatever the window is";
        let max_in_flight = section.bdp_bound("max_in_flight", "1bdp", meaning)?;
        let mut rto = |key, default, meaning| {
            section.quantity(key, default, RttTime::takes(), meaning, RttTime::parse)
        };
        let meaning = "the retransmission timeout with few packets in flight";
        let rto_low = rto("rto_low", "100us", meaning)?;
        let meaning = "the retransmission timeout with more packets in flight";
        let rto_high = rto("rto_high", "320us", meaning)?;
        let meaning = "how many packets in flight are few";
        let few_packets = section.integer("rto_low_packets", 3, 0..=1_000_000, meaning)?;
        let meaning = "what a timeout sends again: the first missing packet, or all that is not known \
                       to have arrived";
        let takes_all =
            section.choice("after_timeout", &[("first", false), ("all", true)], meaning)?;
        let irn = Irn { max_in_flight, rto_low, rto_high, few_packets, takes_all };
        Ok(Settings::of_own(Box::new(Selective::of(irn))))
    },
};

/// The settings.
#[derive(Clone, Copy, Debug)]
struct Irn {
    /// The most bytes in flight, if there is a bound.
    max_in_flight: Option<BdpSize>,
    /// The timeout with few packets in flight.
    rto_low: RttTime,
    /// The timeout with more.
    rto_high: RttTime,
    /// The most packets in flight that count as few.
    few_packets: u64,
    /// Whether a timeout shows that everything not known to have arrived is lost, rather than only
    /// the first missing packet.
    takes_all: bool,
}

/// The settings, and the state of a flow.
#[derive(Clone, Copy, Debug)]
struct Selective {
    irn: Irn,
    most: u64,
    rto_low: Time,
    rto_high: Time,
    /// With no more than so many bytes in flight, few packets are in flight.
    few: u64,
    is_recovering: bool,
    /// Where the recovery ends.
    recover: u64,
}

impl Selective {
    /// The state before a flow starts.
    fn of(irn: Irn) -> Selective {
        Selective {
            irn,
            most: u64::MAX,
            rto_low: Time::MAX,
            rto_high: Time::MAX,
            few: 0,
            is_recovering: false,
            recover: 0,
        }
    }

    fn begin_recovery(&mut self, board: &mut Scoreboard) {
        self.is_recovering = true;
        self.recover = board.nxt;
        board.begin_repair();
    }

    /// The next missing segment of a recovery.
    fn missing(&self, board: &Scoreboard) -> Option<Range> {
        self.is_recovering.then(|| board.next_lost()).flatten()
    }
}

impl OwnRecovery for Selective {
    fn tells(&self) -> Tells {
        Tells::Packet
    }

    fn shortest_rto(&self, base_rtt: Time) -> Option<(Time, &'static str)> {
        let timeouts =
            [(self.irn.rto_low, "recovery.rto_low"), (self.irn.rto_high, "recovery.rto_high")];
        timeouts.into_iter().map(|(rto, key)| (rto.of(base_rtt), key)).min()
    }

    fn start(&mut self, mss: u64, access: &Access) {
        let irn = &self.irn;
        let most = irn.max_in_flight;
        self.most = most.map_or(u64::MAX, |most| most.bytes(access.rate, access.base_rtt));
        self.rto_low = irn.rto_low.of(access.base_rtt);
        self.rto_high = irn.rto_high.of(access.base_rtt);
        self.few = irn.few_packets * mss;
    }

    fn on_ack(&mut self, flight: &mut Flight, ack: &OwnAck) -> Reaction {
        let board = &mut *flight.board;
        if ack.sack.is_some() {
            board.infer_losses(1);
        }
        self.is_recovering &= board.una < self.recover;
        if !self.is_recovering && ack.sack.is_some() && board.has_gap() {
            self.begin_recovery(board);
            flight.course.after_timeout = false;
            board.lose_head(self.recover);
        }
        Reaction { tells: true, restarts: true }
    }

    fn next(&self, flight: &Flight) -> Option<Range> {
        match self.missing(flight.board) {
            Some(missing) => flight.allowed(missing, u64::MAX),
            None => flight.allowed(flight.from(flight.board.nxt), self.most),
        }
    }

    fn on_sent(&mut self, flight: &mut Flight, segment: Range) {
        if self.missing(flight.board) == Some(segment) {
            flight.board.repaired(segment.1);
        }
    }

    fn rto(&self, flight: &Flight) -> Option<Time> {
        let in_flight = flight.board.nxt - flight.board.una;
        let rto = if in_flight <= self.few { self.rto_low } else { self.rto_high };
        (in_flight > 0).then_some(rto)
    }

    fn on_timeout(&mut self, flight: &mut Flight) -> TimedOut {
        let board = &mut *flight.board;
        self.begin_recovery(board);
        if self.irn.takes_all {
            board.lose_all()
        } else {
            board.lose_head(self.recover)
        }
        TimedOut::WAITS
    }

    fn most(&self) -> u64 {
        self.most
    }

    fn idle_timeout(&self) -> Time {
        self.rto_low
    }
}
