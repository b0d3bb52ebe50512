use super::adjuster::Rules;
use super::*;
use crate::aqm::tests::leaving;
use crate::sharing::tests::{arrival, filled};

/// With the text's defaults.
fn pred(text: &str) -> Pred {
    settled(&format!("preset = \"paper\"\n{text}"))
}

fn settled(text: &str) -> Pred {
    let mut section = Section::new("aqm", text.parse().unwrap());
    Pred::read(&mut section, &Environment::example(1)).unwrap()
}

fn refused(text: &str) -> String {
    let mut section = Section::new("aqm", text.parse().unwrap());
    Pred::read(&mut section, &Environment::example(1)).unwrap_err().to_string()
}

fn packet(us: u64, flow: u32) -> Arrival {
    Arrival { now: Time::from_us(us), flow, ..arrival(0, 1500) }
}

/// The probability for the only queue, by the flows that have been counted.
fn probability(pred: &Pred, bytes: u32) -> f64 {
    pred.probability(0, 0, bytes, Counter::flows)
}

const FIXED: &str = "qla = false\nmin = \"10KB\"\n";

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-12
}

#[test]
fn the_slope_grows_with_the_number_of_flows() {
    // 60 KB are 50 KB above min; lambda is 0.1 for 100 KB and flow: 0.05 N.
    let of_flows = |f: &str, flows: u32| {
        let mut pred = pred(&format!("{FIXED}counter = \"exact\"\nf = \"{f}\"\nlambda = 0.1"));
        let buffer = filled(&[60_000]);
        for flow in 0..flows {
            pred.on_arrival(&packet(1, flow), &buffer);
        }
        probability(&pred, 60_000)
    };
    assert!(close(of_flows("n", 1), 0.05) && close(of_flows("n", 4), 0.2));
    assert!(close(of_flows("sqrt-n", 4), 0.1));
    assert!(close(of_flows("n-squared", 4), 0.8));
    let without = pred(&format!("{FIXED}fcs = false"));
    assert!(close(probability(&without, 60_000), 0.05));
}

#[test]
fn the_unit_of_lambda_is_a_choice() {
    // The paper's example: 0.5 per MB, from 5 KB on, is about 0.1 at 0.2 MB.
    let text = "qla = false\nfcs = false\nlambda_unit = \"1MB\"\nlambda = 0.5128205\nmin = \"5KB\"";
    assert!((probability(&pred(text), 200_000) - 0.1).abs() < 1e-7);
}

#[test]
fn marks_are_none_up_to_min_and_all_from_max_on() {
    let mut pred = pred(&format!("{FIXED}max = \"100KB\""));
    let mut marked = |bytes| pred.on_arrival(&packet(1, 1), &filled(&[bytes])) == Verdict::Mark;
    assert!((0..100).all(|_| !marked(10_000)));
    assert!((0..100).all(|_| marked(100_000)));
    let share = (0..100_000).filter(|_| marked(60_000)).count() as f64 / 1e5;
    // p = 0.05; standard error sqrt(0.05 * 0.95 / 1e5) = 0.0007.
    assert!((share - 0.05).abs() < 0.003, "{share}");
}

#[test]
fn the_packet_that_leaves_a_long_queue_is_marked_in_place_of_the_one_that_finds_it() {
    // Three packets of 1500 bytes come at once, and find 0, 1 and 2 packets; then they leave, and
    // leave 2, 1 and 0 behind. From 3000 bytes on all are marked, and below none, for min is there
    // too.
    for (moment, expected) in [("arrival", (vec![3], vec![])), ("departure", (vec![], vec![1]))] {
        let bounds = "min = \"3KB\"\nmax = \"3KB\"";
        let mut pred = pred(&format!("qla = false\n{bounds}\nmarks_at = \"{moment}\""));
        let mut buffer = Buffer::new(1_000_000, Environment::example(1).port_rates, 1);
        let (mut arriving, mut departing) = (Vec::new(), Vec::new());
        for place in 1..=3 {
            if pred.on_arrival(&packet(0, 1), &buffer) == Verdict::Mark {
                arriving.push(place);
            }
            buffer.add(0, 1500);
        }
        for place in 1..=3 {
            buffer.subtract(0, 1500);
            let leaving = leaving(Time::ZERO, Time::from_us(place));
            if pred.on_departure(&leaving, &buffer) == Verdict::Mark {
                departing.push(place);
            }
        }
        assert_eq!((arriving, departing), expected, "{moment}");
    }
}

#[test]
fn the_queues_of_a_port_may_count_as_one() {
    // Two queues of 30 KB: each is 20 KB above min, and both together 50 KB. With two flows p is 0.01
    // for 1 KB: 0.2 and 0.5. The table has 0 and 1 only.
    for (scope, verdict) in [("queue", Verdict::Pass), ("port", Verdict::Mark)] {
        let text = format!(
            "preset = \"paper\"\n{FIXED}counter = \"exact\"\nlambda = 0.5\ntable_step = \"10KB\"\n\
             table_bits = 1\nscope = \"{scope}\""
        );
        let environment = Environment { queues_per_port: 2, ..Environment::example(1) };
        let mut section = Section::new("aqm", text.parse().unwrap());
        let mut pred = Pred::read(&mut section, &environment).unwrap();
        section.finish().unwrap();
        let mut buffer = Buffer::new(1_000_000, environment.port_rates, 2);
        (0..2).for_each(|queue| buffer.add(queue, 30_000));
        pred.on_arrival(&packet(1, 0), &buffer);
        for queue in 0..2 {
            let second = Arrival { queue, ..packet(1, 1) };
            assert_eq!(pred.on_arrival(&second, &buffer), verdict, "{scope} {queue}");
        }
        // The port has one adjuster, and N.
        assert_eq!(pred.adjuster_of(1), 0);
    }
    let refused = refused("scope = \"port\"\nqla_scope = \"port\"");
    assert_eq!(refused, "aqm.qla_scope: it needs scope = \"queue\"");
}

#[test]
fn one_setting_is_tried_for_all_queues_of_a_port() {
    // A port's queues hold 20 and 30 packets throughout, of which the first trial shows the mean: 50.
    let environment = Environment { queues_per_port: 2, ..Environment::example(1) };
    let mut section = Section::new("aqm", "preset = \"paper\"\nscope = \"port\"".parse().unwrap());
    let mut pred = Pred::read(&mut section, &environment).unwrap();
    let mut buffer = Buffer::new(1_000_000, environment.port_rates, 2);
    for (queue, packets) in [(0, 20), (1, 30)] {
        for _ in 0..packets {
            buffer.add(queue, 1_500);
            pred.on_enqueue(&Arrival { queue, now: Time::ZERO, ..packet(0, 1) }, &buffer);
        }
    }
    assert_eq!((pred.adjusters.len(), pred.live.len()), (1, 1));
    // A period is 125 us. Nothing is sent: U = 0.6 (333.3 - 50) / (333.3 - 15).
    pred.on_timer(Time::from_us(125), &buffer);
    let expected = 0.6 * (500_000.0 / 1_500.0 - 50.0) / (500_000.0 / 1_500.0 - 15.0);
    assert!(close(pred.adjusters[0].utility, expected), "{}", pred.adjusters[0].utility);
}

#[test]
fn what_leaves_is_marked_by_the_flows_of_that_moment() {
    // 60 KB are 50 KB above min, so p = N / 4; the table has 0 and 1 only, and N / 4 rounds to 1
    // from N = 2 on. Four flows come in the first period of 10 us, and none later: N is 4 in the
    // first two periods, and then 1.
    let mut pred = pred(&format!(
        "{FIXED}counter = \"exact\"\nt_fcs = \"10us\"\nlambda = 0.5\ntable_step = \"10KB\"\n\
         table_bits = 1\nmarks_at = \"departure\""
    ));
    let buffer = filled(&[60_000]);
    for flow in 0..4 {
        assert_eq!(pred.on_arrival(&packet(1, flow), &buffer), Verdict::Pass);
    }
    let mut marks = |us| {
        let leaving = leaving(Time::ZERO, Time::from_us(us));
        (0..20).filter(|_| pred.on_departure(&leaving, &buffer) == Verdict::Mark).count()
    };
    assert_eq!([5, 19, 20, 30].map(&mut marks), [20, 20, 0, 0]);
}

#[test]
fn what_leaves_is_marked_by_the_setting_that_has_been_written() {
    let mut pred = pred("plane = \"control\"\nfcs = false\nmarks_at = \"departure\"");
    let buffer = filled(&[60_000]);
    pred.on_timer(Time::from_us(400_000), &buffer);
    let mut lambda = |ms| {
        pred.on_departure(&leaving(Time::ZERO, Time::from_ms(ms)), &buffer);
        pred.live[0].lambda
    };
    assert!(close(lambda(484), 0.125) && close(lambda(523), 0.075));
}

#[test]
fn only_what_may_be_lost_as_it_leaves_must_be_woken_for() {
    let drops = |text: &str| pred(text).drops_departures();
    assert!(drops("marks_at = \"departure\"\nnot_ect = \"drop\""));
    assert!(!drops("marks_at = \"departure\"") && !drops("not_ect = \"drop\""));
}

#[test]
fn a_table_has_rows_and_few_probabilities() {
    let text = format!("{FIXED}fcs = false\ntable_step = \"50KB\"\ntable_bits = 3");
    let pred = pred(&text);
    // 60 KB are in the row of 50 KB: p = 0.04, and of sevenths the nearest is 0. From 100 KB on
    // p = 0.09, a seventh is 0.143; the border is 1 / 14 = 0.0714.
    assert!(close(probability(&pred, 60_000), 0.0));
    assert!(close(probability(&pred, 149_999), 1.0 / 7.0));
}

#[test]
fn throughput_and_mean_queue_are_those_of_the_period() {
    // Two packets join at 0 and 50 us, one leaves at 75; a period is 100 us. Mean: (50 + 50 + 0) /
    // 100 over time; arrivals find 0 and 1.
    for (mean, queue) in [("time", 1.25), ("arrivals", 0.5)] {
        let mut pred = pred(&format!("t_qla = \"100us\"\nq_left = \"0pkt\"\nmean = \"{mean}\""));
        let environment = Environment::example(1);
        let mut buffer = Buffer::new(1_000_000, environment.port_rates, 1);
        for us in [0, 50] {
            let arrival = packet(us, 1);
            pred.on_arrival(&arrival, &buffer);
            buffer.add(0, 1500);
            pred.on_enqueue(&arrival, &buffer);
        }
        buffer.subtract(0, 1500);
        pred.on_dequeue(Time::from_us(75), 0, 1500, &buffer);
        pred.on_timer(Time::from_us(100), &buffer);
        // 1500 bytes have left: 1.2 us of 100. max is 500 KB, 1000 / 3 packets.
        let expected = 0.4 * 0.012 + 0.6 * (1.0 - queue / (1000.0 / 3.0));
        assert!(close(pred.adjusters[0].utility, expected), "{mean}");
        // In the next period nothing moves: 1500 bytes wait.
        pred.on_timer(Time::from_us(200), &buffer);
        let queue = if mean == "time" { 1.0 } else { 0.0 };
        let expected = 0.6 * (1.0 - queue / (1000.0 / 3.0));
        assert!(close(pred.adjusters[0].utility, expected), "{mean}");
    }
}

#[test]
fn lost_packets_are_not_sent() {
    let mut pred = pred("t_qla = \"100us\"");
    let buffer = Buffer::new(1_000_000, Environment::example(1).port_rates, 1);
    pred.on_arrival(&packet(1, 1), &buffer);
    pred.on_drop(Time::from_us(1), 0, 1500, &buffer);
    // This one passes an idle port.
    pred.on_arrival(&packet(2, 1), &buffer);
    pred.on_timer(Time::from_us(100), &buffer);
    assert!(close(pred.adjusters[0].utility, 0.4 * 0.012 + 0.6));
}

#[test]
fn packets_lost_while_they_wait_are_not_sent() {
    // Two packets wait when the second period begins, and one of them is pushed out in it. Without
    // a packet sent only the queue counts, which is at most q_left: 0.6.
    let mut pred = pred("t_qla = \"100us\"");
    let mut buffer = filled(&[3000]);
    for us in 0..2 {
        pred.on_arrival(&packet(us, 1), &buffer);
    }
    pred.on_timer(Time::from_us(100), &buffer);
    buffer.subtract(0, 1500);
    pred.on_drop(Time::from_us(150), 0, 1500, &buffer);
    pred.on_timer(Time::from_us(200), &buffer);
    assert!(close(pred.adjusters[0].utility, 0.6));
}

#[test]
fn a_constant_utility_leaves_lambda_where_it_is() {
    let mut pred = pred("");
    let buffer = filled(&[30_000]);
    for period in 1..=400 {
        pred.on_timer(Time::from_us(125 * period), &buffer);
    }
    assert_eq!(pred.adjusters[0].trial(&pred.params.qla.clone().unwrap().rules), pred.live[0]);
    assert!(close(pred.live[0].lambda, 0.125));
}

#[test]
fn the_control_plane_is_late() {
    let mut pred = pred("plane = \"control\"\nfcs = false");
    let buffer = filled(&[60_000]);
    assert_eq!(pred.period(), Some(Time::from_us(400_000)));
    assert!(close(pred.live[0].lambda, 0.125));
    // The first period is over: lambda - delta marks 85 to 122 ms later.
    pred.on_timer(Time::from_us(400_000), &buffer);
    pred.on_arrival(&packet(484_999, 1), &buffer);
    assert!(close(pred.live[0].lambda, 0.125));
    pred.on_arrival(&packet(522_001, 1), &buffer);
    assert!(close(pred.live[0].lambda, 0.075));
}

/// The second period is low too. Meanwhile the setting of the first period marks, although no
/// packet has come since it was written.
#[test]
fn what_is_written_marks_without_a_packet() {
    let mut pred = pred("plane = \"control\"\nfcs = false");
    let buffer = filled(&[60_000]);
    pred.on_timer(Time::from_us(400_000), &buffer);
    let lambda = |pred: &Pred, ms: u64| {
        pred.sample(Time::from_ms(ms), 0, &buffer).and_then(|sample| sample.lambda).unwrap()
    };
    assert!(close(lambda(&pred, 484), 0.125) && close(lambda(&pred, 522), 0.075));
    pred.on_timer(Time::from_us(800_000), &buffer);
    assert!(close(lambda(&pred, 801), 0.075));
    pred.on_arrival(&packet(801_000, 1), &buffer);
    assert!(close(pred.live[0].lambda, 0.075));
}

#[test]
fn a_port_s_queues_share_an_adjuster_if_asked() {
    let environment = Environment { queues_per_port: 3, ..Environment::example(2) };
    let number = |text: &str| {
        let mut section = Section::new("aqm", text.parse().unwrap());
        Pred::read(&mut section, &environment).unwrap().adjusters.len()
    };
    assert_eq!((number(""), number("qla_scope = \"port\""), number("qla = false")), (6, 2, 1));
}

#[test]
fn acks_count_as_flows_unless_told_otherwise() {
    for (count_acks, flows) in [(true, 2), (false, 1)] {
        let mut pred = pred(&format!("{FIXED}count_acks = {count_acks}"));
        let buffer = filled(&[1500]);
        pred.on_arrival(&packet(1, 1), &buffer);
        pred.on_arrival(&Arrival { is_control: true, ..packet(2, 2) }, &buffer);
        assert_eq!(pred.counters[0].flows(), flows);
    }
}

#[test]
fn periods_follow_the_base_rtt() {
    // 25 us.
    let pred = pred("");
    let fcs = pred.params.fcs.as_ref().unwrap();
    assert_eq!(fcs.period, Time::from_ns(31_250));
    assert_eq!(pred.period(), Some(Time::from_us(125)));
    assert_eq!(pred.params.qla.as_ref().unwrap().rules.round_trips, None);
    // Measured as often, but a trial lasts for thirty round trips.
    let settled = settled("");
    assert_eq!(settled.period(), Some(Time::from_us(125)));
    let round_trips = settled.params.qla.as_ref().unwrap().rules.round_trips;
    assert_eq!(round_trips, Some(adjuster::RoundTrips { all: 30.0, settling: 10.0 }));
}

/// Without a queue a period of 125 us is five round trips: two are left out, and the third to the
/// sixth count. With 75,000 bytes, 60 us, it is 125 / 85 of them.
#[test]
fn a_trial_counts_round_trips_and_leaves_the_first_out() {
    let mut pred = settled("delta = 0.01");
    let empty = Buffer::new(1_000_000, Environment::example(1).port_rates, 1);
    let lambda = |pred: &Pred| pred.live[0].lambda;
    for period in 1..=6 {
        assert!(close(lambda(&pred), 0.11), "{period}");
        // A packet passes, so the period is not left out: 1.2 us of 125.
        pred.on_arrival(&packet(125 * period - 1, 1), &empty);
        pred.on_timer(Time::from_us(125 * period), &empty);
    }
    assert!(close(lambda(&pred), 0.09));
    assert!(close(pred.adjusters[0].utility, 0.25 * 1.2 / 125.0 + 0.75));
    // 30 round trips of 85 us are 2,550 us, more than 20 periods.
    let mut pred = settled("delta = 0.01");
    let full = filled(&[75_000]);
    pred.sums[0].length = 50;
    (1..=20).for_each(|period| pred.on_timer(Time::from_us(125 * period), &full));
    assert!(close(lambda(&pred), 0.11));
    pred.on_timer(Time::from_us(125 * 21), &full);
    assert!(close(lambda(&pred), 0.09));
}

#[test]
fn an_idle_period_is_left_out() {
    let mut pred = settled("");
    let empty = Buffer::new(1_000_000, Environment::example(1).port_rates, 1);
    (1..=100).for_each(|period| pred.on_timer(Time::from_us(125 * period), &empty));
    assert!(close(pred.live[0].lambda, 0.125) && pred.adjusters[0].utility.is_nan());
}

#[test]
fn the_text_s_values_are_a_preset() {
    let keys = |text: &str| {
        let mut section = Section::new("aqm", text.parse().unwrap());
        Pred::read(&mut section, &Environment::example(1)).unwrap();
        section.finish().unwrap()
    };
    let written = "trials = \"period\"\nbeta = 0.4\nphi = \"linear\"\nq_left = \"15pkt\"\n\
                   tolerance = 0.0\ndecides = \"trials\"\nidle = \"counts\"\n";
    let bounds = "phi_end = \"500KB\"\nmin_max = \"500KB\"\nlambda_max = 1e300\n";
    let both = [format!("{written}{bounds}"), "preset = \"paper\"".into()].map(|text| {
        let rules = settled(&text).params.qla.clone().unwrap().rules;
        (format!("{:?}", Rules { lambda_max: 0.0, ..rules }), keys(&text))
    });
    assert_eq!(both[0].0, both[1].0);
    // Every key that the preset sets is reported.
    for key in ["trials", "beta", "phi", "q_left", "tolerance", "decides", "idle"] {
        assert_eq!(both[0].1[key], both[1].1[key], "{key}");
    }
}

#[test]
fn phi_ends_at_max_or_before() {
    let end = |text: &str| settled(text).params.qla.clone().unwrap().rules.phi_end;
    assert_eq!(end("max = \"60KB\""), 40.0);
    assert_eq!(end("phi_end = \"65pkt\""), 65.0);
}

/// From the least lambda, the trial that marks less still marks more if there are more flows.
#[test]
fn a_step_may_be_almost_the_least_lambda() {
    let pred = pred("lambda = 0.05\ndelta = 0.049");
    let qla = pred.params.qla.as_ref().unwrap();
    let mut adjuster = pred.adjusters[0].clone();
    let rate = Environment::example(1).port_rates[0];
    let (period, base_rtt) = (qla.period, qla.base_rtt);
    let place = Place { rate, period, base_rtt, packet: 1500.0 };
    adjuster.end_period(Measured::default(), &place, &qla.rules);
    assert!(close(adjuster.trial(&qla.rules).lambda, 0.001));
}

#[test]
fn what_cannot_be_is_refused() {
    let cases = [
        ("max = \"9pkt\"", "aqm.max: "),
        ("lambda = 0", "aqm.lambda: "),
        ("lambda = 0.04", "aqm.lambda: "),
        ("lambda = 3.0\nlambda_max = 2.0", "aqm.lambda: "),
        ("t_fcs = \"0us\"", "aqm.t_fcs: "),
        ("t_qla = \"0us\"", "aqm.t_qla: "),
        ("plane = \"control\"\nt_qla = \"100ms\"", "aqm.t_qla: "),
        ("places = 0", "aqm.places: "),
        ("counter = \"hashes\"\nplaces = 100", "aqm.places: "),
        ("counter = \"hashes\"\nplaces = 1024\nhash_bits = 8", "aqm.hash_bits: "),
        (
            "counter = \"hashes\"\nplaces = 256\nhash_bits = 8",
            "aqm.hash_bits: 8 bits only tell 256 places apart",
        ),
        ("q_left = \"600KB\"", "aqm.q_left: "),
        ("min_max = \"5pkt\"", "aqm.min_max: "),
        ("min_max = \"600KB\"", "aqm.min_max: "),
        ("phi_end = \"13pkt\"", "aqm.phi_end: it must be above `q_left`, and at most `max`"),
        ("phi_end = \"600KB\"", "aqm.phi_end: it must be above `q_left`"),
        ("settle_rtts = 30", "aqm.settle_rtts: 30 is not below trial_rtts = 30: nothing would be"),
        ("min_step = \"0pkt\"", "aqm.min_step: 0pkt is not valid; a step is above 0, and finite"),
        ("min_step = \"unlimited\"", "aqm.min_step: unlimited is not valid; "),
        (
            "delta = 0.05",
            "aqm.delta: 0.05 is not below lambda_min = 0.05: lambda - delta would be 0",
        ),
        ("delta = 0.5", "aqm.delta: 0.5 is not below lambda_min = 0.05: "),
    ];
    for (text, start) in cases {
        let error = refused(text);
        assert!(error.starts_with(start), "{text}: {error}");
    }
}
