//! What policies see and decide, tested with a policy that records all that it is told.

use super::*;

/// A sharing policy that admits everything and records what it is told. On the way out it marks
/// packets that have waited, and drops those that have waited for more than 100 ps.
#[derive(Debug, Default)]
pub(super) struct Probe {
    pub watches: bool,
    pub seen: Vec<String>,
}

impl Watch for Probe {
    fn watches_queues(&self) -> bool {
        self.watches
    }
    fn on_enqueue(&mut self, arrival: &Arrival, buffer: &Buffer) {
        self.seen.push(format!("+{} {}", arrival.size, buffer.bytes(arrival.queue)));
    }
    fn on_dequeue(&mut self, _now: Time, queue: QueueId, size: u32, buffer: &Buffer) {
        self.seen.push(format!("-{size} {}", buffer.bytes(queue)));
    }
    fn on_release(&mut self, _now: Time, queue: QueueId, buffer: &Buffer) {
        self.seen.push(format!("release {}", buffer.bytes(queue)));
    }
    fn on_drop(&mut self, _now: Time, _queue: QueueId, size: u32, _buffer: &Buffer) {
        self.seen.push(format!("x{size}"));
    }
    fn watches_departures(&self) -> bool {
        true
    }
    fn period(&self) -> Option<Time> {
        Some(Time::from_us(3))
    }
    fn on_timer(&mut self, now: Time, buffer: &Buffer) {
        self.seen.push(format!("{}us {}", now.ps() / 1_000_000, buffer.occupancy()));
    }
    fn on_departure(&mut self, departure: &Departure, _buffer: &Buffer) -> Verdict {
        match departure.now.since(departure.queued_at).ps() {
            0 => Verdict::Pass,
            1..=100 => Verdict::Mark,
            _ => Verdict::Drop,
        }
    }
}

impl Sharing for Probe {
    fn admit(&mut self, _arrival: &Arrival, _buffer: &Buffer) -> Admission {
        Admission::Admit
    }
    fn look_at(&mut self, now: Time, queue: QueueId) {
        self.seen.push(format!("queue {queue} at {}", now.ps()));
    }
}

impl Aqm for Probe {
    fn on_arrival(&mut self, _arrival: &Arrival, _buffer: &Buffer) -> Verdict {
        Verdict::Pass
    }
}

pub(super) fn probed(watches: bool) -> Switch<Probe, AqmPolicy> {
    simple(10_000, Probe { watches, seen: Vec::new() })
}

#[test]
fn a_policy_that_watches_queues_sees_packets_of_idle_ports_too() {
    for (watches, expected) in [(false, ""), (true, "+1000 1000, -1000 0")] {
        let (mut switch, mut packets) = (probed(watches), Arena::new());
        let id = insert(&mut packets, data(1000, 0));
        assert_eq!(pass(&mut switch, at(5), 0, id, &mut packets), Some(id));
        assert_eq!(switch.sharing.seen.join(", "), expected);
        assert!(switch.is_consistent(&packets) && !switch.has_backlog(0));
    }
}

#[test]
fn a_policy_is_woken_and_sees_the_buffer() {
    let (mut switch, mut packets) = (probed(false), Arena::new());
    assert_eq!(switch.periods(), [Some(Time::from_us(3)), None]);
    let id = insert(&mut packets, data(1000, 0));
    enqueue(&mut switch, at(5), 0, id, &mut packets);
    switch.on_timer(Time::from_us(3), 0);
    assert_eq!(switch.sharing.seen.join(", "), "+1000 1000, 3us 1000");
    // The AQM has no timer, so nothing happens.
    switch.on_timer(Time::from_us(3), 1);
    assert_eq!(switch.sharing.seen.len(), 2);
}

#[test]
fn a_sharing_policy_may_mark_and_drop_on_the_way_out() {
    let (mut switch, mut packets) = (probed(false), Arena::new());
    let ids: Vec<PacketId> = (0..3)
        .map(|seq| {
            let id = insert(&mut packets, data(1000 + seq as u32, seq));
            enqueue(&mut switch, at(100 * seq), 0, id, &mut packets);
            id
        })
        .collect();
    // The first has waited 250 ps, the second 150: both are lost. The third, after 50, is marked.
    assert_eq!(switch.dequeue(at(250), 0, &mut packets), Some(ids[2]));
    assert!(packets[ids[2]].flags & flags::CE != 0);
    let lost: Vec<_> = switch.lost().iter().map(|lost| (lost.packet, lost.reason)).collect();
    assert_eq!(lost, ids[..2].iter().map(|&id| (id, DropReason::OverDelay)).collect::<Vec<_>>());
    let seen = switch.sharing.seen.join(", ");
    let joined = "+1000 1000, +1001 2001, +1002 3003";
    assert_eq!(seen, format!("{joined}, -1000 2003, x1000, -1001 1002, x1001, -1002 0"));
    assert_eq!(switch.marks(), 1);
    assert!(switch.is_consistent(&packets) && !switch.has_backlog(0));
}

#[test]
fn what_cannot_be_marked_leaves_as_it_is_and_a_loss_is_of_the_bytes_that_count() {
    let (mut switch, mut packets) = (probed(false), Arena::new());
    switch.uncounted_bytes = 400;
    for (seq, mark) in [(0, flags::ECT), (1, 0)] {
        let (packet, contents) = data(1000, seq);
        let id = packets.insert(Packet { flags: mark, ..packet }, contents);
        enqueue(&mut switch, at(200 * seq), 0, id, &mut packets);
    }
    // The first has waited 250 ps and is lost; the second, after 50, would be marked if it could.
    let sent = switch.dequeue(at(250), 0, &mut packets).unwrap();
    assert_eq!((packets.contents(sent).seq, packets[sent].flags, switch.marks()), (1, 0, 0));
    assert_eq!(switch.sharing.seen.join(", "), "+600 600, +600 1200, -600 600, x600, -600 0");
}

#[test]
fn what_a_failed_link_loses_is_given_back_before_it_is_lost() {
    let (mut switch, mut packets) = (probed(false), Arena::new());
    for seq in 0..2 {
        let id = insert(&mut packets, data(1000, seq));
        enqueue(&mut switch, at(seq), 0, id, &mut packets);
    }
    switch.purge(at(5), 0, DropReason::LinkDown, &mut packets);
    assert_eq!(switch.lost().len(), 2);
    let seen = switch.sharing.seen.join(", ");
    assert_eq!(seen, "+1000 1000, +1000 2000, release 2000, x1000, release 1000, x1000");
}

#[test]
fn what_was_held_until_it_was_sent_is_given_back_once() {
    let (mut switch, mut packets) = (probed(false), Arena::new());
    switch.uncounted_bytes = 400;
    switch.in_transmission = Some(vec![(0, 0)].into());
    switch.let_pass(false);
    // The second packet counts as one byte.
    for size in [1000, 401] {
        let id = insert(&mut packets, data(size, 0));
        enqueue(&mut switch, at(0), 0, id, &mut packets);
    }
    for (time, waits) in [(1, true), (2, true), (3, false)] {
        assert_eq!(switch.send_next(at(time), 0, &mut packets).is_some(), waits);
    }
    switch.on_sent(at(4), 0);
    let seen = switch.sharing.seen.join(", ");
    assert_eq!(seen, "+600 600, +1 601, -600 601, release 601, -1 1, release 1");
    assert_eq!(switch.buffer().occupancy(), 0);
}

#[test]
fn at_the_end_every_queue_is_looked_at() {
    let mut switch = two_queues(Probe::default(), (0, 1));
    switch.finish_sharing(at(7));
    assert_eq!(switch.sharing.seen, ["queue 0 at 7", "queue 1 at 7"]);
}
