//! Packets that make room for others.

use super::*;

#[test]
fn a_full_buffer_pushes_out_whole_packets_until_the_arrival_fits() {
    let (mut switch, mut packets) = (switch(3, 4000, "lqd", "rr"), Arena::new());
    // Port 0 holds 4 packets of 700 bytes (2800), port 1 one of 1000: 3800 of 4000.
    for seq in 0..4 {
        let id = insert(&mut packets, data(700, seq));
        enqueue(&mut switch, at(0), 0, id, &mut packets);
    }
    let id = insert(&mut packets, data(1000, 10));
    enqueue(&mut switch, at(0), 1, id, &mut packets);
    // 1500 for port 2: one victim leaves 3100 + 1500 > 4000, a second one 2400 + 1500 = 3900.
    let id = insert(&mut packets, data(1500, 20));
    enqueue(&mut switch, at(0), 2, id, &mut packets);
    let lost: Vec<u64> =
        switch.lost().iter().map(|lost| packets.contents(lost.packet).seq).collect();
    assert_eq!(lost, [2, 3]);
    assert!(switch.lost().iter().all(|lost| lost.reason == DropReason::PushedOut));
    assert_eq!(switch.buffer().occupancy(), 3900);
    assert!(switch.is_consistent(&packets));
}

#[test]
fn nobody_is_pushed_out_for_a_packet_that_is_refused() {
    let (mut switch, mut packets) = (switch(2, 4000, "lqd", "rr"), Arena::new());
    // Queues of 2100 and 1800. With 1200 more (3000), the second is the longest at once. With 250
    // more (2050), the first one loses a packet of 100, and then has 2000 < 2050.
    for (port, size, n) in [(0, 100, 21), (1, 1800, 1)] {
        for seq in 0..n {
            let id = insert(&mut packets, data(size, seq));
            enqueue(&mut switch, at(0), port, id, &mut packets);
        }
    }
    for size in [1200, 250] {
        let id = insert(&mut packets, data(size, 99));
        enqueue(&mut switch, at(0), 1, id, &mut packets);
        let lost: Vec<u64> =
            switch.lost().iter().map(|lost| packets.contents(lost.packet).seq).collect();
        assert_eq!((lost, switch.buffer().occupancy()), (vec![99], 3900), "{size}");
        assert!(switch.is_consistent(&packets));
        switch.clear_lost();
    }
    let mut order = Vec::new();
    while let Some(id) = switch.dequeue(at(1), 0, &mut packets) {
        order.push(packets.contents(id).seq);
    }
    assert_eq!(order, (0..21).collect::<Vec<u64>>());
}

/// A sharing policy that pushes out the arrival's queue from its head.
#[derive(Debug)]
struct FirstOut {
    loses_victims: bool,
}

impl Watch for FirstOut {}

impl Sharing for FirstOut {
    fn pushes_out(&self) -> bool {
        true
    }
    fn loses_victims(&self) -> bool {
        self.loses_victims
    }
    fn admit(&mut self, arrival: &Arrival, buffer: &Buffer) -> Admission {
        if u64::from(arrival.size) <= buffer.free() {
            Admission::Admit
        } else if buffer.packets(arrival.queue) > 0 {
            Admission::PushOut(Victim::Head(arrival.queue))
        } else {
            Admission::Drop(DropReason::BufferFull)
        }
    }
}

/// Sends all that is left, and returns the places of its packets.
fn all_out<S: Sharing>(switch: &mut Switch<S, AqmPolicy>, packets: &mut Arena) -> Vec<u64> {
    let left = std::iter::from_fn(|| switch.dequeue(at(1_000), 0, packets));
    let left: Vec<PacketId> = left.collect();
    left.iter().map(|&id| packets.contents(id).seq).collect()
}

/// Packets of these sizes arrive one after the other at a queue of 1000 bytes. Returns, by their
/// places, those lost for each, and those that leave in the end.
fn first_out(loses_victims: bool, sizes: &[u32]) -> (Vec<Vec<u64>>, Vec<u64>) {
    let (mut switch, mut packets) = (simple(1_000, FirstOut { loses_victims }), Arena::new());
    let mut lost = Vec::new();
    for (seq, &size) in (0..).zip(sizes) {
        let id = insert(&mut packets, data(size, seq));
        enqueue(&mut switch, at(seq), 0, id, &mut packets);
        lost.push(switch.lost().iter().map(|lost| packets.contents(lost.packet).seq).collect());
        switch.clear_lost();
        assert!(switch.is_consistent(&packets));
    }
    (lost, all_out(&mut switch, &mut packets))
}

#[test]
fn first_packets_make_room_or_go_back_to_their_places() {
    // 500 bytes find 1000: the first two leave, 400 + 300. For 1001 all would, and it still does
    // not fit.
    let sizes = [400, 300, 200, 100, 500, 1_001];
    let (lost, left) = first_out(false, &sizes);
    assert_eq!(lost, [vec![], vec![], vec![], vec![], vec![1, 0], vec![5]]);
    assert_eq!(left, [2, 3, 4]);
}

#[test]
fn who_loses_victims_loses_them_for_an_arrival_that_is_refused() {
    let (lost, left) = first_out(true, &[400, 300, 1_001, 600]);
    assert_eq!(lost, [vec![], vec![], vec![1, 0, 2], vec![]]);
    assert_eq!(left, [3]);
}

/// A sharing policy that pushes the worst packet out of the arrival's queue.
#[derive(Debug)]
struct WorstOut;

impl Watch for WorstOut {}

impl Sharing for WorstOut {
    fn pushes_out(&self) -> bool {
        true
    }
    fn admit(&mut self, arrival: &Arrival, buffer: &Buffer) -> Admission {
        if u64::from(arrival.size) <= buffer.free() {
            Admission::Admit
        } else {
            Admission::PushOut(Victim::Worst(arrival.queue))
        }
    }
}

/// Packets arrive one after the other at a queue of 3000 bytes, given by their bytes and the bytes
/// that their flows had left. Returns, by their places, those lost, in the order of their loss, and
/// those that leave.
fn worst_out(given: &[(u32, u32)]) -> (Vec<u64>, Vec<u64>) {
    let (mut switch, mut packets) = (simple(3_000, WorstOut), Arena::new());
    let mut lost = Vec::new();
    for (seq, &(size, remaining)) in (0..).zip(given) {
        let (packet, contents) = data(size, seq);
        let id = packets.insert(packet, Contents { remaining, ..contents });
        enqueue(&mut switch, at(seq), 0, id, &mut packets);
        lost.extend(switch.lost().iter().map(|lost| packets.contents(lost.packet).seq));
        assert!(switch.lost().iter().all(|lost| lost.reason == DropReason::PushedOut));
        switch.clear_lost();
        assert!(switch.is_consistent(&packets));
    }
    (lost, all_out(&mut switch, &mut packets))
}

#[test]
fn the_worst_packet_makes_room_wherever_it_is() {
    // Flows with 5, 9 and 7 KB left fill the queue. For a flow with 6 KB left, the packet in the
    // middle is pushed out; for one with 1 KB, the one with 7 KB, which is now ahead of it.
    let full = [(1000, 5_000), (1000, 9_000), (1000, 7_000)];
    assert_eq!(worst_out(&[full[0], full[1], full[2], (1000, 6_000)]), (vec![1], vec![0, 2, 3]));
    let two = [full[0], full[1], full[2], (1000, 6_000), (1000, 1_000)];
    assert_eq!(worst_out(&two), (vec![1, 2], vec![0, 3, 4]));
    // The first and the last packet can be victims too.
    assert_eq!(worst_out(&[full[1], full[0], full[2], (1000, 0)]), (vec![0], vec![1, 2, 3]));
    assert_eq!(worst_out(&[full[2], full[0], full[1], (1000, 0)]), (vec![2], vec![0, 1, 3]));
}

#[test]
fn an_arrival_that_is_as_bad_is_refused_and_of_equals_the_last_goes() {
    let equal = [(1000, 5_000), (1000, 9_000), (1000, 9_000)];
    assert_eq!(worst_out(&[equal[0], equal[1], equal[2], (1000, 9_000)]).0, [3]);
    assert_eq!(worst_out(&[equal[0], equal[1], equal[2], (1000, 8_999)]).0, [2]);
    let endless = (1000, u32::MAX);
    assert_eq!(worst_out(&[endless, endless, endless, endless]).0, [3]);
}

#[test]
fn packets_that_were_to_make_room_go_back_to_their_places() {
    // 1500 bytes arrive for a flow with 6000 left. The worst two packets (9000, 8000) would be
    // pushed out, but that frees only 800 bytes, and the next one, with 5500 left, stays. So all
    // return to their places.
    let given = [(400, 9_000), (1800, 5_000), (400, 8_000), (400, 5_500), (1500, 6_000)];
    assert_eq!(worst_out(&given), (vec![4], vec![0, 1, 2, 3]));
    let given = [(1000, 5_000), (500, 8_000), (500, 9_000), (1000, 5_000), (1500, 6_000)];
    assert_eq!(worst_out(&given), (vec![4], vec![0, 1, 2, 3]));
}

/// A sharing policy that pushes out one packet of a full buffer, and then admits what does not fit.
#[derive(Debug)]
struct Generous;

impl Watch for Generous {}

impl Sharing for Generous {
    fn pushes_out(&self) -> bool {
        true
    }
    fn admit(&mut self, _arrival: &Arrival, buffer: &Buffer) -> Admission {
        match buffer.free() {
            0 => Admission::PushOut(Victim::Tail(0)),
            _ => Admission::Admit,
        }
    }
}

#[test]
fn who_admits_what_does_not_fit_has_pushed_nobody_out() {
    let (mut switch, mut packets) = (simple(1_500, Generous), Arena::new());
    for (seq, size) in (0..).zip([500, 500, 500, 501]) {
        let id = insert(&mut packets, data(size, seq));
        enqueue(&mut switch, at(seq), 0, id, &mut packets);
    }
    let lost: Vec<_> = switch.lost().iter().map(|lost| (lost.packet, lost.reason)).collect();
    assert_eq!(lost, [(3, DropReason::BufferFull)]);
    assert!(switch.is_consistent(&packets) && switch.buffer().free() == 0);
    let left = std::iter::from_fn(|| switch.dequeue(at(9), 0, &mut packets));
    assert_eq!(left.collect::<Vec<_>>(), [0, 1, 2]);
}

/// A policy that pushes out the first queue's tail, but does not say that it pushes out.
#[derive(Debug)]
struct Secretive;

impl Watch for Secretive {}

impl Sharing for Secretive {
    fn admit(&mut self, arrival: &Arrival, buffer: &Buffer) -> Admission {
        if u64::from(arrival.size) <= buffer.free() {
            Admission::Admit
        } else {
            Admission::PushOut(Victim::Tail(0))
        }
    }
}

#[test]
#[should_panic(expected = "says so in `pushes_out`")]
fn who_pushes_out_must_say_so() {
    let (mut switch, mut packets) = (simple(1_500, Secretive), Arena::new());
    for seq in 0..2 {
        let id = insert(&mut packets, data(1_000, seq));
        enqueue(&mut switch, at(seq), 0, id, &mut packets);
    }
}

/// A sharing policy that pushes the last packet out of queue 0, whether there is one or not.
#[derive(Debug)]
struct FirstQueueOut;

impl Watch for FirstQueueOut {}

impl Sharing for FirstQueueOut {
    fn pushes_out(&self) -> bool {
        true
    }
    fn admit(&mut self, arrival: &Arrival, buffer: &Buffer) -> Admission {
        if u64::from(arrival.size) <= buffer.free() {
            Admission::Admit
        } else {
            Admission::PushOut(Victim::Tail(0))
        }
    }
}

/// The queue held packets before, and its list still names the last one.
#[test]
#[should_panic(expected = "a packet is taken from an empty queue")]
fn nothing_is_pushed_out_of_an_empty_queue() {
    let (mut switch, mut packets) = (simple(1_000, FirstQueueOut), Arena::new());
    for seq in 0..2 {
        let id = insert(&mut packets, data(400, seq));
        enqueue(&mut switch, at(0), 0, id, &mut packets);
    }
    while switch.dequeue(at(1), 0, &mut packets).is_some() {}
    let id = insert(&mut packets, data(1_001, 2));
    enqueue(&mut switch, at(2), 0, id, &mut packets);
}
