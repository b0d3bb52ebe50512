//! The limit for unimportant packets beside a second, naive implementation: each port's packets are
//! gone through at every arrival. Random sharing policies, AQMs, schedulers and limits of queues.

use crate::common::drawing::{Section, switches};
use crate::common::{Real, Settings, cases};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use spillway_engine::Time;
use spillway_settings::quantity::Amount;
use spillway_switch::DropReason;
use spillway_switch::packet::{NO_PRIORITY, Packet, flags};

#[derive(Clone, Copy, Debug)]
enum What {
    Arrive { size: u32, flags: u16, priority: u8, passes: bool },
    Depart,
    Purge,
}

fn step() -> impl Strategy<Value = (u64, usize, What)> {
    let kinds = [flags::UNIMPORTANT, flags::UNIMPORTANT, flags::IMPORTANT, 0, flags::CONTROL];
    let kinds =
        kinds.map(|kind| kind | if kind == flags::CONTROL { flags::ECE } else { flags::ECT });
    let arrive =
        (select(vec![100, 500, 999, 1_500]), select(kinds.to_vec()), 0u8..4, any::<bool>());
    let what = prop_oneof![
        60 => arrive.prop_map(|(size, flags, priority, passes)| {
            let priority = if priority == 3 { NO_PRIORITY } else { priority };
            What::Arrive { size, flags, priority, passes }
        }),
        35 => Just(What::Depart),
        1 => Just(What::Purge),
    ];
    (0u64..900_000, 0usize..8, what)
}

fn settings() -> impl Strategy<Value = Settings> {
    let shapes = vec![(1, 1), (2, 1), (1, 2), (2, 3)];
    let scheduling = vec![("rr", ""), ("strict", ""), ("fifo", "")];
    let sharing: Vec<Section> = vec![
        ("cs", ""),
        ("dt", "alpha = 1.0"),
        ("lqd", ""),
        ("occamy", "alpha = 0.5"),
        ("cbm", ""),
    ];
    let aqm: Vec<Section> = vec![
        ("none", ""),
        ("ecn", "threshold = \"2KB\""),
        ("ecn", "threshold = \"1KB\"\nnot_ect = \"drop\""),
        ("codel", "target = \"2us\"\ninterval = \"9us\"\nnot_ect = \"drop\""),
    ];
    let limit = prop_oneof![3 => Just(Amount::Unlimited), 1 => Just(Amount::Bytes(3_000))];
    (switches(shapes, 4_000u64..20_000, scheduling), select(sharing), select(aqm), limit).prop_map(
        |(switch, sharing, aqm, queue_limit)| Settings {
            sharing: (sharing.0, sharing.1.into()),
            aqm: (aqm.0, aqm.1.into()),
            queue_limit,
            ..switch
        },
    )
}

/// How many packets were lost for the limit, and how many unimportant ones were not.
type Counts = (usize, usize);

fn run(
    settings: &Settings,
    limit: u64,
    steps: &[(u64, usize, What)],
) -> Result<Counts, TestCaseError> {
    let mut real = Real::new(settings);
    real.switch.limit_unimportant(limit);
    real.switch.let_pass(true);
    let (mut now, mut counts) = (Time::ZERO, (0, 0));
    for &(after, port, what) in steps {
        now += Time::from_ps(after);
        let port = (port % settings.ports) as u32;
        while let Some(due) = real.switch.next_expulsion(now) {
            if due > now {
                break;
            }
            real.switch.expel(due, &mut real.packets);
        }
        match what {
            What::Arrive { size, flags, priority, passes } => {
                let size = size + settings.uncounted as u32;
                let packet = Packet { size, flags, priority, ..Packet::default() };
                let id = real.insert(0, packet);
                let Real { switch, packets } = &mut real;
                let is_unimportant =
                    flags & (flags::CONTROL | flags::UNIMPORTANT) == flags::UNIMPORTANT;
                let held: u64 = switch
                    .waiting(port, packets)
                    .map(|id| packets[id])
                    .filter(|p| {
                        p.flags & (flags::CONTROL | flags::UNIMPORTANT) == flags::UNIMPORTANT
                    })
                    .map(|p| u64::from(p.size) - settings.uncounted)
                    .sum();
                let is_over =
                    is_unimportant && held + u64::from(size) - settings.uncounted >= limit;
                let is_idle = !switch.has_backlog(port) && !settings.release_at_end;
                let sent = if passes && is_idle {
                    switch.pass(now, port, id, &packet, packets)
                } else {
                    switch.enqueue(now, port, id, &packet, packets);
                    None
                };
                let own =
                    switch.lost().iter().find(|lost| lost.packet == id).map(|lost| lost.reason);
                match own {
                    Some(DropReason::Unimportant) => {
                        prop_assert!(is_over, "{held} and {size} of {limit}");
                        counts.0 += 1;
                    }
                    // The AQM and the queue's own limit come first.
                    Some(DropReason::Aqm | DropReason::QueueLimit) => {}
                    _ => {
                        prop_assert!(!is_over, "{held} and {size} of {limit}: {own:?}");
                        counts.1 += usize::from(is_unimportant && own.is_none());
                    }
                }
                if let Some(id) = sent {
                    packets.remove(id);
                }
            }
            What::Depart => {
                real.switch.on_sent(now, port);
                if let Some(id) = real.switch.dequeue(now, port, &mut real.packets) {
                    real.packets.remove(id);
                }
            }
            What::Purge => {
                real.switch.on_sent(now, port);
                real.switch.purge(now, port, DropReason::LinkDown, &mut real.packets);
            }
        }
        let lost: Vec<_> = real.switch.lost().iter().map(|lost| lost.packet).collect();
        lost.into_iter().for_each(|id| real.packets.remove(id));
        real.switch.clear_lost();
        prop_assert!(real.switch.is_consistent(&real.packets));
    }
    Ok(counts)
}

proptest! {
    #![proptest_config(cases(300))]

    #[test]
    fn unimportant_packets_are_lost_where_a_port_would_reach_their_limit(
        settings in settings(),
        limit in 1_600u64..6_000,
        steps in vec(step(), 100..200),
    ) {
        let (lost, kept) = run(&settings, limit, &steps)?;
        prop_assert!(lost + kept > 0);
    }
}
