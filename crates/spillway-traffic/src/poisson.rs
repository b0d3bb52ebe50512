//! Independent flows that arrive at random.
//!
//! # What it does
//! Every sending host is a Poisson source of its own: the gaps between its flows are exponential,
//! and no source waits for a flow to finish. This is the background traffic of nearly every
//! evaluation in the field.
//!
//! # Rule
//! With a mean flow size of s bytes, a host starts flows at the rate
//! - `load_of = "uplink"`: load * C / n / (8 s), where C is the total rate of the uplinks of its
//!   leaf, and n the number of hosts on the leaf that take part (`places`), whether they send or
//!   not;
//! - `load_of = "host"`: load * c / (8 s), where c is the rate of its own line;
//! - `load_of = "receiver"`: load * R / (8 s) / m, where R is the total rate of the links to all
//!   hosts that may receive, and m the number of senders. The load is then that of a receiver's
//!   link, on average over the receivers.
//!
//! With `sources = n` there are n independent Poisson sources, each placed on a sending host that
//! is drawn at random, and m is n. A host with k sources starts k times as many flows, and a host
//! without a source sends nothing. Without `sources` every sending host is one source.
//!
//! For each flow a host draws the gap since the one before it, the destination, and the size.
//!
//! # Scope and limitations
//! Load counts payload; headers come on top. Sizes are truncated to whole bytes, which reduces the
//! mean by half a byte.
//!
//! # Cost
//! Memory per sending host, whatever the number of flows; time per flow grows with the logarithm
//! of the number of hosts.

use super::active_time::ActiveTime;
use super::demand::{Demand, Spread};
use super::expected::{Expected, at_most};
use super::label::Label;
use super::merge::Merge;
use super::racks::{Group, Racks};
use super::sizes::Sizes;
use super::{Context, Flows, Kind, Pattern, keys};
use spillway_engine::{Stream, Time};
use spillway_settings::{
    ErrorKind, Form, Range, Section, SettingsError, Takes, Value, nearest_name,
};
use spillway_topology::Topology;
use spillway_transport::flow::FlowSpec;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The kind `poisson`.
pub const KIND: Kind = Kind {
    id: "poisson",
    results: 1,
    summary: "Independent flows, exponential gaps at every host, at a given load.",
    example: "sizes = \"websearch\"\nload = 0.4",
    read: |section, label, context| Ok(Box::new(PoissonParams::read(section, label, context)?)),
};

/// A section of kind `poisson`, read.
#[derive(Clone, Debug)]
pub struct PoissonParams {
    draw: Arc<Draw>,
    /// Every sending host, and its flows per second.
    senders: Vec<(u32, f64)>,
    /// The most flows over all hosts.
    flows: usize,
}

/// What a sender needs to draw its flows.
#[derive(Debug)]
struct Draw {
    label: Label,
    sizes: Sizes,
    destinations: Destinations,
    racks: Racks,
    active: ActiveTime,
}

/// Where a host's flows may go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Destinations {
    OtherRack,
    Uniform,
    NextRack,
    Host(u32),
}

/// What the load is a share of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LoadOf {
    Uplink,
    Host,
    Receiver,
}

const DESTINATIONS: [(&str, Destinations); 3] = [
    ("other-rack", Destinations::OtherRack),
    ("uniform", Destinations::Uniform),
    ("next-rack", Destinations::NextRack),
];

const LOAD_OF: [(&str, LoadOf); 3] =
    [("uplink", LoadOf::Uplink), ("host", LoadOf::Host), ("receiver", LoadOf::Receiver)];

/// The random stream that places sources. Hosts have the streams of their own numbers.
const PLACEMENT: u64 = u64::MAX;

impl PoissonParams {
    /// Reads a section's keys.
    pub fn read(
        section: &mut Section,
        label: Label,
        context: &Context,
    ) -> Result<PoissonParams, SettingsError> {
        let (topology, hosts) = (context.topology, context.topology.hosts());
        let racks = Racks::read(section, topology)?;
        let sizes = Sizes::read(section, context.files)?;
        let load = read_load(section)?;
        let load_of = section.choice("load_of", &LOAD_OF, "What the load is a share of.")?;
        let destinations = read_destinations(section)?;
        let meaning = "The hosts that send; by default all, except a single receiver.";
        let senders = keys::hosts(section, "senders", meaning, hosts)?;
        let sources = read_sources(section, load_of)?;
        let active = ActiveTime::read(section, context.duration)?;
        let meaning =
            "The largest number of flows, counted over all hosts in the order of their start.";
        let flows =
            section.optional("flows", |s| s.integer("flows", None, 1..=u64::MAX, meaning))?;

        let senders = match (senders, destinations) {
            (Some(senders), Destinations::Host(receiver)) if senders.contains(&receiver) => {
                let problem = format!("host {receiver} is the receiver and cannot send to itself");
                return Err(section.conflict("senders", problem));
            }
            (Some(senders), _) => senders,
            (None, Destinations::Host(receiver)) => {
                racks.hosts().iter().copied().filter(|host| *host != receiver).collect()
            }
            (None, _) => racks.hosts().to_vec(),
        };
        racks.check(section, "senders", &senders)?;
        match destinations {
            Destinations::Host(receiver) => keys::exists(section, "destinations", receiver, hosts)?,
            Destinations::Uniform => {}
            _ if racks.count() > 1 => {}
            _ => {
                let problem = "there is one rack only; expected \"uniform\" or a host's number";
                return Err(section.conflict("destinations", problem));
            }
        }
        let payload = bits_per_second(load, load_of, &senders, destinations, topology, &racks)
            .map_err(|problem| {
                section.conflict("load_of", problem).hint("take load_of = \"host\"")
            })?;
        let bits_per_flow = 8.0 * sizes.mean();
        let rates = payload.into_iter().map(|bits_per_second| bits_per_second / bits_per_flow);
        let each: Vec<(u32, f64)> = senders.into_iter().zip(rates).collect();
        Ok(PoissonParams {
            senders: sources.map_or(each.clone(), |sources| placed(&each, sources, &label)),
            flows: flows.map_or(usize::MAX, |flows| flows as usize),
            draw: Arc::new(Draw { label, sizes, destinations, racks, active }),
        })
    }
}

impl Pattern for PoissonParams {
    fn flows(&self) -> Flows {
        let sender = |&(host, flows_per_second): &(u32, f64)| Sender {
            host,
            mean_gap_ps: 1e12 / flows_per_second,
            now: self.draw.active.start,
            stream: self.draw.label.stream(u64::from(host)),
            draw: self.draw.clone(),
        };
        Box::new(Merge::new(self.senders.iter().map(sender).collect()).take(self.flows))
    }

    fn most_flows(&self) -> u64 {
        self.flows as u64
    }

    fn expected(&self) -> Expected {
        let Draw { sizes, active, .. } = &*self.draw;
        let drawn = active.arrivals(self.senders.iter().map(|(_, rate)| rate).sum());
        let flows = at_most(drawn, self.flows);
        Expected { flows, bytes: flows * sizes.mean(), largest: sizes.largest() }
    }

    fn packets_per_flow(&self, mss: u32) -> Option<f64> {
        Some(self.draw.sizes.mean_packets(mss))
    }

    fn demand(&self) -> Option<Demand> {
        let Draw { sizes, destinations, racks, active, .. } = &*self.draw;
        if active.arrivals(self.senders.iter().map(|(_, rate)| rate).sum()) > self.flows as f64 {
            return None;
        }
        let mut sends = vec![0.0; racks.all()];
        let mut receives = Spread::over(racks);
        for &(host, flows_per_second) in &self.senders {
            let bits_per_second = flows_per_second * 8.0 * sizes.mean();
            sends[host as usize] += bits_per_second;
            receives.add(destinations.of(host, racks), bits_per_second);
        }
        Some(Demand { active: *active, sends, receives: receives.of_hosts() })
    }

    fn demand_inside(&self, area_of: &[usize]) -> Vec<f64> {
        let Draw { sizes, destinations, racks, .. } = &*self.draw;
        let areas = racks.areas(area_of);
        let mut inside = vec![0.0; areas.count()];
        for &(host, flows_per_second) in &self.senders {
            let share = areas.share_inside(host, destinations.of(host, racks));
            inside[areas.area_of(host)] += share * flows_per_second * 8.0 * sizes.mean();
        }
        inside
    }

    fn offered_bits_per_second(&self) -> Option<f64> {
        let flows_per_second: f64 = self.senders.iter().map(|(_, rate)| rate).sum();
        Some(flows_per_second * 8.0 * self.draw.sizes.mean())
    }
}

/// One host's flows.
#[derive(Clone, Debug)]
struct Sender {
    host: u32,
    mean_gap_ps: f64,
    now: Time,
    stream: Stream,
    draw: Arc<Draw>,
}

impl Iterator for Sender {
    type Item = FlowSpec;

    fn next(&mut self) -> Option<FlowSpec> {
        let Draw { label, sizes, destinations, racks, active } = &*self.draw;
        self.now = self.now.saturating_add(exponential_gap(&mut self.stream, self.mean_gap_ps));
        if self.now >= active.stop {
            return None;
        }
        let group = destinations.of(self.host, racks);
        let place = self.stream.below(racks.size(group) as u64) as usize;
        let destination = racks.member(group, place);
        let size = sizes.draw(&mut self.stream);
        Some(label.flow(self.now, self.host, destination, size))
    }
}

/// The gap until the next arrival of a Poisson process: at least a picosecond.
pub fn exponential_gap(stream: &mut Stream, mean_ps: f64) -> Time {
    Time::from_ps((stream.exponential(mean_ps).round() as u64).max(1))
}

impl Destinations {
    /// The group of hosts that a host sends to.
    fn of(self, sender: u32, racks: &Racks) -> Group {
        let rack = racks.rack_of(sender);
        match self {
            Destinations::OtherRack => Group::OutsideRack(rack),
            Destinations::Uniform => Group::AllBut(sender),
            Destinations::NextRack => Group::Rack(racks.after(rack)),
            Destinations::Host(host) => Group::One(host),
        }
    }
}

/// The payload that each sender offers, in bits per second.
fn bits_per_second(
    load: f64,
    load_of: LoadOf,
    senders: &[u32],
    destinations: Destinations,
    topology: &Topology,
    racks: &Racks,
) -> Result<Vec<f64>, String> {
    let line = |host: u32| topology.lines[topology.nics[host as usize] as usize].rate;
    match load_of {
        LoadOf::Host => {
            Ok(senders.iter().map(|&host| load * line(host).bits_per_second() as f64).collect())
        }
        LoadOf::Receiver => {
            let mut groups: Vec<Group> =
                senders.iter().map(|&sender| destinations.of(sender, racks)).collect();
            groups.dedup();
            let capacity: u64 =
                racks.union(&groups).into_iter().map(|host| line(host).bits_per_second()).sum();
            Ok(vec![load * capacity as f64 / senders.len() as f64; senders.len()])
        }
        LoadOf::Uplink => {
            // Computed once per leaf, because a leaf has as many ports as hosts, or more.
            let mut uplinks_of = BTreeMap::new();
            let share = |&host: &u32| {
                let leaf = topology.rack_of(host);
                let uplinks =
                    uplinks_of.entry(leaf).or_insert_with(|| topology.uplink_rate_of_leaf(leaf));
                if *uplinks == 0 {
                    return Err(format!("the switch of host {host} has no uplink"));
                }
                let hosts = racks.size(Group::Rack(racks.rack_of(host)));
                Ok(load * *uplinks as f64 / hosts as f64)
            };
            senders.iter().map(share).collect()
        }
    }
}

/// Places so many sources at random among the senders. Returns the hosts that have any, and the
/// rate of all their sources. All hosts have the same rate, and the sum of rates stays the same.
fn placed(each: &[(u32, f64)], sources: u64, label: &Label) -> Vec<(u32, f64)> {
    let mut stream = label.stream(PLACEMENT);
    let mut counts = vec![0u64; each.len()];
    for _ in 0..sources {
        counts[stream.below(each.len() as u64) as usize] += 1;
    }
    let of_all = each.len() as f64 / sources as f64;
    let with_some = each.iter().zip(counts).filter(|(_, count)| *count > 0);
    with_some.map(|(&(host, rate), count)| (host, rate * of_all * count as f64)).collect()
}

fn read_sources(section: &mut Section, load_of: LoadOf) -> Result<Option<u64>, SettingsError> {
    let meaning = "Independent sources, each placed on a sending host at random (with load_of = \
                   \"receiver\"); by default one on every sending host.";
    let sources =
        section.optional("sources", |s| s.integer("sources", None, 1..=1_000_000, meaning))?;
    if sources.is_some() && load_of != LoadOf::Receiver {
        let problem = "the load of an uplink, or of a host, has no sources to be shared by";
        return Err(section
            .error(ErrorKind::UnusedKey, "sources", problem)
            .hint("take load_of = \"receiver\""));
    }
    Ok(sources)
}

fn read_load(section: &mut Section) -> Result<f64, SettingsError> {
    let meaning = "The offered load in payload bytes, as a share of what `load_of` says.";
    section.number("load", None, Range::Positive, meaning)
}

fn read_destinations(section: &mut Section) -> Result<Destinations, SettingsError> {
    let takes = "\"other-rack\" or \"uniform\" or \"next-rack\", or a host's number";
    let mut forms: Vec<_> = DESTINATIONS.iter().map(|(name, _)| Form::word(name)).collect();
    forms.push(Form::INDEX);
    let takes = Takes::new(takes, forms);
    let meaning = "The flows' receivers: any host of another rack, any other host, any host of \
                   the rack after the sender's, or always the same host.";
    let mut unknown = None;
    let parse = |value: &Value| match value.as_str() {
        None => keys::parse_host(value).map(Destinations::Host),
        Some(text) => {
            let found = DESTINATIONS.iter().find(|(name, _)| *name == text);
            unknown = found.is_none().then(|| text.to_string());
            found.map(|(_, destinations)| *destinations)
        }
    };
    let read = section.value("destinations", "other-rack", takes, meaning, parse);
    read.map_err(|error| match unknown {
        Some(text) => error.hint(nearest_name(&text, DESTINATIONS.iter().map(|(name, _)| *name))),
        None => error,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{self, Fixture};

    /// 16 leaves of 16 hosts, four uplinks each, all lines at 10 Gbps.
    fn credence() -> Fixture {
        Fixture::new(fixture::leaf_spine(16, 16, 4))
    }

    #[test]
    fn load_of_uplink_gives_the_published_rate() {
        // 0.2 * 40 Gbps / 16 hosts = 0.5 Gbps per host; / (8 * 1,711,222.5 B) = 36.52 flows/s.
        for (load, rate) in [(0.2, 36.52), (0.4, 73.05), (0.6, 109.57), (0.8, 146.09)] {
            let text = format!("sizes = \"websearch\"\nload = {load}");
            let params = credence().read_with(&text, PoissonParams::read).unwrap();
            assert_eq!(params.senders.len(), 256);
            assert!(params.senders.iter().all(|(_, r)| (r - rate).abs() < 0.005), "{load}");
        }
    }

    #[test]
    fn load_of_host_and_receiver_by_hand() {
        let offered = |text: &str| {
            let params = Fixture::new(fixture::leaf_spine(2, 4, 1))
                .read_with(&format!("sizes = \"1MB\"\n{text}"), PoissonParams::read)
                .unwrap();
            (params.senders.len(), params.senders[0].1, params.offered_bits_per_second().unwrap())
        };
        // 0.4 * 10 Gbps / 8 Mbit = 500 flows/s at each of 8 hosts: 32 Gbps.
        assert_eq!(offered("load = 0.4\nload_of = \"host\""), (8, 500.0, 32e9));
        // One receiver: 0.7 * 10 Gbps / 8 Mbit = 875 flows/s, from 7 hosts: 125 each.
        let text = "load = 0.7\nload_of = \"receiver\"\ndestinations = 0";
        assert_eq!(offered(text), (7, 125.0, 7e9));
        // Hosts 0 to 3 send to their next rack: 4 receivers, 0.4 * 40 Gbps / 8 Mbit / 4 senders.
        let text = "load = 0.4\nload_of = \"receiver\"\ndestinations = \"next-rack\"\n\
                    senders = \"0..3\"";
        assert_eq!(offered(text), (4, 500.0, 16e9));
    }

    #[test]
    fn sources_are_placed_at_random_and_share_the_load() {
        // 0.7 * 10 Gbps / 8 Mbit = 875 flows/s of 1000 sources: 0.875 each, on seven hosts.
        let text = "sizes = \"1MB\"\nload = 0.7\nload_of = \"receiver\"\ndestinations = 0\n";
        let mut fixture = Fixture::new(fixture::leaf_spine(2, 4, 1));
        let read = |fixture: &Fixture, more: &str| {
            fixture.read_with(&format!("{text}{more}"), PoissonParams::read).unwrap()
        };
        let params = read(&fixture, "sources = 1000");
        let counts: Vec<f64> = params.senders.iter().map(|(_, rate)| rate / 0.875).collect();
        // 1000 / 7 = 142.9, deviation sqrt(1000 * 6) / 7 = 11.1: whole numbers within five.
        assert_eq!(counts.len(), 7);
        assert!(counts.iter().all(|n| (n - n.round()).abs() < 1e-9), "{counts:?}");
        assert!(counts.iter().all(|n| (n - 142.9).abs() < 56.0), "{counts:?}");
        assert!(counts.iter().any(|n| (n - 143.0).abs() > 1.0), "{counts:?}");
        assert!((counts.iter().sum::<f64>() - 1000.0).abs() < 1e-9);
        assert!((params.offered_bits_per_second().unwrap() - 7e9).abs() < 1.0);
        // One source is on one host, another for another seed, and the others send nothing.
        let one = |fixture: &Fixture| read(fixture, "sources = 1").senders;
        let hosts: std::collections::BTreeSet<u32> = (0..20)
            .map(|seed| {
                fixture.seed = seed;
                let [(host, rate)] = one(&fixture)[..] else { panic!("several hosts send") };
                assert!((rate - 875.0).abs() < 1e-9);
                host
            })
            .collect();
        assert!(hosts.len() > 3 && !hosts.contains(&0), "{hosts:?}");
    }

    #[test]
    fn the_realised_load_is_the_offered_one() {
        let mut fixture = credence();
        fixture.duration = Time::from_ms(500);
        let text = "sizes = \"20KB\"\nload = 0.1\nload_of = \"host\"";
        let flows = fixture.flows("poisson", text);
        // 1 Gbps per host / 160,000 bit = 6,250 flows/s * 256 hosts * 0.5 s = 800,000 flows;
        // standard deviation sqrt(800,000) = 894.
        assert!((flows.len() as f64 - 800_000.0).abs() < 4.0 * 894.0, "{}", flows.len());
        assert!(flows.is_sorted() && flows.iter().all(|f| f.size == 20_000));
        // Per host 3,125, deviation 56; the worst of 256 within five deviations.
        let mut sent = vec![0i64; 256];
        flows.iter().for_each(|f| sent[f.src as usize] += 1);
        assert!(sent.iter().all(|n| (n - 3125).abs() < 280), "{sent:?}");
    }

    #[test]
    fn drawn_sizes_realise_the_load_too() {
        let mut fixture = credence();
        fixture.duration = Time::from_ms(1000);
        let flows = fixture.flows("poisson", "sizes = \"websearch\"\nload = 0.4");
        let bits: u64 = flows.iter().map(|flow| flow.size * 8).sum();
        let load = bits as f64 / (16.0 * 40e9);
        // 73.05 * 256 = 18,700 flows; E[s^2] / E[s]^2 is about 6, so the relative deviation of
        // the sum is sqrt(6 / 18,700) = 1.8%.
        assert!((load / 0.4 - 1.0).abs() < 0.07, "{load}");
    }

    #[test]
    fn destinations_are_where_they_should_be() {
        let mut fixture = Fixture::new(fixture::leaf_spine(3, 2, 2));
        fixture.duration = Time::from_ms(20);
        let flows = |destinations: &str| {
            let text = format!("sizes = \"10KB\"\nload = 0.5\ndestinations = {destinations}");
            fixture.flows("poisson", &text)
        };
        let rack = |host| host / 2;
        assert!(flows("\"other-rack\"").iter().all(|f| rack(f.src) != rack(f.dst)));
        assert!(flows("\"next-rack\"").iter().all(|f| (rack(f.src) + 1) % 3 == rack(f.dst)));
        assert!(flows("4").iter().all(|f| f.dst == 4 && f.src != 4));
        let uniform = flows("\"uniform\"");
        assert!(uniform.iter().all(|f| f.src != f.dst));
        // 5 of 6 hosts are as likely as each other: 20% of the flows from 0 go to each.
        let from_0: Vec<_> = uniform.iter().filter(|f| f.src == 0).collect();
        for host in 1..6 {
            let share = from_0.iter().filter(|f| f.dst == host).count() as f64;
            let share = share / from_0.len() as f64;
            assert!((share - 0.2).abs() < 0.06, "{host}: {share} of {}", from_0.len());
        }
    }

    #[test]
    fn an_active_time_and_a_number_of_flows_bound_it() {
        let fixture = Fixture::new(fixture::leaf_spine(2, 2, 1));
        let text = "sizes = \"10KB\"\nload = 0.5\nstart = \"1ms\"\nstop = \"3ms\"";
        let all = fixture.flows("poisson", text);
        assert!(all.len() > 10);
        assert!(all.iter().all(|f| f.start > Time::from_ms(1) && f.start < Time::from_ms(3)));
        assert_eq!(fixture.flows("poisson", &format!("{text}\nflows = 7")), all[..7]);
    }

    #[test]
    fn an_endless_active_time_costs_only_what_is_taken() {
        let mut fixture = credence();
        fixture.duration = Time::MAX;
        let source = fixture.source("poisson", "sizes = \"websearch\"\nload = 0.4").unwrap();
        assert_eq!(source.flows().take(1000).count(), 1000);
    }

    #[test]
    fn what_cannot_be_is_refused() {
        let error = |leaves: u32, text: &str| {
            let fixture = Fixture::new(fixture::leaf_spine(leaves, 2, 1));
            fixture.source("poisson", text).unwrap_err().to_string()
        };
        let valid = "sizes = \"1MB\"\nload = 0.5\n";
        for (leaves, text, problem) in [
            (2, "sizes = \"1MB\"", "load: missing; expected a number in (0, inf)"),
            (2, "sizes = \"1MB\"\nload = 0", "load: 0 is not valid; expected a number in (0, inf)"),
            (
                2,
                "sizes = \"1MB\"\nload = [1, 2]",
                "load: [1, 2] is not valid; expected a number in (0, inf)",
            ),
            (2, "load = 0.5", "sizes: missing; expected a distribution's name"),
            (2, &format!("{valid}destinations = 4"), "destinations: 4 is not a host; there are 4"),
            (2, &format!("{valid}destinations = \"next-rak\""), "hint: did you mean `next-rack`?"),
            (
                2,
                &format!("{valid}destinations = 1\nsenders = [0, 1]"),
                "senders: host 1 is the rec",
            ),
            (
                2,
                &format!("{valid}sources = 0"),
                "sources: 0 is not valid; expected a whole number from 1 to 1000000",
            ),
            (
                2,
                &format!("{valid}sources = 10"),
                "sources: the load of an uplink, or of a host, has no sources to be shared by\n\
                 hint: take load_of = \"receiver\"",
            ),
            (1, valid, "destinations: there is one rack only; expected \"uniform\""),
        ] {
            let error = error(leaves, text);
            assert!(error.contains(problem), "{text}: {error}");
        }
        let star = fixture::topology("kind = \"star\"\nhosts = 2");
        let text = format!("{valid}destinations = \"uniform\"");
        let error = Fixture::new(star).source("poisson", &text).unwrap_err().to_string();
        assert!(error.contains("load_of: the switch of host 0 has no uplink"), "{error}");
    }
}
