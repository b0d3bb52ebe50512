//! Packets that pass idle ports, and what policies are asked about them.

use super::*;

/// Both a sharing policy and an AQM, which states what it observes and what it does with packets
/// on their way out.
#[derive(Clone, Copy, Debug)]
struct Wants {
    queues: bool,
    in_time: bool,
    departures: bool,
    on_the_way_out: Verdict,
}

const NOTHING: Wants =
    Wants { queues: false, in_time: false, departures: false, on_the_way_out: Verdict::Pass };

impl Watch for Wants {
    fn watches_queues(&self) -> bool {
        self.queues
    }
    fn watches_in_time(&self) -> bool {
        self.in_time
    }
    fn watches_departures(&self) -> bool {
        self.departures
    }
    fn on_departure(&mut self, _departure: &Departure, _buffer: &Buffer) -> Verdict {
        self.on_the_way_out
    }
}

impl Sharing for Wants {
    fn admit(&mut self, _arrival: &Arrival, _buffer: &Buffer) -> Admission {
        Admission::Admit
    }
    fn open_below(&self, capacity: u64) -> u64 {
        capacity
    }
}

impl Aqm for Wants {
    fn on_arrival(&mut self, _arrival: &Arrival, _buffer: &Buffer) -> Verdict {
        Verdict::Pass
    }
    fn passes_idle_ports(&self) -> bool {
        !self.departures
    }
}

/// A packet of `size` bytes arrives at an idle port. Returns whether it passes, and why packets
/// were lost.
fn offered<S: Sharing, A: Aqm>(
    switch: &mut Switch<S, A>,
    now: Time,
    size: u32,
) -> (bool, Vec<DropReason>) {
    let mut packets = Arena::new();
    let id = insert(&mut packets, data(size, 0));
    let packet = packets[id];
    let passes = switch.pass(now, 0, id, &packet, &mut packets).is_some();
    let lost = switch.lost().iter().map(|lost| lost.reason).collect();
    switch.clear_lost();
    (passes, lost)
}

#[test]
fn each_policy_says_for_both_what_it_must_see() {
    for (of_sharing, of_aqm) in [(false, false), (true, false), (false, true)] {
        let wants = |wants| Wants { queues: wants, in_time: wants, departures: wants, ..NOTHING };
        let facts = simple_with(10_000, wants(of_sharing), wants(of_aqm)).port_facts();
        let told = [facts.watches_queues, facts.watches_in_time, facts.decides_departures];
        assert_eq!(told, [of_sharing || of_aqm; 3]);
    }
}

#[test]
fn no_packet_passes_until_it_is_let() {
    for (passes, seen) in [(None, 2), (Some(true), 0), (Some(false), 2)] {
        let environment = Environment::example(1);
        let mut switch = Switch::new(SwitchParts {
            capacity: 10_000,
            port_rates: environment.port_rates.clone(),
            queues_per_port: 1,
            ack_queue_class: 0,
            data_queue_class: 0,
            queue_limit: Amount::Unlimited,
            uncounted_bytes: 0,
            release_at_end: false,
            sharing: Probe::default(),
            aqm: NOTHING,
            scheduling: SchedulingPolicy::read("fifo", &mut Section::empty(), &environment)
                .unwrap(),
            meter: Meter::new(10_000, Time::ZERO, Time::MAX),
        });
        passes.into_iter().for_each(|passes| switch.let_pass(passes));
        assert_eq!(offered(&mut switch, at(5), 1000), (true, vec![]));
        assert_eq!(switch.sharing.seen.len(), seen, "{passes:?}");
    }
}

#[test]
fn an_aqm_that_must_hear_of_all_arrivals_is_asked_about_those_that_pass() {
    let mut switch = simple_with(100_000, NOTHING, Late);
    assert_eq!(offered(&mut switch, Time::from_us(1), 1000), (true, vec![]));
    assert_eq!(offered(&mut switch, Time::from_us(2), 1000), (false, vec![DropReason::Aqm]));
}

#[test]
fn what_is_dropped_on_its_way_out_does_not_pass() {
    let drops = Wants { departures: true, on_the_way_out: Verdict::Drop, ..NOTHING };
    let mut by_aqm = simple_with(100_000, NOTHING, drops);
    assert_eq!(offered(&mut by_aqm, at(5), 1000), (false, vec![DropReason::Aqm]));
    let mut by_sharing = simple_with(100_000, drops, NOTHING);
    assert_eq!(offered(&mut by_sharing, at(5), 1000), (false, vec![DropReason::OverDelay]));
}

#[test]
fn what_is_larger_than_any_packet_does_not_pass_unasked() {
    // An empty buffer of 20,000 bytes takes any packet that is not larger than itself.
    let mut switch = simple_with(20_000, NOTHING, NOTHING);
    assert_eq!(offered(&mut switch, at(5), LARGEST_PACKET), (true, vec![]));
    assert_eq!(offered(&mut switch, at(6), 20_001), (false, vec![DropReason::BufferFull]));
}

#[test]
fn an_arrival_that_passes_has_its_row_in_a_trace() {
    let mut switch = simple_with(100_000, NOTHING, NOTHING);
    assert_eq!(offered(&mut switch, at(5), 1000), (true, vec![]));
    switch.trace_decisions();
    assert_eq!(offered(&mut switch, at(6), 1000), (true, vec![]));
    let rows: Vec<Time> = switch.take_decisions().iter().map(|row| row.time).collect();
    assert_eq!(rows, [at(6)]);
}
