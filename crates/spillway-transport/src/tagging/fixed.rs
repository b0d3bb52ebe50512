//! Fixed: every packet has its flow's priority.
//!
//! # Reference
//! None: priorities of traffic classes, as with DSCP code points that an operator assigns.
//!
//! # Rule
//! A packet has the priority of its flow: that of its traffic section (`priority`), or of its row
//! in a list of flows. Without one it waits in the queue for data without a priority.
//!
//! # Scope and limitations
//! Nothing is counted: what a flow has sent plays no part.
//!
//! # In composition
//! Packets of a flow keep their order, so it goes with any recovery. Flows of several priorities
//! use several queues of a port, which under strict priority a run warns of as with a tagger. Data
//! of priority 0 wait with acks, and escape AQMs and sharing policies as these do
//! (docs/scenario/switch.md); a run warns only of lists whose number for acks they have.
//!
//! # Validation
//! `host/priority.rs`: the queues of every kind of packet.
//!
//! # Cost
//! None.

use super::Kind;

/// The row of what leaves every flow its own priority.
pub(super) const KIND: Kind = Kind {
    id: "fixed",
    results: 1,
    summary: "Every packet has its flow's own priority",
    citation: "",
    read: |_| Ok(None),
};
