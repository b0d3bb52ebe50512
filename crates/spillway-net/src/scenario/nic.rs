//! `[nic]`: every host's card.

use super::{Result, SwitchSettings};
use crate::nic::{NicScheduling, NicSettings};
use spillway_settings::Section;

/// Reads the section; what it does not say is as in leaves.
pub(super) fn read(section: &mut Section, leaf: &SwitchSettings) -> Result<NicSettings> {
    let scheduling = section.choice(
        "scheduling",
        &[("fifo", NicScheduling::Fifo), ("per-flow-rr", NicScheduling::PerFlowRoundRobin)],
        "the order of packets of equal priority",
    )?;
    let meaning = "priorities that it tells apart, the lowest number first";
    let queues = section.integer("queues", u64::from(leaf.queues_per_port), 1..=64, meaning)? as u8;
    let last = u64::from(queues - 1);
    let default = last.min(leaf.ack_queue.into());
    let ack_queue = section.integer("ack_queue", default, 0..=last, "queue of acks and control")?;
    let default = last.min(leaf.data_queue.into());
    let meaning = "queue of data without a priority";
    let data_queue = section.integer("data_queue", default, 0..=last, meaning)?;
    let meaning = "packets that it takes out of its queues ahead of time";
    let fifo_packets = section.integer("fifo_packets", 0, 0..=10_000, meaning)? as u32;
    let (ack_queue, data_queue) = (ack_queue as u8, data_queue as u8);
    Ok(NicSettings { scheduling, queues, ack_queue, data_queue, fifo_packets })
}
