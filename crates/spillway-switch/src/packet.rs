//! The packet record and the arena that holds all packets of a run.

use spillway_engine::Time;

/// The number of a packet: its place in the [`Arena`].
pub type PacketId = u32;

/// The number that stands for no packet.
pub const NO_PACKET: PacketId = u32::MAX;

/// What a packet's flags mean, one bit each.
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
    /// Tells the receiver that the sender has reduced its window because of a mark (RFC 3168).
    pub const CWR: u16 = 1 << 10;
    /// Switches write telemetry on it; an ack carries what they wrote back.
    pub const TELEMETRY: u16 = 1 << 11;
    /// Has a number in the order in which its flow's packets were sent; its ack carries it back.
    pub const NUMBERED: u16 = 1 << 12;
    /// Notifies a sender of marks: a control packet that acknowledges nothing.
    pub const CNP: u16 = 1 << 13;
    /// Counts as sent when its host's NIC begins to send it, and not when it goes to the NIC.
    pub const TIMED_BY_NIC: u16 = 1 << 14;
    /// Asks for an ack at once.
    pub const ASKS: u16 = 1 << 15;
    /// On data, which echo no mark: of a flow that protects other packets; lost first.
    pub const UNIMPORTANT: u16 = ECE;
    /// On data, which notify of nothing: its loss would cost its flow a timeout.
    pub const IMPORTANT: u16 = CNP;
    /// On an ack, which is no datagram: the packet that it acknowledges was important.
    pub const IMPORTANT_ECHO: u16 = DATAGRAM;
    /// Carries data in a side table, as few packets do.
    pub const CARRIES: u16 = SACK | TELEMETRY | NUMBERED;
}

/// The priority of packets that have none of their own.
pub const NO_PRIORITY: u8 = u8::MAX;

/// What the network reads of a packet. Takes half a cache line.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(32))]
pub struct Packet {
    /// The next packet behind it, in a queue or on a line.
    pub next: PacketId,
    /// The packet ahead of it in a queue; on a line, the line may store something else here.
    pub prev: PacketId,
    /// When it was queued; on a line, when it arrives at the far end.
    pub time: Time,
    /// Bytes on the wire.
    pub size: u32,
    /// The destination host.
    pub dst: u32,
    /// The value that chooses among equally good next hops.
    pub path: u32,
    /// See [`flags`].
    pub flags: u16,
    /// 0 is the highest; [`NO_PRIORITY`] if it has none, as control packets.
    pub priority: u8,
    /// The queue class that it waits in.
    pub queue_class: u8,
}

/// The rest of a packet: what only its end hosts read.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(32))]
pub struct Contents {
    /// The number of its flow, which stays the same for the whole run.
    pub flow: u32,
    /// The place of the end of its flow that it goes to.
    pub slot: u32,
    /// The first byte that it carries; on an ack, the first byte still missing.
    pub seq: u64,
    /// When it was sent. On an ack, when the acknowledged packet was sent.
    pub sent_at: Time,
    /// Bytes of payload.
    pub payload: u32,
    /// Bytes that its flow had left when it was sent.
    pub remaining: u32,
}

/// Bytes that a packet takes in the arena.
pub const PACKET_BYTES: u64 = (size_of::<Packet>() + size_of::<Contents>()) as u64;

/// All packets of a run. Freed places are reused, the one freed last first.
///
/// The contents of packets are kept apart, so that the part that switches read stays small.
#[derive(Clone, Debug, Default)]
pub struct Arena {
    packets: Vec<Packet>,
    contents: Vec<Contents>,
    free: PacketId,
    live: usize,
    /// The number of each flow's connection, by the place of the flow's state. Empty if every flow
    /// has a connection of its own.
    connections: Vec<u32>,
    /// For lossless packets, by their numbers, the account that holds the packet at its switch.
    /// Empty if nothing is lossless.
    accounts: Vec<u32>,
}

impl Arena {
    /// An arena without packets.
    pub fn new() -> Arena {
        Arena { free: NO_PACKET, ..Arena::default() }
    }

    /// Puts in a packet.
    #[inline]
    pub fn insert(&mut self, packet: Packet, contents: Contents) -> PacketId {
        self.live += 1;
        let id = self.free;
        if id == NO_PACKET {
            spillway_engine::push(&mut self.packets, packet);
            spillway_engine::push(&mut self.contents, contents);
            return self.packets.len() as PacketId - 1;
        }
        let place = &mut self.packets[id as usize];
        self.free = place.next;
        *place = packet;
        self.contents[id as usize] = contents;
        id
    }

    /// Frees a packet's place.
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

    /// The number of packets at this moment.
    #[inline]
    pub fn live(&self) -> usize {
        self.live
    }

    /// Bytes that the arena takes. It has as many places as there ever were packets at once.
    pub fn bytes(&self) -> u64 {
        self.packets.len() as u64 * PACKET_BYTES + size_of_val(self.accounts.as_slice()) as u64
    }

    /// Notes the account that holds a lossless packet at its switch.
    #[inline]
    pub fn name_account(&mut self, id: PacketId, account: u32) {
        let place = id as usize;
        if place >= self.accounts.len() {
            self.accounts.resize(self.packets.len(), 0);
        }
        self.accounts[place] = account;
    }

    /// The account that holds a lossless packet at its switch.
    #[inline]
    pub fn account_of(&self, id: PacketId) -> u32 {
        self.accounts[id as usize]
    }

    /// What only the end hosts read of a packet.
    #[inline]
    pub fn contents(&self, id: PacketId) -> &Contents {
        &self.contents[id as usize]
    }

    /// As `contents`, mutable.
    #[inline]
    pub fn contents_mut(&mut self, id: PacketId) -> &mut Contents {
        &mut self.contents[id as usize]
    }

    /// Notes the connection of the flow whose state has this place. To be called for all flows, or
    /// for none.
    pub fn name_connection(&mut self, slot: u32, connection: u32) {
        let place = slot as usize;
        if place >= self.connections.len() {
            self.connections.resize(place + 1, 0);
        }
        self.connections[place] = connection;
    }

    /// The number of a packet's connection: the number of the flow that opened it. Unless
    /// connections stay open, that is the packet's own flow.
    #[inline]
    pub fn connection_of(&self, id: PacketId) -> u32 {
        let Contents { flow, slot, .. } = *self.contents(id);
        self.connections.get(slot as usize).copied().unwrap_or(flow)
    }

    /// Asks the processor to fetch a packet that is needed soon.
    #[inline]
    pub fn prefetch(&self, id: PacketId) {
        spillway_engine::prefetch(&self.packets, id as usize);
    }

    /// As `prefetch`, for the part that only the end hosts read.
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

    #[test]
    fn a_packet_s_connection_is_its_flow_unless_another_is_named() {
        let mut arena = Arena::new();
        let mut of = |flow, slot| {
            arena.insert(Packet::default(), Contents { flow, slot, ..Contents::default() })
        };
        let (first, second) = (of(7, 0), of(9, 2));
        assert_eq!((arena.connection_of(first), arena.connection_of(second)), (7, 9));
        arena.name_connection(2, 4);
        arena.name_connection(0, 7);
        assert_eq!((arena.connection_of(first), arena.connection_of(second)), (7, 4));
        arena.name_connection(2, 9);
        assert_eq!(arena.connection_of(second), 9);
    }
}
