use super::*;
use crate::aqm::acc::testing::Agent;
use crate::sharing::tests::{arrival, filled};

const INTERVAL: u64 = 100;

/// Three lines. y0 = 0.25, y1 = q + R, y2 = 2 R^m: the first while nothing happens, the second with
/// a queue or packets, the third where most is marked.
fn agent() -> Agent {
    let actions = [[3_000.0, 9_000.0, 0.5], [6_000.0, 6_000.0, 1.0], [15_000.0, 60_000.0, 0.1]];
    let outputs = vec![
        vec![0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.25],
        vec![1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        vec![0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 0.0],
    ];
    let ranges = [60_000.0, 1.0, 1.0, 15_000.0, 60_000.0, 1.0];
    Agent::new(INTERVAL * 1_000_000, 1, ranges, &actions, &[outputs])
}

/// A file that is there as long as this is.
struct Kept(std::path::PathBuf);

impl Drop for Kept {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

fn kept(name: &str, agent: &Agent) -> Kept {
    let path = std::env::temp_dir().join(format!("spillway-acc-{name}-{}", std::process::id()));
    std::fs::write(&path, agent.written()).unwrap();
    Kept(path)
}

fn read(text: &str, environment: &Environment) -> Result<Acc, SettingsError> {
    let mut section = Section::new("aqm", text.parse().unwrap());
    Acc::read(&mut section, environment)
}

fn acc(name: &str, agent: &Agent, text: &str) -> Acc {
    let file = kept(name, agent);
    let text = format!("model = '{}'\nexploration = 0\n{text}", file.0.display());
    read(&text, &Environment::example(1)).unwrap()
}

fn packet(us: u64) -> Arrival {
    Arrival { now: Time::from_us(us), ..arrival(0, 1500) }
}

/// The line in force: min and max.
fn line(acc: &Acc) -> (u64, u64) {
    let sample = acc.sample(Time::ZERO, 0, &filled(&[0])).unwrap();
    (sample.min_bytes.unwrap(), sample.max_bytes.unwrap())
}

#[test]
fn a_line_marks_as_red_does() {
    let mut acc = acc("line", &agent(), "");
    // 6 KB are half way between 3 and 9 KB: 0.5 of 0.5.
    assert_eq!(acc.probability(0, 6_000), 0.25);
    assert_eq!((acc.probability(0, 3_000), acc.probability(0, 9_000)), (0.0, 1.0));
    let marked = (0..100_000)
        .filter(|_| acc.on_arrival(&packet(1), &filled(&[6_000])) == Verdict::Mark)
        .count();
    // Standard error sqrt(.25 * .75 / 1e5) = 0.0014.
    assert!((marked as f64 / 1e5 - 0.25).abs() < 0.007, "{marked}");
}

#[test]
fn an_interval_in_numbers_by_hand() {
    let mut acc = acc("hand", &agent(), "");
    assert_eq!(line(&acc), (3_000, 9_000));
    let empty = filled(&[0]);
    // Four packets come at 0 and wait; one leaves at 20 us, one at 60 us. A fifth passes at 90 us.
    // One of the four is marked.
    for _ in 0..4 {
        acc.on_arrival(&packet(0), &empty);
        acc.on_enqueue(&packet(0), &empty);
    }
    acc.on_mark(0, 1500);
    acc.on_dequeue(Time::from_us(20), 0, 1500, &empty);
    acc.on_dequeue(Time::from_us(60), 0, 1500, &empty);
    acc.on_pass(&packet(90), &empty);
    let waiting = filled(&[3_000]);
    acc.on_timer(Time::from_us(100), &waiting);
    // Mean queue: 6000 B for 20 us, 4500 B for 40 us, 3000 B for 40 us: 4200 B of 60,000, 0.07.
    // Sent: 4500 B at 10 Gbps take 3.6 us of 100. Marked: 1.2 us of 100.
    let expected = [0.07, 0.036, 0.012, 0.2, 0.15, 0.5];
    for (seen, expected) in acc.seen.iter().zip(expected) {
        assert!((f64::from(*seen) - expected).abs() < 1e-7, "{:?}", acc.seen);
    }
    // y = (0.25, 0.106, 0.024): the first line stays. In the next interval 80 packets are sent:
    // 0.96 + 0.05 + (as 3000 B wait all the time).
    for _ in 0..80 {
        acc.on_pass(&packet(150), &waiting);
    }
    acc.on_timer(Time::from_us(200), &waiting);
    assert!((acc.seen[0] - 0.05).abs() < 1e-7 && (acc.seen[1] - 0.96).abs() < 1e-7);
    assert_eq!(line(&acc), (6_000, 6_000));
    // What is marked weighs twice: 60 of 70 packets, 2 x 0.72 > 0.05 + 0.84.
    for number in 0..70 {
        acc.on_pass(&packet(250), &waiting);
        if number < 60 {
            acc.on_mark(0, 1500);
        }
    }
    acc.on_timer(Time::from_us(300), &waiting);
    assert_eq!(line(&acc), (15_000, 60_000));
    // The line that was in force is seen: 6000 of 15,000, 6000 of 60,000, 1.
    assert_eq!(acc.seen[3..], [0.4, 0.1, 1.0]);
}

#[test]
fn more_than_a_range_is_the_whole_of_it() {
    let mut acc = acc("range", &agent(), "");
    let packet = Arrival { size: 120_000, ..packet(0) };
    acc.on_arrival(&packet, &filled(&[0]));
    acc.on_enqueue(&packet, &filled(&[0]));
    acc.on_timer(Time::from_us(100), &filled(&[120_000]));
    assert_eq!(acc.seen[0], 1.0);
}

#[test]
fn lost_packets_are_not_sent() {
    let mut acc = acc("lost", &agent(), "");
    let (empty, waiting) = (filled(&[0]), filled(&[1_500]));
    for _ in 0..2 {
        acc.on_arrival(&packet(0), &empty);
        acc.on_enqueue(&packet(0), &empty);
    }
    // One of the two is pushed out at 40 us, when one is left; an arrival is lost at 50 us.
    acc.on_drop(Time::from_us(40), 0, 1500, &waiting);
    acc.on_arrival(&packet(50), &waiting);
    acc.on_drop(Time::from_us(50), 0, 1500, &waiting);
    // This packet was lost before the AQM was asked, as when the headroom for lossless packets is
    // full.
    acc.on_drop(Time::from_us(60), 0, 1500, &waiting);
    acc.on_timer(Time::from_us(100), &waiting);
    // 3000 B for 40 us and 1500 B for 60 us are 2100 B on average, of 60,000.
    assert!((acc.seen[0] - 0.035).abs() < 1e-7, "{:?}", acc.seen);
    assert_eq!(acc.seen[1], 0.0);
    // The packet that is left is sent in the next interval: 1.2 us of 100. Other losses do not
    // matter.
    acc.on_dequeue(Time::from_us(150), 0, 1500, &empty);
    acc.on_drop(Time::from_us(160), 0, 1500, &empty);
    acc.on_timer(Time::from_us(200), &empty);
    assert!((acc.seen[1] - 0.012).abs() < 1e-7, "{:?}", acc.seen);
}

#[test]
fn an_idle_queue_keeps_its_line_unless_it_is_to_decide() {
    for (idle, expected) in [("keeps", (6_000, 6_000)), ("decides", (3_000, 9_000))] {
        let mut acc = acc(idle, &agent(), &format!("idle = \"{idle}\""));
        let empty = filled(&[0]);
        (0..80).for_each(|_| acc.on_pass(&packet(50), &empty));
        acc.on_timer(Time::from_us(100), &empty);
        assert_eq!(line(&acc), (6_000, 6_000));
        acc.on_timer(Time::from_us(200), &empty);
        assert_eq!(line(&acc), expected, "{idle}");
    }
}

#[test]
fn history_is_seen_oldest_first() {
    // Two intervals: the output of the second line is the queue of the older one.
    let mut outputs = vec![vec![0.0; 13], vec![0.0; 13]];
    outputs[0][12] = 0.5;
    outputs[1][0] = 1.0;
    let actions = [[1_500.0, 3_000.0, 1.0], [3_000.0, 4_500.0, 1.0]];
    let agent = Agent::new(
        100_000_000,
        2,
        [1_500.0, 1.0, 1.0, 3_000.0, 4_500.0, 1.0],
        &actions,
        &[outputs],
    );
    let mut acc = acc("history", &agent, "idle = \"decides\"");
    let empty = filled(&[0]);
    // A packet waits through the first interval, and none through the second.
    acc.on_arrival(&packet(0), &empty);
    acc.on_enqueue(&packet(0), &empty);
    acc.on_timer(Time::from_us(100), &filled(&[1_500]));
    assert_eq!((line(&acc), acc.seen[0], acc.seen[6]), ((1_500, 3_000), 0.0, 1.0));
    acc.on_dequeue(Time::from_us(100), 0, 1500, &empty);
    acc.on_timer(Time::from_us(200), &empty);
    assert_eq!((line(&acc), acc.seen[0], acc.seen[6]), ((3_000, 4_500), 1.0, 0.0));
}

#[test]
fn exploration_takes_any_line_as_often_as_it_says() {
    let file = kept("explores", &agent());
    let text = format!("model = '{}'\nexploration = 0.3\nidle = \"decides\"", file.0.display());
    let mut acc = read(&text, &Environment::example(1)).unwrap();
    let empty = filled(&[0]);
    let mut counts = [0_u32; 3];
    for interval in 1..=30_000 {
        acc.on_timer(Time::from_us(100 * interval), &empty);
        counts[acc.queues[0].action as usize] += 1;
    }
    // Each line is drawn with probability 0.1. The first is also the model's choice. Standard error
    // 52.
    assert!(counts[1].abs_diff(3_000) < 260 && counts[2].abs_diff(3_000) < 260, "{counts:?}");
}

#[test]
fn the_interval_and_the_fate_of_what_cannot_be_marked_are_keys() {
    assert_eq!(acc("interval", &agent(), "").period(), Some(Time::from_us(INTERVAL)));
    let shorter = acc("shorter", &agent(), "interval = \"25us\"");
    assert_eq!(shorter.period(), Some(Time::from_us(25)));
    let mut drops = acc("drops", &agent(), "not_ect = \"drop\"");
    assert_eq!(drops.on_arrival(&packet(0), &filled(&[9_000])), Verdict::MarkOrDrop);
}

#[test]
fn a_file_that_is_no_agent_is_named() {
    let environment = Environment::example(1);
    let mut agent = agent();
    agent.metadata.insert("version".into(), "7".into());
    let file = kept("version", &agent);
    let name = file.0.display();
    let error = read(&format!("model = '{name}'"), &environment).unwrap_err().to_string();
    assert_eq!(error, format!("aqm.model: {name}: its version is 7; this program reads version 1"));
    let error = read("model = \"none.safetensors\"", &environment).unwrap_err().to_string();
    assert!(error.starts_with("aqm.model: none.safetensors: it cannot be read: "), "{error}");
}

#[test]
fn queues_have_states_of_their_own() {
    let file = kept("own", &agent());
    let text = format!("model = '{}'\nexploration = 0", file.0.display());
    let mut acc = read(&text, &Environment::example(2)).unwrap();
    let empty = filled(&[0, 0]);
    let second = Arrival { queue: 1, ..packet(50) };
    (0..80).for_each(|_| acc.on_pass(&second, &empty));
    acc.on_timer(Time::from_us(100), &empty);
    let lines = [0, 1].map(|queue| acc.sample(Time::ZERO, queue, &empty).unwrap().max_bytes);
    assert_eq!(lines, [Some(9_000), Some(6_000)]);
}
