//! The datapath: packets in an arena, ports with a queue and a link, a leaf-spine fabric.
//!
//! A port waits for at most two things, and each is at most once in the calendar: that its
//! transmitter falls idle (only while packets are queued) and that the first packet on its link
//! arrives (links deliver in order, so the others need no event).

use crate::calendar::{Calendar, Time};

/// No packet.
pub const NIL: u32 = u32::MAX;

/// Payload of a full packet, and TCP/IP headers with timestamps; a pure ack is headers alone.
pub const MSS: u32 = 1448;
pub const HEADERS: u16 = 52;

/// Mark when this many packets are queued already; drop when this many are.
const MARKING_THRESHOLD: u32 = 70;
const QUEUE_LIMIT: u32 = 1000;

pub const ACK: u8 = 1;
pub const CONGESTION: u8 = 2;

/// Two to a cache line.
#[derive(Clone, Copy)]
#[repr(C, align(32))]
pub struct Packet {
    /// When it reaches the far end of the link it is on.
    pub arrival: Time,
    /// The packet behind it, in a queue, on a link or in the free list.
    pub next: u32,
    pub flow: u32,
    pub sequence: u32,
    pub destination: u32,
    pub destination_leaf: u16,
    /// Flow hash: the same for all packets of a flow's one direction.
    pub hash: u16,
    /// Bytes on the wire.
    pub size: u16,
    pub flags: u8,
}

/// A list of packets linked through [`Packet::next`].
#[derive(Clone, Copy)]
struct List {
    head: u32,
    tail: u32,
}

impl List {
    const EMPTY: Self = Self { head: NIL, tail: NIL };
}

/// What the far end of a link is.
#[derive(Clone, Copy)]
pub enum Node {
    Host,
    Leaf(u16),
    Spine(u16),
}

/// One direction of a link with the queue before it: one cache line.
#[repr(C, align(64))]
struct Port {
    idle_at: Time,
    delay: Time,
    queue: List,
    link: List,
    queued: u32,
    picoseconds_per_byte: u32,
    queue_limit: u32,
    marking_threshold: u32,
    to: Node,
    /// A wake-up is in the calendar.
    waking: bool,
}

#[derive(Clone, Copy)]
pub struct Shape {
    pub leaves: u32,
    pub hosts_per_leaf: u32,
    pub spines: u32,
    pub picoseconds_per_byte: u32,
    pub delay: Time,
}

impl Shape {
    pub fn hosts(&self) -> u32 {
        self.leaves * self.hosts_per_leaf
    }

    pub fn leaf_of(&self, host: u32) -> u16 {
        (host / self.hosts_per_leaf) as u16
    }
}

/// The fabric. Ports are numbered: hosts' NICs, leaves' ports down to hosts (both by host), leaves'
/// ports up (by leaf, then spine), spines' ports down (by spine, then leaf).
pub struct Network {
    shape: Shape,
    ports: Vec<Port>,
    packets: Vec<Packet>,
    free: u32,
    pub packet_hops: u64,
    pub drops: u64,
    pub marks: u64,
}

impl Network {
    pub fn new(shape: Shape) -> Self {
        let port = |to, queue_limit, marking_threshold| Port {
            idle_at: 0,
            delay: shape.delay,
            queue: List::EMPTY,
            link: List::EMPTY,
            queued: 0,
            picoseconds_per_byte: shape.picoseconds_per_byte,
            queue_limit,
            marking_threshold,
            to,
            waking: false,
        };
        // A host holds its own packets back for as long as it takes; only switches mark and drop.
        let nic = |host| port(Node::Leaf(shape.leaf_of(host)), u32::MAX, u32::MAX);
        let switch = |to| port(to, QUEUE_LIMIT, MARKING_THRESHOLD);
        let (leaves, spines) = (shape.leaves as u16, shape.spines as u16);
        let mut ports: Vec<Port> = (0..shape.hosts()).map(nic).collect();
        ports.extend((0..shape.hosts()).map(|_| switch(Node::Host)));
        ports.extend((0..leaves).flat_map(|_| (0..spines).map(|spine| switch(Node::Spine(spine)))));
        ports.extend((0..spines).flat_map(|_| (0..leaves).map(|leaf| switch(Node::Leaf(leaf)))));
        Self { shape, ports, packets: Vec::new(), free: NIL, packet_hops: 0, drops: 0, marks: 0 }
    }

    /// Puts a packet into the arena and into its sender's NIC.
    #[inline]
    pub fn send(&mut self, calendar: &mut Calendar, now: Time, host: u32, packet: Packet) {
        let id = self.free;
        if id == NIL {
            self.packets.push(packet);
            self.enqueue(calendar, now, host, self.packets.len() as u32 - 1);
        } else {
            self.free = self.packets[id as usize].next;
            self.packets[id as usize] = packet;
            self.enqueue(calendar, now, host, id);
        }
    }

    /// Sends a received packet's slot back into the network as another packet.
    #[inline]
    pub fn reply(
        &mut self,
        calendar: &mut Calendar,
        now: Time,
        host: u32,
        id: u32,
        packet: Packet,
    ) {
        self.packets[id as usize] = packet;
        self.enqueue(calendar, now, host, id);
    }

    #[inline(always)]
    pub fn release(&mut self, id: u32) {
        self.packets[id as usize].next = self.free;
        self.free = id;
    }

    #[inline(always)]
    pub fn packet(&self, id: u32) -> &Packet {
        &self.packets[id as usize]
    }

    /// Fetches the port of an event some events ahead.
    #[inline(always)]
    pub fn prefetch_port(&self, identity: u32) {
        prefetch(&self.ports, identity >> 1);
    }

    /// Fetches the packet of an event whose port has been fetched.
    #[inline(always)]
    pub fn prefetch_packet(&self, identity: u32) {
        if let Some(port) = self.ports.get((identity >> 1) as usize) {
            prefetch(
                &self.packets,
                if identity & 1 == WAKE { port.queue.head } else { port.link.head },
            );
        }
    }

    /// The event that `identity` waited for: a wake-up, or an arrival. Returns the packet if it
    /// has reached a host; at a switch it goes on by itself.
    #[inline(always)]
    pub fn handle(&mut self, calendar: &mut Calendar, now: Time, identity: u32) -> Option<u32> {
        let port = identity >> 1;
        if identity & 1 == WAKE {
            self.wake(calendar, now, port);
            return None;
        }
        let (id, to) = self.take_arrival(calendar, port);
        let out = self.route(to, &self.packets[id as usize]);
        if out == NIL {
            return Some(id);
        }
        self.enqueue(calendar, now, out, id);
        None
    }

    /// The port by which a packet leaves `node`; `NIL` at a host, where it stays.
    #[inline(always)]
    fn route(&self, node: Node, packet: &Packet) -> u32 {
        let Shape { leaves, spines, .. } = self.shape;
        let hosts = self.shape.hosts();
        let leaf = u32::from(packet.destination_leaf);
        match node {
            Node::Host => NIL,
            Node::Leaf(here) if u32::from(here) == leaf => hosts + packet.destination,
            // ECMP: the hash, taken as a fraction, picks the uplink.
            Node::Leaf(here) => {
                2 * hosts + u32::from(here) * spines + ((u32::from(packet.hash) * spines) >> 16)
            }
            Node::Spine(here) => 2 * hosts + leaves * spines + u32::from(here) * leaves + leaf,
        }
    }

    #[inline(always)]
    fn enqueue(&mut self, calendar: &mut Calendar, now: Time, port_id: u32, id: u32) {
        let port = &mut self.ports[port_id as usize];
        if port.queued == 0 && port.idle_at <= now {
            return self.transmit(calendar, now, port_id, id);
        }
        if port.queued >= port.marking_threshold {
            if port.queued >= port.queue_limit {
                self.drops += 1;
                return self.release(id);
            }
            let packet = &mut self.packets[id as usize];
            if packet.flags & ACK == 0 {
                packet.flags |= CONGESTION;
                self.marks += 1;
            }
        }
        append(&mut port.queue, &mut self.packets, id);
        port.queued += 1;
        if !port.waking {
            port.waking = true;
            calendar.push(port.idle_at, port_id << 1 | WAKE);
        }
    }

    #[inline(always)]
    fn wake(&mut self, calendar: &mut Calendar, now: Time, port_id: u32) {
        let port = &mut self.ports[port_id as usize];
        let id = port.queue.head;
        port.queue.head = self.packets[id as usize].next;
        // The port will want it in one transmission's time, and it may have waited for long.
        prefetch(&self.packets, port.queue.head);
        port.queued -= 1;
        port.waking = port.queued > 0;
        self.transmit(calendar, now, port_id, id);
        let port = &self.ports[port_id as usize];
        if port.waking {
            calendar.push(port.idle_at, port_id << 1 | WAKE);
        }
    }

    #[inline(always)]
    fn transmit(&mut self, calendar: &mut Calendar, now: Time, port_id: u32, id: u32) {
        self.packet_hops += 1;
        let port = &mut self.ports[port_id as usize];
        let packet = &mut self.packets[id as usize];
        port.idle_at = now + Time::from(packet.size) * Time::from(port.picoseconds_per_byte);
        packet.arrival = port.idle_at + port.delay;
        if port.link.head == NIL {
            calendar.push(packet.arrival, port_id << 1 | ARRIVAL);
        }
        append(&mut port.link, &mut self.packets, id);
    }

    /// Takes the first packet off a link; the second becomes the one that the calendar knows.
    #[inline(always)]
    fn take_arrival(&mut self, calendar: &mut Calendar, port_id: u32) -> (u32, Node) {
        let port = &mut self.ports[port_id as usize];
        let id = port.link.head;
        let next = self.packets[id as usize].next;
        port.link.head = next;
        if next != NIL {
            calendar.push(self.packets[next as usize].arrival, port_id << 1 | ARRIVAL);
        }
        (id, port.to)
    }
}

/// The lowest bit of an identity; the port's number is above. So ties at one instant are broken by
/// port, and at one port the transmitter falls idle before a packet comes in.
const WAKE: u32 = 0;
const ARRIVAL: u32 = 1;

/// Asks for a line of memory that will be wanted soon; an index out of bounds does no harm.
#[inline(always)]
fn prefetch<T>(items: &[T], index: u32) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_mm_prefetch, _MM_HINT_T0};
        let address = items.as_ptr().wrapping_add(index as usize);
        // SAFETY: a prefetch is a hint; it changes nothing, faults on nothing, whatever the
        // address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(address.cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (items, index);
}

#[inline(always)]
fn append(list: &mut List, packets: &mut [Packet], id: u32) {
    packets[id as usize].next = NIL;
    if list.head == NIL {
        list.head = id;
    } else {
        packets[list.tail as usize].next = id;
    }
    list.tail = id;
}
