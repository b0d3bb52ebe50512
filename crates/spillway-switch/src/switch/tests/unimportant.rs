//! The limit for unimportant packets, by hand.

use super::*;

/// A switch of two ports with two queues each, strict, whose ports take less than 3,000
/// unimportant bytes.
fn limited(capacity: u64, sharing: &str) -> Switch {
    let mut switch = switch(2, capacity, sharing, "strict");
    switch.limit_unimportant(3_000);
    switch
}

/// A data packet of 1,000 bytes.
fn packet(more: u16, priority: u8) -> (Packet, Contents) {
    let (mut packet, contents) = data(1_000, 0);
    packet.flags |= more;
    packet.priority = priority;
    (packet, contents)
}

/// A packet arrives at a port. Returns why it is lost, if it is.
fn arrives(
    switch: &mut Switch,
    packets: &mut Arena,
    port: u32,
    made: (Packet, Contents),
) -> Option<DropReason> {
    let id = insert(packets, made);
    enqueue(switch, at(0), port, id, packets);
    assert!(switch.is_consistent(packets));
    let lost = switch.lost().iter().find(|lost| lost.packet == id).map(|lost| lost.reason);
    switch.clear_lost();
    lost
}

const LOST: Option<DropReason> = Some(DropReason::Unimportant);

/// 1,000 + 1,000 < 3,000, and the third reaches the limit, whichever queue of the port it is for.
/// The other port, important data, data without TLT, and acks are as before. One that leaves makes
/// room for one.
#[test]
fn a_port_takes_unimportant_packets_below_its_limit_and_all_others() {
    let (mut switch, mut packets) = (limited(100_000, "cs"), Arena::new());
    let comes = |switch: &mut Switch, packets: &mut Arena, port, flags, priority| {
        arrives(switch, packets, port, packet(flags, priority))
    };
    assert_eq!(comes(&mut switch, &mut packets, 0, flags::UNIMPORTANT, 0), None);
    assert_eq!(comes(&mut switch, &mut packets, 0, flags::UNIMPORTANT, 1), None);
    assert_eq!(comes(&mut switch, &mut packets, 0, flags::UNIMPORTANT, 0), LOST);
    assert_eq!(comes(&mut switch, &mut packets, 0, flags::UNIMPORTANT, 1), LOST);
    assert_eq!(comes(&mut switch, &mut packets, 1, flags::UNIMPORTANT, 1), None);
    assert_eq!(comes(&mut switch, &mut packets, 0, flags::IMPORTANT, 1), None);
    assert_eq!(comes(&mut switch, &mut packets, 0, 0, 1), None);
    // The bit means a mark's echo on an ack.
    assert_eq!(comes(&mut switch, &mut packets, 0, flags::CONTROL | flags::ECE, 1), None);
    // The best queue sends the one that came first.
    switch.dequeue(at(1), 0, &mut packets).unwrap();
    assert_eq!(comes(&mut switch, &mut packets, 0, flags::UNIMPORTANT, 0), None);
    assert_eq!(comes(&mut switch, &mut packets, 0, flags::UNIMPORTANT, 0), LOST);
}

/// With a packet of 999 bytes 2,999 are held, a byte less than the limit.
#[test]
fn a_packet_must_stay_below_the_limit() {
    let (mut switch, mut packets) = (limited(100_000, "cs"), Arena::new());
    let of = |size| (Packet { size, ..packet(flags::UNIMPORTANT, 1).0 }, Contents::default());
    assert_eq!(arrives(&mut switch, &mut packets, 0, of(2_000)), None);
    assert_eq!(arrives(&mut switch, &mut packets, 0, of(1_000)), LOST);
    assert_eq!(arrives(&mut switch, &mut packets, 0, of(999)), None);
}

/// The buffer holds 4,000 bytes, the longest queue loses its tail: an unimportant packet that is
/// pushed out does not count any more, nor do those of a port whose link fails.
#[test]
fn what_is_lost_from_a_queue_does_not_count() {
    let (mut switch, mut packets) = (limited(4_000, "lqd"), Arena::new());
    let unimportant = || packet(flags::UNIMPORTANT, 1);
    for made in [unimportant(), packet(0, 1), unimportant()] {
        assert_eq!(arrives(&mut switch, &mut packets, 0, made), None);
    }
    assert_eq!(arrives(&mut switch, &mut packets, 0, unimportant()), LOST);
    // Two for the other port: the second one finds the buffer full.
    assert_eq!(arrives(&mut switch, &mut packets, 1, packet(0, 1)), None);
    assert_eq!(arrives(&mut switch, &mut packets, 1, packet(0, 1)), None);
    assert_eq!(switch.buffer().bytes(1), 2_000);
    let held = |switch: &Switch| switch.unimportant.as_ref().unwrap().held().to_vec();
    assert_eq!(held(&switch), [1_000, 0]);
    switch.purge(at(2), 0, DropReason::LinkDown, &mut packets);
    assert_eq!(held(&switch), [0, 0]);
}

/// A packet for an idle port is queued and sent: the switch takes no shortcut.
#[test]
fn what_passes_an_idle_port_counts_no_longer() {
    let (mut switch, mut packets) = (limited(100_000, "cs"), Arena::new());
    for _ in 0..5 {
        let id = insert(&mut packets, packet(flags::UNIMPORTANT, 1));
        assert_eq!(pass(&mut switch, at(0), 0, id, &mut packets), Some(id));
        assert!(switch.is_consistent(&packets));
    }
    assert!(switch.port_facts().counts_unimportant);
}
