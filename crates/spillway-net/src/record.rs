//! What a run leaves behind, as columns.
//!
//! Tables fill up while a run goes on and may be emptied at any time, so that long runs stream
//! out; what the summary needs of every flow is kept apart, a few bytes each.

use spillway_engine::Time;

macro_rules! table {
    ($(#[$meta:meta])* $name:ident { $($(#[$doc:meta])* $field:ident: $type:ty),+ $(,)? }) => {
        $(#[$meta])*
        #[derive(Clone, Debug, Default, PartialEq)]
        pub struct $name {
            $($(#[$doc])* pub $field: Vec<$type>,)+
        }

        impl $name {
            /// Rows in it.
            pub fn len(&self) -> usize {
                [$(self.$field.len()),+][0]
            }

            /// Whether it has no rows.
            pub fn is_empty(&self) -> bool {
                self.len() == 0
            }

            /// Bytes of its rows.
            fn bytes(&self) -> usize {
                self.len() * [$(size_of::<$type>()),+].iter().sum::<usize>()
            }
        }
    };
}

table! {
    /// A row for every flow: when it is complete, or at the end of the run.
    FlowTable {
        /// Its number: flows are numbered by start, sender, receiver, size, class, priority, path.
        flow_id: u32,
        /// The sending host.
        src: u32,
        /// The receiving host.
        dst: u32,
        /// Payload to be sent; 0 for an endless flow.
        size_bytes: u64,
        /// The place of its class among the run's classes.
        class: u16,
        /// Its priority, -1 if it has none.
        priority: i16,
        /// When it started.
        start_ps: u64,
        /// How long it took; [`FlowTable::UNFINISHED`] if it is not complete.
        fct_ps: u64,
        /// The least time that it could take.
        ideal_ps: u64,
        /// Payload that arrived, each byte counted once.
        delivered_bytes: u64,
        /// Packets sent again.
        retransmitted_packets: u32,
        /// Retransmission timeouts.
        timeouts: u32,
        /// Its query, -1 if it has none.
        query_id: i64,
    }
}

impl FlowTable {
    /// The completion time of a flow that is not complete.
    pub const UNFINISHED: u64 = u64::MAX;
}

table! {
    /// What queues held, at regular times: a row for every queue that was not empty, and for every
    /// switch one (port and queue -1) with all that it held.
    QueueTable {
        /// When.
        time_ps: u64,
        /// The switch's number.
        switch: u32,
        /// The port, or -1.
        port: i32,
        /// The queue of the port, or -1.
        queue: i32,
        /// Bytes held.
        bytes: u64,
        /// Packets held.
        packets: u32,
    }
}

table! {
    /// A row for every packet that was lost.
    DropTable {
        /// When.
        time_ps: u64,
        /// The switch's number; behind all switches, the host's.
        place: u32,
        /// The port (at a host 0).
        port: i32,
        /// The queue of the port; -1 on a link.
        queue: i32,
        /// Why: a place in `DropReason::ALL`.
        reason: u8,
        /// Its flow.
        flow_id: u32,
        /// Its first byte; of an ack, the first byte missing.
        seq: u64,
        /// Bytes on the wire.
        size_bytes: u32,
        /// Bytes in its queue.
        queue_bytes: u64,
        /// Bytes in the switch's buffer, or in the queues of a host's card that has a discipline.
        occupancy_bytes: u64,
    }
}

table! {
    /// Decisions about arrivals, in order of time.
    DecisionTable {
        /// When.
        time_ps: u64,
        /// The switch's number.
        switch: u32,
        /// The port.
        port: u32,
        /// The queue of the port.
        queue: u32,
        /// The packet's flow.
        flow_id: u32,
        /// Its first byte; of an ack, the first byte missing.
        seq: u64,
        /// Bytes that it takes.
        size_bytes: u32,
        /// Bytes in its queue before it.
        queue_bytes: u64,
        /// The policy's limit for the queue; [`DecisionTable::NO_LIMIT`] if it has none.
        threshold_bytes: u64,
        /// Bytes in the buffer before it.
        occupancy_bytes: u64,
        /// 0 admitted, 1 admitted and marked, 2 lost.
        verdict: u8,
        /// Why it was lost: a place in `DropReason::ALL`; [`DecisionTable::NO_REASON`] if it was not.
        reason: u8,
    }
}

impl DecisionTable {
    /// The limit where a policy has none.
    pub const NO_LIMIT: u64 = u64::MAX;
    /// The reason where nothing was lost.
    pub const NO_REASON: u8 = u8::MAX;
}

table! {
    /// Arrivals at switches that drop from the longest queue, and what became of them: what an
    /// oracle learns from. In the order in which fates became known.
    OracleTraceTable {
        /// When it arrived.
        time_ps: u64,
        /// The switch's number.
        switch: u32,
        /// The port.
        port: u32,
        /// The queue of the port.
        queue: u32,
        /// Its number among the switch's arrivals.
        arrival: u64,
        /// Its flow.
        flow_id: u32,
        /// Its first byte.
        seq: u64,
        /// Bytes that it takes.
        size_bytes: u32,
        /// Bytes in its queue before it.
        queue_bytes: u64,
        /// The average of that.
        average_queue_bytes: f64,
        /// Bytes in the switch's buffer before it.
        occupancy_bytes: u64,
        /// The average of that.
        average_occupancy_bytes: f64,
        /// The switch's buffer.
        buffer_bytes: u64,
        /// The switch's ports.
        ports: u32,
        /// Whether it was refused or pushed out: 0 or 1, [`OracleTraceTable::NOT_KNOWN`] for what
        /// was lost otherwise, or still waited at the end.
        dropped: u8,
        /// How many arrivals it stands for.
        weight: u64,
    }
}

impl OracleTraceTable {
    /// The fate of a packet that has none.
    pub const NOT_KNOWN: u8 = u8::MAX;
}

table! {
    /// Windows of chosen flows, at regular times while they last.
    WindowTable {
        /// When.
        time_ps: u64,
        /// The flow.
        flow_id: u32,
        /// The congestion window; [`Window::UNLIMITED`] for a sender without one.
        ///
        /// [`Window::UNLIMITED`]: crate::transport::window::Window::UNLIMITED
        cwnd_bytes: u64,
        /// The rate at which packets leave, as they are on the wire; 0 for a sender that does not pace.
        pace_bps: f64,
        /// Bytes in flight.
        in_flight_bytes: u64,
        /// Payload that has arrived, each byte counted once.
        delivered_bytes: u64,
        /// Payload that has arrived since the sample before (or the start), in bits per second.
        rate_bps: f64,
        /// The smoothed round trip.
        srtt_ps: u64,
    }
}

table! {
    /// How busy links were, in every interval in which they were not idle.
    LinkTable {
        /// The end of the interval: a multiple of it, or the end of the run.
        time_ps: u64,
        /// The link's number: hosts' first, then by switch and port.
        link: u32,
        /// The share of the interval in which it was sending.
        utilisation: f64,
    }
}

table! {
    /// What ports held, at regular times.
    PortTable {
        /// When.
        time_ps: u64,
        /// The switch's number.
        switch: u32,
        /// The port.
        port: u32,
        /// Bytes held.
        bytes: u64,
        /// Packets held.
        packets: u32,
        /// What the sharing policy would let its data queue hold; [`PortTable::NO_LIMIT`] if it has
        /// no limit.
        threshold_bytes: u64,
        /// Bytes that it would hold if nothing had ever been lost.
        unbounded_bytes: u64,
    }
}

impl PortTable {
    /// The limit where a policy has none.
    pub const NO_LIMIT: u64 = u64::MAX;
}

table! {
    /// The same by class of flow: a row for every class of which a port held anything.
    PortClassTable {
        /// When.
        time_ps: u64,
        /// The switch's number.
        switch: u32,
        /// The port.
        port: u32,
        /// The place of the class among the run's classes.
        class: u16,
        /// Bytes held, acks among them.
        bytes: u64,
    }
}

table! {
    /// Bursts, in the order in which they were over.
    BurstTable {
        /// When the first packet left since the burst before was over.
        start_ps: u64,
        /// When it was detected.
        detected_ps: u64,
        /// When it was over; [`BurstTable::NO_END`] if it was not.
        end_ps: u64,
        /// The switch's number.
        switch: u32,
        /// The port.
        port: u32,
        /// How fast its queues grew when it was detected, in bits per second.
        gradient_bps: f64,
        /// The most that the port held.
        peak_bytes: u64,
        /// The most that it would have held if nothing had ever been lost.
        demand_bytes: u64,
        /// The sharing policy's limit when it was detected; [`BurstTable::NO_LIMIT`] if it has none.
        first_threshold_bytes: u64,
        /// Just before it was over.
        last_threshold_bytes: u64,
        /// The least in between.
        least_threshold_bytes: u64,
        /// The greatest in between.
        most_threshold_bytes: u64,
        /// Packets lost.
        lost_packets: u64,
        /// Their bytes.
        lost_bytes: u64,
    }
}

impl BurstTable {
    /// The end of a burst that has none.
    pub const NO_END: u64 = u64::MAX;
    /// The limit where a policy has none.
    pub const NO_LIMIT: u64 = u64::MAX;
}

table! {
    /// What switches had learned of bursts when the run ended.
    HistoryTable {
        /// The switch's number.
        switch: u32,
        /// How fast the queues of a burst grew, in bits per second.
        gradient_bps: f64,
        /// What it came to.
        bytes: u64,
        /// When such a burst was last seen.
        last_seen_ps: u64,
    }
}

/// What the summary needs of a flow.
#[derive(Clone, Copy, Debug)]
pub struct Outcome {
    /// When it started.
    pub start: Time,
    /// How long it took, or has taken so far.
    pub fct: Time,
    /// The least time that it could take.
    pub ideal: Time,
    /// Payload.
    pub size: u64,
    /// Its query, or `u32::MAX`.
    pub query: u32,
    /// Its class.
    pub class: u16,
    /// Whether it is complete.
    pub complete: bool,
    /// Whether it saw a timeout.
    pub timed_out: bool,
}

/// All that is recorded.
#[derive(Clone, Debug, Default)]
pub struct Record {
    /// Flows.
    pub flows: FlowTable,
    /// Queue samples.
    pub queues: QueueTable,
    /// Lost packets.
    pub drops: DropTable,
    /// Decisions about arrivals.
    pub decisions: DecisionTable,
    /// Arrivals and their fates.
    pub oracle_trace: OracleTraceTable,
    /// Windows of chosen flows.
    pub windows: WindowTable,
    /// Link utilisation.
    pub links: LinkTable,
    /// Port samples.
    pub ports: PortTable,
    /// The same by class of flow.
    pub port_classes: PortClassTable,
    /// Bursts.
    pub bursts: BurstTable,
    /// What switches have learned.
    pub history: HistoryTable,
    /// What the summary needs of every measured flow.
    pub outcomes: Vec<Outcome>,
}

impl Record {
    /// Bytes of all that is kept, until it is taken.
    pub fn bytes(&self) -> u64 {
        let Record {
            flows,
            queues,
            drops,
            decisions,
            oracle_trace,
            windows,
            links,
            ports,
            port_classes,
            bursts,
            history,
            outcomes,
        } = self;
        let samples = queues.bytes() + windows.bytes() + links.bytes();
        let of_ports = ports.bytes() + port_classes.bytes() + bursts.bytes() + history.bytes();
        let of_packets = drops.bytes() + decisions.bytes() + oracle_trace.bytes();
        let of_flows = flows.bytes() + size_of_val(outcomes.as_slice());
        (samples + of_ports + of_packets + of_flows) as u64
    }
}
