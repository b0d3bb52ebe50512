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
    assert_eq!(victims("victim = \"longest\"", "preset = \"dpdk\""), [2; 4]);
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

#[test]
fn the_software_switch_expels_without_a_token() {
    let (mut occamy, buffer) = (with("preset = \"dpdk\"", 8), filled(&[990_000]));
    // 200 tokens, and 200 * 200 bytes are sent. 55 million cells come in a second.
    occamy.on_dequeue(Time::ZERO, 0, 40_000, &buffer);
    assert_eq!((occamy.bucket.tokens, occamy.bucket.ticks), (0, 0));
    assert_eq!(occamy.next_expulsion(Time::ZERO, &buffer), Some(Time::ZERO));
    occamy.on_dequeue(Time::ZERO, 0, 400, &buffer);
    // The token that comes at once, and the next one.
    let second = Time::from_ps(1_000_000_000_000 / 55_000_000 + 1);
    assert_eq!(occamy.next_expulsion(Time::ZERO, &buffer), Some(second));
    assert_eq!(expelled(&mut occamy, second, &buffer), Some(0));
    assert_eq!(occamy.bucket.tokens, -8);
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
