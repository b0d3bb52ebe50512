//! The contents of a switch's buffer, as policies see them.

use spillway_engine::Rate;

/// A queue of a switch: `port * queues_per_port + queue class`.
pub type QueueId = u32;

/// The length of a queue. Compares by bytes first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Length {
    /// Bytes, less than 4 GiB: the switch refuses what would exceed that.
    pub bytes: u32,
    /// Packets, without the one in transmission.
    pub packets: u32,
}

/// The shared buffer of one switch and the lengths of its queues. Policies read it; only the
/// switch changes it.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Buffer {
    occupancy: u64,
    capacity: u64,
    queues: Vec<Length>,
    queues_per_port: u32,
    port_rates: Vec<Rate>,
}

impl Buffer {
    /// The capacity of a buffer that is never full.
    pub const UNLIMITED: u64 = u64::MAX;

    /// An empty buffer of `capacity` bytes, for ports with these rates.
    pub fn new(capacity: u64, port_rates: Vec<Rate>, queues_per_port: u32) -> Buffer {
        let queues = port_rates.len() * queues_per_port as usize;
        Buffer {
            capacity,
            occupancy: 0,
            queues: vec![Length::default(); queues],
            port_rates,
            queues_per_port,
        }
    }

    /// The bytes that it can hold (B).
    #[inline]
    pub fn capacity(&self) -> u64 {
        self.capacity
    }
    /// The bytes that it holds (Q).
    #[inline]
    pub fn occupancy(&self) -> u64 {
        self.occupancy
    }
    /// Bytes that are free (B - Q).
    #[inline]
    pub fn free(&self) -> u64 {
        self.capacity - self.occupancy
    }
    /// Bytes in a queue (q_i).
    #[inline]
    pub fn bytes(&self, queue: QueueId) -> u32 {
        self.queues[queue as usize].bytes
    }
    /// Packets in a queue, without the one in transmission.
    #[inline]
    pub fn packets(&self, queue: QueueId) -> u32 {
        self.queues[queue as usize].packets
    }
    /// The length of a queue.
    #[inline]
    pub fn length(&self, queue: QueueId) -> Length {
        self.queues[queue as usize]
    }
    /// The lengths of all queues, by their number.
    #[inline]
    pub fn queues(&self) -> &[Length] {
        &self.queues
    }
    /// Bytes in all queues of a port.
    #[inline]
    pub fn port_bytes(&self, port: u32) -> u64 {
        self.queues_of(port).map(|queue| u64::from(self.bytes(queue))).sum()
    }
    /// The length of all queues of a port together.
    #[inline]
    pub fn port_length(&self, port: u32) -> Length {
        let mut length = Length::default();
        for queue in self.queues_of(port) {
            length.bytes = length.bytes.saturating_add(self.bytes(queue));
            length.packets += self.packets(queue);
        }
        length
    }
    /// The queues of a port.
    #[inline]
    pub fn queues_of(&self, port: u32) -> std::ops::Range<QueueId> {
        port * self.queues_per_port..(port + 1) * self.queues_per_port
    }
    /// A port's queue of a queue class.
    #[inline]
    pub fn queue_of(&self, port: u32, queue_class: u8) -> QueueId {
        port * self.queues_per_port + u32::from(queue_class)
    }
    /// The queue class of a queue.
    #[inline]
    pub fn queue_class_of(&self, queue: QueueId) -> u8 {
        (queue % self.queues_per_port) as u8
    }
    /// The queues and their lengths, without those of the given queue class.
    pub fn queues_but(
        &self,
        queue_class: Option<u8>,
    ) -> impl Iterator<Item = (QueueId, Length)> + use<'_> {
        let all = (0..).zip(self.queues.iter().copied());
        all.filter(move |&(queue, _)| {
            queue_class.is_none_or(|queue_class| self.queue_class_of(queue) != queue_class)
        })
    }
    /// The port that a queue belongs to.
    #[inline]
    pub fn port_of(&self, queue: QueueId) -> u32 {
        // Most ports have one queue, and a division takes long.
        if self.queues_per_port == 1 { queue } else { queue / self.queues_per_port }
    }
    /// How many queues a port has.
    #[inline]
    pub fn queues_per_port(&self) -> u32 {
        self.queues_per_port
    }
    /// How many ports there are (N).
    #[inline]
    pub fn ports(&self) -> u32 {
        self.port_rates.len() as u32
    }
    /// The rate of a port.
    #[inline]
    pub fn rate(&self, port: u32) -> Rate {
        self.port_rates[port as usize]
    }

    /// The capacity has changed: lossless packets, which this buffer does not count, take more or
    /// less of the memory.
    pub fn set_capacity(&mut self, capacity: u64) {
        self.capacity = capacity;
    }

    /// Takes over the length of a queue from the buffer that holds the queue's bytes.
    pub fn copy_length(&mut self, queue: QueueId, length: Length) {
        self.queues[queue as usize] = length;
    }

    /// Accounts for a packet that joins a queue.
    #[inline]
    pub fn add(&mut self, queue: QueueId, size: u32) {
        self.occupancy += u64::from(size);
        let length = &mut self.queues[queue as usize];
        length.bytes += size;
        length.packets += 1;
    }

    /// Accounts for a packet that leaves a queue.
    #[inline]
    pub fn subtract(&mut self, queue: QueueId, size: u32) {
        self.subtract_packet(queue);
        self.subtract_bytes(queue, size);
    }

    /// Accounts for a packet that leaves a queue while its bytes are held until it is sent.
    #[inline]
    pub fn subtract_packet(&mut self, queue: QueueId) {
        self.queues[queue as usize].packets -= 1;
    }

    /// Frees the bytes of a packet that has been sent.
    #[inline]
    pub fn subtract_bytes(&mut self, queue: QueueId, size: u32) {
        self.occupancy -= u64::from(size);
        self.queues[queue as usize].bytes -= size;
    }
}
