//! Traced fates compared with what is seen from outside: which packets were lost and which sent,
//! and averages computed from the whole history of every queue.

use crate::common::{Real, Settings, cases};
use proptest::prelude::*;
use spillway_engine::{Stream, Time};
use spillway_switch::packet::{NO_PRIORITY, Packet, PacketId, flags};
use spillway_switch::{Averaging, DropReason, Fate, FateTracing};
use std::collections::BTreeMap;

const SPAN: Time = Time::from_us(10);

fn traced(settings: &Settings, averaging: Averaging, one_in: u64) -> Real {
    let mut real = Real::new(settings);
    let tracing = FateTracing { averaging, span: SPAN, one_in };
    real.switch.trace_fates(tracing, Stream::new(1, "test", 0));
    real
}

fn data(size: u32) -> Packet {
    Packet { size, priority: NO_PRIORITY, ..Packet::default() }
}

fn arrive(real: &mut Real, now: Time, port: u32, id: PacketId) {
    let packet = real.packets[id];
    real.switch.enqueue(now, port, id, &packet, &mut real.packets);
}

fn shared(capacity: u64, ports: usize) -> Settings {
    Settings { capacity, ports, sharing: ("lqd", String::new()), ..Settings::default() }
}

#[test]
fn who_is_pushed_out_later_had_arrived_at_a_buffer_with_room() {
    // B = 3000. At time 0, two packets of 1000 bytes for port 0 and one for port 1 fill the buffer.
    // At 10 us, one of 900 bytes for port 1 arrives; port 0's queue is the longest (2000 > 1900)
    // and loses its tail, number 1. 1000 bytes held for one span count as 1000 (1 - 1/e) = 632.12.
    // Then a packet leaves each port.
    let mut real = traced(&shared(3000, 2), Averaging::Continuous, 1);
    for (number, port) in [(0, 0), (1, 0), (2, 1)] {
        let id = real.insert(number, data(1000));
        arrive(&mut real, Time::ZERO, port, id);
    }
    let id = real.insert(3, data(900));
    let now = Time::from_us(10);
    arrive(&mut real, now, 1, id);
    assert_eq!(real.take_lost(), [(1, DropReason::PushedOut)]);
    for port in 0..2 {
        let id = real.switch.dequeue(now, port, &mut real.packets).unwrap();
        real.packets.remove(id);
    }
    real.switch.finish_fates(now);
    let fates = real.switch.take_fates();
    let seen: Vec<_> =
        fates.iter().map(|f| (f.number, f.queue, f.queue_bytes, f.occupancy, f.lost)).collect();
    let expected = [
        (1, 0, 1000, 1000, Some(true)),
        (0, 0, 0, 0, Some(false)),
        (2, 1, 0, 2000, Some(false)),
        (3, 1, 1000, 3000, None),
    ];
    assert_eq!(seen, expected);
    assert!((fates[3].average_queue_bytes - 632.120_558_83).abs() < 1e-6);
    assert!((fates[3].average_occupancy - 3.0 * 632.120_558_83).abs() < 1e-6);
    assert!(fates[..3].iter().all(|fate| fate.average_occupancy == 0.0));
}

/// Credence with an oracle that drops everything, and LQD beside it. B = 3000.
#[test]
fn a_follower_tells_what_lqd_would_have_done_and_what_its_own_buffer_holds() {
    let oracle = "oracle = \"always-drop\"\nsafeguard = false".into();
    let settings = Settings { sharing: ("credence", oracle), ..shared(3000, 2) };
    let mut real = traced(&settings, Averaging::Continuous, 1);
    // At time 0 four packets of 1000 bytes for port 0. LQD sends number 0 at once, and holds 1 to 3.
    // At 0.5 us one for port 1 pushes number 3 out, and is sent at once, which shows with number 5;
    // that fills the buffer again, and 6, for the longest queue, is refused. Here nothing is let in.
    for (number, port, ns) in
        [(0, 0, 0), (1, 0, 0), (2, 0, 0), (3, 0, 0), (4, 1, 500), (5, 1, 500), (6, 0, 500)]
    {
        let id = real.insert(number, data(1000));
        arrive(&mut real, Time::from_ns(ns), port, id);
    }
    assert_eq!(real.take_lost(), [0, 1, 2, 3, 4, 5, 6].map(|n| (n, DropReason::Predicted)));
    // Number 1 is sent at 0.8 us, 2 at 1.6 us, and 5 at 1.3 us.
    real.switch.finish_fates(Time::from_ns(1_500));
    let fates = real.switch.take_fates();
    let seen: Vec<_> = fates.iter().map(|f| (f.number, f.known.ps() / 1_000, f.lost)).collect();
    let expected = [
        (0, 0, Some(false)),
        (3, 500, Some(true)),
        (4, 500, Some(false)),
        (6, 500, Some(true)),
        (1, 1_500, Some(false)),
        (5, 1_500, Some(false)),
    ];
    assert_eq!(seen[..6], expected);
    assert_eq!((fates[6].number, fates[6].known, fates[6].lost), (2, Time::MAX, None));
    assert!(fates.iter().all(|fate| fate.occupancy == 0 && fate.average_occupancy == 0.0));
}

#[test]
fn what_a_failed_link_loses_counts_until_then() {
    // 1000 bytes are held for one span, until they are lost: they count as 1000 (1 - 1/e).
    let mut real = traced(&shared(3000, 1), Averaging::Continuous, 1);
    let now = Time::from_us(10);
    let first = real.insert(0, data(1000));
    arrive(&mut real, Time::ZERO, 0, first);
    real.switch.purge(now, 0, DropReason::LinkDown, &mut real.packets);
    assert_eq!(real.take_lost(), [(0, DropReason::LinkDown)]);
    let second = real.insert(1, data(1000));
    arrive(&mut real, now, 0, second);
    real.switch.finish_fates(now);
    let fates = real.switch.take_fates();
    assert_eq!(fates.iter().map(|fate| fate.queue_bytes).collect::<Vec<_>>(), [0, 0]);
    assert!((fates[1].average_queue_bytes - 632.120_558_83).abs() < 1e-6);
}

#[test]
fn of_those_that_were_sent_some_stand_for_all() {
    let mut real = traced(&shared(3000, 1), Averaging::Continuous, 4);
    for number in 0..4000 {
        // Three fit. The fourth finds its own queue the longest and is refused.
        let now = Time::from_us(10 * number);
        for copy in 0..4 {
            let id = real.insert(4 * number as usize + copy, data(1000));
            arrive(&mut real, now, 0, id);
        }
        assert_eq!(real.take_lost().len(), 1);
        while let Some(id) = real.switch.dequeue(now, 0, &mut real.packets) {
            real.packets.remove(id);
        }
    }
    let fates = real.switch.take_fates();
    let (lost, sent): (Vec<Fate>, Vec<Fate>) = fates.iter().partition(|f| f.lost == Some(true));
    assert_eq!((lost.len(), lost.iter().map(|f| f.weight).sum::<u64>()), (4000, 4000));
    // 12,000 are sent, and each is kept with probability 1/4: 3000 on average, with a standard
    // deviation of 47.
    assert!(sent.iter().all(|fate| fate.weight == 4));
    assert!((2800..3200).contains(&sent.len()), "{} are kept", sent.len());
}

/// What every queue held, and from which time on.
type History = Vec<(Time, Vec<u32>)>;

/// The average of `held` over all time before `now`, by its definition.
fn average(history: &History, now: Time, held: impl Fn(&[u32]) -> u32) -> f64 {
    let weight = |age: Time| (-(age.ps() as f64) / SPAN.ps() as f64).exp();
    let ends = history.iter().skip(1).map(|(from, _)| *from).chain([now]);
    let parts = history.iter().zip(ends).map(|((from, lengths), end)| {
        f64::from(held(lengths)) * (weight(now.since(end)) - weight(now.since(*from)))
    });
    parts.sum()
}

proptest! {
    #![proptest_config(cases(200))]

    #[test]
    fn fates_and_averages_are_those_of_the_whole_history(
        steps in prop::collection::vec((0u64..4000, 0u32..3, 0u8..4, 100u32..1500), 1..120),
        release_at_end: bool,
    ) {
        let mut settings = shared(6000, 3);
        settings.queues_per_port = 2;
        settings.queue_classes = (0, 1);
        settings.release_at_end = release_at_end;
        let mut real = traced(&settings, Averaging::Continuous, 1);
        let mut now = Time::ZERO;
        let mut history: History = vec![(Time::ZERO, vec![0; 6])];
        let mut expected: BTreeMap<usize, (f64, f64, Option<bool>)> = BTreeMap::new();
        for (number, (wait, port, what, size)) in steps.into_iter().enumerate() {
            now += Time::from_ns(wait);
            let control = if what == 3 { flags::CONTROL } else { 0 };
            if what == 0 {
                real.switch.on_sent(now, port);
                if let Some(id) = real.switch.dequeue(now, port, &mut real.packets) {
                    if let Some(seen) = expected.get_mut(&real.number(id)) {
                        seen.2 = Some(false);
                    }
                    real.packets.remove(id);
                }
            } else {
                let queue = port as usize * 2 + usize::from(control == 0);
                let of_queue = average(&history, now, |lengths| lengths[queue]);
                let of_all = average(&history, now, |lengths| lengths.iter().sum());
                if control == 0 {
                    expected.insert(number, (of_queue, of_all, None));
                }
                let id = real.insert(number, Packet { flags: control, ..data(size) });
                arrive(&mut real, now, port, id);
                for (lost, _) in real.take_lost() {
                    if let Some(seen) = expected.get_mut(&lost) {
                        seen.2 = Some(true);
                    }
                }
            }
            let lengths = real.switch.buffer().queues().iter().map(|length| length.bytes).collect();
            history.push((now, lengths));
        }
        real.switch.finish_fates(now);
        let fates = real.switch.take_fates();
        prop_assert_eq!(fates.len(), expected.len());
        let mut numbers: Vec<u64> = fates.iter().map(|fate| fate.number).collect();
        numbers.sort_unstable();
        prop_assert_eq!(numbers, (0..fates.len() as u64).collect::<Vec<_>>());
        for fate in fates {
            let (of_queue, of_all, lost) = expected[&(fate.seq as usize)];
            prop_assert_eq!(fate.lost, lost);
            prop_assert!((fate.average_queue_bytes - of_queue).abs() < 1e-6);
            prop_assert!((fate.average_occupancy - of_all).abs() < 1e-6);
        }
    }
}
