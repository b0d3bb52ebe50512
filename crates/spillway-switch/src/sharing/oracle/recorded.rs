//! A perfect oracle: the outcomes that the same packets had under LQD.

use crate::catalogue::Environment;
use crate::records::{u32_at, u64_at};
use spillway_settings::{ErrorKind, Section, SettingsError};
use std::collections::BTreeSet;
use std::sync::Arc;

/// The outcomes in a trace's file.
#[derive(Clone, Debug)]
pub struct RecordedParams {
    /// One whole record for each packet, of all switches.
    fates: Arc<[u8]>,
}

/// The packets of a switch that a trace contains, and those among them that were dropped.
#[derive(Clone, Debug)]
pub struct Recorded {
    /// Flow and first byte of each packet.
    seen: Arc<BTreeSet<(u32, u64)>>,
    dropped: Arc<BTreeSet<(u32, u64)>>,
    next: (u32, u64),
    unknown: u64,
}

/// The bytes of a record: switch and flow (four bytes each), the packet's first byte (eight), all
/// little-endian, and 1 if the packet was dropped, else 0.
const RECORD: usize = 17;

impl RecordedParams {
    /// Reads the key that names the file.
    pub fn read(
        section: &mut Section,
        environment: &Environment,
    ) -> Result<RecordedParams, SettingsError> {
        let meaning = "with oracle = \"trace\", the outcomes of packets: oracle_trace.parquet \
                       of an open-loop run with sharing = \"lqd\"";
        let takes = "a path, seen from the scenario's folder";
        let name = section.at_times("trace", |s| s.text("trace", "", takes, meaning))?;
        let fates = environment.records("fates", section, "trace", &name)?;
        let (records, rest) = fates.as_chunks::<RECORD>();
        if !rest.is_empty() || records.iter().any(|record| record[RECORD - 1] > 1) {
            return Err(section.error(
                ErrorKind::File,
                "trace",
                format!("{name}: it is not a trace of fates"),
            ));
        }
        Ok(RecordedParams { fates })
    }
}

impl Recorded {
    /// The outcomes of one switch's packets.
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

    /// Whether the arriving packet was dropped in the trace; false if the trace does not contain
    /// it.
    pub fn is_dropped(&mut self) -> bool {
        self.unknown += u64::from(!self.seen.contains(&self.next));
        self.dropped.contains(&self.next)
    }

    /// How often the trace did not contain the packet asked about.
    pub fn unknown(&self) -> u64 {
        self.unknown
    }
}
