//! Queries: many hosts answer one at once.
//!
//! # What it does
//! Every receiving host asks at random or regular times. Each time several hosts answer it
//! together, and their answers meet at its port. The flows of a query carry the query's number. In
//! the evaluations of ABM and Credence all hosts of the next rack answer at the same instant.
//!
//! # Rule
//! The queries of a receiver come in one of three ways: as a Poisson process of
//! `queries_per_host_per_s`; every `interval` from the start on; or as a Poisson process that
//! offers a `load`. With queries of b bytes on average and r receivers, a load means:
//! - `load_of = "uplink"`: load * C / (8 b r) per second, where C is the total rate of the uplinks
//!   of all leaves;
//! - `load_of = "receiver"`: load * c / (8 b), where c is the rate of the link to the receiver.
//!
//! `fan_in` is a number, or a range in which all numbers are equally likely. This many distinct
//! senders answer, each with floor(`burst` / `fan_in`) bytes, or with a size drawn from `sizes`. If
//! `burst` is a share, it is a share of the buffer of the receiver's leaf, to the nearest byte. For
//! each query a receiver draws the gap since the one before it, the fan-in (if it is a range), the
//! rack (for `one-other-rack`), the senders, their delays (if there is a jitter), and their sizes.
//!
//! # Scope and limitations
//! The request itself is not simulated: the answers start when they are due. Queries start between
//! `start` and `stop`; with a jitter answers may start later.
//!
//! # Cost
//! Memory per receiver and per query not yet begun by all its senders, whatever the number of
//! queries.

mod answers;
mod frequency;

use super::active_time::ActiveTime;
use super::demand::{Demand, Spread};
use super::expected::{Expected, at_most};
use super::label::Label;
use super::merge::Merge;
use super::poisson::exponential_gap;
use super::racks::{Group, Racks};
use super::sizes::Sizes;
use super::{Context, Flows, Kind, Pattern, keys};
use answers::{AnswerSizes, FanIn};
use frequency::{Arrivals, Frequency};
use spillway_engine::{Stream, Time};
use spillway_settings::quantity::BufferPart;
use spillway_settings::{ErrorKind, Form, Section, SettingsError, Takes};
use spillway_transport::flow::FlowSpec;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::iter::Peekable;
use std::sync::Arc;

/// The kind `incast`.
pub const KIND: Kind = Kind {
    id: "incast",
    results: 1,
    summary: "Queries: several hosts answer one at once, at random or regular times.",
    example: "queries_per_host_per_s = 2\nburst = \"50%\"\nfan_in = 2",
    read: |section, label, context| Ok(Box::new(IncastParams::read(section, label, context)?)),
};

/// A section of kind `incast`, read.
#[derive(Clone, Debug)]
pub struct IncastParams {
    draw: Arc<Draw>,
    receivers: Vec<Asker>,
    /// The most queries over all receivers.
    queries: usize,
}

/// A receiver, the times of its queries, and the answers that it asks for.
#[derive(Clone, Debug)]
struct Asker {
    host: u32,
    arrivals: Arrivals,
    answers: AnswerSizes,
    /// The average.
    bytes_per_query: f64,
}

/// What a receiver needs to draw its queries.
#[derive(Debug)]
struct Draw {
    label: Label,
    fan_in: FanIn,
    senders: Senders,
    jitter: Time,
    racks: Racks,
    active: ActiveTime,
}

/// Which hosts may answer.
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

impl IncastParams {
    /// Reads a section's keys.
    pub fn read(
        section: &mut Section,
        label: Label,
        context: &Context,
    ) -> Result<IncastParams, SettingsError> {
        let racks = Racks::read(section, context.topology)?;
        let frequency = Frequency::read(section)?;
        let takes = "a size such as \"500KB\", or a share of the buffer such as \"50%\"";
        let takes = Takes::new(takes, [Form::size().or_in("%")]);
        let meaning = "Bytes of payload per query, or a share of the buffer of the receiver's \
                       leaf; the senders share it equally. Needed without `sizes`.";
        let burst = section
            .optional("burst", |s| s.quantity("burst", "", takes, meaning, BufferPart::parse))?;
        let sizes = Sizes::read_if_given(section, context.files)?;
        let takes =
            "a whole number from 1 to 2^32 - 1, or a range with both ends such as \"8..64\"";
        let number = Form::Integer { least: 1, most: u32::MAX.into() };
        let takes = Takes::new(takes, [number, Form::RANGE]);
        let meaning = "How many hosts answer a query.";
        let fan_in = section.value("fan_in", "", takes, meaning, FanIn::parse)?;
        let meaning = "Who answers: hosts of the rack after the receiver's, of one other rack \
                       chosen for each query, of all other racks, or any others.";
        let senders = section.choice("senders", &SENDERS, meaning)?;
        let meaning = "Each sender starts after a delay from the query, uniform up to this.";
        let jitter = section.time("jitter", "0us", meaning)?;
        let meaning = "The hosts that ask; by default all.";
        let receivers = keys::hosts(section, "receivers", meaning, context.topology.hosts())?;
        let active = ActiveTime::read(section, context.duration)?;
        let meaning =
            "The largest number of queries, counted over all receivers in the order of their time.";
        let queries =
            section.optional("queries", |s| s.integer("queries", None, 1..=u64::MAX, meaning))?;

        if senders != Senders::Any && racks.count() < 2 {
            let problem = "there is one rack only; expected \"any\"";
            return Err(section.conflict("senders", problem));
        }
        let receivers = receivers.unwrap_or_else(|| racks.hosts().to_vec());
        racks.check(section, "receivers", &receivers)?;
        let most = fan_in.most as usize;
        if let Some(&receiver) = receivers.iter().find(|&&host| most > senders.fewest(host, &racks))
        {
            let possible = senders.fewest(receiver, &racks);
            let problem = format!("{most} senders for host {receiver}, which has {possible}");
            return Err(section.conflict("fan_in", problem));
        }
        let frequency = frequency.among(receivers.len(), context.topology, &racks);
        let frequency = frequency.map_err(|problem| section.conflict("load_of", problem))?;
        // Most receivers ask for the same.
        let mut known: Option<(AnswerSizes, f64)> = None;
        let askers = receivers.iter().map(|&host| {
            let answers = match (burst, &sizes) {
                (Some(burst), None) => AnswerSizes::shared(burst, section, context, host, most)?,
                (None, Some(sizes)) => AnswerSizes::Drawn(sizes.clone()),
                (Some(_), Some(_)) => {
                    return Err(section.conflict("sizes", "not together with burst"));
                }
                (None, None) => {
                    return Err(section.error(
                        ErrorKind::MissingKey,
                        "burst",
                        "missing; expected this or `sizes`",
                    ));
                }
            };
            let bytes_per_query = match &known {
                Some((same, bytes)) if *same == answers => *bytes,
                _ => answers.mean(fan_in),
            };
            known = Some((answers.clone(), bytes_per_query));
            let arrivals = frequency.arrivals(context.topology, host, 8.0 * bytes_per_query);
            Ok(Asker { host, arrivals, answers, bytes_per_query })
        });
        Ok(IncastParams {
            receivers: askers.collect::<Result<_, _>>()?,
            queries: queries.map_or(usize::MAX, |queries| queries as usize),
            draw: Arc::new(Draw { label, fan_in, senders, jitter, racks, active }),
        })
    }
}

impl Pattern for IncastParams {
    fn flows(&self) -> Flows {
        let receiver = |asker: &Asker| Receiver {
            asker: asker.clone(),
            last: None,
            stream: self.draw.label.stream(u64::from(asker.host)),
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

    fn most_flows(&self) -> u64 {
        (self.queries as u64).saturating_mul(self.draw.fan_in.most.into())
    }

    fn expected(&self) -> Expected {
        let Draw { fan_in, active, .. } = &*self.draw;
        let rates = self.receivers.iter().map(|asker| asker.arrivals.per_second());
        let queries = at_most(active.arrivals(rates.sum()), self.queries);
        let bytes = self.receivers.iter().map(|asker| asker.bytes_per_query);
        let largest = self.receivers.iter().map(|asker| asker.answers.largest(*fan_in));
        Expected {
            flows: queries * fan_in.mean(),
            bytes: queries * bytes.fold(0.0, f64::max),
            largest: largest.max().unwrap_or(0),
        }
    }

    fn packets_per_flow(&self, mss: u32) -> Option<f64> {
        let fan_in = self.draw.fan_in;
        let (mut packets, mut queries) = (0.0, 0.0);
        // Most receivers ask for the same.
        for same in self.receivers.chunk_by(|a, b| a.answers == b.answers) {
            let per_second: f64 = same.iter().map(|asker| asker.arrivals.per_second()).sum();
            packets += per_second * same[0].answers.mean_packets(fan_in, mss);
            queries += per_second;
        }
        Some(packets / (queries * fan_in.mean()))
    }

    fn demand(&self) -> Option<Demand> {
        let Draw { senders, racks, active, .. } = &*self.draw;
        let rates = self.receivers.iter().map(|asker| asker.arrivals.per_second());
        if active.arrivals(rates.sum()) > self.queries as f64 {
            return None;
        }
        let mut receives = vec![0.0; racks.all()];
        let mut sends = Spread::over(racks);
        for asker in &self.receivers {
            let bits_per_second = asker.bits_per_second();
            receives[asker.host as usize] += bits_per_second;
            match senders.group(asker.host, racks) {
                Some(group) => sends.add(group, bits_per_second),
                None => sends.add_another_rack(racks.rack_of(asker.host), bits_per_second),
            }
        }
        Some(Demand { active: *active, sends: sends.of_hosts(), receives })
    }

    fn demand_inside(&self, area_of: &[usize]) -> Vec<f64> {
        let Draw { senders, racks, .. } = &*self.draw;
        let areas = racks.areas(area_of);
        let mut inside = vec![0.0; areas.count()];
        for asker in &self.receivers {
            let share = match senders.group(asker.host, racks) {
                Some(group) => areas.share_inside(asker.host, group),
                None => areas.share_of_other_racks_inside(asker.host),
            };
            inside[areas.area_of(asker.host)] += share * asker.bits_per_second();
        }
        inside
    }

    fn offered_bits_per_second(&self) -> Option<f64> {
        Some(self.receivers.iter().map(Asker::bits_per_second).sum())
    }
}

impl Asker {
    /// The payload that it asks for.
    fn bits_per_second(&self) -> f64 {
        self.arrivals.per_second() * 8.0 * self.bytes_per_query
    }
}

/// A query, with the hosts that answer it and when.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Query {
    time: Time,
    receiver: u32,
    /// Start, sender, bytes.
    answers: Box<[(Time, u32, u64)]>,
}

/// One host's queries.
#[derive(Clone, Debug)]
struct Receiver {
    asker: Asker,
    last: Option<Time>,
    stream: Stream,
    draw: Arc<Draw>,
}

impl Iterator for Receiver {
    type Item = Query;

    fn next(&mut self) -> Option<Query> {
        let Draw { fan_in, senders, jitter, racks, active, .. } = &*self.draw;
        let Asker { host, arrivals, answers, .. } = &self.asker;
        let time = match (arrivals, self.last) {
            (Arrivals::Every(_), None) => active.start,
            (Arrivals::Every(interval), Some(last)) => last.saturating_add(*interval),
            (Arrivals::Poisson { queries_per_second }, last) => {
                let gap = exponential_gap(&mut self.stream, 1e12 / queries_per_second);
                last.unwrap_or(active.start).saturating_add(gap)
            }
        };
        self.last = Some(time);
        if time >= active.stop {
            return None;
        }
        let fan_in = fan_in.draw(&mut self.stream);
        let group = senders.draw(*host, racks, &mut self.stream);
        let chosen = self.stream.distinct(fan_in, racks.size(group));
        let starts: Vec<(Time, u32)> = chosen
            .into_iter()
            .map(|place| match jitter.ps() {
                0 => (time, racks.member(group, place)),
                jitter => {
                    let delay = Time::from_ps(self.stream.below(jitter.saturating_add(1)));
                    (time.saturating_add(delay), racks.member(group, place))
                }
            })
            .collect();
        let stream = &mut self.stream;
        let answer = |(start, sender)| (start, sender, answers.draw(fan_in, stream));
        let answers = starts.into_iter().map(answer).collect();
        Some(Query { time, receiver: *host, answers })
    }
}

/// The answers to all queries, in the order of their starts.
#[derive(Clone, Debug)]
struct Answers<I: Iterator<Item = Query>> {
    queries: Peekable<I>,
    next_query: u32,
    /// Answers of queries already drawn that have not started yet.
    begun: BinaryHeap<Reverse<FlowSpec>>,
    draw: Arc<Draw>,
}

impl<I: Iterator<Item = Query>> Iterator for Answers<I> {
    type Item = FlowSpec;

    fn next(&mut self) -> Option<FlowSpec> {
        // A query that is drawn up to the start of the first waiting answer may have an earlier
        // answer.
        let first = |begun: &BinaryHeap<Reverse<FlowSpec>>| begun.peek().map(|flow| flow.0.start);
        while let Some(query) =
            self.queries.next_if(|query| first(&self.begun).is_none_or(|start| query.time <= start))
        {
            for &(start, sender, size) in &query.answers {
                let mut flow = self.draw.label.flow(start, sender, query.receiver, size);
                flow.query = Some(self.next_query);
                self.begun.push(Reverse(flow));
            }
            self.next_query += 1;
        }
        self.begun.pop().map(|flow| flow.0)
    }
}

impl Senders {
    /// The group from which the senders of one query are chosen.
    fn draw(self, receiver: u32, racks: &Racks, stream: &mut Stream) -> Group {
        self.group(receiver, racks).unwrap_or_else(|| {
            let rack = racks.rack_of(receiver);
            let other = stream.below(racks.count() as u64 - 1) as usize;
            Group::Rack(if other < rack { other } else { other + 1 })
        })
    }

    /// The group from which the senders of every query are chosen; `None` if each query has its own
    /// group.
    fn group(self, receiver: u32, racks: &Racks) -> Option<Group> {
        let rack = racks.rack_of(receiver);
        match self {
            Senders::NextRack => Some(Group::Rack(racks.after(rack))),
            Senders::OneOtherRack => None,
            Senders::OtherRacks => Some(Group::OutsideRack(rack)),
            Senders::Any => Some(Group::AllBut(receiver)),
        }
    }

    /// The least number of hosts among which a query of this receiver may have to choose.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{self, Fixture};

    /// 4 leaves of 16 hosts, with a buffer of 1,052,672 B each.
    fn fixture() -> Fixture {
        let mut fixture = Fixture::new(fixture::leaf_spine(4, 16, 4));
        fixture.leaf_buffer = Some(1_052_672);
        fixture.duration = Time::from_ms(3000);
        fixture
    }

    /// The flows of each query, by its number.
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
    fn a_load_tells_how_often_is_asked() {
        let offered = |text: &str| {
            let text = format!("fan_in = 16\n{text}");
            fixture().source("incast", &text).unwrap().offered_bits_per_second().unwrap()
        };
        // 4 leaves with 4 uplinks of 10 Gbps; 64 receivers' lines of 10 Gbps.
        assert_eq!(offered("burst = \"1600B\"\nload = 0.25"), 40e9);
        assert_eq!(offered("sizes = \"1KB..31KB\"\nload = 0.25\nload_of = \"uplink\""), 40e9);
        assert_eq!(offered("burst = \"1MB\"\nload = 0.25\nload_of = \"receiver\""), 160e9);
        let few = "receivers = [0, 5]\nburst = \"1MB\"\nload = 0.25\n";
        assert_eq!(offered(few), 40e9);
        assert_eq!(offered(&format!("{few}load_of = \"receiver\"")), 5e9);
    }

    #[test]
    fn answers_and_their_number_may_be_drawn() {
        let text = "load = 0.1\nsizes = \"1KB..31KB\"\nfan_in = \"8..12\"\nsenders = \"any\"\n\
                    stop = \"500ms\"";
        let flows = fixture().flows("incast", text);
        // 16 Gbps over 500 ms are 1 GB: 6,250 queries of 10 answers of 16 KB; standard deviation
        // 79, and of the answers 9 KB / 250 = 36 bytes.
        let queries = by_query(&flows);
        assert!((5_900..6_600).contains(&queries.len()), "{}", queries.len());
        for fan_in in 8..=12 {
            let number = queries.iter().filter(|query| query.len() == fan_in).count();
            assert!((1_100..1_400).contains(&number), "{fan_in}: {number}");
        }
        assert!(queries.iter().all(|query| (8..=12).contains(&query.len())));
        let mean = flows.iter().map(|flow| flow.size).sum::<u64>() as f64 / flows.len() as f64;
        assert!((mean - 16_000.0).abs() < 150.0, "{mean}");
        assert!(flows.iter().all(|flow| (1_000..31_000).contains(&flow.size)));
    }

    #[test]
    fn a_shared_burst_is_one_burst_whatever_the_fan_in() {
        let text = "interval = \"1ms\"\nburst = \"1000B\"\nfan_in = \"3..6\"\nstop = \"20ms\"";
        let source = fixture().source("incast", text).unwrap();
        // 999, 1000, 1000 and 996 bytes of 64 receivers, 1000 times a second.
        assert_eq!(source.offered_bits_per_second(), Some(998.75 * 8.0 * 64.0 * 1000.0));
        for query in by_query(&fixture().flows("incast", text)) {
            let each = 1000 / query.len() as u64;
            assert!(query.iter().all(|flow| flow.size == each), "{query:?}");
        }
    }

    #[test]
    fn what_cannot_be_is_refused() {
        let valid = "queries_per_host_per_s = 2\nburst = \"64KB\"\n";
        for (text, problem) in [
            (
                "burst = \"1MB\"",
                "queries_per_host_per_s: missing; expected this, `interval`, or `load`",
            ),
            (
                "queries_per_host_per_s = 2\ninterval = \"1s\"",
                "interval: not together with queries_per_host_per_s",
            ),
            ("interval = \"0s\"", "interval: \"0s\" is not valid; expected a time above 0"),
            ("interval = \"1s\"\nfan_in = 2", "burst: missing; expected this or `sizes`"),
            (&format!("{valid}fan_in = 17"), "fan_in: 17 senders for host 0, which has 16"),
            (
                &format!("{valid}fan_in = 49\nsenders = \"other-racks\""),
                "fan_in: 49 senders for host 0, which has 48",
            ),
            (&format!("{valid}fan_in = 64\nsenders = \"any\""), "which has 63"),
            (&format!("{valid}fan_in = 1\nreceivers = [64]"), "receivers: 64 is not a host"),
            ("interval = \"1s\"\nburst = \"5B\"\nfan_in = 6", "burst: 5 bytes for 6 senders"),
            (
                "interval = \"1s\"\nburst = \"9999999999999%\"\nfan_in = 6",
                "burst: 105267199999989472 bytes are more than 2^53",
            ),
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
