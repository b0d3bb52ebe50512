//! What queues hold, and switches as a whole, at regular times.

use super::names::{Name, Switch};
use super::table::table;
use spillway_engine::Time;
use spillway_switch::{QueueId, Switch as AnySwitch};

table! {
    /// What queues held, at regular times. Has a row for every queue that was not empty, or for
    /// every queue.
    QueueRow => QueueTable {
        /// When.
        time_ps: u64,
        /// The switch.
        switch: Name<Switch>,
        /// The port.
        port: i32,
        /// The queue of the port.
        queue: i32,
        /// Bytes held, as the buffer counts them.
        bytes: u64,
        /// Packets held, except those in transmission.
        packets: u32,
    }
}

table! {
    /// What switches held as a whole, at the times at which queues are sampled.
    SwitchRow => SwitchTable {
        /// When.
        time_ps: u64,
        /// The switch.
        switch: Name<Switch>,
        /// Bytes held, as the buffer counts them; where it holds packets until they are sent
        /// (`release = "end"`), those in transmission too.
        bytes: u64,
        /// Packets held, except those in transmission.
        packets: u32,
    }
    recorded if |scenario| scenario.recording.queue_interval.is_some()
}

impl SwitchTable {
    /// Samples all switches.
    pub fn sample(&mut self, now: Time, switches: &[AnySwitch]) {
        for (switch, any) in (0..).map(Name).zip(switches) {
            let queues = 0..any.buffer().queues().len() as QueueId;
            let packets = queues.map(|queue| any.buffer_of(queue).length(queue).packets).sum();
            let bytes = any.occupancy();
            self.push(SwitchRow { time_ps: now.ps(), switch, bytes, packets });
        }
    }
}

impl QueueTable {
    /// Samples all queues, with rows for empty queues if `with_empty` is set.
    pub fn sample(&mut self, now: Time, switches: &[AnySwitch], with_empty: bool) {
        let time_ps = now.ps();
        for (switch, any) in (0..).map(Name).zip(switches) {
            let buffer = any.buffer();
            let queues = 0..buffer.queues().len() as QueueId;
            let length = |queue: QueueId| any.buffer_of(queue).length(queue);
            for queue in queues.filter(|&queue| with_empty || length(queue).bytes > 0) {
                self.push(QueueRow {
                    time_ps,
                    switch,
                    port: buffer.port_of(queue) as i32,
                    queue: buffer.queue_class_of(queue).into(),
                    bytes: length(queue).bytes.into(),
                    packets: length(queue).packets,
                });
            }
        }
    }
}
