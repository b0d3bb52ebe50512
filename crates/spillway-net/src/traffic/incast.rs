//! Queries: many hosts answer one at once.
//!
//! # What it does
//! Every receiver asks at random (or at regular) times; each time a number of hosts answer it
//! together, and their answers meet at its port. Flows of one query carry its number. The ABM and
//! Credence evaluations have all hosts of the next rack answer, at the same instant.
//!
//! # Rule
//! A receiver's queries are a Poisson process of `queries_per_host_per_s`, or come every
//! `interval` from the start on. Each of `fan_in` distinct senders sends
//! floor(`burst` / `fan_in`) bytes; where `burst` is a share, it is of the buffer of the
//! receiver's leaf, to the nearest byte. For each query a receiver draws the gap since the one
//! before it, the rack (for `one-other-rack`), the senders, and their delays (if there is a
//! jitter).
//!
//! # Scope and limitations
//! The request itself is not sent: the answers start when they are due. The window bounds the
//! queries; with a jitter answers may start after it.
//!
//! # Cost
//! Memory per receiver and per query not yet begun by all its senders, whatever the number of
//! queries.

use super::label::Label;
use super::merge::Merge;
use super::poisson::exponential_gap;
use super::racks::{Group, Racks};
use super::window::Window;
use super::{Context, Flows, Kind, Pattern, keys};
use crate::flow::FlowSpec;
use spillway_engine::{Stream, Time};
use spillway_settings::{Range, Section, SettingsError, quantity};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::iter::Peekable;
use std::sync::Arc;

/// The kind `incast`.
pub const KIND: Kind = Kind {
    id: "incast",
    summary: "Queries: several hosts answer one at once, at random or regular times.",
    example: "queries_per_host_per_s = 2\nburst = \"50%\"\nfan_in = 2",
    read: |section, label, context| Ok(Box::new(IncastParams::read(section, label, context)?)),
};

/// A section of kind `incast`, read.
#[derive(Clone, Debug)]
pub struct IncastParams {
    draw: Arc<Draw>,
    /// Every receiver and the bytes that each sender sends it.
    receivers: Vec<(u32, u64)>,
    /// The most queries over all receivers.
    queries: usize,
}

/// What a receiver needs to draw a query.
#[derive(Debug)]
struct Draw {
    label: Label,
    arrivals: Arrivals,
    fan_in: usize,
    senders: Senders,
    jitter: Time,
    racks: Racks,
    window: Window,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Arrivals {
    Poisson { queries_per_second: f64 },
    Every(Time),
}

/// Who answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Senders {
    NextRack,
    OneOtherRack,
    OtherRacks,
    Any,
}

const SENDERS: [(&str, Senders); 4] = [
    ("next-rack", Senders::NextRack),
    ("one-other-rack", Senders::OneOtherRack),
    ("other-racks", Senders::OtherRacks),
    ("any", Senders::Any),
];

/// The bytes of a query.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Burst {
    Bytes(u64),
    ShareOfBuffer(f64),
}

impl IncastParams {
    /// Reads a section's keys.
    pub fn read(
        section: &mut Section,
        label: Label,
        context: &Context,
    ) -> Result<IncastParams, SettingsError> {
        let racks = Racks::read(section, context.topology)?;
        let arrivals = read_arrivals(section)?;
        let takes = "a size such as \"500KB\", or a share of the buffer such as \"50%\"";
        let meaning = "Bytes of payload per query, or a share of the buffer of the receiver's \
                       leaf; the senders share it equally.";
        let burst = section.quantity("burst", "", takes, meaning, parse_burst)?;
        let meaning = "How many hosts answer a query.";
        let fan_in = section.integer("fan_in", None, 1..=u64::from(u32::MAX), meaning)? as usize;
        let meaning = "Who answers: hosts of the rack after the receiver's, of one other rack \
                       chosen for each query, of all other racks, or any others.";
        let senders = section.choice("senders", &SENDERS, meaning)?;
        let meaning = "Each sender starts so much after the query at most, uniformly.";
        let jitter = section.time("jitter", "0us", meaning)?;
        let meaning = "The hosts that ask; without it all.";
        let receivers = keys::hosts(section, "receivers", meaning, context.topology.hosts())?;
        let window = Window::read(section, context.duration)?;
        let meaning = "The most queries, counted over all receivers in order of their time.";
        let queries = section.optional("queries", "a whole number, at least 1", meaning, |s| {
            s.integer("queries", None, 1..=u64::MAX, meaning)
        })?;

        if senders != Senders::Any && racks.count() < 2 {
            let problem = "there is one rack only; expected \"any\"";
            return Err(section.error("senders", problem));
        }
        let receivers = receivers.unwrap_or_else(|| racks.hosts().to_vec());
        racks.check(section, "receivers", &receivers)?;
        let receivers = receivers.into_iter().map(|receiver| {
            let possible = senders.fewest(receiver, &racks);
            if fan_in > possible {
                let problem = format!("{fan_in} senders for host {receiver}, which has {possible}");
                return Err(section.error("fan_in", problem));
            }
            let bytes = burst.bytes(context, receiver);
            let bytes = bytes.map_err(|problem| section.error("burst", problem))?;
            match bytes / fan_in as u64 {
                0 => Err(section.error("burst", format!("{bytes} bytes for {fan_in} senders"))),
                each => Ok((receiver, each)),
            }
        });
        Ok(IncastParams {
            receivers: receivers.collect::<Result<_, _>>()?,
            queries: queries.map_or(usize::MAX, |queries| queries as usize),
            draw: Arc::new(Draw { label, arrivals, fan_in, senders, jitter, racks, window }),
        })
    }
}

impl Pattern for IncastParams {
    fn flows(&self) -> Flows {
        let receiver = |&(host, size): &(u32, u64)| Receiver {
            host,
            size,
            last: None,
            stream: self.draw.label.stream(u64::from(host)),
            draw: self.draw.clone(),
        };
        let queries = Merge::new(self.receivers.iter().map(receiver).collect());
        let queries = queries.take(self.queries).peekable();
        Box::new(Answers {
            queries,
            next_query: 0,
            begun: BinaryHeap::new(),
            draw: self.draw.clone(),
        })
    }

    fn offered_bits_per_second(&self) -> Option<f64> {
        let queries_per_second = match self.draw.arrivals {
            Arrivals::Poisson { queries_per_second } => queries_per_second,
            Arrivals::Every(interval) => 1.0 / interval.secs_f64(),
        };
        let bytes: u64 =
            self.receivers.iter().map(|(_, each)| each * self.draw.fan_in as u64).sum();
        Some(queries_per_second * bytes as f64 * 8.0)
    }
}

/// A query, and who answers it when.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Query {
    time: Time,
    receiver: u32,
    answers: Box<[(Time, u32)]>,
    size: u64,
}

/// One host's queries.
#[derive(Debug)]
struct Receiver {
    host: u32,
    /// Bytes of each answer.
    size: u64,
    last: Option<Time>,
    stream: Stream,
    draw: Arc<Draw>,
}

impl Iterator for Receiver {
    type Item = Query;

    fn next(&mut self) -> Option<Query> {
        let Draw { arrivals, fan_in, senders, jitter, racks, window, .. } = &*self.draw;
        let time = match (arrivals, self.last) {
            (Arrivals::Every(_), None) => window.start,
            (Arrivals::Every(interval), Some(last)) => last.saturating_add(*interval),
            (Arrivals::Poisson { queries_per_second }, last) => {
                let gap = exponential_gap(&mut self.stream, 1e12 / queries_per_second);
                last.unwrap_or(window.start).saturating_add(gap)
            }
        };
        self.last = Some(time);
        if time >= window.stop {
            return None;
        }
        let group = senders.draw(self.host, racks, &mut self.stream);
        let chosen = self.stream.distinct(*fan_in, racks.size(group));
        let answer = |place| match jitter.ps() {
            0 => (time, racks.member(group, place)),
            jitter => {
                let delay = Time::from_ps(self.stream.below(jitter.saturating_add(1)));
                (time.saturating_add(delay), racks.member(group, place))
            }
        };
        let answers = chosen.into_iter().map(answer).collect();
        Some(Query { time, receiver: self.host, answers, size: self.size })
    }
}

/// The answers to all queries, in order.
#[derive(Debug)]
struct Answers<I: Iterator<Item = Query>> {
    queries: Peekable<I>,
    next_query: u32,
    /// Flows of queries asked, which wait for their start.
    begun: BinaryHeap<Reverse<FlowSpec>>,
    draw: Arc<Draw>,
}

impl<I: Iterator<Item = Query>> Iterator for Answers<I> {
    type Item = FlowSpec;

    fn next(&mut self) -> Option<FlowSpec> {
        // Every query asked by the time the first waiting flow starts may have a flow before it.
        let first = |begun: &BinaryHeap<Reverse<FlowSpec>>| begun.peek().map(|flow| flow.0.start);
        while let Some(query) =
            self.queries.next_if(|query| first(&self.begun).is_none_or(|start| query.time <= start))
        {
            for &(start, sender) in &query.answers {
                let mut flow = self.draw.label.flow(start, sender, query.receiver, query.size);
                flow.query = Some(self.next_query);
                self.begun.push(Reverse(flow));
            }
            self.next_query += 1;
        }
        self.begun.pop().map(|flow| flow.0)
    }
}

impl Senders {
    /// Whom the senders of one query are chosen among.
    fn draw(self, receiver: u32, racks: &Racks, stream: &mut Stream) -> Group {
        let rack = racks.rack_of(receiver);
        match self {
            Senders::NextRack => Group::Rack(racks.after(rack)),
            Senders::OneOtherRack => {
                let other = stream.below(racks.count() as u64 - 1) as usize;
                Group::Rack(if other < rack { other } else { other + 1 })
            }
            Senders::OtherRacks => Group::OutsideRack(rack),
            Senders::Any => Group::AllBut(receiver),
        }
    }

    /// The fewest hosts that a query of this receiver may have to choose among.
    fn fewest(self, receiver: u32, racks: &Racks) -> usize {
        let rack = racks.rack_of(receiver);
        match self {
            Senders::NextRack => racks.size(Group::Rack(racks.after(rack))),
            Senders::OneOtherRack => {
                let others = (0..racks.count()).filter(|&other| other != rack);
                others.map(|other| racks.size(Group::Rack(other))).min().unwrap_or(0)
            }
            Senders::OtherRacks => racks.size(Group::OutsideRack(rack)),
            Senders::Any => racks.size(Group::AllBut(receiver)),
        }
    }
}

impl Burst {
    /// In bytes, for this receiver.
    fn bytes(self, context: &Context, receiver: u32) -> Result<u64, String> {
        let share = match self {
            Burst::Bytes(bytes) => return Ok(bytes),
            Burst::ShareOfBuffer(share) => share,
        };
        let leaf = context.topology.rack_of(receiver);
        match (context.leaf_buffer_bytes)(leaf) {
            Some(buffer) => Ok((share * buffer as f64).round() as u64),
            None => Err("a share of an unlimited buffer; expected bytes".into()),
        }
    }
}

fn parse_burst(text: &str) -> Option<Burst> {
    let share = quantity::share(text).map(Burst::ShareOfBuffer);
    share.or_else(|| quantity::size(text).map(Burst::Bytes))
}

fn read_arrivals(section: &mut Section) -> Result<Arrivals, SettingsError> {
    let meaning = "Queries of each receiver per second, at exponential gaps.";
    let rate = section.optional(RATE, "a number in (0, inf)", meaning, |s| {
        s.number(RATE, 1.0, Range::Positive, meaning)
    })?;
    let meaning = "Time between the queries of each receiver, instead of exponential gaps.";
    let interval = section.optional("interval", "a time such as \"10ms\"", meaning, |s| {
        s.time("interval", "", meaning)
    })?;
    match (rate, interval) {
        (Some(queries_per_second), None) => Ok(Arrivals::Poisson { queries_per_second }),
        (None, Some(Time::ZERO)) => Err(section.error("interval", "expected a time above 0")),
        (None, Some(interval)) => Ok(Arrivals::Every(interval)),
        (Some(_), Some(_)) => Err(section.error("interval", format!("not together with {RATE}"))),
        (None, None) => Err(section.error(RATE, "missing; expected this or `interval`")),
    }
}

const RATE: &str = "queries_per_host_per_s";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::traffic::fixture::{self, Fixture};

    /// 4 leaves of 16 hosts under a buffer of 1,052,672 B.
    fn fixture() -> Fixture {
        let mut fixture = Fixture::new(fixture::leaf_spine(4, 16, 4));
        fixture.leaf_buffer = Some(1_052_672);
        fixture.duration = Time::from_ms(3000);
        fixture
    }

    /// The flows of every query, by its number.
    fn by_query(flows: &[FlowSpec]) -> Vec<Vec<FlowSpec>> {
        let mut queries: Vec<Vec<FlowSpec>> = Vec::new();
        for flow in flows {
            let query = flow.query.unwrap() as usize;
            queries.resize(queries.len().max(query + 1), Vec::new());
            queries[query].push(*flow);
        }
        queries
    }

    #[test]
    fn the_published_incast_comes_out() {
        let text = "queries_per_host_per_s = 2\nburst = \"50%\"\nfan_in = 16";
        let flows = fixture().flows("incast", text);
        let queries = by_query(&flows);
        // 64 receivers * 2 per second * 3 s = 384; standard deviation sqrt(384) = 20.
        assert!((304..464).contains(&queries.len()), "{}", queries.len());
        for query in &queries {
            // 0.5 * 1,052,672 / 16 = 32,896 B from each host of the next rack.
            let next_rack = (query[0].dst / 16 + 1) % 4;
            let expected: Vec<u32> = (next_rack * 16..next_rack * 16 + 16).collect();
            assert_eq!(query.iter().map(|flow| flow.src).collect::<Vec<_>>(), expected);
            let first = query[0];
            assert!(
                query.iter().all(|f| (f.start, f.dst, f.size) == (first.start, first.dst, 32_896))
            );
        }
        assert!(flows.is_sorted());
        assert!(queries.is_sorted_by_key(|query| query[0].start), "numbered in order");
    }

    #[test]
    fn the_burst_is_shared_equally_rounding_down() {
        let text = "interval = \"1s\"\nburst = \"1000B\"\nfan_in = 3\nreceivers = 0\nqueries = 1";
        let flows = fixture().flows("incast", text);
        assert_eq!(flows.iter().map(|flow| flow.size).collect::<Vec<_>>(), [333; 3]);
        assert!(flows.iter().all(|flow| flow.start == Time::ZERO && flow.query == Some(0)));
    }

    #[test]
    fn senders_are_distinct_and_from_where_they_should_be() {
        for (senders, of_one_rack, may_be_own_rack) in [
            ("next-rack", true, false),
            ("one-other-rack", true, false),
            ("other-racks", false, false),
            ("any", false, true),
        ] {
            let text = format!(
                "interval = \"100ms\"\nburst = \"64KB\"\nfan_in = 8\nsenders = \"{senders}\""
            );
            let (mut spread, mut own_rack) = (false, false);
            for query in by_query(&fixture().flows("incast", &text)) {
                assert_eq!(query.len(), 8);
                assert!(query.windows(2).all(|pair| pair[0].src < pair[1].src), "distinct");
                assert!(query.iter().all(|flow| flow.src != flow.dst));
                spread |= query.iter().any(|flow| flow.src / 16 != query[0].src / 16);
                own_rack |= query.iter().any(|flow| flow.src / 16 == flow.dst / 16);
            }
            assert_eq!((!spread, own_rack), (of_one_rack, may_be_own_rack), "{senders}");
        }
    }

    #[test]
    fn jittered_answers_start_within_the_jitter_and_come_out_sorted() {
        let text =
            "interval = \"1ms\"\nburst = \"64KB\"\nfan_in = 8\njitter = \"5ms\"\nstop = \"40ms\"";
        let flows = fixture().flows("incast", text);
        assert_eq!(flows.len(), 64 * 40 * 8);
        assert!(flows.is_sorted());
        let mut largest = Time::ZERO;
        for query in by_query(&flows) {
            // 64 receivers ask every millisecond.
            let asked = Time::from_ms(u64::from(query[0].query.unwrap()) / 64);
            for flow in query {
                assert!(asked <= flow.start);
                largest = largest.max(flow.start - asked);
            }
        }
        assert!(largest <= Time::from_ms(5) && largest > Time::from_us(4900), "{largest}");
    }

    #[test]
    fn the_offered_load_is_queries_times_bytes() {
        let text = "queries_per_host_per_s = 2\nburst = \"1600B\"\nfan_in = 16";
        let source = fixture().source("incast", text).unwrap();
        // 64 receivers * 2 per second * 1,600 B * 8.
        assert_eq!(source.offered_bits_per_second(), Some(1_638_400.0));
    }

    #[test]
    fn what_cannot_be_is_refused() {
        let valid = "queries_per_host_per_s = 2\nburst = \"64KB\"\n";
        for (text, problem) in [
            ("burst = \"1MB\"", "queries_per_host_per_s: missing; expected this or `interval`"),
            (
                "queries_per_host_per_s = 2\ninterval = \"1s\"",
                "interval: not together with queries_per_host_per_s",
            ),
            ("interval = \"0s\"", "interval: expected a time above 0"),
            ("interval = \"1s\"", "burst: missing; expected a size such as"),
            (&format!("{valid}fan_in = 17"), "fan_in: 17 senders for host 0, which has 16"),
            (
                &format!("{valid}fan_in = 49\nsenders = \"other-racks\""),
                "fan_in: 49 senders for host 0, which has 48",
            ),
            (&format!("{valid}fan_in = 64\nsenders = \"any\""), "which has 63"),
            (&format!("{valid}fan_in = 1\nreceivers = [64]"), "receivers: 64 is not a host"),
            ("interval = \"1s\"\nburst = \"5B\"\nfan_in = 6", "burst: 5 bytes for 6 senders"),
        ] {
            let error = fixture().source("incast", text).unwrap_err().to_string();
            assert!(error.contains(problem), "{text}: {error}");
        }
        let mut unlimited = fixture();
        unlimited.leaf_buffer = None;
        let text = "interval = \"1s\"\nburst = \"50%\"\nfan_in = 6";
        let error = unlimited.source("incast", text).unwrap_err().to_string();
        assert!(error.contains("burst: a share of an unlimited buffer; expected bytes"), "{error}");
    }
}
