//! Decisions, bursts and fates that a switch records.

use super::*;
use crate::averages::Averaging;
use crate::{BurstTracing, FateTracing};
use spillway_engine::Stream;

fn fill<S: Sharing, A: Aqm>(
    switch: &mut Switch<S, A>,
    packets: &mut Arena,
    sizes: &[u32],
) -> Vec<PacketId> {
    let mut take = |seq, size| {
        let id = insert(packets, data(size, seq));
        let packet = packets[id];
        switch.enqueue(at(seq), 0, id, &packet, packets);
        id
    };
    (0..).zip(sizes).map(|(seq, &size)| take(seq, size)).collect()
}

#[test]
fn a_traced_decision_tells_the_mark_and_the_loss() {
    // K = 3: the packet that finds 4 queued is marked; the last does not fit.
    let (mut switch, mut packets) = (switch(1, 5_500, "cs", "rr"), Arena::new());
    switch.trace_decisions();
    fill(&mut switch, &mut packets, &[1000; 6]);
    let told: Vec<_> =
        switch.take_decisions().iter().map(|row| (row.marked, row.dropped)).collect();
    let passed = (false, None);
    let full = (false, Some(DropReason::BufferFull));
    assert_eq!(told, [passed, passed, passed, passed, (true, None), full]);
}

#[test]
fn nothing_is_kept_once_tracing_has_stopped() {
    let (mut switch, mut packets) = (switch(1, 10_000, "cs", "rr"), Arena::new());
    switch.trace_decisions();
    fill(&mut switch, &mut packets, &[1000]);
    assert_eq!((switch.take_decisions().len(), switch.port_facts().is_traced), (1, true));
    switch.stop_tracing_decisions();
    fill(&mut switch, &mut packets, &[1000]);
    assert_eq!((switch.take_decisions().len(), switch.port_facts().is_traced), (0, false));
}

/// A sharing policy whose threshold records what it was asked about.
#[derive(Debug)]
struct Telling;

impl Watch for Telling {}

impl Sharing for Telling {
    fn admit(&mut self, _arrival: &Arrival, _buffer: &Buffer) -> Admission {
        Admission::Admit
    }
    fn threshold(&self, arrival: &Arrival, _buffer: &Buffer) -> Option<u64> {
        let Arrival { queue, queue_class, size, first_rtt, .. } = *arrival;
        Some(u64::from(
            queue * 1000 + u32::from(queue_class) * 100 + size * 10 + u32::from(first_rtt),
        ))
    }
}

#[test]
fn the_limit_is_that_of_a_ports_data_and_of_a_packet_of_no_bytes() {
    let mut switch = two_queues(Telling, (0, 1));
    assert_eq!(switch.limit(at(5), 0), Some(1_100));
    let mut switch = two_queues(Telling, (1, 0));
    assert_eq!(switch.limit(at(5), 0), Some(0));
}

const BURSTS: BurstTracing = BurstTracing { above: 1_000, beta: 0.5 };

#[test]
fn a_burst_is_what_a_port_holds_beside_what_it_sends() {
    // Of 1000 bytes, 500 count. Four packets are queued, and no byte of 2000 is left for a fifth.
    for holds in [false, true] {
        let (mut switch, mut packets) = (simple(2_000, Telling), Arena::new());
        switch.uncounted_bytes = 500;
        switch.in_transmission = holds.then(|| vec![(0, 0)].into());
        switch.let_pass(!holds);
        switch.trace_bursts(BURSTS);
        assert!(switch.port_facts().is_traced);
        fill(&mut switch, &mut packets, &[1_000; 5]);
        assert!(switch.dequeue(at(10), 0, &mut packets).is_some());
        let held = if holds { 500 } else { 0 };
        assert_eq!(switch.buffer().occupancy(), 1_500 + held);
        // The packet is sent for 800 ns. In this time a port that loses nothing sends only this
        // packet too. 240 ns later it has sent 300 bytes of the excess.
        for (ps, excess) in [(10, 500), (800_010, 500), (1_040_010, 200)] {
            let unbounded = switch.unbounded_bytes(at(ps), 0);
            assert_eq!(unbounded, Some(1_500 + held + excess), "{ps}");
        }
        assert_eq!((switch.take_bursts(), switch.take_decisions().len()), (vec![], 0));
        switch.finish_bursts();
        let bursts = switch.take_bursts();
        let told: Vec<_> =
            bursts.iter().map(|b| (b.peak_bytes, b.lost_bytes, b.lost_packets, b.end)).collect();
        assert_eq!(told, [(1_500, 500, 1, None)]);
    }
}

#[test]
fn what_is_dropped_on_its_way_out_has_not_left_its_port() {
    let (mut switch, mut packets) = (probed(false), Arena::new());
    switch.trace_bursts(BURSTS);
    let tracing =
        FateTracing { averaging: Averaging::Continuous, span: Time::from_us(10), one_in: 1 };
    switch.trace_fates(tracing, Stream::new(1, "test", 0));
    let ids = fill(&mut switch, &mut packets, &[1000; 3]);
    // All have waited too long. When the first two leave, more bytes remain than a burst needs.
    assert_eq!(switch.dequeue(at(500), 0, &mut packets), None);
    assert_eq!(switch.lost().len(), ids.len());
    switch.finish_bursts();
    assert_eq!(switch.take_bursts(), []);
    let fates = switch.take_fates();
    assert_eq!(fates.iter().map(|fate| fate.lost).collect::<Vec<_>>(), [Some(true); 3]);
}
