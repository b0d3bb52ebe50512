//! A look at the events that come next: what they need is fetched into the cache meanwhile.
//!
//! If an event concerns something other than a line, an unrelated line is looked at, which does no
//! harm. No result depends on this.

use super::{Network, SwitchPorts};
use crate::event;
use crate::port::line::{End, Line};
use spillway_engine::prefetch;
use spillway_switch::packet::flags;
use spillway_topology::routing::PathChoice;

/// The lines from which on a network no longer fits into the caches: 512 hosts have 2,048. There
/// `look_far_ahead` saves 7% of the time of a filled network, with 8,192 hosts 23%; with 128 it costs
/// 5% to 10%.
const FAR_LINES: usize = 1_500;

/// The full packets on lines from which on packets do not fit. 128 hosts at 10 Gbps have at most
/// 4,000 on lines of 10 us; at 400 Gbps they have 170,000, and `look_far_ahead` saves 5% or more.
const FAR_PACKETS: u64 = 20_000;

impl Network {
    /// Whether it does not fit into the caches when it is busy.
    pub fn is_large(&self) -> bool {
        const FULL: u64 = 1500;
        let packets = |line: &Line| line.byte_time.bytes_in(line.delay) / FULL;
        self.lines.len() >= FAR_LINES || self.lines.iter().map(packets).sum::<u64>() >= FAR_PACKETS
    }

    /// The line of the event `ahead` places after the next one, if it is an arrival.
    #[inline(always)]
    fn line_ahead(&self, ahead: usize) -> Option<&Line> {
        self.lines.get(event::id(self.events.hint(ahead)) as usize)
    }

    /// Fetches the packet that arrives on this line, with its contents if it arrives at a host.
    #[inline(always)]
    fn fetch_packet(&self, ahead: usize) {
        if let Some(line) = self.line_ahead(ahead) {
            self.packets.prefetch(line.head);
            self.packets.prefetch_contents(if line.end == End::Host { line.head } else { 0 });
        }
    }

    /// Fetches the line of the event after the next one, and the packet that the next one is about.
    #[inline(always)]
    pub fn look_ahead(&self) {
        prefetch(&self.lines, event::id(self.events.hint(1)) as usize);
        self.fetch_packet(0);
    }

    /// As `look_ahead`, earlier and in more steps: also a packet's route, then the line by which it
    /// leaves. Returns the place of its flow and its flags if it arrives at a host.
    #[inline(never)]
    pub fn look_far_ahead(&self) -> Option<(u32, u16)> {
        prefetch(&self.lines, event::id(self.events.hint(5)) as usize);
        self.fetch_packet(3);
        self.look_for_way_out();
        let line = self.line_ahead(1)?;
        let packet = self.packets.get(line.head)?;
        if line.end == End::Host {
            return Some((self.packets.contents(line.head).slot, packet.flags));
        }
        self.routing.prefetch(line.to, packet.dst);
        prefetch(&self.ports, line.to as usize);
        None
    }

    /// Fetches the line by which the packet of the next event leaves its switch.
    #[inline(always)]
    fn look_for_way_out(&self) {
        let Some(line) = self.line_ahead(0).filter(|line| !line.end.is_host()) else { return };
        let Some(packet) = self.packets.get(line.head) else { return };
        if self.chooser.is_some() || packet.flags & flags::EXPLICIT_PATH != 0 {
            return;
        }
        let SwitchPorts { first_line, seed, .. } = self.ports[line.to as usize];
        let choose = |among: usize| PathChoice::Hash(packet.path).pick(seed, among);
        if let Some(port) = self.routing.next_hop(line.to, packet.dst, choose) {
            prefetch(&self.lines, (first_line + port) as usize);
            self.switches[line.to as usize].prefetch(port);
        }
    }
}
