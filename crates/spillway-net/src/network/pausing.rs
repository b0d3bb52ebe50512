//! Priority flow control (IEEE 802.1Qbb): pause frames, what they stop, and packets at switches
//! with lossless priorities.
//!
//! A switch, or a host that takes in packets slowly, can pause the neighbour that sends on one of
//! its lines. It sends a frame back on the other line of that link. The frame overtakes all packets
//! that wait there, but not the packet in transmission. The neighbour acts on the frame when the
//! frame has arrived and the neighbour's response time is over. The queue class then stops: a
//! packet in transmission is finished, and no other begins. Depending on the settings, the queue
//! class goes on when another frame says so, when its quanta are over, or when the first of these
//! happens.
//!
//! Frames are no packets. They take time on their line and count among its bytes, but hold no place
//! in a queue.

use super::{Network, SwitchPorts};
use crate::event::Kind;
use crate::port::line::{End, Line, Waking};
use crate::port::timetable::Timetable;
use crate::scenario::{Ends, PauseFrames, PfcSettings, Scenario};
use spillway_engine::Time;
use spillway_switch::DropReason;
use spillway_switch::packet::PacketId;
use spillway_topology::Node;
use std::collections::{BTreeMap, VecDeque};

/// A queue class of the port that sends on a line.
pub(super) type Stoppable = (u32, u8);

/// A pause that has acted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pause {
    /// The line on which the paused port sends. The node at its far end has paused it.
    pub line: u32,
    pub queue_class: u8,
    pub begin: Time,
    /// `None` if the pause had not ended when the run did.
    pub end: Option<Time>,
}

/// A pause frame on its way to the port that sends on a line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    /// When it acts.
    pub acts_at: Time,
    queue_class: u8,
    pauses: bool,
}

/// A pause that acts.
#[derive(Clone, Copy, Debug)]
struct Open {
    begin: Time,
    /// When the pause is over if no other frame comes.
    until: Time,
}

/// The pauses of one kind of nodes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct PauseSum {
    pub pauses: u64,
    pub time: Time,
}

/// Pause frames, and the queue classes that they have stopped.
#[derive(Clone)]
pub(crate) struct Pausing {
    /// For every line, the other line of its link.
    reverse: Vec<u32>,
    /// A number after those of all switches that stands for hosts that are slow to take in packets.
    pub slow_hosts: u32,
    /// For every line, how the node at its far end sends frames.
    frames: Vec<Option<PauseFrames>>,
    /// For every line, the kind of node that sends on it: the number of its tier, or the number
    /// after those of the tiers for hosts.
    kinds: Vec<u8>,
    /// For lines whose ports are about to act on frames: the frames, in order.
    under_way: BTreeMap<u32, VecDeque<Frame>>,
    /// The pauses that act.
    open: BTreeMap<Stoppable, Open>,
    /// When the frames of pauses are to be repeated.
    renewals: BTreeMap<Stoppable, Time>,
    /// If switches hold a packet's bytes until it is sent, and a pause frame follows a packet on a
    /// line: by line, when that packet ends.
    before_frames: BTreeMap<u32, Time>,
    /// The pauses that have ended and have not been taken yet, if pauses are recorded, with the keys
    /// of the events that ended them.
    ended: Option<Vec<(u32, Pause)>>,
    /// By kind of node.
    sums: Vec<PauseSum>,
    /// Pause frames sent.
    pub frames_sent: u64,
}

impl Pausing {
    /// Marks the lines that lead to switches with lossless priorities, and to hosts that take in
    /// packets slowly. `None` if nothing is lossless.
    pub fn new(
        scenario: &Scenario,
        lines: &mut [Line],
        ports: &mut Vec<SwitchPorts>,
        place_of_line: &[u32],
    ) -> Option<Box<Pausing>> {
        let pfc = |switch: u32| scenario.tiers[scenario.tier_of(switch)].pfc.as_ref();
        if scenario.tiers.iter().all(|tier| tier.pfc.is_none()) {
            return None;
        }
        let mut reverse = vec![0; lines.len()];
        for (line, &place) in place_of_line.iter().enumerate() {
            // The two lines of a link are neighbours.
            reverse[place as usize] = place_of_line[line ^ 1];
        }
        let slow_hosts = ports.len() as u32;
        ports.push(SwitchPorts { first_line: 0, seed: 0, waiting: Timetable::always_due() });
        let mut frames = Vec::with_capacity(lines.len());
        let hosts = scenario.topology.hosts();
        for line in &mut *lines {
            frames.push(match line.end {
                End::Host if scenario.receiving.is_some() => {
                    let rates = scenario.receiving.as_ref().map(|receiving| &receiving.rates);
                    if rates.is_some_and(|rates| rates[line.to as usize].is_some()) {
                        (line.end, line.to) = (End::SlowHost, slow_hosts);
                    }
                    pfc(line.from).map(|pfc| pfc.frames)
                }
                End::Switch => {
                    // Switches whose priorities are all lossy do not stop.
                    let obeys = line.number < hosts || pfc(line.from).is_some();
                    let pfc = pfc(line.to);
                    if pfc.is_some() {
                        line.end = End::LosslessSwitch;
                        ports[line.to as usize].waiting = Timetable::always_due();
                    }
                    pfc.map(|PfcSettings { frames, .. }| PauseFrames {
                        obeyed: frames.obeyed && obeys,
                        ..*frames
                    })
                }
                _ => None,
            });
        }
        let kind = |line: &Line| {
            if line.number < hosts { scenario.tiers.len() } else { scenario.tier_of(line.from) }
        };
        Some(Box::new(Pausing {
            reverse,
            slow_hosts,
            frames,
            kinds: lines.iter().map(|line| kind(line) as u8).collect(),
            under_way: BTreeMap::new(),
            open: BTreeMap::new(),
            renewals: BTreeMap::new(),
            before_frames: BTreeMap::new(),
            ended: scenario.recording.pauses.then(Vec::new),
            sums: vec![PauseSum::default(); scenario.tiers.len() + 1],
            frames_sent: 0,
        }))
    }

    /// The queue classes that are paused now.
    pub(super) fn paused(&self) -> impl Iterator<Item = Stoppable> {
        self.open.keys().copied()
    }

    /// Whether the frames sent so far will end a pause: a frame that ends it is under way or, with
    /// quanta, the frame is not going to be repeated.
    pub(super) fn will_end(&self, at: Stoppable) -> bool {
        match self.frames[at.0 as usize].map(|frames| frames.ends) {
            Some(Ends::Quanta { .. }) => !self.renewals.contains_key(&at),
            _ => {
                let frames = self.under_way.get(&at.0).into_iter().flatten();
                frames.into_iter().any(|frame| frame.queue_class == at.1 && !frame.pauses)
            }
        }
    }

    /// The other line of a line's link.
    pub fn reverse(&self, line: u32) -> u32 {
        self.reverse[line as usize]
    }

    /// The bytes of the smallest frame.
    pub(super) fn smallest_frame(&self) -> u64 {
        self.frames.iter().flatten().map(|frames| u64::from(frames.bytes)).min().unwrap_or(u64::MAX)
    }

    /// Takes over what the parts of a cut network have counted, and the pauses that have ended
    /// there, in the order in which they ended.
    pub fn add_up<'a>(&mut self, parts: impl Iterator<Item = &'a mut Pausing>) {
        let mut ended = Vec::new();
        for part in parts {
            self.frames_sent += std::mem::take(&mut part.frames_sent);
            for (sum, more) in self.sums.iter_mut().zip(&mut part.sums) {
                let more = std::mem::take(more);
                *sum = PauseSum { pauses: sum.pauses + more.pauses, time: sum.time + more.time };
            }
            ended.append(&mut part.take_ended());
        }
        ended.sort_by_key(|(key, pause)| (pause.end, *key));
        if let Some(all) = &mut self.ended {
            all.append(&mut ended);
        }
    }

    /// Takes over the pauses that act in a part of a cut network.
    pub fn take_open(&mut self, part: &mut Pausing) {
        self.open.append(&mut part.open);
    }

    /// Takes the pauses that have ended since the last call.
    pub fn take_ended(&mut self) -> Vec<(u32, Pause)> {
        self.ended.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// By tier, and for hosts: the number of pauses that have begun, and their time until now.
    pub fn sums(&self, now: Time) -> Vec<PauseSum> {
        let mut sums = self.sums.clone();
        for (&(line, _), open) in &self.open {
            let sum = &mut sums[usize::from(self.kinds[line as usize])];
            sum.time += now.since(open.begin);
        }
        sums
    }

    /// The run is over: pauses that still act have no end.
    pub fn finish(&mut self) {
        if let Some(ended) = &mut self.ended {
            let rows = self.open.iter().map(|(&(line, queue_class), &Open { begin, .. })| {
                (0, Pause { line, queue_class, begin, end: None })
            });
            ended.extend(rows);
        }
    }

    /// Takes the frame that acts now on the port that sends on a line, unless its link has failed
    /// meanwhile.
    fn take_frame(&mut self, line: u32, now: Time) -> Option<Frame> {
        let frames = self.under_way.get_mut(&line)?;
        frames.front().filter(|frame| frame.acts_at == now)?;
        frames.pop_front()
    }

    /// A pause begins to act, or lasts longer.
    fn begin(&mut self, at: Stoppable, now: Time, until: Time) {
        if let Some(open) = self.open.get_mut(&at) {
            open.until = until;
            return;
        }
        self.open.insert(at, Open { begin: now, until });
        self.sums[usize::from(self.kinds[at.0 as usize])].pauses += 1;
    }

    /// An event ends a pause. Returns whether there was one.
    fn end(&mut self, at: Stoppable, now: Time, key: u32) -> bool {
        let Some(open) = self.open.remove(&at) else { return false };
        let sum = &mut self.sums[usize::from(self.kinds[at.0 as usize])];
        sum.time += now.since(open.begin);
        if let Some(ended) = &mut self.ended {
            let (line, queue_class) = at;
            ended.push((key, Pause { line, queue_class, begin: open.begin, end: Some(now) }));
        }
        true
    }

    /// A link has failed: all pauses of its two lines are over, and their frames are lost.
    fn forget(&mut self, lines: [u32; 2], now: Time, key: u32) {
        let is_of_link = |at: Option<Stoppable>| at.is_some_and(|(line, _)| lines.contains(&line));
        self.under_way.retain(|line, _| !lines.contains(line));
        self.renewals.retain(|&(line, _), _| !lines.contains(&line));
        self.before_frames.retain(|line, _| !lines.contains(line));
        let over: Vec<Stoppable> = self.paused().filter(|&at| is_of_link(Some(at))).collect();
        over.into_iter().for_each(|at| {
            self.end(at, now, key);
        });
    }
}

impl Network {
    /// A packet has arrived on a line that leads to a switch with lossless priorities.
    #[inline(never)]
    pub(super) fn forward_lossless(&mut self, line_id: u32, id: PacketId) {
        let packet = self.packets[id];
        let switch_id = self.lines[line_id as usize].to;
        let SwitchPorts { first_line, seed, .. } = self.ports[switch_id as usize];
        let Some(port) = self.next_port::<true>((switch_id, seed), &packet) else {
            return self.lose(id, DropReason::NoRoute, Node::Switch(switch_id));
        };
        let Some(pausing) = &self.pausing else { unreachable!("a priority is lossless") };
        let (from, out) = (pausing.reverse(line_id) - first_line, first_line + port);
        let line = &self.lines[out as usize];
        let (waits, is_idle) = (line.waits, (line.busy_until <= self.now) & !line.waits);
        let switch = &mut self.switches[switch_id as usize];
        let ports = (from, port);
        let sent = switch.receive(self.now, ports, is_idle, (id, &packet), &mut self.packets);
        let (lost, changed) = (switch.has_lost(), switch.has_pause_changes());
        let expels = switch.expels();
        let must_wait = match sent {
            Some(_) => switch.releases_at_end(),
            None => !waits && !is_idle && switch.can_send(port),
        };
        if let Some(id) = sent {
            self.transmit(out, id);
        }
        if must_wait {
            self.wait(out);
        }
        if lost {
            self.collect_lost(switch_id);
        }
        if changed {
            self.send_pauses(switch_id);
        }
        if self.deadlocks.is_some() {
            self.look_behind_arrival(switch_id, port, (sent.is_none() && !lost).then_some(id));
        }
        if expels {
            self.schedule_expulsion(self.now, switch_id);
        }
    }

    /// A port of a switch with lossless priorities can send. It sends a packet that is not paused.
    pub(super) fn send_unpaused(&mut self, line_id: u32) {
        let (from, port) = (self.lines[line_id as usize].from, self.port_of(line_id));
        let switch = &mut self.switches[from as usize];
        let next = switch.send_next_unpaused(self.now, port, &mut self.packets);
        let (lost, changed) = (switch.has_lost(), switch.has_pause_changes());
        if let Some(next) = next {
            self.send_and_wait(line_id, next);
        }
        if lost {
            self.collect_lost(from);
        }
        if changed {
            self.send_pauses(from);
        }
        if self.deadlocks.is_some() {
            self.look_behind_departure(from);
        }
    }

    /// Sends the pause frames that a switch's accounts ask for.
    #[cold]
    pub(super) fn send_pauses(&mut self, switch_id: u32) {
        for change in self.switches[switch_id as usize].take_pause_changes() {
            let out = self.ports[switch_id as usize].first_line + change.port;
            let Some(pausing) = &mut self.pausing else { return };
            let at = (pausing.reverse(out), change.queue_class);
            self.send_pause(at, change.pauses);
        }
    }

    /// The node at a line's far end tells the node that sends on the line to pause a queue class,
    /// or to let it go on.
    pub(super) fn send_pause(&mut self, at: Stoppable, pauses: bool) {
        let Some(pausing) = &mut self.pausing else { return };
        let Some(frames) = pausing.frames[at.0 as usize] else { return };
        match frames.ends {
            Ends::Quanta { refresh_after, .. } if pauses => {
                let due = self.now + refresh_after;
                pausing.renewals.insert(at, due);
                self.events.push(due, Kind::PauseRenewal.key(at.0));
            }
            Ends::Quanta { alone, .. } => {
                pausing.renewals.remove(&at);
                if alone {
                    return;
                }
            }
            Ends::Resume => {}
        }
        let back = pausing.reverse(at.0);
        if self.failures.is_down(back) {
            return;
        }
        pausing.frames_sent += 1;
        let line = &mut self.lines[back as usize];
        let exact = line.lasts(frames.bytes.into());
        let lasts = self.whole_ns.as_mut().map_or(exact, |whole_ns| whole_ns.cut(back, exact));
        // Frames about one queue class act one after the other, even if their time of transmission
        // is cut to 0.
        let lasts = lasts.max(Time::from_ps(1));
        let before = line.busy_until;
        let end = before.max(self.now) + lasts;
        line.busy_until = end;
        line.accepted_bytes += u64::from(frames.bytes);
        if line.waits {
            // Packets that wait there can be sent after the frame. The packet in transmission ends
            // before it.
            if line.waking == Waking::Pausable {
                pausing.before_frames.entry(back).or_insert(before);
            }
            self.events.push(end, Kind::Wake.key(back));
        }
        let acts_at = end + line.delay + frames.response_time;
        let frame = Frame { acts_at, queue_class: at.1, pauses };
        let node = self.sender_on(at.0);
        let is_taken = self.away.as_mut().is_some_and(|away| away.takes(node, at.0, frame));
        if !is_taken {
            self.take_in_frame(at.0, frame);
        }
    }

    /// A frame is on its way to the port that sends on a line.
    pub(super) fn take_in_frame(&mut self, line: u32, frame: Frame) {
        if let Some(pausing) = &mut self.pausing {
            pausing.under_way.entry(line).or_default().push_back(frame);
            self.events.push(frame.acts_at, Kind::Pause.key(line));
        }
    }

    /// The packet before a pause frame has been sent. If its switch still holds its bytes, the
    /// switch frees them now.
    #[cold]
    pub(super) fn on_sent_before_frame(&mut self, line_id: u32) {
        let Some(pausing) = &mut self.pausing else { return };
        if pausing.before_frames.get(&line_id) != Some(&self.now) {
            return;
        }
        pausing.before_frames.remove(&line_id);
        let (from, port) = (self.lines[line_id as usize].from, self.port_of(line_id));
        let switch = &mut self.switches[from as usize];
        switch.has_sent(self.now, port);
        if switch.has_pause_changes() {
            self.send_pauses(from);
        }
        if self.deadlocks.is_some() {
            self.look_behind_departure(from);
        }
    }

    /// A pause frame acts on the port that sends on a line.
    pub fn on_pause(&mut self, line: u32) {
        let Some(pausing) = &mut self.pausing else { return };
        let Some(frame) = pausing.take_frame(line, self.now) else { return };
        let at = (line, frame.queue_class);
        if !frame.pauses {
            return self.go_on(at);
        }
        let Some(frames) = pausing.frames[at.0 as usize].filter(|frames| frames.obeyed) else {
            return;
        };
        let until = match frames.ends {
            Ends::Quanta { quanta, .. } => {
                let until = self.now + quanta_time(&self.lines[at.0 as usize], quanta);
                self.events.push(until, Kind::PauseEnd.key(line));
                until
            }
            Ends::Resume => Time::MAX,
        };
        pausing.begin(at, self.now, until);
        self.set_paused(at, true);
        self.look_for_deadlock();
    }

    /// The quanta of a pause of a line's port are over. The pause ends unless another frame has
    /// prolonged it.
    pub fn on_pause_end(&mut self, line: u32) {
        let Some(pausing) = &self.pausing else { return };
        let open = pausing.open.range((line, 0)..=(line, u8::MAX));
        let over = open.filter(|(_, open)| open.until == self.now).map(|(&at, _)| at);
        over.collect::<Vec<Stoppable>>().into_iter().for_each(|at| self.go_on(at));
    }

    /// The frame of a pause of a line's port that must last is repeated.
    pub fn on_pause_renewal(&mut self, line: u32) {
        let Some(pausing) = &self.pausing else { return };
        let renewals = pausing.renewals.range((line, 0)..=(line, u8::MAX));
        let due = renewals.filter(|&(_, &due)| due == self.now).map(|(&at, _)| at);
        for at in due.collect::<Vec<Stoppable>>() {
            self.send_pause(at, true);
        }
    }

    /// A pause ends: the queue class may send again.
    fn go_on(&mut self, at: Stoppable) {
        let Some(pausing) = &mut self.pausing else { return };
        if !pausing.end(at, self.now, self.key) {
            return;
        }
        self.set_paused(at, false);
        let line = &self.lines[at.0 as usize];
        if line.waits {
            return;
        }
        let is_idle = line.busy_until <= self.now;
        match (self.sender_on(at.0), is_idle) {
            (Node::Host(host), true) => self.send_managed(host, self.tells_begun),
            (Node::Host(host), false) => {
                if self.nics[host as usize].can_send(&self.packets) {
                    self.wait(host);
                }
            }
            (Node::Switch(_), true) => self.send_unpaused(at.0),
            (Node::Switch(switch), false) => {
                if self.switches[switch as usize].can_send(self.port_of(at.0)) {
                    self.wait(at.0);
                }
            }
        }
    }

    fn set_paused(&mut self, (line_id, queue_class): Stoppable, pauses: bool) {
        match self.sender_on(line_id) {
            Node::Host(host) => self.nics[host as usize].pause(queue_class, pauses),
            Node::Switch(switch) => {
                let port = self.port_of(line_id);
                self.switches[switch as usize].pause(port, queue_class, pauses);
            }
        }
    }

    /// A link has failed: no port at its two ends is paused any more.
    pub(super) fn forget_pauses(&mut self, line_id: u32) {
        let Some(pausing) = &mut self.pausing else { return };
        let lines = [line_id, pausing.reverse(line_id)];
        pausing.forget(lines, self.now, self.key);
        for line in lines {
            match self.sender_on(line) {
                Node::Host(host) => self.nics[host as usize].forget_pauses(),
                Node::Switch(switch) => {
                    let port = self.port_of(line);
                    self.switches[switch as usize].forget_pauses(port);
                }
            }
        }
    }
}

/// How long so many quanta last on a line: each is the time of 512 bits.
fn quanta_time(line: &Line, quanta: u32) -> Time {
    line.time_of(64 * u64::from(quanta))
}

#[cfg(test)]
mod tests;
