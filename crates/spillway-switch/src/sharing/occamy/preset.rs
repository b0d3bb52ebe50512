//! Presets: whose values keys have by default.

/// Whose values keys have by default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Preset {
    Paper,
    Ns3,
    Dpdk,
}

/// The defaults of keys. `bucket` is a full packet where there is none.
pub(super) struct Defaults {
    pub(super) bandwidth: f64,
    pub(super) cell: &'static str,
    pub(super) refill: u64,
    pub(super) bucket: Option<u64>,
}

impl Preset {
    pub(super) fn defaults(self) -> Defaults {
        match self {
            Preset::Paper => Defaults { bandwidth: 1.0, cell: "1B", refill: 1, bucket: None },
            // 1600 bytes in the time in which the ports send 1500.
            Preset::Ns3 => {
                Defaults { bandwidth: 16.0 / 15.0, cell: "200B", refill: 8, bucket: Some(8) }
            }
            // 55 million cells a second for eight ports of 10 Gbps.
            Preset::Dpdk => Defaults { bandwidth: 1.1, cell: "200B", refill: 1, bucket: Some(200) },
        }
    }
}
