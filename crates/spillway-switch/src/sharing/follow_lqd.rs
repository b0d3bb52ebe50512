//! FollowLQD: a queue may grow as long as it would be under Longest Queue Drop (LQD).
//!
//! # Reference
//! V. Addanki, M. Pacut, S. Schmid, "Credence: Augmenting Datacenter Switch Buffer Sharing with ML
//! Predictions", USENIX NSDI 2024, appendix B (Algorithm 2).
//! <https://www.usenix.org/conference/nsdi24/presentation/addanki-credence>
//!
//! # Rule
//! T_i: the bytes that queue i would hold under LQD with the same arrivals, including this one if
//! LQD admits it. Admit iff q_i + s <= T_i and Q + s <= B. q_i: `buffer.bytes(queue)`, s:
//! `arrival.size`, Q: `buffer.occupancy()`, B: `buffer.capacity()`.
//!
//! # Departures from the paper
//! The paper counts packets of one size in time slots; there an arrival subtracts one from the
//! largest threshold and adds one to its own, and in every slot each threshold falls by one. Here
//! packets have sizes and time is continuous: the thresholds are the queues of a virtual switch
//! with the same ports, scheduling and sizes, in which LQD pushes out whole packets. Acks and other
//! control packets that have queues of their own pass the virtual switch too, but are not tested
//! here, and are not victims there (`exempt_acks`).
//!
//! # Scope and limitations
//! The virtual switch has no limits on single queues, and its links do not fail. It does not see
//! what the AQM or `queue_limit` refuses.
//!
//! # In composition
//! The thresholds follow the run's queues and scheduler, as those of the virtual LQD. Under strict
//! priority LQD takes room from worse queues, which then hold more than their thresholds for as
//! long as better ones send, and nothing takes that room back; a run warns of this.
//!
//! # Validation
//! In a run under LQD the thresholds equal the real queues at every arrival, to the byte, and its
//! decisions follow from those of a real LQD by the rule (`tests/shadow.rs`). It makes the same
//! decisions as a second, naive implementation with a virtual LQD of its own, on thousands of
//! random arrivals (`tests/naive_follow_lqd.rs`); in slots, as Algorithm 2, line by line, also on
//! the sequence of the paper's lower bound (`tests/naive_credence_slots.rs`).
//!
//! # Cost
//! The sizes of the packets that LQD would hold, 16 bytes each. While the virtual buffer is full,
//! some steps of a tournament tree for every packet, in number logarithmic in the number of queues
//! (docs/performance.md has the cost with 16, 64 and 512 queues). In slotted time, three bits for
//! each port and packet of room, and with a full buffer a scan of one word for every 64 ports.

use super::Sharing;
use super::shadow::ShadowLqd;
use super::victim::VictimRule;
use crate::buffer::{Buffer, QueueId};
use crate::catalogue::{Environment, Policy};
use crate::cost::{Cost, Operations, State};
use crate::policy::{Admission, Arrival, Watch};
use spillway_engine::Time;
use spillway_settings::{Section, SettingsError};

/// The rules of the virtual LQD.
#[derive(Clone, Debug)]
pub struct FollowLqdParams {
    /// How it finds the longest queue.
    rule: VictimRule,
    /// The queue class of acks, if these are neither tested nor its victims.
    exempt: Option<u8>,
}

/// Follows LQD's queue lengths without pushing out.
#[derive(Clone, Debug)]
pub struct FollowLqd {
    shadow: ShadowLqd,
    exempt: Option<u8>,
}

impl Policy for FollowLqd {
    const ID: &'static str = "followlqd";
    const SUMMARY: &'static str =
        "FollowLQD: a queue may be as long as it would be under Longest Queue Drop";
    const CITATION: &'static str =
        "Addanki, Pacut, Schmid: Credence, NSDI 2024, appendix B, Algorithm 2";
    const COST: Option<Cost> = Some(Cost {
        // T, which is what LQD would hold, and LQD's free bytes.
        queue: State { counters: 1, ..State::NONE },
        switch: State { counters: 1, ..State::NONE },
        // When it could send again under LQD.
        port: State { times: 1, more: "its scheduler once more", ..State::NONE },
        others: FollowLqd::VIRTUAL,
        arrival: FollowLqd::TEST,
        at_times: FollowLqd::AT_TIMES,
        needs: "the ports' rates and how they schedule",
        ..Cost::NONE
    });

    type Params = FollowLqdParams;

    fn params(
        section: &mut Section,
        environment: &Environment,
    ) -> Result<FollowLqdParams, SettingsError> {
        let rule = VictimRule::read(section)?;
        Ok(FollowLqdParams { rule, exempt: environment.exempt_acks(section)? })
    }

    fn new(params: &FollowLqdParams, environment: &Environment) -> Self {
        let FollowLqdParams { rule, exempt } = *params;
        FollowLqd { shadow: ShadowLqd::new(rule, exempt, environment), exempt }
    }
}

impl FollowLqd {
    /// A packet's size. If all packets have the same size, as in the paper, T is enough.
    pub(super) const VIRTUAL: &'static [(&'static str, State)] =
        &[("packet that LQD would hold", State { counters: 1, ..State::NONE })];

    /// Whether LQD has room; T and the free bytes with the packet; q + s and whether it is within
    /// T.
    pub(super) const TEST: Operations =
        Operations { additions: 3, comparisons: 2, ..Operations::NONE };

    /// The victim as under LQD; T and the free bytes without the packet.
    pub(super) const AT_TIMES: &'static [(&'static str, Operations)] = &[
        (
            "each packet that LQD would push out",
            Operations { searches: 1, additions: 3, comparisons: 2, ..Operations::NONE },
        ),
        // And when the next packet could be sent.
        ("each that it would send", Operations { additions: 3, scalings: 1, ..Operations::NONE }),
    ];
}

impl Watch for FollowLqd {}

impl Sharing for FollowLqd {
    fn admit(&mut self, arrival: &Arrival, buffer: &Buffer) -> Admission {
        let threshold = u64::from(self.shadow.on_arrival(arrival));
        let length = u64::from(buffer.bytes(arrival.queue)) + u64::from(arrival.size);
        Admission::if_within(self.exempt == Some(arrival.queue_class) || length <= threshold)
    }

    fn look_at(&mut self, now: Time, queue: QueueId) {
        self.shadow.look_at(now, queue);
    }

    fn threshold(&self, arrival: &Arrival, _buffer: &Buffer) -> Option<u64> {
        Some(self.shadow.bytes(arrival.queue).into())
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::OVER;
    use super::*;
    use spillway_engine::Time;

    /// Two ports of 10 Gbps share 4000 bytes. A packet of 1000 bytes takes 800 ns.
    fn two_ports() -> (FollowLqd, Buffer) {
        let environment = Environment { capacity: 4_000, ..Environment::example(2) };
        let buffer = Buffer::new(4_000, environment.port_rates.clone(), 1);
        (FollowLqd::read(&mut Section::empty(), &environment).unwrap(), buffer)
    }

    fn at(ns: u64, queue: u32) -> Arrival {
        Arrival { now: Time::from_ns(ns), ..super::super::tests::arrival(queue, 1000) }
    }

    #[test]
    fn a_queue_may_be_as_long_as_under_lqd() {
        // Six packets for port 0 at time 0. The first is sent at once, and four wait, under LQD
        // too; both refuse the sixth. (The test fills the buffer as a switch would.)
        let (mut follow, mut buffer) = two_ports();
        assert_eq!(follow.admit(&at(0, 0), &buffer), Admission::Admit);
        for _ in 0..4 {
            assert_eq!(follow.admit(&at(0, 0), &buffer), Admission::Admit);
            buffer.add(0, 1000);
        }
        assert_eq!(follow.admit(&at(0, 0), &buffer), OVER);
        // A packet arrives for port 1. LQD would send it at once, but pushes out a packet first,
        // since its rule is to make room first. Now T_0 is 3000 and q_0 is 4000. The real buffer is
        // full.
        assert_eq!(follow.admit(&at(1, 1), &buffer), Admission::Admit);
        assert_eq!(follow.threshold(&at(1, 0), &buffer), Some(3_000));
        // At 800 ns both send the next packet: T_0 = 2000, q_0 = 3000. LQD takes both of two
        // packets, so that T_0 becomes 3000 and then 4000. The first exceeds it (4000 > 3000), the
        // second does not.
        buffer.subtract(0, 1000);
        assert_eq!(follow.admit(&at(800, 0), &buffer), OVER);
        assert_eq!(follow.admit(&at(800, 0), &buffer), Admission::Admit);
    }

    #[test]
    fn thresholds_fall_while_nothing_comes() {
        let (mut follow, buffer) = two_ports();
        (0..5).for_each(|_| _ = follow.admit(&at(0, 0), &buffer));
        // Packets are sent at 0, 800, 1600, 2400 ns. At 2400 ns one waits, and the arrival joins
        // it.
        follow.admit(&at(2_400, 0), &buffer);
        assert_eq!(follow.threshold(&at(2_400, 0), &buffer), Some(2_000));
        // The past has no effect: the line is idle from 4800 ns on.
        follow.admit(&at(9_000, 0), &buffer);
        follow.admit(&at(9_000, 0), &buffer);
        assert_eq!(follow.threshold(&at(9_000, 0), &buffer), Some(1_000));
    }

    #[test]
    fn a_trace_sees_the_threshold_of_its_moment() {
        let (mut follow, buffer) = two_ports();
        (0..4).for_each(|_| _ = follow.admit(&at(0, 0), &buffer));
        // Packets are sent at 0, 800, 1600 and 2400 ns.
        for (ns, bytes) in [(799, 3_000), (800, 2_000), (1_600, 1_000), (2_400, 0), (9_000, 0)] {
            follow.look_at(Time::from_ns(ns), 0);
            assert_eq!(follow.threshold(&at(ns, 0), &buffer), Some(bytes), "{ns} ns");
        }
    }
}
