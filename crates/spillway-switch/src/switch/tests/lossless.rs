//! Lossless packets at one switch, by hand.

use super::super::*;
use super::probe::Probe;
use crate::aqm::AqmPolicy;
use crate::catalogue::Environment;
use crate::packet::{Contents, flags};
use crate::pfc::{Crossing, LosslessParts, PauseChange, PauseThreshold};
use crate::policy::DropReason;
use crate::sharing::SharingPolicy;
use spillway_settings::Section;

/// Two ports of 8 Gbps with two queues each; queue class 1 is lossless. Of 20,000 bytes, 2 * 3,000
/// are headroom and 2 * 500 are reserve: 13,000 are shared. The threshold is 4,000.
fn switch(sharing: &str, settings: &str, sees_all: bool) -> Switch {
    let mut mark = Section::new("aqm", "threshold = \"1500B\"".parse().unwrap());
    let aqm = AqmPolicy::read("ecn", &mut mark, &environment()).unwrap();
    switch_with(sharing, settings, sees_all, aqm)
}

fn environment() -> Environment {
    Environment { capacity: 13_000, queues_per_port: 2, ..Environment::example(2) }
}

fn switch_with<A: Aqm>(
    sharing: &str,
    settings: &str,
    sees_all: bool,
    aqm: A,
) -> Switch<SharingPolicy, A> {
    let environment = environment();
    let section = || Section::new("policy", settings.parse().unwrap());
    let rate = Rate::from_bits_per_second(8_000_000_000).unwrap();
    Switch::new(SwitchParts {
        capacity: 20_000,
        port_rates: vec![rate; 2],
        queues_per_port: 2,
        ack_queue_class: 0,
        data_queue_class: 1,
        unmanaged: Some(0),
        queue_limit: Amount::Unlimited,
        uncounted_bytes: 0,
        release_at_end: false,
        sharing: SharingPolicy::read(sharing, &mut section(), &environment).unwrap(),
        aqm,
        scheduling: SchedulingPolicy::read("strict", &mut Section::empty(), &environment).unwrap(),
        meter: Meter::new(20_000, Time::ZERO, Time::from_us(1_000)),
        lossless: Some(LosslessParts {
            queue_classes: [1].into(),
            thresholds: [PauseThreshold::Bytes(4_000); 2].into(),
            resume_offset: 0,
            reserve: 500,
            headroom: [3_000; 2].into(),
            crossing: Crossing::Shared,
            sees_all,
        }),
    })
}

/// A packet of a queue class that comes in by port 0 for port 1, which is busy.
fn receive<A: Aqm>(
    switch: &mut Switch<SharingPolicy, A>,
    packets: &mut Arena,
    queue_class: u8,
    size: u32,
) -> PacketId {
    let packet = Packet { size, priority: queue_class, flags: flags::ECT, ..Packet::default() };
    let id = packets.insert(packet, Contents::default());
    assert_eq!(switch.receive(Time::ZERO, (0, 1), false, (id, &packet), packets), None);
    assert!(switch.is_consistent(packets));
    id
}

#[test]
fn the_sharing_policy_s_buffer_is_what_lossless_packets_leave() {
    let (mut switch, mut packets) = (switch("cs", "", false), Arena::new());
    assert_eq!((switch.buffer().capacity(), switch.capacity()), (13_000, 20_000));
    // 500 of the reserve, and 1,500 shared bytes.
    receive(&mut switch, &mut packets, 1, 2_000);
    assert_eq!((switch.buffer().capacity(), switch.buffer().occupancy()), (11_500, 0));
    assert_eq!((switch.occupancy(), switch.port_bytes(1)), (2_000, 2_000));
    // Lossy packets take what is left, and no more: 11 of 1,000 bytes.
    let lossy: Vec<PacketId> =
        (0..12).map(|_| receive(&mut switch, &mut packets, 0, 1_000)).collect();
    let lost: Vec<PacketId> = switch.lost().iter().map(|lost| lost.packet).collect();
    assert_eq!((lost, switch.buffer().occupancy()), (vec![lossy[11]], 11_000));
    // 500 shared bytes are left, so 1,000 go into headroom, and the neighbour is to pause.
    receive(&mut switch, &mut packets, 1, 1_000);
    let pause = PauseChange { port: 0, queue_class: 1, pauses: true };
    assert_eq!(switch.take_pause_changes(), [pause]);
    assert_eq!(switch.accounts().unwrap().headroom_peak(), 1_000);
    assert_eq!((switch.buffer().capacity(), switch.occupancy()), (11_500, 14_000));
}

#[test]
fn longest_queue_drop_takes_no_victim_from_a_lossless_queue() {
    let (mut switch, mut packets) = (switch("lqd", "", false), Arena::new());
    // The lossless queue is by far the longest.
    (0..4).for_each(|_| {
        receive(&mut switch, &mut packets, 1, 2_000);
    });
    let lossy: Vec<PacketId> =
        (0..12).map(|_| receive(&mut switch, &mut packets, 0, 1_000)).collect();
    // The account has 500 and 5,500 bytes, and 2,000 in headroom: 7,500 are left.
    assert_eq!(switch.buffer().capacity(), 7_500);
    let lost: Vec<PacketId> = switch.lost().iter().map(|lost| lost.packet).collect();
    assert_eq!(lost, lossy[7..]);
}

#[test]
fn a_policy_that_sees_all_sees_lossless_queues() {
    // Dynamic Thresholds with alpha 1: a queue may hold what is free.
    let held = |sees_all: bool| {
        let (mut switch, mut packets) = (switch("dt", "alpha = 1.0", sees_all), Arena::new());
        (0..2).for_each(|_| {
            receive(&mut switch, &mut packets, 1, 2_000);
        });
        // 500 of reserve and 3,500 shared: 9,500 are free either way.
        assert_eq!(switch.buffer().free(), 9_500);
        assert_eq!(switch.buffer().occupancy(), if sees_all { 4_000 } else { 0 });
        assert_eq!(switch.buffer().bytes(3), if sees_all { 4_000 } else { 0 });
        assert_eq!((switch.occupancy(), switch.buffer_of(3).bytes(3)), (4_000, 4_000));
        (0..12).for_each(|_| {
            receive(&mut switch, &mut packets, 0, 1_000);
        });
        switch.buffer().bytes(2)
    };
    // q + 1,000 <= 9,500 - q.
    assert_eq!([held(false), held(true)], [5_000, 5_000]);
}

/// ECN marks from 1,500 bytes on: the third packet finds 2,000. A lossy packet comes in between,
/// but it does not count in that queue.
#[test]
fn an_aqm_marks_lossless_packets_by_their_own_queue() {
    let (mut switch, mut packets) = (switch("cs", "", false), Arena::new());
    let mut ids = Vec::new();
    for queue_class in [1, 0, 1, 1] {
        ids.push(receive(&mut switch, &mut packets, queue_class, 1_000));
    }
    let marked = ids.iter().map(|&id| packets[id].flags & flags::CE != 0);
    assert_eq!(marked.collect::<Vec<_>>(), [false, false, false, true]);
    assert_eq!(switch.marks(), 1);
}

/// 500 bytes are reserve. The fifth packet brings the shared bytes to 4,500, beyond the threshold.
/// Three more go into headroom. The ninth is lost before the AQM could be asked. If the AQM were
/// told of this loss, PRED would subtract the ninth packet from the bytes that it has sent.
#[test]
fn an_aqm_does_not_hear_of_what_has_no_headroom() {
    let (mut switch, mut packets) = (switch_with("cs", "", false, Probe::default()), Arena::new());
    let ids: Vec<PacketId> = (0..9).map(|_| receive(&mut switch, &mut packets, 1, 1_000)).collect();
    let lost: Vec<_> = switch.lost().iter().map(|lost| (lost.packet, lost.reason)).collect();
    assert_eq!(lost, [(ids[8], DropReason::Headroom)]);
    let queued: Vec<String> = (1..9).map(|n| format!("+1000 {}", 1_000 * n)).collect();
    assert_eq!(switch.aqm.seen, queued);
}

#[test]
fn a_paused_queue_waits_and_others_do_not() {
    let (mut switch, mut packets) = (switch("cs", "", false), Arena::new());
    let lossless = receive(&mut switch, &mut packets, 1, 1_000);
    let lossy = receive(&mut switch, &mut packets, 0, 1_000);
    switch.pause(1, 0, true);
    assert!(switch.is_paused(1, 0) && !switch.is_paused(1, 1) && switch.can_send(1));
    // Class 0 would come first.
    let sent = switch.send_next_unpaused(Time::ZERO, 1, &mut packets);
    assert_eq!(sent, Some((lossless, false)));
    assert!(!switch.can_send(1) && switch.has_backlog(1));
    assert_eq!(switch.send_next_unpaused(Time::ZERO, 1, &mut packets), None);
    // A packet of the other class passes meanwhile; one of this class does not.
    let packet = Packet { size: 1_000, priority: 1, ..Packet::default() };
    let id = packets.insert(packet, Contents::default());
    assert_eq!(switch.receive(Time::ZERO, (0, 1), true, (id, &packet), &mut packets), Some(id));
    let packet = Packet { priority: 0, ..packet };
    let id = packets.insert(packet, Contents::default());
    assert_eq!(switch.receive(Time::ZERO, (0, 1), true, (id, &packet), &mut packets), None);
    switch.pause(1, 0, false);
    let sent = switch.send_next_unpaused(Time::ZERO, 1, &mut packets);
    assert_eq!(sent, Some((lossy, true)));
    assert!(switch.is_consistent(&packets));
}
