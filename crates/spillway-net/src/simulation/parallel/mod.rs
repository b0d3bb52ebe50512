//! One run on several threads, with the results of one thread, to the bit.
//!
//! The network is cut into parts, each with its switches and hosts, its own events and packets. A
//! packet takes some time to cross from one part to another. So all parts can handle the events of
//! a *window* of that length on their own. Between two windows, packets that have left a part are
//! handed over, flows that begin are given to their parts, and flows that are over get their rows,
//! in the order in which one part would have come to them.
//!
//! What concerns the whole network is an event of the whole: samples, the window of measurement,
//! and links that fail. A window ends exactly where such an event stands in the order of events. For the
//! event, and whenever the run is looked at from outside, the parts lend the whole their switches
//! and lines.

mod allowed;
mod common;
mod ending;
mod flows;
mod part;
mod releases;
mod whole;

pub(super) use part::Part;

use super::{Progress, Simulation};
use crate::event::Kind;
use crate::network::{Cut, Network};
use crate::scenario::Scenario;
use flows::START;
use releases::Releases;
use rustix::time::{ClockId, clock_gettime};
use spillway_engine::{Crew, Event, Time};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// The shortest time.
const INSTANT: Time = Time::from_ps(1);

/// The parts of a run, and where it stands.
#[derive(Clone)]
pub(super) struct Parallel {
    cut: Arc<Cut>,
    /// Boxed, because threads hand them over in every window.
    parts: Vec<Box<Simulation>>,
    threads: usize,
    /// The least time in which a packet crosses from one part to another.
    window: Time,
    /// Flows with ends in two parts whose sender is done: the part and place of the sending end.
    closing: Vec<(u16, u32)>,
    releases: Releases,
    /// Whether connections stay open, so that flows may begin only when all before is known.
    keeps_open: bool,
    witness: ending::Witness,
    /// Whether too little happened in the last window for several threads.
    is_quiet: bool,
    counts: Windows,
    /// The processor time of all threads but the caller's.
    cpu: Duration,
}

/// In a window with fewer events one thread is as fast as several.
const QUIET: u64 = 200;

/// How a run in parts went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Windows {
    /// Windows.
    pub windows: u64,
    /// Windows whose events were handled in order by one thread, because the run might have ended
    /// there.
    pub in_order: u64,
    /// Packets that crossed from one part to another.
    pub crossings: u64,
    /// For each window, the most events that one part had, added up.
    pub longest: u64,
}

impl Simulation {
    /// A run that is about to begin, in so many parts, but no more than there are racks, and on so
    /// many threads. If it must stay on one thread, the reason is returned, too, as a clause. Results
    /// do not depend on this.
    pub fn in_parts(
        scenario: Scenario,
        parts: usize,
        threads: usize,
    ) -> (Simulation, Option<&'static str>) {
        let racks = scenario.topology.racks().len();
        let parts = parts.min(racks).min(usize::from(u16::MAX)) as u16;
        let cut = Cut::by_racks(&scenario.topology, parts.max(1));
        Simulation::with_cut(scenario, cut, threads)
    }

    /// As `in_parts`, with a given cut.
    pub fn with_cut(
        scenario: Scenario,
        cut: Cut,
        threads: usize,
    ) -> (Simulation, Option<&'static str>) {
        let whole = Simulation::new(scenario);
        let reason = allowed::reason_for_one_thread(&whole, &cut);
        match reason {
            None => (whole.divided(cut, threads), None),
            Some(_) => (whole, reason),
        }
    }

    /// How many threads the run is on.
    pub fn threads(&self) -> usize {
        self.parallel.as_ref().map_or(1, |parallel| parallel.threads)
    }

    fn divided(mut self, cut: Cut, threads: usize) -> Simulation {
        let threads = threads.clamp(1, cut.parts().into());
        let cut = Arc::new(cut);
        let mut parts: Vec<_> =
            (0..cut.parts()).map(|own| Box::new(self.clone().into_part(own, &cut))).collect();
        self.network.events.retain(|key| key == START || is_common(key));
        self.lend_and_take(&mut parts);
        let window = parts.iter().map(|part| part.least_delay()).min().unwrap_or(Time::MAX);
        self.parallel = Some(Box::new(Parallel {
            closing: Vec::new(),
            releases: Releases::default(),
            keeps_open: self.scenario.leaves_connections_open(),
            witness: ending::Witness::default(),
            is_quiet: false,
            counts: Windows::default(),
            cpu: Duration::ZERO,
            window,
            threads,
            parts,
            cut,
        }));
        self
    }

    /// How many parts the run has, and how it went so far; `None` if it has only one.
    pub fn windows(&self) -> Option<(usize, Windows)> {
        self.parallel.as_ref().map(|parallel| (parallel.parts.len(), parallel.counts))
    }

    /// The processor time that the run has taken on other threads than the caller's.
    pub fn cpu_elsewhere(&self) -> Duration {
        self.parallel.as_ref().map_or(Duration::ZERO, |parallel| parallel.cpu)
    }

    /// Writes the rows of flows that are alive, if the run is in parts.
    pub(super) fn finish_parts(&mut self) {
        if let Some(mut parallel) = self.parallel.take() {
            parallel.write_last_rows(self);
            self.take_open_pauses(&mut parallel.parts);
            self.parallel = Some(parallel);
        }
    }

    /// As `is_conserved`, for a run in parts, which lends its parts what they lack.
    pub(super) fn conserves_in_parts(mut self) -> bool {
        let Some(mut parallel) = self.parallel.take() else { return false };
        self.lend_and_take(&mut parallel.parts);
        let (mut packets, mut bytes) = (0, 0);
        for part in &parallel.parts {
            let (present, of_present) = part.present_in_part();
            (packets, bytes) = (packets + present, bytes + of_present);
        }
        let mut parts = parallel.parts.iter();
        parts.all(|part| part.network.is_consistent())
            && self.network.totals.are_all_but(packets, bytes)
    }

    /// Handles about as many events, or those before a time, in all parts.
    pub(super) fn run_in_parts(&mut self, until: Time, events: u64) -> Progress {
        let Some(mut parallel) = self.parallel.take() else { return Progress::Running };
        self.lend_and_take(&mut parallel.parts);
        let cpu = AtomicU64::new(0);
        let crew = Crew::new(parallel.threads, parallel.parts.len());
        let progress = std::thread::scope(|scope| {
            let (crew, cpu) = (&crew, &cpu);
            let _end = crew.ends_with_this();
            for thread in 1..parallel.threads {
                scope.spawn(move || {
                    crew.serve(thread, Simulation::work_on_window);
                    let used = clock_gettime(ClockId::ThreadCPUTime);
                    let used = Duration::try_from(used).unwrap_or_default();
                    cpu.fetch_add(used.as_nanos() as u64, Ordering::Relaxed);
                });
            }
            let last = self.counters.events.saturating_add(events);
            loop {
                let progress = parallel.run_window(self, crew, until);
                if progress != Progress::Running || self.counters.events >= last {
                    return progress;
                }
            }
        });
        parallel.cpu += Duration::from_nanos(cpu.into_inner());
        self.add_up(&mut parallel.parts);
        self.lend_and_take(&mut parallel.parts);
        self.parallel = Some(parallel);
        progress
    }
}

/// Whether an event concerns the whole network.
fn is_common(key: u32) -> bool {
    let kind = Kind::of(key).0;
    matches!(kind, Kind::Measure | Kind::LinkChange | Kind::RouteChange) || kind.is_sample()
}

impl Parallel {
    /// Handles the events of the next window, but none from `until` on, and the event of the whole
    /// at the window's end.
    fn run_window(
        &mut self,
        whole: &mut Simulation,
        crew: &Crew<Simulation>,
        until: Time,
    ) -> Progress {
        let stop = whole.scenario.stop;
        let of_parts = self.parts.iter().map(|part| part.next_in_part());
        let first = of_parts.chain(whole.network.events.next_time()).min().unwrap_or(Time::MAX);
        if whole.is_still || self.is_over(whole) {
            return self.end(whole);
        }
        if first > stop {
            if first < Time::MAX {
                whole.network.now = stop;
            }
            return self.end(whole);
        }
        if first >= until {
            whole.halted_at = until;
            return Progress::Halted;
        }
        let mut bound = first.saturating_add(self.window).min(stop + INSTANT).min(until);
        let mut releases = self.may_release_before(first, bound);
        if let Some(Event { time, key: START }) = whole.network.events.next()
            && self.keeps_open
        {
            releases |= time == first;
            bound = bound.min(if time == first { time + INSTANT } else { time });
        }
        if !releases {
            bound = self.begin_flows(whole, bound);
        }
        let common = whole.network.events.next();
        let mut edge = match common {
            Some(event) if event.time < bound && !releases => event,
            _ => Event { time: bound, key: Kind::Edge.key(0) },
        };
        self.set_edge(edge, bound == until);
        self.counts.windows += 1;
        if releases || self.may_end_before(whole, first, edge) {
            self.counts.in_order += 1;
            match self.run_in_order(whole, edge) {
                None => return self.end(whole),
                Some(event) => edge = event,
            }
        } else {
            if self.is_quiet {
                self.parts.iter_mut().for_each(|part| part.work_on_window());
            } else {
                crew.share(&mut self.parts, Simulation::work_on_window);
            }
            let releases = |part: &Simulation| !part.hosts.awaited.is_empty();
            assert!(!self.parts.iter().any(|part| releases(part)), "a flow is complete too early");
        }
        self.exchange();
        self.settle(whole);
        let events = self.parts.iter_mut().map(|part| std::mem::take(&mut part.counters.events));
        let (sum, longest) = events.fold((0, 0), |(sum, most), of| (sum + of, most.max(of)));
        whole.counters.events += sum;
        self.counts.longest += longest;
        self.is_quiet = sum < QUIET;
        if edge.key != Kind::Edge.key(0) {
            self.handle_common(whole);
            whole.is_still = self.is_still_after(whole, edge.key);
        }
        Progress::Running
    }

    /// The window ends at this place in the order of events. `is_seen` says whether the run is
    /// looked at there; it also is if that is an event of the whole.
    fn set_edge(&mut self, edge: Event, is_seen: bool) {
        let is_seen = is_seen || edge.key != Kind::Edge.key(0);
        self.parts.iter_mut().for_each(|part| part.set_edge(edge, is_seen));
    }

    /// Hands over the packets that have left their parts.
    fn exchange(&mut self) {
        for from in 0..self.parts.len() {
            for to in 0..self.parts.len() {
                let leaving = &mut self.parts[from].of_part().leaving[to];
                if leaving.is_empty() {
                    continue;
                }
                self.counts.crossings += leaving.len() as u64;
                let leaving = std::mem::take(leaving);
                let coming = &mut self.parts[to].of_part().coming[from];
                let empty = std::mem::replace(coming, leaving);
                self.parts[from].of_part().leaving[to] = empty;
            }
        }
    }

    /// The run is over. All ports send what they could have sent by now.
    fn end(&mut self, whole: &mut Simulation) -> Progress {
        let now = self.now(whole);
        for part in &mut self.parts {
            part.network.now = now;
            part.catch_up();
        }
        self.settle(whole);
        whole.add_up(&mut self.parts);
        whole.progress_at_stop()
    }

    /// Packets that hosts have put on their lines before their turn. The whole has the lines, and
    /// the parts have the packets.
    pub fn packets_ahead(&self, whole: &Network) -> u64 {
        let parts = (0..).zip(&self.parts);
        let of_parts = parts.map(|(number, part)| {
            let is_there = |host: u32| self.cut.part_of_host(host) == number;
            whole.packets_ahead(&part.network.packets, is_there)
        });
        of_parts.sum()
    }

    /// Bytes of memory of the parts.
    pub fn bytes(&self) -> u64 {
        self.parts.iter().map(|part| part.bytes()).sum()
    }

    /// The time of the last event.
    fn now(&self, whole: &Simulation) -> Time {
        self.parts.iter().map(|part| part.network.now).fold(whole.network.now, Time::max)
    }
}
