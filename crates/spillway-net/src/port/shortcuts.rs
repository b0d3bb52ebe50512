//! Shortcuts: what a port leaves out, under which conditions, and why no result changes.
//!
//! | shortcut | left out | allowed where | why no result changes |
//! | --- | --- | --- | --- |
//! | pass when idle | a packet that finds its port idle and without a backlog is not queued | the switch counts no unimportant packets, no AQM is told of turns, the scheduler keeps no account of empty queues, and bytes are freed when a packet begins to be sent | queued and sent at once, it would leave queues, buffer and schedule as they were; policies that watch queues are told the same |
//! | deferred | no event wakes a waiting port: its packets are sent when the next packet comes to its switch or NIC, or when its line runs empty, each with the time at which it could have been sent | packets on their way out are neither dropped nor traced, none is expelled, and nothing must see them leave in time; a NIC has neither limit nor AQM; its line has no telemetry, ring or losses; no link fails; no pause frame can stop it | until then nothing depends on what it sends |
//! | in order | a deferred port's packets go on their line at once; only the buffer's account of their departure comes later | one queue that sends its packets in order, nobody pushes out, counts, or marks packets on their way out, bytes are freed when a packet begins to be sent | no decision can affect a packet once it is queued, so its time is known |
//! | best in order | the same for the packets of a deferred port's best queue | strict priority over queues that send in order, and a switch's port as above; a NIC as above, whose queues are FIFO | neither a decision nor another packet can affect it once it is queued |
//! | plain NIC | a host's packets are not queued: each goes on the line at once | one FIFO queue without a ring, a limit or an AQM, which no pause frame can stop; no link fails or loses packets, and times are not cut to whole nanoseconds | packets leave in the order in which they come, whatever happens meanwhile |
//!
//! Each shortcut can be switched off for tests: random scenarios run with and without it. No port
//! takes one if ports choose after the arrivals of the same moment (`topology.arrivals_first`).

use super::line::Waking;
use super::nic::NicQueueing;
use crate::scenario::NicSettings;
use spillway_switch::PortFacts;

/// Which shortcuts are allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shortcuts {
    /// A packet that finds its port idle is not queued.
    pub pass_when_idle: bool,
    /// No event wakes a waiting port.
    pub deferred: bool,
    /// A deferred port's packets go on its line at once.
    pub in_order: bool,
    /// A host's packets go on its line at once.
    pub plain_nic: bool,
}

impl Shortcuts {
    /// All of them.
    pub const ALL: Shortcuts =
        Shortcuts { pass_when_idle: true, deferred: true, in_order: true, plain_nic: true };
    /// None.
    pub const NONE: Shortcuts =
        Shortcuts { pass_when_idle: false, deferred: false, in_order: false, plain_nic: false };

    /// The shortcuts that a port of a switch takes.
    pub(crate) fn of_switch_port(self, port: &SwitchPort<'_>) -> PortShortcuts {
        let SwitchPort { facts, is_attended, has_events } = *port;
        let deferred = self.deferred
            && !facts.drops_departures
            && !facts.is_traced
            && !facts.watches_in_time
            && !facts.can_be_paused
            && !facts.expels
            && !is_attended
            && !has_events;
        let in_order = self.in_order
            && deferred
            && !facts.decides_departures
            && !facts.pushes_out
            && !facts.counts_unimportant
            && !facts.chooses_packets
            && !facts.holds_until_sent;
        PortShortcuts {
            passes_when_idle: self.pass_when_idle
                && !facts.watches_turns
                && !facts.schedules_by_account
                && !facts.holds_until_sent,
            waking: match (deferred, in_order) {
                (false, _) if facts.can_be_paused => Waking::Pausable,
                (false, _) => Waking::ByEvent,
                (true, true) if facts.queues_per_port == 1 => Waking::InOrder,
                (true, true) if facts.is_strict => Waking::BestInOrder,
                (true, _) => Waking::Deferred,
            },
        }
    }

    /// How the hosts' NICs queue packets. NICs are managed if they have a discipline, or if pause
    /// frames may stop them. Lines are exact if no link fails or loses packets and times are not
    /// cut.
    pub(crate) fn of_nics(
        self,
        nic: &NicSettings,
        is_managed: bool,
        is_exact: bool,
    ) -> NicQueueing {
        if is_managed {
            NicQueueing::Managed
        } else if self.plain_nic && nic.is_plain() && is_exact {
            NicQueueing::Plain
        } else {
            NicQueueing::Queued
        }
    }

    /// What makes a waiting NIC send again. `is_attended` says whether its line checks every
    /// packet.
    pub(crate) fn of_nic(
        self,
        nic: &NicSettings,
        queueing: NicQueueing,
        is_attended: bool,
        has_events: bool,
    ) -> Waking {
        let is_deferred = self.deferred && !is_attended && !has_events;
        match queueing {
            NicQueueing::Queued if is_deferred && self.in_order && nic.sends_in_order() => {
                Waking::BestInOrder
            }
            NicQueueing::Queued if is_deferred => Waking::Deferred,
            NicQueueing::Plain | NicQueueing::Queued | NicQueueing::Managed => Waking::ByEvent,
        }
    }
}

/// What decides which shortcuts a switch's port may take.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SwitchPort<'a> {
    /// The facts about its switch.
    pub facts: &'a PortFacts,
    /// Whether packets put on its line need a check first.
    pub is_attended: bool,
    /// Whether links fail or lose packets.
    pub has_events: bool,
}

/// The shortcuts that a switch's port takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PortShortcuts {
    /// A packet that finds it idle is not queued.
    pub passes_when_idle: bool,
    /// What makes it send again when it waits.
    pub waking: Waking,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::NicScheduling;

    /// A switch at which nothing is traced and no policy watches.
    const UNWATCHED: PortFacts = PortFacts {
        queues_per_port: 1,
        decides_departures: false,
        drops_departures: false,
        is_traced: false,
        watches_turns: false,
        watches_in_time: false,
        pushes_out: false,
        expels: false,
        holds_until_sent: false,
        schedules_by_account: false,
        is_strict: false,
        chooses_packets: false,
        can_be_paused: false,
        counts_unimportant: false,
    };

    fn of(facts: PortFacts) -> (bool, Waking) {
        let port = SwitchPort { facts: &facts, is_attended: false, has_events: false };
        let taken = Shortcuts::ALL.of_switch_port(&port);
        (taken.passes_when_idle, taken.waking)
    }

    #[test]
    fn a_port_takes_the_shortcuts_that_what_is_known_of_it_allows() {
        use Waking::{BestInOrder, ByEvent, Deferred, InOrder, Pausable};
        assert_eq!(of(UNWATCHED), (true, InOrder));
        assert_eq!(of(PortFacts { is_strict: true, ..UNWATCHED }), (true, InOrder));
        let several = PortFacts { queues_per_port: 2, ..UNWATCHED };
        assert_eq!(of(several), (true, Deferred));
        let strict = PortFacts { is_strict: true, ..several };
        assert_eq!(of(strict), (true, BestInOrder));
        assert_eq!(of(PortFacts { pushes_out: true, ..strict }), (true, Deferred));
        assert_eq!(of(PortFacts { decides_departures: true, ..strict }), (true, Deferred));
        assert_eq!(of(PortFacts { holds_until_sent: true, ..strict }), (false, Deferred));
        assert_eq!(of(PortFacts { is_traced: true, ..strict }), (true, ByEvent));
        assert_eq!(of(PortFacts { can_be_paused: true, ..strict }), (true, Pausable));
        assert_eq!(of(PortFacts { pushes_out: true, ..UNWATCHED }), (true, Deferred));
        assert_eq!(of(PortFacts { expels: true, ..UNWATCHED }), (true, ByEvent));
        assert_eq!(of(PortFacts { chooses_packets: true, ..UNWATCHED }), (true, Deferred));
        assert_eq!(of(PortFacts { holds_until_sent: true, ..UNWATCHED }), (false, Deferred));
        assert_eq!(of(PortFacts { schedules_by_account: true, ..UNWATCHED }), (false, InOrder));
        assert_eq!(of(PortFacts { watches_turns: true, ..several }), (false, Deferred));
        assert_eq!(of(PortFacts { counts_unimportant: true, ..UNWATCHED }), (true, Deferred));
        assert_eq!(of(PortFacts { counts_unimportant: true, ..strict }), (true, Deferred));
        let marks = PortFacts { decides_departures: true, ..UNWATCHED };
        assert_eq!(of(marks), (true, Deferred));
        assert_eq!(of(PortFacts { drops_departures: true, ..marks }), (true, ByEvent));
        assert_eq!(of(PortFacts { is_traced: true, ..UNWATCHED }), (true, ByEvent));
        assert_eq!(of(PortFacts { watches_in_time: true, ..UNWATCHED }), (true, ByEvent));
        assert_eq!(of(PortFacts { can_be_paused: true, ..UNWATCHED }), (true, Pausable));
        for (is_attended, has_events) in [(true, false), (false, true)] {
            let port = SwitchPort { facts: &UNWATCHED, is_attended, has_events };
            assert_eq!(Shortcuts::ALL.of_switch_port(&port).waking, ByEvent);
        }
    }

    #[test]
    fn a_shortcut_that_is_not_allowed_is_not_taken() {
        let port = SwitchPort { facts: &UNWATCHED, is_attended: false, has_events: false };
        let waking = |shortcuts: Shortcuts| shortcuts.of_switch_port(&port).waking;
        assert_eq!(waking(Shortcuts { in_order: false, ..Shortcuts::ALL }), Waking::Deferred);
        let facts = PortFacts { queues_per_port: 2, is_strict: true, ..UNWATCHED };
        let port = SwitchPort { facts: &facts, ..port };
        let strict = |shortcuts: Shortcuts| shortcuts.of_switch_port(&port).waking;
        assert_eq!(strict(Shortcuts { in_order: false, ..Shortcuts::ALL }), Waking::Deferred);
        assert_eq!(waking(Shortcuts { deferred: false, ..Shortcuts::ALL }), Waking::ByEvent);
        assert!(!Shortcuts::NONE.of_switch_port(&port).passes_when_idle);
    }

    /// A NIC with one FIFO queue.
    const FIFO: NicSettings = NicSettings {
        scheduling: NicScheduling::Fifo,
        queues: 1,
        ack_queue: 0,
        data_queue: 0,
        fifo_packets: 0,
        queue_pairs: false,
    };

    #[test]
    fn a_nic_is_plain_where_packets_leave_as_they_come() {
        let of =
            |nic, has_discipline, is_exact| Shortcuts::ALL.of_nics(&nic, has_discipline, is_exact);
        assert_eq!(of(FIFO, false, true), NicQueueing::Plain);
        assert_eq!(of(FIFO, true, true), NicQueueing::Managed);
        assert_eq!(of(FIFO, false, false), NicQueueing::Queued);
        assert_eq!(of(NicSettings { queues: 2, ..FIFO }, false, true), NicQueueing::Queued);
        assert_eq!(Shortcuts::NONE.of_nics(&FIFO, false, true), NicQueueing::Queued);
    }

    #[test]
    fn a_nic_that_accepts_every_packet_is_deferred_where_nothing_disturbs_its_line() {
        let of = |scheduling, queueing, attended, events| {
            let nic = NicSettings { scheduling, queues: 8, ..FIFO };
            Shortcuts::ALL.of_nic(&nic, queueing, attended, events)
        };
        let (fifo, in_turn) = (NicScheduling::Fifo, NicScheduling::PerFlowRoundRobin);
        assert_eq!(of(fifo, NicQueueing::Queued, false, false), Waking::BestInOrder);
        assert_eq!(of(in_turn, NicQueueing::Queued, false, false), Waking::Deferred);
        for scheduling in [fifo, in_turn] {
            assert_eq!(of(scheduling, NicQueueing::Queued, true, false), Waking::ByEvent);
            assert_eq!(of(scheduling, NicQueueing::Queued, false, true), Waking::ByEvent);
            assert_eq!(of(scheduling, NicQueueing::Managed, false, false), Waking::ByEvent);
        }
        let without =
            |shortcuts: Shortcuts| shortcuts.of_nic(&FIFO, NicQueueing::Queued, false, false);
        let (deferred, in_order) = (false, false);
        assert_eq!(without(Shortcuts { deferred, ..Shortcuts::ALL }), Waking::ByEvent);
        assert_eq!(without(Shortcuts { in_order, ..Shortcuts::ALL }), Waking::Deferred);
    }
}
