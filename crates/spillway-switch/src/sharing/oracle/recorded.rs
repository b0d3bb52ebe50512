//! An oracle that has seen it all: the fates that the same packets had under LQD.

use crate::catalogue::Environment;
use crate::records::{u32_at, u64_at};
use spillway_settings::{Section, SettingsError};
use std::collections::BTreeSet;
use std::sync::Arc;

/// The fates in a file.
#[derive(Clone, Debug)]
pub struct RecordedParams {
    /// As many whole records as there are fates, of all switches.
    fates: Arc<[u8]>,
}

/// The packets of a switch that a trace knows, and those that it saw dropped.
#[derive(Clone, Debug)]
pub struct Recorded {
    /// Flow and first byte.
    seen: Arc<BTreeSet<(u32, u64)>>,
    dropped: Arc<BTreeSet<(u32, u64)>>,
    next: (u32, u64),
    unknown: u64,
}

/// Bytes of a fate in a file: switch and flow in four bytes each, the first byte in eight, all with
/// the lowest first, and 1 if the packet was dropped, else 0.
const RECORD: usize = 17;

impl RecordedParams {
    /// Reads the key that names the file.
    pub fn read(
        section: &mut Section,
        environment: &Environment,
    ) -> Result<RecordedParams, SettingsError> {
        let meaning = "with oracle = \"trace\", the outcomes of packets: oracle_trace.parquet \
                       of an open-loop run with sharing = \"lqd\"";
        let name = section.text("trace", "", "a path, seen from the scenario's folder", meaning)?;
        let fates = environment.records("fates", section, "trace", &name)?;
        let (records, rest) = fates.as_chunks::<RECORD>();
        if !rest.is_empty() || records.iter().any(|record| record[RECORD - 1] > 1) {
            return Err(section.error("trace", format!("{name}: it is not a trace of fates")));
        }
        Ok(RecordedParams { fates })
    }
}

impl Recorded {
    /// What is known of a switch's packets.
    pub fn new(params: &RecordedParams, environment: &Environment) -> Recorded {
        let (records, _) = params.fates.as_chunks::<RECORD>();
        let (mut seen, mut dropped) = (BTreeSet::new(), BTreeSet::new());
        for record in records {
            if u32_at(record, 0) == environment.switch {
                let packet = (u32_at(record, 4), u64_at(record, 8));
                seen.insert(packet);
                if record[RECORD - 1] == 1 {
                    dropped.insert(packet);
                }
            }
        }
        let (seen, dropped) = (Arc::new(seen), Arc::new(dropped));
        Recorded { seen, dropped, next: (0, 0), unknown: 0 }
    }

    /// The next arrival is this packet.
    pub fn introduce(&mut self, flow: u32, seq: u64) {
        self.next = (flow, seq);
    }

    /// Whether the packet that arrives was dropped. What the trace does not know was not.
    pub fn is_dropped(&mut self) -> bool {
        self.unknown += u64::from(!self.seen.contains(&self.next));
        self.dropped.contains(&self.next)
    }

    /// How often the packet in question was unknown.
    pub fn unknown(&self) -> u64 {
        self.unknown
    }
}
