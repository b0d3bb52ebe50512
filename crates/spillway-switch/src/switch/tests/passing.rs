//! Packets that pass idle ports, and what policies are asked about them.

use super::*;
use crate::Backlog;
use crate::policy::LARGEST_PACKET;
use crate::scheduling::{Head, Named};

/// A sharing policy, an AQM and a scheduler in one. It states what it observes, and what it does with packets on
/// their way out.
#[derive(Clone, Copy, Debug)]
struct Wants {
    queues: bool,
    in_time: bool,
    departures: bool,
    on_the_way_out: Verdict,
}

const NOTHING: Wants =
    Wants { queues: false, in_time: false, departures: false, on_the_way_out: Verdict::Pass };

impl Watch for Wants {
    fn watches_queues(&self) -> bool {
        self.queues
    }
    fn watches_in_time(&self) -> bool {
        self.in_time
    }
    fn watches_departures(&self) -> bool {
        self.departures
    }
    fn on_departure(&mut self, _departure: &Departure, _buffer: &Buffer) -> Verdict {
        self.on_the_way_out
    }
}

impl Sharing for Wants {
    fn admit(&mut self, _arrival: &Arrival, _buffer: &Buffer) -> Admission {
        Admission::Admit
    }
    fn open_below(&self, capacity: u64) -> u64 {
        if self.departures { 0 } else { capacity }
    }
}

impl Aqm for Wants {
    fn on_arrival(&mut self, _arrival: &Arrival, _buffer: &Buffer) -> Verdict {
        Verdict::Pass
    }
    fn passes_idle_ports(&self) -> bool {
        !self.departures
    }
}

impl Named for Wants {
    fn id(&self) -> &str {
        "wants"
    }
}

impl Scheduling for Wants {
    fn select(
        &mut self,
        _port: u32,
        backlog: Backlog,
        _head: impl Fn(u8) -> Head,
        _turn: impl FnMut(u8),
    ) -> u8 {
        backlog.first()
    }
    fn watches_in_time(&self) -> bool {
        self.in_time
    }
}

/// A packet of `size` bytes arrives at an idle port. Returns whether it passes, and why packets
/// were lost.
fn offered<S: Sharing, A: Aqm>(
    switch: &mut Switch<S, A>,
    now: Time,
    size: u32,
) -> (bool, Vec<DropReason>) {
    let mut packets = Arena::new();
    let id = insert(&mut packets, data(size, 0));
    let packet = packets[id];
    let passes = switch.pass(now, 0, id, &packet, &mut packets).is_some();
    let lost = switch.lost().iter().map(|lost| lost.reason).collect();
    switch.clear_lost();
    (passes, lost)
}

#[test]
fn each_policy_says_for_both_what_it_must_see() {
    for (of_sharing, of_aqm) in [(false, false), (true, false), (false, true)] {
        let wants = |wants| Wants { queues: wants, in_time: wants, departures: wants, ..NOTHING };
        let switch = simple_with(10_000, wants(of_sharing), wants(of_aqm));
        let facts = switch.port_facts();
        let told = [switch.tells_passing, facts.watches_in_time, facts.decides_departures];
        assert_eq!(told, [of_sharing || of_aqm; 3]);
    }
    for in_time in [false, true] {
        let mut parts = simple_parts(10_000, NOTHING, NOTHING);
        parts.scheduling = SchedulingPolicy::Extension(Box::new(Wants { in_time, ..NOTHING }));
        assert_eq!(Switch::new(parts).port_facts().watches_in_time, in_time);
    }
}

#[test]
fn no_packet_passes_until_it_is_let() {
    for (passes, seen) in [(None, 2), (Some(true), 0), (Some(false), 2)] {
        let environment = Environment::example(1);
        let mut switch = Switch::new(SwitchParts {
            capacity: 10_000,
            port_rates: environment.port_rates.clone(),
            queues_per_port: 1,
            ack_queue_class: 0,
            data_queue_class: 0,
            unmanaged: None,
            queue_limit: Amount::Unlimited,
            uncounted_bytes: 0,
            release_at_end: false,
            sharing: Probe::default(),
            aqm: NOTHING,
            scheduling: SchedulingPolicy::read("fifo", &mut Section::empty(), &environment)
                .unwrap(),
            meter: Meter::new(10_000, Time::ZERO, Time::MAX),
            lossless: None,
        });
        passes.into_iter().for_each(|passes| switch.let_pass(passes));
        assert_eq!(offered(&mut switch, at(5), 1000), (true, vec![]));
        assert_eq!(switch.sharing.seen.len(), seen, "{passes:?}");
    }
}

#[test]
fn an_aqm_that_must_hear_of_all_arrivals_is_asked_about_those_that_pass() {
    let mut switch = simple_with(100_000, NOTHING, Late);
    assert_eq!(offered(&mut switch, Time::from_us(1), 1000), (true, vec![]));
    assert_eq!(offered(&mut switch, Time::from_us(2), 1000), (false, vec![DropReason::Aqm]));
}

#[test]
fn what_is_dropped_on_its_way_out_does_not_pass() {
    let drops = Wants { departures: true, on_the_way_out: Verdict::Drop, ..NOTHING };
    let mut by_aqm = simple_with(100_000, NOTHING, drops);
    assert_eq!(offered(&mut by_aqm, at(5), 1000), (false, vec![DropReason::Aqm]));
    let mut by_sharing = simple_with(100_000, drops, NOTHING);
    assert_eq!(offered(&mut by_sharing, at(5), 1000), (false, vec![DropReason::OverDelay]));
}

#[test]
fn what_is_larger_than_any_packet_does_not_pass_unasked() {
    // An empty buffer of 20,000 bytes takes any packet that is not larger than itself.
    let mut switch = simple_with(20_000, NOTHING, NOTHING);
    assert_eq!(offered(&mut switch, at(5), LARGEST_PACKET), (true, vec![]));
    assert_eq!(offered(&mut switch, at(6), 20_001), (false, vec![DropReason::BufferFull]));
}

#[test]
fn an_arrival_that_passes_has_its_row_in_a_trace() {
    let mut switch = simple_with(100_000, NOTHING, NOTHING);
    assert_eq!(offered(&mut switch, at(5), 1000), (true, vec![]));
    switch.trace_decisions();
    assert_eq!(offered(&mut switch, at(6), 1000), (true, vec![]));
    let rows: Vec<Time> = switch.take_decisions().iter().map(|row| row.time).collect();
    assert_eq!(rows, [at(6)]);
}

/// AQMs with settings with which they often mark packets that have hardly waited.
const EAGER: [(&str, &str); 22] = [
    ("ecn", "threshold = \"1pkt\""),
    ("red", "min = \"1pkt\"\nmax = \"3pkt\"\nspacing = \"uniform\"\nmax_probability = 0.5"),
    ("red", "min = \"0pkt\"\nmax = \"2pkt\"\nweight = 0.3\nmax_probability = 0.5"),
    ("red", "min = \"0pkt\"\nmax = \"2pkt\"\nweight = 0.3\nscope = \"port\""),
    ("ared", "min = \"0pkt\"\nmax = \"2pkt\"\nweight = 0.3\ninterval = \"5us\""),
    ("codel", "target = \"1us\"\ninterval = \"3us\""),
    ("codel", "target = \"2us\"\ninterval = \"4us\"\nrules = \"ns3\"\nnot_ect = \"pass\""),
    ("tcn", "threshold = \"1us\""),
    ("ecn-sharp", "instant = \"9us\"\ntarget = \"1us\"\ninterval = \"3us\""),
    ("ecn-sharp", "instant = \"9us\"\ntarget = \"0us\"\ninterval = \"3us\""),
    ("pie", "target = \"1us\"\nupdate_interval = \"3us\"\nalpha = 9e4\nbeta = 9e5"),
    ("pie", "target = \"1us\"\nupdate_interval = \"3us\"\nalpha = 9e4\ndelay = \"rate\""),
    (
        "pred",
        "preset = \"paper\"\nmin = \"1pkt\"\nlambda_unit = \"1KB\"\nt_fcs = \"4us\"\nt_qla = \"9us\"\n\
         places = 3",
    ),
    (
        "pred",
        "preset = \"paper\"\nmin = \"0pkt\"\nt_qla = \"9us\"\nmean = \"arrivals\"\n\
         qla_scope = \"port\"",
    ),
    (
        "pred",
        "preset = \"paper\"\nmax = \"0pkt\"\nmin = \"0pkt\"\nqla = false\ncounter = \"exact\"",
    ),
    ("ecn", "threshold = \"0pkt\"\nmarks_at = \"departure\""),
    (
        "ecn",
        "threshold = \"0B\"\nat_threshold = \"mark\"\nnot_ect = \"drop\"\nmarks_at = \"departure\"",
    ),
    (
        "red",
        "min = \"1pkt\"\nmax = \"3pkt\"\nspacing = \"uniform\"\nmax_probability = 0.5\n\
         marks_at = \"departure\"",
    ),
    (
        "red",
        "min = \"0pkt\"\nmax = \"2pkt\"\nweight = 0.3\nscope = \"port\"\nmarks_at = \"departure\"",
    ),
    (
        "pred",
        "min = \"1pkt\"\nlambda_unit = \"1KB\"\nt_fcs = \"4us\"\nt_qla = \"9us\"\nplaces = 3\n\
         marks_at = \"departure\"\ntrial_rtts = 1\nsettle_rtts = 0.3",
    ),
    ("acc", "interval = \"3us\"\nexploration = 0.3"),
    ("acc", "interval = \"2us\"\nexploration = 0\nidle = \"decides\"\nnot_ect = \"drop\""),
];

/// A switch of two ports, with the AQM of this place in the list.
fn eager(place: usize, queues_per_port: u32) -> Switch {
    let environment = Environment { queues_per_port, ..Environment::example(2) };
    let (id, text) = EAGER[place];
    let aqm = AqmPolicy::read(id, &mut section(text), &environment).unwrap();
    passing(SwitchParts {
        capacity: 200_000,
        port_rates: environment.port_rates.clone(),
        queues_per_port,
        ack_queue_class: 0,
        data_queue_class: queues_per_port as u8 - 1,
        unmanaged: (queues_per_port > 1).then_some(0),
        queue_limit: Amount::Unlimited,
        uncounted_bytes: 0,
        release_at_end: false,
        sharing: SharingPolicy::read("cs", &mut Section::empty(), &environment).unwrap(),
        aqm,
        scheduling: SchedulingPolicy::read("strict", &mut Section::empty(), &environment).unwrap(),
        meter: Meter::new(200_000, Time::ZERO, Time::MAX),
        lossless: None,
    })
}

/// An arrival: after how many nanoseconds, at which port, with how many bytes, whether it is
/// ECN-capable data, and of which flow.
type Step = (u64, u32, u32, bool, u32);

/// Arrivals at two lines of 10 Gbps. After each one: which packets are sent, marked or lost, and
/// the state of the AQM.
fn run(mut switch: Switch, steps: &[Step]) -> Vec<String> {
    let mut packets = Arena::new();
    let (mut now, mut free) = (Time::ZERO, [Time::ZERO; 2]);
    let period = switch.periods()[1];
    let mut timer = period.unwrap_or(Time::MAX);
    let mut after = Vec::new();
    for &(gap, port, size, ect, flow) in steps {
        now += Time::from_ns(gap);
        let mut sent = Vec::new();
        loop {
            let ready = |&line: &usize| switch.has_backlog(line as u32);
            let line = (0..2).filter(ready).min_by_key(|&line| free[line]);
            let due = line.map_or(Time::MAX, |line| free[line]);
            match line {
                _ if timer.min(due) > now => break,
                Some(line) if due <= timer => {
                    if let Some(id) = switch.dequeue(due, line as u32, &mut packets) {
                        free[line] = due + Time::from_ps(800 * u64::from(packets[id].size));
                        sent.push(id);
                    }
                }
                _ => {
                    switch.on_timer(timer, 1);
                    timer += period.unwrap_or(Time::MAX);
                }
            }
        }
        let (packet, contents) = if ect { data(size, 0) } else { ack(size) };
        let id = insert(&mut packets, (packet, Contents { flow, ..contents }));
        if free[port as usize] <= now && !switch.has_backlog(port) {
            if let Some(id) = pass(&mut switch, now, port, id, &mut packets) {
                free[port as usize] = now + Time::from_ps(800 * u64::from(size));
                sent.push(id);
            }
        } else {
            enqueue(&mut switch, now, port, id, &mut packets);
        }
        let lost: Vec<PacketId> = switch.lost().iter().map(|lost| lost.packet).collect();
        switch.clear_lost();
        let numbers = [0, 1].map(|queue| switch.sample_aqm(now, queue));
        after.push(format!("{sent:?} {lost:?} {} {numbers:?}", switch.marks()));
    }
    after
}

proptest! {
    /// A packet that passes is marked or lost as if it had been queued and sent at once. This holds
    /// whether the AQM is only told of the packet or asked about it. It also holds for all later
    /// packets.
    #[test]
    fn aqms_decide_as_if_what_passes_had_been_queued(
        steps in prop::collection::vec(
            (0u64..4_000, 0u32..2, 40u32..3_000, prop::bool::weighted(0.8), 0u32..5), 1..150),
        place in 0..EAGER.len(),
        queues_per_port in 1u32..3,
    ) {
        let as_is = run(eager(place, queues_per_port), &steps);
        let mut asked = eager(place, queues_per_port);
        (asked.open_below, asked.managed_below) = (0, 0);
        prop_assert_eq!(&run(asked, &steps), &as_is);
        let mut queued = eager(place, queues_per_port);
        queued.let_pass(false);
        prop_assert_eq!(&run(queued, &steps), &as_is);
    }
}

#[test]
fn where_only_the_aqm_must_know_no_other_is_asked() {
    // An AQM that may mark packets that have not waited must be asked about them.
    for (place, (id, _)) in EAGER.iter().enumerate() {
        let switch = eager(place, 1);
        let below = |occupancy| if occupancy > 0 { "open" } else { "closed" };
        let found = [below(switch.open_below), below(switch.managed_below)];
        let expected = match place {
            0 | 7 | 15 => ["open", "open"],
            9 | 16..=18 => ["closed", "closed"],
            _ => ["closed", "open"],
        };
        assert_eq!(found, expected, "{id} {place}");
    }
}
