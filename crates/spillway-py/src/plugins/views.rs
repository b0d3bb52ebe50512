//! Copies of what policies in Python see, with the names that the core uses.

use super::copying::unchanging;
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use spillway_switch::buffer::Length;
use spillway_switch::{Environment, QueueId, policy};

/// An arriving packet about which the policy decides.
#[pyclass(frozen, get_all, module = "spillway.plugins")]
pub struct Arrival {
    /// When it arrives.
    now_ps: u64,
    /// The queue that it is for, by its number in the switch.
    queue: QueueId,
    /// Its queue class: its number within its port.
    queue_class: u8,
    /// Bytes that it takes in the buffer if it is admitted.
    size: u32,
    /// Whether it was sent in its flow's first round trip.
    first_rtt: bool,
    /// Whether it carries no data: an ack, or a part of a handshake.
    is_control: bool,
    /// For a sharing policy that `knows_packets`: the packet's flow. For an AQM that does: the
    /// packet's connection, which has the number of the flow that opened it.
    flow: Option<u32>,
    /// The packet's first byte within its flow, if the policy `knows_packets`.
    seq: Option<u64>,
}

impl Arrival {
    /// `packet` is the packet's flow and its first byte, if they are known.
    pub fn of(arrival: &policy::Arrival, packet: Option<(u32, u64)>) -> Arrival {
        Arrival {
            now_ps: arrival.now.ps(),
            queue: arrival.queue,
            queue_class: arrival.queue_class,
            size: arrival.size,
            first_rtt: arrival.first_rtt,
            is_control: arrival.is_control,
            flow: packet.map(|(flow, _)| flow),
            seq: packet.map(|(_, seq)| seq),
        }
    }
}

/// A packet that is about to be sent. It may have waited or not.
#[pyclass(frozen, get_all, module = "spillway.plugins")]
pub struct Departure {
    /// When it would be sent.
    now_ps: u64,
    /// The queue that it has left, by its number in the switch.
    queue: QueueId,
    /// Its queue class: its number within its port.
    queue_class: u8,
    /// Bytes that it took in the buffer.
    size: u32,
    /// Whether it was sent in its flow's first round trip.
    first_rtt: bool,
    /// Whether it is ECN-capable.
    ect: bool,
    /// When it arrived.
    queued_at_ps: u64,
}

impl Departure {
    pub fn of(departure: &policy::Departure) -> Departure {
        Departure {
            now_ps: departure.now.ps(),
            queue: departure.queue,
            queue_class: departure.queue_class,
            size: departure.size,
            first_rtt: departure.first_rtt,
            ect: departure.ect,
            queued_at_ps: departure.queued_at.ps(),
        }
    }
}

/// The switch or NIC of a policy. The policy gets it at its start.
#[pyclass(frozen, get_all, module = "spillway.plugins")]
pub struct Switch {
    /// Its number, in the order of the topology; hosts are numbered after all switches.
    number: u32,
    /// The run's seed.
    seed: u64,
    /// The size of its buffer in bytes.
    capacity: u64,
    /// The number of ports.
    ports: usize,
    /// The number of queues of each port.
    queues_per_port: u32,
    /// The ports' rates, in bits per second.
    port_rates_bps: Vec<u64>,
    /// The queue class of acks; `None` if acks have no queues of their own.
    ack_class: Option<u8>,
    /// The queue class of data without a priority.
    data_class: u8,
    /// The round trip of the empty network.
    base_rtt_ps: u64,
    /// Bytes of a full packet on the wire.
    full_packet: u32,
}

impl Switch {
    pub fn of(environment: &Environment) -> Switch {
        let rates = &environment.port_rates;
        Switch {
            number: environment.switch,
            seed: environment.seed,
            capacity: environment.capacity,
            ports: rates.len(),
            queues_per_port: environment.queues_per_port,
            port_rates_bps: rates.iter().map(|rate| rate.bits_per_second()).collect(),
            ack_class: environment.has_ack_queues().then_some(environment.ack_queue_class),
            data_class: environment.data_queue_class,
            base_rtt_ps: environment.base_rtt.ps(),
            full_packet: environment.full_packet,
        }
    }
}

unchanging!(Arrival, Departure, Switch);

/// A switch's buffer as it was when a hook was last called.
#[pyclass(module = "spillway.plugins")]
#[derive(Clone)]
pub struct Buffer {
    /// Its size in bytes.
    #[pyo3(get)]
    capacity: u64,
    /// The bytes that it holds.
    #[pyo3(get)]
    occupancy: u64,
    /// The number of queues of each port.
    #[pyo3(get)]
    queues_per_port: u32,
    lengths: Vec<Length>,
}

impl Buffer {
    /// The view of an empty buffer.
    pub fn of(environment: &Environment) -> Buffer {
        let queues = environment.port_rates.len() * environment.queues_per_port as usize;
        Buffer {
            capacity: environment.capacity,
            occupancy: 0,
            queues_per_port: environment.queues_per_port,
            lengths: vec![Length::default(); queues],
        }
    }

    /// Copies the switch's buffer as it is now.
    pub fn show(&mut self, buffer: &spillway_switch::Buffer) {
        self.occupancy = buffer.occupancy();
        self.lengths.copy_from_slice(buffer.queues());
    }

    fn length(&self, queue: QueueId) -> PyResult<Length> {
        let queues = self.lengths.len();
        let none =
            || PyIndexError::new_err(format!("there is no queue {queue}: there are {queues}"));
        self.lengths.get(queue as usize).copied().ok_or_else(none)
    }
}

#[pymethods]
impl Buffer {
    /// The free bytes.
    #[getter]
    fn free(&self) -> u64 {
        self.capacity - self.occupancy
    }

    /// The number of ports.
    #[getter]
    fn ports(&self) -> u32 {
        self.lengths.len() as u32 / self.queues_per_port
    }

    /// The number of queues.
    #[getter]
    fn queues(&self) -> usize {
        self.lengths.len()
    }

    /// Bytes in a queue.
    fn bytes(&self, queue: QueueId) -> PyResult<u32> {
        Ok(self.length(queue)?.bytes)
    }

    /// Packets in a queue, without the one that is being sent.
    fn packets(&self, queue: QueueId) -> PyResult<u32> {
        Ok(self.length(queue)?.packets)
    }

    /// Bytes in every queue, by its number.
    fn lengths(&self) -> Vec<u32> {
        self.lengths.iter().map(|length| length.bytes).collect()
    }

    /// Bytes in all queues of a port.
    fn port_bytes(&self, port: u32) -> PyResult<u64> {
        let first = port.saturating_mul(self.queues_per_port);
        let queues = first..first.saturating_add(self.queues_per_port);
        queues.map(|queue| Ok(u64::from(self.length(queue)?.bytes))).sum()
    }

    /// The port that a queue belongs to.
    fn port_of(&self, queue: QueueId) -> u32 {
        queue / self.queues_per_port
    }

    /// The queue class of a queue.
    fn class_of(&self, queue: QueueId) -> u32 {
        queue % self.queues_per_port
    }
}
