//! What queues hold, at regular times.

use super::names::{Name, Switch};
use super::table::table;
use spillway_engine::Time;
use spillway_switch::{QueueId, Switch as AnySwitch};

table! {
    /// What queues held, at regular times: a row for every queue that was not empty (or for every
    /// queue), and one for every switch, without port and queue, with the sum.
    QueueRow => QueueTable {
        /// When.
        time_ps: u64,
        /// The switch.
        switch: Name<Switch>,
        /// The port, in the row of a queue.
        port: Option<i32>,
        /// The queue of the port, in the row of a queue.
        queue: Option<i32>,
        /// Bytes held.
        bytes: u64,
        /// Packets held.
        packets: u32,
    }
}

impl QueueTable {
    /// Samples all switches, with rows for empty queues if `with_empty` is set.
    pub fn sample(&mut self, now: Time, switches: &[AnySwitch], with_empty: bool) {
        let time_ps = now.ps();
        for (switch, any) in (0..).map(Name).zip(switches) {
            let buffer = any.buffer();
            let queues = 0..buffer.queues().len() as QueueId;
            let length = |queue: QueueId| any.buffer_of(queue).length(queue);
            let packets = queues.clone().map(|queue| length(queue).packets).sum();
            let bytes = any.occupancy();
            self.push(QueueRow { time_ps, switch, port: None, queue: None, bytes, packets });
            for queue in queues.filter(|&queue| with_empty || length(queue).bytes > 0) {
                self.push(QueueRow {
                    time_ps,
                    switch,
                    port: Some(buffer.port_of(queue) as i32),
                    queue: Some(buffer.queue_class_of(queue).into()),
                    bytes: length(queue).bytes.into(),
                    packets: length(queue).packets,
                });
            }
        }
    }
}
