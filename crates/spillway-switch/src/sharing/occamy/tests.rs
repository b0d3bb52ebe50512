use super::super::tests::{OVER, arrival, filled};
use super::bucket::PARTS_LOG2;
use super::*;

/// Ports of 10 Gbps.
fn with(text: &str, ports: usize) -> Occamy {
    let mut section = Section::new("sharing", text.parse().unwrap());
    let occamy = Occamy::read(&mut section, &Environment::example(ports)).unwrap();
    section.finish().unwrap();
    occamy
}

fn at(now: Time) -> Arrival {
    Arrival { now, ..arrival(0, 1500) }
}

fn expelled(occamy: &mut Occamy, now: Time, buffer: &Buffer) -> Option<QueueId> {
    let queue = occamy.expel(now, buffer);
    if queue.is_some() {
        occamy.on_expelled(1500);
    }
    queue
}

#[test]
fn a_queue_that_is_alone_takes_nearly_all_and_gives_way_to_another() {
    // alpha = 9, B = 1,000,000: alone, q = 9 B / 10 = 900,000 = T.
    let mut occamy = with("alpha = 9", 2);
    let alone = filled(&[899_000, 0]);
    assert_eq!(occamy.threshold(&arrival(0, 1000), &alone), Some(909_000));
    assert_eq!(occamy.admit(&arrival(0, 10_000), &alone), Admission::Admit);
    assert_eq!(occamy.admit(&arrival(0, 10_001), &alone), OVER);
    let settled = filled(&[900_000, 0]);
    assert_eq!(occamy.candidate(&settled), None, "it is at its threshold, not over");
    // Another packet of 1500 bytes: T = 9 * 98,500 = 886,500.
    let other = filled(&[900_000, 1_500]);
    assert_eq!(occamy.candidate(&other), Some(0));
    assert_eq!(occamy.next_expulsion(Time::from_us(1), &other), Some(Time::from_us(1)));
    assert_eq!(expelled(&mut occamy, Time::from_us(1), &other), Some(0));
}

#[test]
fn transmissions_and_expulsions_are_paid_with_the_bandwidth_of_the_memory() {
    // Four ports send a byte in 200 ps, and so does the memory. The bucket of 1500 bytes is
    // full. At 1 us three packets begin to be sent: 3000 bytes are owed. The byte that comes at
    // 1 us is the first of 3001 without which nothing is expelled; the last one comes 3000 * 200
    // ps later.
    let (mut occamy, buffer) = (with("", 4), filled(&[990_000, 0, 0, 0]));
    (1..4).for_each(|queue| occamy.on_dequeue(Time::from_us(1), queue, 1500, &buffer));
    assert_eq!(occamy.bucket.tokens, -3000);
    assert_eq!(occamy.next_expulsion(Time::from_us(1), &buffer), Some(Time::from_ns(1_600)));
    assert_eq!(expelled(&mut occamy, Time::from_ns(1_599), &buffer), None);
    assert_eq!(expelled(&mut occamy, Time::from_ns(1_600), &buffer), Some(0));
    // 1 - 1500: the next one 1500 bytes later.
    assert_eq!(occamy.next_expulsion(Time::from_ns(1_600), &buffer), Some(Time::from_ns(1_900)));
    // A memory that is twice as fast pays 3001 bytes in 300 ns.
    let mut fast = with("bandwidth = 2", 4);
    (1..4).for_each(|queue| fast.on_dequeue(Time::from_us(1), queue, 1500, &buffer));
    assert_eq!(fast.next_expulsion(Time::from_us(1), &buffer), Some(Time::from_ns(1_300)));
}

#[test]
fn the_simulation_of_the_authors_gets_eight_tokens_every_150_ns() {
    let (mut occamy, buffer) = (with("preset = \"ns-3\"", 8), filled(&[990_000; 1]));
    assert_eq!(occamy.bucket.tick, 150_000 << PARTS_LOG2);
    assert_eq!(occamy.bucket.next(), None, "nothing has arrived");
    // Ticks begin at 1000 ns. A packet of 1500 bytes costs 8 tokens, one of 201 two.
    assert_eq!(occamy.admit(&at(Time::from_ns(1_000)), &filled(&[0])), Admission::Admit);
    occamy.on_dequeue(Time::from_ns(1_000), 0, 1500, &buffer);
    occamy.on_dequeue(Time::from_ns(1_000), 0, 201, &buffer);
    assert_eq!(occamy.bucket.tokens, -10);
    // -2 at 1000 ns, 6 at 1150 ns.
    assert_eq!(occamy.next_expulsion(Time::from_ns(1_000), &buffer), Some(Time::from_ns(1_150)));
    assert_eq!(expelled(&mut occamy, Time::from_ns(1_150), &buffer), Some(0));
    // -2, then 6 at 1300 ns: one packet for each tick.
    assert_eq!(occamy.next_expulsion(Time::from_ns(1_150), &buffer), Some(Time::from_ns(1_300)));
    // After a long time there are eight.
    occamy.bucket.add_before(Time::from_ms(1));
    assert_eq!(occamy.bucket.tokens, 8);
    // A packet that begins at a tick is charged before it.
    occamy.on_dequeue(Time::from_ps(1_000_000 + 150_000 * 7000), 0, 9000, &buffer);
    assert_eq!((occamy.bucket.ticks, occamy.bucket.tokens), (7_000, 8 - 45));
}

#[test]
fn queues_over_their_threshold_lose_packets_in_turn_or_the_longest_does() {
    // 55,000 bytes are free, T = 55,000 (alpha = 1): queues 1, 2 and 4 are over.
    let lengths = [5_000, 300_000, 320_000, 0, 320_000];
    let buffer = filled(&lengths);
    let victims = |text: &str, preset: &str| {
        let mut occamy = with(&format!("alpha = 1\nbandwidth = 1000\n{text}\n{preset}"), 5);
        occamy.bucket.start = Some(Time::ZERO);
        [1, 2, 3, 4].map(|us| expelled(&mut occamy, Time::from_us(us), &buffer).unwrap())
    };
    let in_turn = "victim = \"round-robin\"";
    assert_eq!(victims(in_turn, ""), [1, 2, 4, 1]);
    assert_eq!(victims("victim = \"longest\"", ""), [2; 4]);
    assert_eq!(victims("victim = \"longest\"", "preset = \"ns-3\""), [4; 4]);
}

#[test]
fn the_queue_that_lost_a_packet_last_comes_last() {
    let mut occamy = with("alpha = 1\nbandwidth = 1000", 3);
    let alone = filled(&[0, 700_000, 0]);
    let both = filled(&[400_000, 400_000, 0]);
    assert_eq!(expelled(&mut occamy, Time::from_us(1), &alone), Some(1));
    assert_eq!(expelled(&mut occamy, Time::from_us(2), &alone), Some(1));
    assert_eq!(expelled(&mut occamy, Time::from_us(3), &both), Some(0));
    assert_eq!(expelled(&mut occamy, Time::from_us(4), &both), Some(1));
    assert_eq!(expelled(&mut occamy, Time::from_us(5), &filled(&[1_000, 0, 0])), None);
}

#[test]
fn the_longest_queue_is_safe_if_its_own_threshold_is_higher() {
    // 100,000 free. Queue 0, of queue class 0, may hold 800,000, queue 1 25,000.
    let environment = Environment { queues_per_port: 2, ..Environment::example(1) };
    let mut buffer = Buffer::new(1_000_000, environment.port_rates.clone(), 2);
    buffer.add(0, 600_000);
    buffer.add(1, 300_000);
    let candidate = |victim: &str| {
        let text = format!("alpha = [8, 0.25]\nvictim = \"{victim}\"");
        let mut section = Section::new("sharing", text.parse().unwrap());
        Occamy::read(&mut section, &environment).unwrap().candidate(&buffer)
    };
    assert_eq!((candidate("longest"), candidate("round-robin")), (None, Some(1)));
}

/// A scenario that writes out all keys of one preset, of which another one is chosen.
#[test]
fn a_preset_of_which_no_value_is_left_is_warned_of() {
    let warned = |text: &str| {
        let mut section = Section::new("sharing", text.parse().unwrap());
        Occamy::read(&mut section, &Environment::example(8)).unwrap();
        section.warnings().join("\n")
    };
    let of_paper = "bandwidth = 1.0\nrefill = 1";
    let told = warned(&format!("preset = \"dpdk\"\n{of_paper}"));
    assert!(told.contains("sharing.preset: keys are given with the values of \"paper\""), "{told}");
    for text in ["preset = \"dpdk\"", of_paper, "preset = \"ns-3\"\nbandwidth = 1.0"] {
        assert_eq!(warned(text), "", "{text}");
    }
}

#[test]
fn a_packet_in_transmission_is_safe() {
    // Its bytes are held until it has been sent, but there is nothing to expel.
    let (mut occamy, mut buffer) = (with("alpha = 0.5", 1), filled(&[900_000]));
    assert_eq!(occamy.next_expulsion(Time::ZERO, &buffer), Some(Time::ZERO));
    buffer.subtract_packet(0);
    assert_eq!(occamy.next_expulsion(Time::ZERO, &buffer), None);
}

#[test]
fn an_empty_queue_may_be_exempt() {
    // 1,000 bytes are free, and alpha = 0.5 lets a queue hold 500.
    let mut buffer = filled(&[999_000, 0]);
    buffer.subtract_packet(1);
    let of = |text: &str| with(&format!("alpha = 0.5\n{text}"), 2);
    assert_eq!(of("").admit(&arrival(1, 501), &buffer), OVER);
    assert_eq!(of("exempt_empty = true").admit(&arrival(1, 501), &buffer), Admission::Admit);
    assert_eq!(of("preset = \"ns-3\"").admit(&arrival(0, 501), &buffer), OVER);
    assert_eq!(of("preset = \"ns-3\"").admit(&arrival(1, 501), &buffer), Admission::Admit);
}

/// The packets that are expelled until nothing more can be now.
fn all_expelled(occamy: &mut Occamy, now: Time, buffer: &mut Buffer) -> Vec<QueueId> {
    let mut queues = Vec::new();
    while occamy.next_expulsion(now, buffer) == Some(now) {
        let Some(queue) = expelled(occamy, now, buffer) else { break };
        buffer.subtract(queue, 1500);
        queues.push(queue);
    }
    queues
}

/// A buffer of 1,000,000 bytes with so many packets of 1,500 bytes in each queue.
fn with_packets(packets: &[u32]) -> Buffer {
    let mut buffer = filled(&vec![0; packets.len()]);
    for (queue, &number) in (0..).zip(packets) {
        buffer.subtract_packet(queue);
        (0..number).for_each(|_| buffer.add(queue, 1500));
    }
    buffer
}

#[test]
fn the_software_switch_expels_as_many_at_once_as_tokens_allow() {
    // Eight ports of 10 Gbps: 27 tokens of 200 bytes every 0.5 us.
    let (mut occamy, mut buffer) = (with("preset = \"dpdk\"", 8), with_packets(&[0, 650]));
    assert_eq!(occamy.bucket.tick, 500_000 << PARTS_LOG2);
    // The bucket is empty, which suffices for one packet of 8 tokens.
    assert_eq!(all_expelled(&mut occamy, Time::ZERO, &mut buffer), [1]);
    assert_eq!(occamy.bucket.tokens, -8);
    // The first tokens come after a tick. 19, 11, 3, -5.
    let tick = |number: u64| Time::from_ns(500 * number);
    assert_eq!(occamy.next_expulsion(Time::ZERO, &buffer), Some(tick(1)));
    assert_eq!(all_expelled(&mut occamy, tick(1), &mut buffer), [1; 3]);
    // -5 + 27 - 8 = 14 when a packet leaves after the next tick: 14, 6, -2, without a tick.
    assert_eq!(occamy.next_expulsion(tick(1), &buffer), Some(tick(2)));
    let later = Time::from_ns(1_001);
    occamy.on_dequeue(later, 7, 1500, &buffer);
    assert_eq!(occamy.next_expulsion(later, &buffer), Some(later));
    assert_eq!(all_expelled(&mut occamy, later, &mut buffer), [1; 2]);
    assert_eq!((occamy.bucket.tokens, occamy.next_expulsion(later, &buffer)), (-2, Some(tick(3))));
    // Other tokens are kept, 200 at most.
    occamy.on_dequeue(Time::from_ms(1), 7, 200, &buffer);
    assert_eq!(occamy.bucket.tokens, 199);
}

#[test]
fn the_software_switch_expels_without_a_token_but_not_in_debt() {
    let (mut occamy, buffer) = (with("preset = \"dpdk\"", 8), with_packets(&[0, 650]));
    // 27 at 0.5 us, and 27 * 200 bytes are sent.
    occamy.on_dequeue(Time::from_ns(600), 7, 5_400, &buffer);
    assert_eq!(occamy.next_expulsion(Time::from_ns(600), &buffer), Some(Time::from_ns(600)));
    occamy.on_dequeue(Time::from_ns(600), 7, 1, &buffer);
    assert_eq!(occamy.next_expulsion(Time::from_ns(600), &buffer), Some(Time::from_us(1)));
}

#[test]
fn the_software_switch_never_visits_the_first_queue() {
    // 196,000 bytes are free, and T is as much (alpha = 1): all but queue 4 are over.
    let text = "preset = \"dpdk\"\nalpha = 1";
    let four = filled(&[201_000, 201_000, 201_000, 201_000, 0]);
    let first = filled(&[804_000, 0, 0, 0, 0]);
    let mut occamy = with(text, 5);
    let got = [0; 4].map(|_| expelled(&mut occamy, Time::from_us(10), &four).unwrap());
    assert_eq!(got, [1, 2, 3, 1]);
    assert_eq!(occamy.next_expulsion(Time::from_us(11), &first), None);
    let longest = with(&format!("{text}\nvictim = \"longest\""), 5);
    assert_eq!((longest.candidate(&first), longest.candidate(&four)), (Some(0), Some(0)));
}

#[test]
fn turns_begin_again_when_the_software_switch_has_found_no_queue() {
    // T = 150,000 for two queues of 425,000, and 850,000 for one of 150,000.
    let text = "preset = \"dpdk\"\nalpha = 1\ncell = \"1500B\"\nrefill = 1\nbucket = 1";
    let (both, none) = (filled(&[0, 425_000, 425_000]), filled(&[0, 150_000, 0]));
    let start = Time::from_us(10);
    let begun = || {
        let mut occamy = with(text, 3);
        assert_eq!(occamy.next_expulsion(start, &both), Some(start));
        assert_eq!(expelled(&mut occamy, start, &both), Some(1));
        occamy
    };
    // The one token of the bucket is spent, which suffices for another packet.
    assert_eq!((begun().last, begun().candidate(&both)), (1, Some(2)));
    let mut occamy = begun();
    assert_eq!(occamy.next_expulsion(start, &none), None);
    assert_eq!(occamy.candidate(&both), Some(1));
    // In debt it does not look. A tick is 12,000 bits over 1.08 * 30 Gbps: 370.4 ns. There is one
    // at 10,000 ns, whose token the expulsion has found, and one at 10,370.4 ns.
    let mut occamy = begun();
    occamy.on_dequeue(start, 0, 1500, &both);
    assert_eq!((occamy.bucket.tokens, occamy.next_expulsion(start, &none)), (-1, None));
    assert_eq!(occamy.candidate(&both), Some(2));
    let tick = Time::from_ps(10_370_371);
    assert_eq!(
        occamy.next_expulsion(tick, &both),
        Some(tick),
        "and what happens at a tick is first"
    );
    assert_eq!((occamy.candidate(&both), expelled(&mut occamy, tick, &both)), (Some(2), Some(2)));
    // After the tick it has looked, even if a packet that leaves takes the token.
    let mut occamy = begun();
    occamy.on_dequeue(start, 0, 1500, &both);
    occamy.on_dequeue(tick + Time::from_ps(1), 0, 1500, &none);
    assert_eq!((occamy.bucket.tokens, occamy.candidate(&both)), (-1, Some(1)));
}

#[test]
fn the_longest_queue_over_its_own_threshold_is_found_behind_a_longer_one() {
    // 100,000 free. Queue 0, of queue class 0, may hold 800,000, the others 25,000.
    let environment = Environment { queues_per_port: 3, ..Environment::example(1) };
    let mut buffer = Buffer::new(1_000_000, environment.port_rates.clone(), 3);
    [600_000, 150_000, 150_000]
        .iter()
        .zip(0..)
        .for_each(|(&bytes, queue)| buffer.add(queue, bytes));
    let text = "preset = \"dpdk\"\nalpha = [8, 0.25]\nvictim = \"longest\"";
    let mut section = Section::new("sharing", text.parse().unwrap());
    assert_eq!(Occamy::read(&mut section, &environment).unwrap().candidate(&buffer), Some(1));
}

#[test]
fn thresholds_and_free_space_may_be_old() {
    const FULL: Admission = Admission::Drop(DropReason::BufferFull);
    let mut occamy = with("threshold_every = \"1us\"\nalpha = 2", 3);
    assert_eq!(occamy.period(), Some(Time::from_us(1)));
    assert_eq!(with("", 3).period(), None);
    // First found empty: T = 2,000,000, and later, at 1 us, 2 * 1,000 = 2,000.
    assert_eq!(occamy.admit(&at(Time::ZERO), &with_packets(&[0, 0, 0])), Admission::Admit);
    let full = filled(&[990_000, 8_500, 500]);
    assert_eq!(occamy.admit(&arrival(2, 1_501), &full), Admission::Admit);
    assert_eq!(occamy.candidate(&full), None);
    occamy.on_timer(Time::from_us(1), &full);
    assert_eq!(occamy.candidate(&full), Some(1));
    assert_eq!(occamy.admit(&arrival(2, 1_001), &full), FULL, "500 + 1,001 <= T");
    assert_eq!(occamy.admit(&arrival(2, 1_000), &full), Admission::Admit);
    assert_eq!(occamy.admit(&arrival(2, 1_501), &full), OVER);
    // What has left meanwhile changes nothing until the next time.
    let empty = filled(&[2_000, 0, 500]);
    assert_eq!(occamy.threshold(&arrival(2, 0), &empty), Some(2_000));
    assert_eq!(occamy.admit(&arrival(2, 1_001), &empty), FULL);
    assert_eq!(occamy.admit(&arrival(2, 1_501), &empty), OVER);
    assert_eq!(occamy.candidate(&empty), None, "2,000 is not over T");
    assert_eq!(occamy.candidate(&filled(&[2_001, 0, 500])), Some(0));
    occamy.on_timer(Time::from_us(2), &empty);
    assert_eq!(occamy.admit(&arrival(2, 1_501), &empty), Admission::Admit);
}

#[test]
fn the_slowest_and_the_fastest_memory_do_no_harm() {
    let buffer = filled(&[990_000]);
    let mut slow = with("bandwidth = 1e-6\ncell = \"1000000GB\"\nbucket = 1", 1);
    slow.on_dequeue(Time::from_us(1), 0, 1500, &buffer);
    assert_eq!(slow.next_expulsion(Time::from_us(1), &buffer), None, "not in 200 days");
    let mut fast = with("bandwidth = 1e6", 8);
    let late = Time::from_ms(1_000_000);
    fast.on_dequeue(late, 0, 1500, &buffer);
    assert_eq!(fast.next_expulsion(late, &buffer), Some(late));
    assert_eq!(expelled(&mut fast, late, &buffer), Some(0));
}
