//! Occamy beside a second, naive implementation, packet by packet.
//!
//! The naive one counts every tick, one after the other, and looks at all queues at each. It is
//! written from the rule, in integers, and shares no code with the switch, which works out the next
//! tick that matters. Both must agree on every limit, on which packets are admitted or refused, and
//! on which ones are expelled, and when.

mod rule;

use crate::common::drawing::Tally;
use crate::common::{Real, Settings};
use rule::{Keys, Occamy};
use spillway_engine::{Stream, Time};
use spillway_switch::DropReason;
use spillway_switch::packet::Packet;

/// The real switch, and when its next expulsion is and its thresholds are worked out.
struct Driven {
    real: Real,
    next: Option<Time>,
    update: Option<Time>,
    expelled: Vec<(u64, usize)>,
    expulsions: usize,
}

impl Driven {
    fn wait_until(&mut self, now: u64) {
        loop {
            // At the same moment the expulsion is first.
            let due = self.next.into_iter().chain(self.update).min();
            let Some(time) = due.filter(|time| time.ps() < now) else { return };
            if self.next != Some(time) {
                self.real.switch.on_timer(time, 0);
                self.update = Some(time + self.real.switch.periods()[0].unwrap());
                self.next = self.next.or(self.real.switch.next_expulsion(time));
                continue;
            }
            self.real.switch.expel(time, &mut self.real.packets);
            for (number, reason) in self.real.take_lost() {
                assert_eq!(reason, DropReason::Expelled);
                self.expelled.push((time.ps(), number));
            }
            self.next = self.real.switch.next_expulsion(time);
            self.expulsions += 1;
        }
    }
}

/// Runs both beside each other.
fn compare(seed: u64, counts: &mut Tally) {
    let mut random = Stream::new(seed, "occamy", 0);
    let keys = Keys::draw(&mut random);
    let mut one = |of: &[u64]| of[random.below(of.len() as u64) as usize];
    let (ports, queues_per_port) = ((1 + one(&[0, 1, 3, 7])) as usize, one(&[1, 1, 2, 4]) as usize);
    let switch = Settings {
        capacity: one(&[6_000, 15_000, 40_000]),
        ports,
        queues_per_port,
        // Ticks are a whole number of picoseconds only at these rates, with a power of two of ports.
        rates: vec![one(&[10, 10, 40])],
        queue_classes: (0, queues_per_port - 1),
        uncounted: one(&[0, 0, 24]),
        release_at_end: one(&[0, 0, 0, 1]) == 1,
        scheduling: (if one(&[0, 1]) == 0 { "rr" } else { "dwrr" }, String::new()),
        sharing: ("occamy", keys.text()),
        ..Settings::default()
    };
    let mut naive = Occamy::new(&keys, &switch);
    let real = Real::new(&switch);
    let update = real.switch.periods()[0];
    let mut driven = Driven { real, next: None, update, expelled: Vec::new(), expulsions: 0 };
    driven.real.switch.trace_decisions();
    let is_round = one(&[0, 1]) == 1;
    let mut now = 0;
    for number in 0..400 {
        let case = || format!("seed {seed}, packet {number}: {keys:?} {switch:?}");
        // Often at once, and sometimes after the bucket has filled.
        let more = [0, 0, one(&[1_000, 70_001, 150_000, 400_000]), one(&[5, 20_000, 600_000])];
        let more = more[one(&[0, 1, 2, 3]) as usize];
        now += if is_round { more / 10_000 * 10_000 } else { more };
        naive.wait_until(now);
        driven.wait_until(now);
        assert_eq!(driven.expelled, naive.expelled, "{}", case());
        // Port 0 is the busiest.
        let port = one(&[0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7]) as usize % ports;
        if one(&[0, 1, 2]) > 0 {
            arrive(
                number,
                now,
                port,
                (one(&[64, 200, 375, 1500, 1500]), one(&[0, 1, 2, 3])),
                &mut naive,
                &mut driven,
            );
        } else {
            depart(now, port, &mut naive, &mut driven);
            // Another queue may be the longest now, and over its threshold, as the one before was
            // not. A network does not look for it before the next arrival.
            if naive.looks_at_one() {
                let next = driven.real.switch.next_expulsion(Time::from_ps(now));
                driven.next = driven.next.or(next);
            }
        }
        let buffer = driven.real.switch.buffer();
        let lengths: Vec<u64> =
            (0..naive.queues.len()).map(|queue| buffer.bytes(queue as u32).into()).collect();
        let expected: Vec<u64> = (0..naive.queues.len()).map(|queue| naive.bytes(queue)).collect();
        assert_eq!(lengths, expected, "{}", case());
        assert!(driven.real.switch.is_consistent(&driven.real.packets), "{}", case());
    }
    *naive.counts.0.entry("looked in vain").or_default() +=
        driven.expulsions - driven.expelled.len();
    counts.add(naive.counts);
}

/// A packet of a size and a priority arrives.
fn arrive(
    number: usize,
    now: u64,
    port: usize,
    (size, priority): (u64, u64),
    naive: &mut Occamy,
    driven: &mut Driven,
) {
    let queue_class = (priority as usize).min(naive.switch.queues_per_port - 1);
    let queue = port * naive.switch.queues_per_port + queue_class;
    let limit = naive.limit(queue);
    let fate = naive.fate(now, queue, size);
    let is_idle = naive.sending[port].is_none()
        && (0..naive.switch.queues_per_port)
            .all(|class| naive.queues[port * naive.switch.queues_per_port + class].is_empty());
    // Every second port that could send at once does.
    let passes = is_idle && number.is_multiple_of(2);
    let wire = (size + naive.switch.uncounted) as u32;
    let packet = Packet { size: wire, priority: priority as u8, ..Packet::default() };
    let id = driven.real.insert(number, packet);
    let Real { switch, packets } = &mut driven.real;
    let (at, port_number) = (Time::from_ps(now), port as u32);
    let sent = if passes {
        switch.pass(at, port_number, id, &packet, packets)
    } else {
        switch.enqueue(at, port_number, id, &packet, packets);
        None
    };
    let decisions = switch.take_decisions();
    assert_eq!(decisions[0].threshold, Some(limit));
    assert_eq!(decisions[0].dropped, fate, "packet {number} at {now}: {:?}", naive.keys);
    let lost: Vec<_> = fate.iter().map(|reason| (number, *reason)).collect();
    assert_eq!(driven.real.take_lost(), lost);
    naive.counts.count("taken", fate.is_none());
    naive.counts.count("over", fate == Some(DropReason::OverThreshold));
    naive.counts.count("full", fate == Some(DropReason::BufferFull));
    if fate.is_none() {
        if let Some(id) = sent {
            driven.real.packets.remove(id);
            naive.charge(size);
            naive.sending[port] = naive.switch.release_at_end.then_some((queue, size));
        } else {
            assert!(!passes);
            naive.queues[queue].push_back((number, size));
        }
    }
    if driven.next.is_none() {
        driven.next = driven.real.switch.next_expulsion(at);
    } else {
        assert_eq!(driven.real.switch.next_expulsion(at), None, "it is known");
    }
}

/// A port can send.
fn depart(now: u64, port: usize, naive: &mut Occamy, driven: &mut Driven) {
    let Real { switch, packets } = &mut driven.real;
    naive.sending[port] = None;
    let sent = switch.send_next(Time::from_ps(now), port as u32, packets).map(|(id, _)| id);
    let queues = port * naive.switch.queues_per_port..(port + 1) * naive.switch.queues_per_port;
    let Some(id) = sent else {
        assert!(queues.into_iter().all(|queue| naive.queues[queue].is_empty()));
        return;
    };
    let number = driven.real.number(id);
    driven.real.packets.remove(id);
    let mut of_port = queues.into_iter();
    let is_first = |queue: &usize| naive.queues[*queue].front().is_some_and(|p| p.0 == number);
    let queue = of_port.find(is_first).expect("the first of a queue");
    let (_, size) = naive.queues[queue].pop_front().unwrap();
    naive.charge(size);
    naive.sending[port] = naive.switch.release_at_end.then_some((queue, size));
}

#[test]
fn decides_and_expels_as_a_naive_implementation() {
    let mut counts = Tally::default();
    (0..300).for_each(|seed| compare(seed, &mut counts));
    for (what, least) in [
        ("taken", 10_000),
        ("over", 2_000),
        ("full", 1_000),
        ("exempt", 100),
        ("expelled", 2_000),
        ("another queue", 1_000),
        ("the last packet", 300),
        ("several longest", 100),
        ("overdrawn", 500),
        ("in debt", 10_000),
        ("looked in vain", 500),
        // With old thresholds.
        ("fits by now", 500),
        ("no longer fits", 2_000),
        // Of the software switch.
        ("at once", 300),
        ("at a tick", 400),
        ("after an update", 1_000),
        ("several at one instant", 300),
        ("the first is spared", 5_000),
        ("turns begin again", 400),
        ("a longer one is not over", 50),
    ] {
        assert!(counts.of(what) >= least, "{what}: {counts:?}");
    }
}
