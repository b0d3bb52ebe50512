//! Hosts that take in packets at a rate of their own, slower than their line, and pause their
//! switch when too much waits.

use super::{Lost, Network};
use crate::event::Kind;
use crate::port::line::End;
use crate::scenario::PacketClasses;
use crate::scenario::Scenario;
use spillway_engine::{Rate, Time};
use spillway_switch::DropReason;
use spillway_switch::packet::PacketId;
use spillway_topology::Node;
use std::collections::VecDeque;

/// What waits at a host to be taken in, first come, first served.
#[derive(Clone, Debug)]
pub(crate) struct Intake {
    /// The rate at which it takes in packets. `None` if it takes them in as they arrive. Even then
    /// a packet waits while earlier ones are still to be taken in.
    rate: Option<Rate>,
    /// The most bytes that may wait.
    buffer: u64,
    /// The most bytes of lossy packets that may wait. The rest of the buffer is for lossless
    /// packets only.
    most_lossy: u64,
    /// A lossless queue class is paused when so many of its bytes wait.
    threshold: u64,
    /// A paused queue class goes on when this many bytes fewer than the threshold wait.
    resume_offset: u64,
    /// The queue classes of its packets at its switch.
    classes: PacketClasses,
    lossless: Box<[u8]>,
    waiting: VecDeque<PacketId>,
    bytes: u64,
    lossy_bytes: u64,
    /// For each queue class, the bytes that wait, and whether it is paused.
    by_class: Vec<(u64, bool)>,
}

impl Intake {
    /// One for every host. Empty if all hosts take in packets as they arrive.
    pub fn of_hosts(scenario: &Scenario) -> Vec<Intake> {
        let Some(receiving) = &scenario.receiving else { return Vec::new() };
        let leaf = &scenario.tiers[0].settings;
        let Some(pfc) = &scenario.tiers[0].pfc else { return Vec::new() };
        let classes = leaf.packet_classes();
        let intake = Intake {
            rate: None,
            buffer: receiving.buffer,
            most_lossy: 0,
            threshold: receiving.threshold,
            resume_offset: pfc.resume_offset.min(receiving.threshold),
            classes,
            lossless: pfc.queue_classes.clone(),
            waiting: VecDeque::new(),
            bytes: 0,
            lossy_bytes: 0,
            by_class: vec![(0, false); leaf.queues_per_port as usize],
        };
        let hosts = receiving.rates.iter().zip(&receiving.for_lossless);
        let of_host = |(&rate, &for_lossless)| {
            let most_lossy = receiving.buffer.saturating_sub(for_lossless);
            Intake { rate, most_lossy, ..intake.clone() }
        };
        hosts.map(of_host).collect()
    }

    /// How long it takes to take in a packet.
    fn time_of(&self, size: u64) -> Time {
        self.rate.map_or(Time::ZERO, |rate| rate.time_of(size))
    }

    /// The packets that wait, the first to be taken in first.
    pub fn waiting(&self) -> impl Iterator<Item = PacketId> {
        self.waiting.iter().copied()
    }
}

impl Network {
    /// A packet has arrived at a host that takes in packets at a rate of its own.
    #[inline(never)]
    pub(super) fn queue_at_host(&mut self, line_id: u32, id: PacketId) {
        let Some(pausing) = &self.pausing else { unreachable!("such hosts can pause") };
        // A host's line has the host's number.
        let host = pausing.reverse(line_id);
        let packet = self.packets[id];
        let intake = &mut self.intakes[host as usize];
        let size = u64::from(packet.size);
        let queue_class = intake.classes.of(&packet);
        let is_lossless = intake.lossless.contains(&queue_class);
        let has_room = intake.bytes + size <= intake.buffer
            && (is_lossless || intake.lossy_bytes + size <= intake.most_lossy);
        if !has_room {
            let reason = if is_lossless { DropReason::Headroom } else { DropReason::BufferFull };
            let (at, queue) = (Node::Host(host), Some(queue_class.into()));
            self.lost.push(Lost { packet: id, reason, at, queue });
            return;
        }
        intake.bytes += size;
        if !is_lossless {
            intake.lossy_bytes += size;
        }
        intake.waiting.push_back(id);
        let (bytes, is_paused) = &mut intake.by_class[usize::from(queue_class)];
        *bytes += size;
        let pauses = !*is_paused && *bytes >= intake.threshold && is_lossless;
        *is_paused |= pauses;
        if intake.waiting.len() == 1 {
            let done = self.now + intake.time_of(size);
            self.events.push(done, Kind::TakenIn.key(host));
        }
        if pauses {
            self.pause_from_host(host, queue_class, true);
        }
    }

    /// A host has taken in its first packet. Returns the packet.
    pub fn on_taken_in(&mut self, host: u32) -> Option<PacketId> {
        let intake = &mut self.intakes[host as usize];
        let id = intake.waiting.pop_front()?;
        let packet = self.packets[id];
        let size = u64::from(packet.size);
        intake.bytes -= size;
        if let Some(&next) = intake.waiting.front() {
            let done = self.now + intake.time_of(self.packets[next].size.into());
            self.events.push(done, Kind::TakenIn.key(host));
        }
        let queue_class = intake.classes.of(&packet);
        if !intake.lossless.contains(&queue_class) {
            intake.lossy_bytes -= size;
        }
        let (bytes, is_paused) = &mut intake.by_class[usize::from(queue_class)];
        *bytes -= size;
        let goes_on = *is_paused && *bytes + intake.resume_offset <= intake.threshold;
        if goes_on {
            *is_paused = false;
            self.pause_from_host(host, queue_class, false);
        }
        self.totals.arrived_packets += 1;
        self.totals.arrived_bytes += size;
        Some(id)
    }

    /// A host takes in packets at another rate from now on. The packet that it is taking in now
    /// keeps its time.
    pub fn change_receive_rate(&mut self, host: u32, rate: Option<Rate>) {
        let Some(pausing) = &self.pausing else { unreachable!("such hosts can pause") };
        self.intakes[host as usize].rate = rate;
        if rate.is_some() {
            let line = &mut self.lines[pausing.reverse(host) as usize];
            (line.end, line.to) = (End::SlowHost, pausing.slow_hosts);
        }
    }

    fn pause_from_host(&mut self, host: u32, queue_class: u8, pauses: bool) {
        let Some(pausing) = &self.pausing else { return };
        // A host's line has the host's number.
        let line = pausing.reverse(host);
        self.send_pause((line, queue_class), pauses);
    }

    /// A host's link has failed: the host does not pause its switch any more.
    pub(super) fn forget_intake(&mut self, host: u32) {
        if let Some(intake) = self.intakes.get_mut(host as usize) {
            intake.by_class.iter_mut().for_each(|(_, is_paused)| *is_paused = false);
        }
    }
}
