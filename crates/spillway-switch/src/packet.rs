//! The packet record and the arena that holds all packets of a run.

use spillway_engine::Time;

/// A packet's place in the [`Arena`].
pub type PacketId = u32;

/// No packet.
pub const NO_PACKET: PacketId = u32::MAX;

/// What is on a packet, one bit each.
pub mod flags {
    /// Carries no data: an ack, or a part of a handshake.
    pub const CONTROL: u16 = 1;
    /// ECN-capable: may be marked rather than dropped (RFC 3168).
    pub const ECT: u16 = 1 << 1;
    /// Marked: congestion experienced.
    pub const CE: u16 = 1 << 2;
    /// Sent within its flow's first round trip.
    pub const FIRST_RTT: u16 = 1 << 3;
    /// Takes the path that `path` names, rather than one by its hash.
    pub const EXPLICIT_PATH: u16 = 1 << 4;
    /// On an ack: the packet that it acknowledges was marked.
    pub const ECE: u16 = 1 << 5;
    /// Opens a connection.
    pub const SYN: u16 = 1 << 6;
    /// On an ack: packets behind a gap have arrived.
    pub const SACK: u16 = 1 << 7;
    /// Has been sent before.
    pub const RETRANSMISSION: u16 = 1 << 8;
    /// Belongs to a transport without acks.
    pub const DATAGRAM: u16 = 1 << 9;
    /// Tells that the sender has cut its window for a mark (RFC 3168).
    pub const CWR: u16 = 1 << 10;
    /// Switches write telemetry on it; on an ack: carries what they wrote.
    pub const TELEMETRY: u16 = 1 << 11;
}

/// A packet without a priority of its own.
pub const NO_PRIORITY: u8 = u8::MAX;

/// What the network reads of a packet: half a cache line.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(32))]
pub struct Packet {
    /// The packet behind it, in a queue or on a link.
    pub next: PacketId,
    /// The packet ahead of it in a queue; a line may keep something of its own here.
    pub prev: PacketId,
    /// When it was queued; on a link, when it arrives at the far end.
    pub time: Time,
    /// Bytes on the wire.
    pub size: u32,
    /// The host that it goes to.
    pub dst: u32,
    /// What chooses among equal next hops.
    pub path: u32,
    /// See [`flags`].
    pub flags: u16,
    /// 0 is the highest; [`NO_PRIORITY`] for none, as control packets have it.
    pub priority: u8,
    /// The class of queue that it waits in.
    pub class: u8,
}

/// The rest of a packet: what is between the end hosts.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(32))]
pub struct Contents {
    /// The number of its flow, which stays the same for the whole run.
    pub flow: u32,
    /// Where its flow's state is kept.
    pub slot: u32,
    /// The first byte that it carries; on an ack, the first byte still missing.
    pub seq: u64,
    /// When it was sent; on an ack, when the packet that it acknowledges was.
    pub sent_at: Time,
    /// Bytes of payload.
    pub payload: u32,
    /// Bytes that its flow had left when it was sent.
    pub remaining: u32,
}

/// What a packet takes in the arena.
pub const PACKET_BYTES: u64 = (size_of::<Packet>() + size_of::<Contents>()) as u64;

/// All packets of a run. Places are reused, the last one given back first.
///
/// Each packet's contents are kept apart, so that what moves from switch to switch stays small.
#[derive(Debug, Default)]
pub struct Arena {
    packets: Vec<Packet>,
    contents: Vec<Contents>,
    free: PacketId,
    live: usize,
}

impl Arena {
    /// An arena without packets.
    pub fn new() -> Arena {
        Arena { packets: Vec::new(), contents: Vec::new(), free: NO_PACKET, live: 0 }
    }

    /// Puts in a packet.
    #[inline]
    pub fn insert(&mut self, packet: Packet, contents: Contents) -> PacketId {
        self.live += 1;
        let id = self.free;
        if id == NO_PACKET {
            self.packets.push(packet);
            self.contents.push(contents);
            return self.packets.len() as PacketId - 1;
        }
        let place = &mut self.packets[id as usize];
        self.free = place.next;
        *place = packet;
        self.contents[id as usize] = contents;
        id
    }

    /// Gives a packet's place back.
    #[inline]
    pub fn remove(&mut self, id: PacketId) {
        self.live -= 1;
        self.packets[id as usize].next = self.free;
        self.free = id;
    }

    /// A packet; `None` for [`NO_PACKET`].
    #[inline]
    pub fn get(&self, id: PacketId) -> Option<&Packet> {
        self.packets.get(id as usize)
    }

    /// How many packets there are now.
    #[inline]
    pub fn live(&self) -> usize {
        self.live
    }

    /// Bytes that it takes: as many places as there have been packets at a time.
    pub fn bytes(&self) -> u64 {
        self.packets.len() as u64 * PACKET_BYTES
    }

    /// What is between the end hosts.
    #[inline]
    pub fn contents(&self, id: PacketId) -> &Contents {
        &self.contents[id as usize]
    }

    /// The same, to be changed.
    #[inline]
    pub fn contents_mut(&mut self, id: PacketId) -> &mut Contents {
        &mut self.contents[id as usize]
    }

    /// Asks the processor to fetch a packet that is needed soon.
    #[inline]
    pub fn prefetch(&self, id: PacketId) {
        spillway_engine::prefetch(&self.packets, id as usize);
    }

    /// The same for what is between the end hosts.
    #[inline]
    pub fn prefetch_contents(&self, id: PacketId) {
        spillway_engine::prefetch(&self.contents, id as usize);
    }
}

impl std::ops::Index<PacketId> for Arena {
    type Output = Packet;
    #[inline]
    fn index(&self, id: PacketId) -> &Packet {
        &self.packets[id as usize]
    }
}

impl std::ops::IndexMut<PacketId> for Arena {
    #[inline]
    fn index_mut(&mut self, id: PacketId) -> &mut Packet {
        &mut self.packets[id as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_and_its_contents_are_half_a_cache_line_each() {
        assert_eq!((size_of::<Packet>(), size_of::<Contents>(), PACKET_BYTES), (32, 32, 64));
    }

    #[test]
    fn places_are_reused() {
        let mut arena = Arena::new();
        let insert = |arena: &mut Arena, seq| {
            arena.insert(Packet::default(), Contents { seq, ..Contents::default() })
        };
        let first = insert(&mut arena, 1);
        let second = insert(&mut arena, 2);
        arena.remove(first);
        let third = insert(&mut arena, 3);
        assert_eq!((third, arena.live(), arena.bytes()), (first, 2, 128));
        assert_eq!((arena.contents(second).seq, arena.contents(third).seq), (2, 3));
    }
}
