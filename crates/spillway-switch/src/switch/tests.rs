mod lossless;
mod observing;
mod passing;
mod probe;
mod push_out;
mod traces;
mod unimportant;

use super::*;
use crate::buffer::Length;
use crate::catalogue::Environment;
use crate::packet::{Contents, NO_PRIORITY, flags};
use crate::policy::{Admission, Departure, DropReason, Verdict, Victim, Watch};
use probe::{Probe, probed};
use proptest::prelude::*;
use spillway_settings::Section;

fn section(text: &str) -> Section {
    Section::new("test", text.parse().unwrap())
}

/// A switch that lets packets pass idle ports where nothing would observe it.
fn passing<S: Sharing, A: Aqm>(parts: SwitchParts<S, A>) -> Switch<S, A> {
    let mut switch = Switch::new(parts);
    let facts = switch.port_facts();
    let is_seen = facts.watches_turns || facts.schedules_by_account || facts.holds_until_sent;
    switch.let_pass(!is_seen);
    switch
}

/// A switch of `ports` ports with two queues each; queue class 0 is for acks.
fn switch(ports: usize, capacity: u64, sharing: &str, scheduling: &str) -> Switch {
    let environment = Environment { capacity, queues_per_port: 2, ..Environment::example(ports) };
    let read = |id: &str| SharingPolicy::read(id, &mut Section::empty(), &environment).unwrap();
    let aqm = "threshold = \"3pkt\"";
    passing(SwitchParts {
        capacity,
        port_rates: environment.port_rates.clone(),
        queues_per_port: 2,
        ack_queue_class: 0,
        data_queue_class: 1,
        unmanaged: Some(0),
        queue_limit: Amount::Unlimited,
        uncounted_bytes: 0,
        release_at_end: false,
        sharing: read(sharing),
        aqm: AqmPolicy::read("ecn", &mut section(aqm), &environment).unwrap(),
        scheduling: SchedulingPolicy::read(scheduling, &mut Section::empty(), &environment)
            .unwrap(),
        meter: Meter::new(capacity, Time::ZERO, Time::MAX),
        lossless: None,
    })
}

/// A switch of one port and one queue.
fn simple<S: Sharing>(capacity: u64, sharing: S) -> Switch<S, AqmPolicy> {
    let none = AqmPolicy::read("none", &mut Section::empty(), &Environment::example(1));
    simple_with(capacity, sharing, none.unwrap())
}

fn simple_with<S: Sharing, A: Aqm>(capacity: u64, sharing: S, aqm: A) -> Switch<S, A> {
    passing(simple_parts(capacity, sharing, aqm))
}

fn simple_parts<S: Sharing, A: Aqm>(capacity: u64, sharing: S, aqm: A) -> SwitchParts<S, A> {
    let environment = Environment::example(1);
    let fifo = SchedulingPolicy::read("fifo", &mut Section::empty(), &environment).unwrap();
    SwitchParts {
        capacity,
        port_rates: environment.port_rates,
        queues_per_port: 1,
        ack_queue_class: 0,
        data_queue_class: 0,
        unmanaged: None,
        queue_limit: Amount::Unlimited,
        uncounted_bytes: 0,
        release_at_end: false,
        sharing,
        aqm,
        scheduling: fifo,
        meter: Meter::new(capacity, Time::ZERO, Time::MAX),
        lossless: None,
    }
}

fn data(size: u32, seq: u64) -> (Packet, Contents) {
    let packet = Packet { size, flags: flags::ECT, priority: NO_PRIORITY, ..Packet::default() };
    (packet, Contents { seq, ..Contents::default() })
}

fn ack(size: u32) -> (Packet, Contents) {
    let packet = Packet { size, flags: flags::CONTROL, priority: NO_PRIORITY, ..Packet::default() };
    (packet, Contents::default())
}

fn insert(packets: &mut Arena, (packet, contents): (Packet, Contents)) -> PacketId {
    packets.insert(packet, contents)
}

fn enqueue<S: Sharing>(
    switch: &mut Switch<S, AqmPolicy>,
    now: Time,
    port: u32,
    id: PacketId,
    packets: &mut Arena,
) {
    let packet = packets[id];
    switch.enqueue(now, port, id, &packet, packets);
}

fn pass<S: Sharing>(
    switch: &mut Switch<S, AqmPolicy>,
    now: Time,
    port: u32,
    id: PacketId,
    packets: &mut Arena,
) -> Option<PacketId> {
    let packet = packets[id];
    switch.pass(now, port, id, &packet, packets)
}

fn at(ps: u64) -> Time {
    Time::from_ps(ps)
}

#[test]
fn packets_leave_in_order_and_the_fifth_is_marked() {
    let (mut switch, mut packets) = (switch(2, 10_000, "cs", "rr"), Arena::new());
    for seq in 0..5 {
        let id = insert(&mut packets, data(1000, seq));
        enqueue(&mut switch, at(seq), 1, id, &mut packets);
    }
    assert_eq!((switch.buffer().occupancy(), switch.buffer().bytes(3)), (5000, 5000));
    let mut left = Vec::new();
    while switch.has_backlog(1) {
        let id = switch.dequeue(at(10), 1, &mut packets).unwrap();
        left.push((packets.contents(id).seq, packets[id].flags & flags::CE != 0));
    }
    // K = 3: the packet that finds four queued is marked.
    assert_eq!(left, [(0, false), (1, false), (2, false), (3, false), (4, true)]);
    assert_eq!((switch.marks(), switch.buffer().occupancy()), (1, 0));
}

#[test]
fn acks_have_their_own_queue_and_are_never_marked() {
    let (mut switch, mut packets) = (switch(1, 100_000, "cs", "rr"), Arena::new());
    for _ in 0..6 {
        let id = insert(&mut packets, ack(64));
        enqueue(&mut switch, at(0), 0, id, &mut packets);
    }
    let id = insert(&mut packets, data(1000, 0));
    enqueue(&mut switch, at(0), 0, id, &mut packets);
    let mut sizes = Vec::new();
    while let Some(id) = switch.dequeue(at(1), 0, &mut packets) {
        sizes.push(packets[id].size);
    }
    assert_eq!(sizes, [64, 1000, 64, 64, 64, 64, 64]);
    assert_eq!(switch.marks(), 0);
}

#[test]
fn bytes_can_be_held_until_the_end_of_a_transmission() {
    let (mut switch, mut packets) = (switch(1, 2000, "cs", "rr"), Arena::new());
    switch.in_transmission = Some(Box::new([(0, 0)]));
    switch.let_pass(false);
    let id = insert(&mut packets, data(1500, 0));
    assert_eq!(pass(&mut switch, at(0), 0, id, &mut packets), Some(id));
    assert_eq!((switch.buffer().occupancy(), switch.has_backlog(0)), (1500, false));
    let second = insert(&mut packets, data(600, 1));
    enqueue(&mut switch, at(5), 0, second, &mut packets);
    assert_eq!(switch.lost()[0].reason, DropReason::BufferFull);
    switch.on_sent(at(10), 0);
    assert_eq!(switch.buffer().occupancy(), 0);
}

proptest! {
    /// Whatever arrives and leaves: every packet is queued, sent or lost, the counters agree with
    /// the packets, and the buffer never exceeds its capacity. A packet that may bypass an idle
    /// port leaves everything as if it had been queued.
    #[test]
    fn no_packet_and_no_byte_goes_astray(
        steps in prop::collection::vec((0u32..4, 40u32..1500, any::<bool>(), 0u32..3), 1..300),
        sharing in prop::sample::select(SharingPolicy::IDS),
        scheduling in prop::sample::select(SchedulingPolicy::IDS),
    ) {
        let mut switch = switch(4, 20_000, sharing, scheduling);
        let mut packets = Arena::new();
        let (mut sent, mut lost) = (0, 0);
        for (i, &(port, size, control, serves)) in steps.iter().enumerate() {
            let now = at(i as u64);
            let packet = if control { ack(size) } else { data(size, i as u64) };
            let id = insert(&mut packets, packet);
            if switch.has_backlog(port) || i % 3 == 0 {
                enqueue(&mut switch, now, port, id, &mut packets);
            } else if let Some(id) = pass(&mut switch, now, port, id, &mut packets) {
                packets.remove(id);
                sent += 1;
            }
            for other in 0..serves {
                let port = (port + other) % 4;
                if let Some(id) = switch.dequeue(now, port, &mut packets) {
                    packets.remove(id);
                    sent += 1;
                }
            }
            lost += switch.lost().len();
            for place in 0..switch.lost().len() {
                packets.remove(switch.lost()[place].packet);
            }
            switch.clear_lost();
            prop_assert!(switch.is_consistent(&packets));
            prop_assert_eq!(i + 1, sent + lost + packets.live());
        }
    }
}

#[test]
fn no_queue_holds_more_than_can_be_counted() {
    let (mut switch, mut packets) = (switch(2, Buffer::UNLIMITED, "cs", "rr"), Arena::new());
    for (seq, size) in [(0, 1 << 31), (1, (1 << 31) - 1), (2, 1)] {
        let id = insert(&mut packets, data(size, seq));
        enqueue(&mut switch, at(seq), 0, id, &mut packets);
    }
    let lost: Vec<_> = switch.lost().iter().map(|lost| (lost.packet, lost.reason)).collect();
    assert_eq!(lost, [(2, DropReason::QueueLimit)]);
    assert_eq!((switch.buffer().bytes(1), switch.buffer().occupancy()), (u32::MAX, (1 << 32) - 1));
}

#[test]
fn shares_are_of_bytes_on_the_wire_whatever_the_buffer_counts() {
    // 500 bytes of every packet are not counted. Packets have 1000 and 1500 bytes on the wire, in
    // two queues of equal weight: of 30 packets sent, there are three small ones for every two
    // large ones.
    let (mut switch, mut packets) = (switch(1, 1_000_000, "cs", "dwrr"), Arena::new());
    switch.uncounted_bytes = 500;
    for seq in 0..30 {
        for (priority, size) in [(0, 1_000), (1, 1_500)] {
            let (packet, contents) = data(size, seq);
            let id = packets.insert(Packet { priority, ..packet }, contents);
            enqueue(&mut switch, at(seq), 0, id, &mut packets);
        }
    }
    assert_eq!(switch.buffer().occupancy(), 30 * (500 + 1_000));
    let sent: Vec<_> = (0..30).map(|_| switch.dequeue(at(99), 0, &mut packets).unwrap()).collect();
    let small = sent.iter().filter(|&&id| packets[id].size == 1_000).count();
    assert!((17..=19).contains(&small), "{small}");
}

/// A switch of one port and two queues, with these queue classes for acks and data.
fn two_queues<S: Sharing>(
    sharing: S,
    (ack_queue_class, data_queue_class): (u8, u8),
) -> Switch<S, AqmPolicy> {
    let environment = Environment { queues_per_port: 2, ..Environment::example(1) };
    let aqm = AqmPolicy::read("ecn", &mut section("threshold = \"3pkt\""), &environment);
    let rr = SchedulingPolicy::read("rr", &mut Section::empty(), &environment);
    passing(SwitchParts {
        capacity: 100_000,
        port_rates: environment.port_rates,
        queues_per_port: 2,
        ack_queue_class,
        data_queue_class,
        unmanaged: (ack_queue_class != data_queue_class).then_some(ack_queue_class),
        queue_limit: Amount::Unlimited,
        uncounted_bytes: 0,
        release_at_end: false,
        sharing,
        aqm: aqm.unwrap(),
        scheduling: rr.unwrap(),
        meter: Meter::new(100_000, Time::ZERO, Time::MAX),
        lossless: None,
    })
}

#[test]
fn a_queue_class_that_data_shares_with_acks_is_managed_as_data_is() {
    // K = 3. In a queue of their own, data packets find 0 to 4 packets queued; behind acks 1, 3, 5,
    // 7, 9.
    for (queue_classes, marks) in [((0, 1), 1), ((0, 0), 3), ((1, 1), 3)] {
        let (mut switch, mut packets) = (two_queues(Probe::default(), queue_classes), Arena::new());
        for seq in 0..5 {
            for packet in [ack(64), data(1000, seq)] {
                let id = insert(&mut packets, packet);
                enqueue(&mut switch, at(seq), 0, id, &mut packets);
            }
        }
        assert_eq!(switch.marks(), marks, "{queue_classes:?}");
    }
}

#[test]
fn what_waits_at_a_port_is_told_without_what_is_being_sent() {
    let two = |holds: bool| {
        let (mut switch, mut packets) = (two_queues(Probe::default(), (0, 1)), Arena::new());
        switch.in_transmission = holds.then(|| vec![(0, 0)].into());
        switch.let_pass(!holds);
        for packet in [ack(64), ack(65), ack(66), data(1000, 0), data(1001, 1)] {
            let id = insert(&mut packets, packet);
            enqueue(&mut switch, at(0), 0, id, &mut packets);
        }
        let sent = switch.dequeue(at(1), 0, &mut packets).unwrap();
        assert_eq!(
            (packets[sent].size, switch.buffer().bytes(0)),
            (64, if holds { 195 } else { 131 })
        );
        switch.waiting_bytes(0)
    };
    // Two acks, and two packets of the other queue.
    assert_eq!((two(false), two(true)), (131 + 2001, 131 + 2001));
}

proptest! {
    /// `open_below` says up to which occupancy a policy need not be asked about packets that pass.
    /// The policy would have admitted all of these packets.
    #[test]
    fn what_passes_unasked_would_have_passed(
        steps in prop::collection::vec((0u32..4, 40u32..17_000, any::<bool>(), 0u32..4), 1..200),
        sharing in prop::sample::select(SharingPolicy::IDS),
        capacity in 30_000u64..200_000,
    ) {
        let mut packets = [Arena::new(), Arena::new()];
        let mut both = [switch(4, capacity, sharing, "rr"), switch(4, capacity, sharing, "rr")];
        both[1].open_below = 0;
        for (i, &(port, size, control, serves)) in steps.iter().enumerate() {
            let now = at(i as u64);
            let packet = if control { ack(size) } else { data(size, i as u64) };
            let step = |switch: &mut Switch, packets: &mut Arena| {
                let id = insert(packets, packet);
                let passed = if switch.has_backlog(port) || i % 4 == 0 {
                    enqueue(switch, now, port, id, packets);
                    None
                } else {
                    pass(switch, now, port, id, packets)
                };
                let served: Vec<_> =
                    (0..serves).map(|port| switch.dequeue(now, port, packets)).collect();
                let lost: Vec<PacketId> = switch.lost().iter().map(|lost| lost.packet).collect();
                switch.clear_lost();
                (passed, served, lost, switch.marks(), switch.buffer().occupancy())
            };
            let [first, second] = &mut both;
            prop_assert_eq!(step(first, &mut packets[0]), step(second, &mut packets[1]));
        }
    }
}

// Victims other than a tail
// ------------------------------------------------------------------------

/// An AQM that drops what arrives later than after one microsecond.
#[derive(Debug)]
struct Late;

impl Watch for Late {}

impl Aqm for Late {
    fn on_arrival(&mut self, arrival: &Arrival, _buffer: &Buffer) -> Verdict {
        if arrival.now > Time::from_us(1) { Verdict::Drop } else { Verdict::Pass }
    }
}

#[test]
fn a_traced_decision_of_an_aqm_has_the_limit_of_its_moment() {
    let environment = Environment::example(1);
    let follow = SharingPolicy::read("followlqd", &mut Section::empty(), &environment).unwrap();
    let (mut switch, mut packets) = (simple_with(10_000, follow, Late), Arena::new());
    switch.trace_decisions();
    // The virtual queue sends one packet each at 0, 800, 1600 and 2400 ns, at 10 Gbps.
    for time in [0, 0, 0, 0, 1_600] {
        let id = insert(&mut packets, data(1_000, 0));
        let packet = packets[id];
        switch.enqueue(Time::from_ns(time), 0, id, &packet, &mut packets);
    }
    let decisions = switch.take_decisions();
    assert_eq!(
        (decisions[4].dropped, decisions[4].threshold),
        (Some(DropReason::Aqm), Some(1_000))
    );
}

#[test]
fn a_port_that_sends_in_order_hands_sizes_back_one_after_the_other() {
    let mut switch = simple_with(10_000, Probe::default(), Probe::default());
    let mut packets = Arena::new();
    let mut offer = |switch: &mut Switch<Probe, Probe>, size| {
        let id = insert(&mut packets, data(size, 0));
        let packet = packets[id];
        let is_taken = switch.enqueue_in_order(at(0), 0, id, &packet, &mut packets);
        assert!(switch.is_consistent(&packets));
        is_taken
    };
    assert!(offer(&mut switch, 1000) && offer(&mut switch, 8500) && offer(&mut switch, 500));
    // The buffer's 10,000 bytes are full.
    assert!(!offer(&mut switch, 64));
    assert_eq!(
        switch.lost().iter().map(|lost| lost.reason).collect::<Vec<_>>(),
        [DropReason::BufferFull]
    );
    assert_eq!(switch.send_in_order(at(1), 0), (1000, true));
    assert_eq!(switch.buffer().length(0), Length { bytes: 9000, packets: 2 });
    assert!(offer(&mut switch, 64));
    assert_eq!(switch.send_in_order(at(2), 0), (8500, true));
    assert_eq!(switch.send_in_order(at(3), 0), (500, true));
    assert_eq!(switch.send_in_order(at(4), 0), (64, false));
    assert_eq!((switch.buffer().length(0), switch.buffer().occupancy()), (Length::default(), 0));
    let seen = ["+1000 1000", "+8500 9500", "+500 10000", "x64", "-1000 9000", "+64 9064"];
    assert_eq!(switch.sharing.seen[..6], seen);
    assert_eq!(switch.sharing.seen[6..], ["-8500 564", "-500 64", "-64 0"]);
    assert_eq!(switch.aqm.seen, switch.sharing.seen);
}

/// Of three queues, two hold packets when the port can send, and one that is better gets some
/// meanwhile.
#[test]
fn a_port_under_strict_priority_sends_its_best_queue_ahead_and_the_others_in_their_turn() {
    let environment = Environment { queues_per_port: 3, ..Environment::example(2) };
    let strict = SchedulingPolicy::read("strict", &mut Section::empty(), &environment).unwrap();
    let mut switch = Switch::new(SwitchParts {
        port_rates: environment.port_rates,
        queues_per_port: 3,
        scheduling: strict,
        uncounted_bytes: 100,
        ..simple_parts(10_000, Probe::default(), Probe::default())
    });
    let mut packets = Arena::new();
    let offer = |switch: &mut Switch<Probe, Probe>, packets: &mut Arena, priority, size| {
        let id =
            packets.insert(Packet { size, priority, ..Packet::default() }, Contents::default());
        let packet = packets[id];
        if switch.is_best(&packet) {
            assert!(switch.enqueue_best(at(0), 1, id, &packet, packets))
        } else {
            switch.enqueue(at(0), 1, id, &packet, packets)
        }
        assert!(switch.is_consistent(packets));
        id
    };
    let worst = offer(&mut switch, &mut packets, 2, 1000);
    let [first, second] = [600, 500].map(|size| offer(&mut switch, &mut packets, 1, size));
    offer(&mut switch, &mut packets, 0, 300);
    offer(&mut switch, &mut packets, 0, 400);
    let next = |switch: &mut Switch<Probe, Probe>, packets: &Arena| {
        let sent = switch.send_by_priority(at(1), 1, packets);
        assert!(switch.is_consistent(packets));
        sent
    };
    assert_eq!(next(&mut switch, &packets), (Sent::Ahead(300), true));
    assert_eq!(next(&mut switch, &packets), (Sent::Ahead(400), true));
    assert_eq!(next(&mut switch, &packets), (Sent::Packet(first), true));
    offer(&mut switch, &mut packets, 0, 350);
    assert_eq!(next(&mut switch, &packets), (Sent::Ahead(350), true));
    assert_eq!(next(&mut switch, &packets), (Sent::Packet(second), true));
    assert_eq!(next(&mut switch, &packets), (Sent::Packet(worst), false));
    assert_eq!((switch.buffer().occupancy(), switch.has_backlog(1)), (0, false));
    // What joins and leaves, and its queue's bytes then.
    let seen = "+900 900, +500 500, +400 900, +200 200, +300 500, -200 300, -300 0, -500 400, \
                +250 250, -250 0, -400 0, -900 0";
    assert_eq!(switch.sharing.seen.join(", "), seen);
    assert_eq!(switch.aqm.seen, switch.sharing.seen);
}

#[test]
fn a_port_that_sends_in_order_gives_back_the_bytes_that_count() {
    let (mut switch, mut packets) = (probed(false), Arena::new());
    switch.uncounted_bytes = 400;
    for (seq, size) in [(0, 1000), (1, 500)] {
        let id = insert(&mut packets, data(size, seq));
        let packet = packets[id];
        assert!(switch.enqueue_in_order(at(seq), 0, id, &packet, &mut packets));
        assert_eq!(switch.size_of(&packet), size - 400);
    }
    assert_eq!((switch.send_in_order(at(2), 0), switch.buffer().bytes(0)), ((1000, true), 100));
    assert_eq!((switch.send_in_order(at(3), 0), switch.buffer().bytes(0)), ((500, false), 0));
    assert_eq!(switch.sharing.seen.join(", "), "+600 600, +100 700, -600 100, -100 0");
}

#[test]
fn what_bears_on_shortcuts_is_told() {
    let environment = Environment::example(2);
    let with = |id: &str| SharingPolicy::read(id, &mut Section::empty(), &environment).unwrap();
    for id in ["cs", "sp", "dt", "abm", "followlqd", "lqd", "quasi-pushout"] {
        let pushes_out = ["lqd", "quasi-pushout"].contains(&id);
        assert_eq!(simple(10_000, with(id)).port_facts().pushes_out, pushes_out, "{id}");
    }
    for (scheduling, keeps) in [("rr", false), ("strict", false), ("dwrr", true)] {
        let facts = switch(2, 10_000, "dt", scheduling).port_facts();
        assert_eq!((facts.queues_per_port, facts.schedules_by_account), (2, keeps));
    }
    let mut held = simple(10_000, with("dt"));
    assert!(!held.port_facts().holds_until_sent && !held.port_facts().is_traced);
    held.in_transmission = Some(vec![(0, 0)].into());
    held.trace_decisions();
    assert!(held.port_facts().holds_until_sent && held.port_facts().is_traced);
    held.trace_bursts(crate::BurstTracing { above: 1000, beta: 0.5 });
    assert!(held.port_facts().decides_departures);
}

// What policies see ------------------------------------------------------------------------------
