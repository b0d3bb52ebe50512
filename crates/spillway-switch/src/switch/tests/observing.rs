//! What observers are told of queues, by hand.

use super::*;
use crate::switch::QueueCounts;

/// The data queue of a port, which has two.
const DATA: QueueId = 1;

fn comes(switch: &mut Switch, ps: u64, size: u32, packets: &mut Arena) {
    let id = insert(packets, data(size, ps));
    enqueue(switch, at(ps), 0, id, packets);
}

/// 1,000 bytes from 10 ps, 3,000 from 20 ps, 2,000 from 50 ps, none from 60 ps.
fn observed_from(from: u64, now: u64) -> (Switch, Arena) {
    let (mut switch, mut packets) = (switch(2, 10_000, "cs", "rr"), Arena::new());
    let observe = |switch: &mut Switch, before: u64, after: u64| {
        if (before..after).contains(&from) {
            switch.observe(at(from));
        }
    };
    observe(&mut switch, 0, 10);
    comes(&mut switch, 10, 1_000, &mut packets);
    observe(&mut switch, 10, 20);
    comes(&mut switch, 20, 2_000, &mut packets);
    observe(&mut switch, 20, 50);
    for ps in [50, 60].into_iter().filter(|&ps| ps <= now) {
        switch.dequeue(at(ps), 0, &mut packets).unwrap();
    }
    (switch, packets)
}

#[test]
fn a_queues_bytes_count_for_as_long_as_it_holds_them() {
    let held = |from, now| {
        let counts = observed_from(from, now).0.queue_counts(at(now), DATA);
        let held = counts.byte_picoseconds;
        assert_eq!(counts, QueueCounts { byte_picoseconds: held, ..QueueCounts::default() });
        held
    };
    assert_eq!(held(0, 40), 1_000 * 10 + 3_000 * 20);
    assert_eq!(held(0, 100), 1_000 * 10 + 3_000 * 30 + 2_000 * 10);
    assert_eq!(held(15, 100), 1_000 * 5 + 3_000 * 30 + 2_000 * 10);
    assert_eq!([held(40, 40), held(40, 45)], [0, 3_000 * 5]);
    // The other queue of the port, and other ports, hold nothing.
    let (mut switch, _) = observed_from(0, 100);
    assert_eq!([0, 2, 3].map(|queue| switch.queue_counts(at(100), queue)), [Default::default(); 3]);
}

#[test]
fn the_most_since_the_last_look_is_what_lasted_for_any_time() {
    let (mut switch, mut packets) = observed_from(0, 40);
    // From 40 ps on: what is held then counts.
    let [first, second] = [0, 1].map(|_| switch.observe_peaks(at(40)));
    assert_eq!(switch.take_peak(at(45), first, DATA), 3_000);
    // One of 1,000 B leaves when one of 500 B comes: 3,500 B lasted for no time.
    comes(&mut switch, 50, 500, &mut packets);
    switch.dequeue(at(50), 0, &mut packets).unwrap();
    assert_eq!(switch.take_peak(at(55), first, DATA), 3_000);
    assert_eq!(switch.take_peak(at(60), first, DATA), 2_500);
    switch.dequeue(at(60), 0, &mut packets).unwrap();
    assert_eq!(switch.take_peak(at(70), first, DATA), 500);
    assert_eq!(switch.take_peak(at(70), second, DATA), 3_000);
    assert_eq!(switch.take_peak(at(70), second, 0), 0);
}

#[test]
fn marks_and_losses_count_in_their_queue() {
    // K = 3: the packet that finds 4 queued is marked; the last does not fit.
    let (mut switch, mut packets) = (switch(1, 5_500, "cs", "rr"), Arena::new());
    switch.observe(at(0));
    (0..5).for_each(|ps| comes(&mut switch, ps, 1_000 + ps as u32, &mut packets));
    comes(&mut switch, 5, 900, &mut packets);
    let counts = switch.queue_counts(at(5), DATA);
    assert_eq!((counts.marked_packets, counts.marked_bytes), (1, 1_004));
    assert_eq!((counts.dropped_packets, counts.dropped_bytes), (1, 900));
    assert_eq!(switch.marks(), 1);
}

#[test]
fn an_observed_switch_takes_the_same_shortcuts() {
    let (mut one, mut packets) = (switch(2, 1_000_000, "cs", "rr"), Arena::new());
    let facts = |one: &Switch| (format!("{:?}", one.port_facts()), one.open_below);
    let before = facts(&one);
    one.observe(at(0));
    assert_eq!(facts(&one), before);
    // A packet passes without being queued, and nobody is asked about it.
    let id = insert(&mut packets, data(1_000, 0));
    assert!(one.open_below > 0);
    assert_eq!(pass(&mut one, at(1), 0, id, &mut packets), Some(id));
    assert_eq!(one.queue_counts(at(9), DATA), QueueCounts::default());
}
