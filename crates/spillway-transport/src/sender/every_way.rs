//! What holds for every kind of loss recovery, whatever the network does.

use super::lossy::{Network, STEP, arrival_step, fates};
use super::*;
use crate::tests::{access, closed_loop};
use proptest::prelude::*;
use std::collections::BTreeMap;

const SMSS: u64 = 1_000;

/// The cuts of a window for losses, and the timeouts.
#[derive(Default)]
struct Cuts {
    count: u32,
    before: (u64, u64, u32),
    /// When the sender last cut, as far as it keeps that, or whether it is in recovery.
    last: u64,
}

impl Cuts {
    /// To be called after every ack and timer. A cut of the least window leaves it as it is: only
    /// the sender's note of its last cut shows it, or the recovery that begins. Until what was sent
    /// before it has been sent again, the window may have grown.
    fn note(&mut self, sender: &Sender) {
        let (cwnd, ssthresh, timeouts) = self.before;
        let Window { cwnd: now, .. } = sender.window;
        let last = match &sender.recovery {
            Recovery::Rack(by_rack) => by_rack.cut_at.ps(),
            Recovery::PerPriority(by_order) => by_order.cut_at,
            _ => u64::from(sender.phase == Phase::Recovery),
        };
        let is_least = now <= 2 * SMSS && sender.window.ssthresh == 2 * SMSS;
        let is_cut = now < cwnd
            || (ssthresh, timeouts) != (sender.window.ssthresh, sender.timeouts)
            || (is_least && last > self.last);
        self.count += u32::from(is_cut);
        self.before = (now, sender.window.ssthresh, sender.timeouts);
        self.last = last;
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, failure_persistence: None, ..ProptestConfig::default() })]

    /// New data is sent in order. Only data that was sent and is not acknowledged is retransmitted.
    /// A timer always runs, no known loss is forgotten, and everything arrives soon after the
    /// network stops losing packets. Before a segment is sent again a second time, a loss or a
    /// timeout has cut the window.
    #[test]
    fn everything_is_delivered(
        size in 1u64..120_000,
        window in 1u64..40,
        kind in prop::sample::select(vec!["newreno", "cubic", "dctcp"]),
        detection in prop::sample::select(vec![
            "sack", "rack", "ns3", "per-priority", "duplicate-acks", "timeout-only",
            "go-back-n", "selective",
        ]),
        reduction in prop::sample::select(vec![
            "at-once", "proportional", "proportional-rfc6937", "proportional-ns3",
        ]),
        fates in fates(),
    ) {
        let losses = match detection {
            "go-back-n" => "recovery.kind = \"go-back-n\"\nrecovery.ack_timeout = \"1ms\"".into(),
            "selective" => "recovery.kind = \"selective\"\nrecovery.after_timeout = \"all\"".into(),
            detection => format!(
                "recovery.kind = \"{detection}\"\nrecovery.reduction = \"{reduction}\"\n\
                 recovery.min_rto = \"1ms\"\nrecovery.initial_rto = \"1ms\""
            ),
        };
        let transport = closed_loop(&format!(
            "kind = \"{kind}\"\nmss = \"{SMSS}B\"\ninitial_window = \"{window}pkt\"\n{losses}"
        ));
        let mut sender = Sender::new(size, SMSS as u32, &transport, &access(10, 25));
        let mut network = Network::new(fates);
        let (mut now, mut nxt) = (Time::ZERO, 0);
        let (mut cuts, mut repaired) = (Cuts::default(), BTreeMap::new());
        while !sender.is_done() {
            // The fates repeat, so a sender that goes back may meet the same ones for ever.
            let safe = sender.timeouts > 8 || sender.retransmitted_packets > 2_000;
            cuts.note(&sender);
            let may_repeat = !["sack", "rack", "per-priority", "duplicate-acks"].contains(&detection);
            loop {
                // A segment sent again although nothing is lost is the rescue of RFC 6675, once a
                // recovery.
                let is_rescue = sender.next_lost().is_none() && sender.at_once == AtOnce::Nothing;
                let Some(piece) = sender.next_piece(now, &transport) else { break };
                if piece.again && !is_rescue && !may_repeat {
                    let before = repaired.insert(piece.seq, cuts.count);
                    prop_assert!(
                        before.is_none_or(|before| before < cuts.count),
                        "{:?} once more without a cut at {:?}", piece, now
                    );
                }
                let end = piece.seq + u64::from(piece.payload);
                prop_assert_eq!(piece.seq % SMSS, 0);
                let in_place = if piece.again { end <= nxt && end > sender.board.una } else { piece.seq == nxt };
                prop_assert!(in_place && piece.payload > 0, "{:?} with {} sent", piece, nxt);
                nxt = nxt.max(end);
                network.send(now, arrival_step(now), &piece, safe);
                // Of three priorities, each has a few segments in a row.
                sender.number(&piece, (piece.seq / SMSS / 4 % 3) as u8);
            }
            if ["rack", "per-priority"].contains(&detection) && sender.phase == Phase::Open {
                prop_assert_eq!(sender.next_lost(), None);
            }
            let arrival = network.next_step().map_or(Time::MAX, |step| STEP * step);
            prop_assert!(sender.deadline() < Time::MAX, "nothing to wait for at {:?}", now);
            now = sender.deadline().min(arrival);
            if arrival > now {
                if let Some(piece) = sender.on_deadline(now, &transport) {
                    nxt = nxt.max(piece.seq + u64::from(piece.payload));
                    network.send(now, arrival_step(now), &piece, safe);
                }
            } else {
                let (number, acks) = network.deliver(now, &transport);
                for ack in acks {
                    let ack = AckSegment { number: Some(number), ..ack.segment() };
                    sender.on_ack(now, &ack, &transport);
                }
            }
            prop_assert!(sender.timeouts <= 16, "{} timeouts", sender.timeouts);
        }
        prop_assert_eq!(nxt, size);
    }

    /// An ack whose ranges report nothing never takes the short way of acks in order.
    #[test]
    fn the_short_way_of_numbered_acks_changes_nothing(
        size in 1u64..120_000,
        window in 1u64..40,
        kind in prop::sample::select(vec!["newreno", "cubic", "dctcp"]),
        reduction in prop::sample::select(vec!["at-once", "proportional"]),
        or_worse: bool,
        fates in fates(),
    ) {
        let transport = closed_loop(&format!(
            "kind = \"{kind}\"\nmss = \"{SMSS}B\"\ninitial_window = \"{window}pkt\"\n\
             recovery.kind = \"per-priority\"\nrecovery.or_worse = {or_worse}\n\
             recovery.reduction = \"{reduction}\"\nrecovery.min_rto = \"1ms\"\nrecovery.initial_rto = \"1ms\""
        ));
        let mut sender = Sender::new(size, SMSS as u32, &transport, &access(10, 25));
        let mut twin = sender.clone();
        let mut network = Network::new(fates);
        let (mut now, nothing) = (Time::ZERO, SackBlocks::default());
        while !sender.is_done() {
            let safe = sender.timeouts > 8 || sender.retransmitted_packets > 2_000;
            while let Some(piece) = sender.next_piece(now, &transport) {
                network.send(now, arrival_step(now), &piece, safe);
                let priority = (piece.seq / SMSS / 4 % 3) as u8;
                let number = sender.number(&piece, priority);
                prop_assert_eq!(twin.next_piece(now, &transport), Some(piece));
                prop_assert_eq!(twin.number(&piece, priority), number);
            }
            prop_assert_eq!(twin.next_piece(now, &transport), None);
            let arrival = network.next_step().map_or(Time::MAX, |step| STEP * step);
            now = sender.deadline().min(arrival);
            if arrival > now {
                sender.on_deadline(now, &transport);
                twin.on_deadline(now, &transport);
            } else {
                let (number, acks) = network.deliver(now, &transport);
                for ack in acks {
                    let ack = AckSegment { number: Some(number), ..ack.segment() };
                    sender.on_ack(now, &ack, &transport);
                    let ack = AckSegment { sack: ack.sack.or(Some(&nothing)), ..ack };
                    twin.on_ack(now, &ack, &transport);
                }
            }
            prop_assert_eq!(format!("{sender:?}"), format!("{twin:?}"));
        }
    }
}
