//! The properties that all flows of a traffic section share.

use spillway_engine::{Stream, Time};
use spillway_transport::flow::FlowSpec;

/// A traffic section's name, class and priority, and the seed of its random numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// The section's name; it selects the random streams.
    pub name: String,
    /// The run's seed.
    pub seed: u64,
    /// The number of its class, or of its first class if it has several.
    pub class: u16,
    /// The priority of its flows, if they have one.
    pub priority: Option<u8>,
}

impl Label {
    /// The random stream of a host, or of anything else that the section numbers.
    pub fn stream(&self, index: u64) -> Stream {
        Stream::new(self.seed, &format!("traffic/{}", self.name), index)
    }

    /// A flow of this section.
    pub fn flow(&self, start: Time, src: u32, dst: u32, size: u64) -> FlowSpec {
        FlowSpec {
            start,
            src,
            dst,
            size,
            class: self.class,
            priority: self.priority,
            path: None,
            ack_path: None,
            query: None,
            bound: 0,
            tag: FlowSpec::NO_TAG,
        }
    }
}
