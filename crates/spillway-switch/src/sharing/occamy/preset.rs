//! Presets: whose values keys have by default, and the rules that have no key.

/// Whose rules and default values are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Preset {
    Paper,
    Ns3,
    Dpdk,
}

/// The defaults of keys. `bucket` is a full packet where there is none.
pub(super) struct Defaults {
    pub(super) exempt_empty: bool,
    pub(super) threshold_every: &'static str,
    pub(super) bandwidth: f64,
    pub(super) cell: &'static str,
    pub(super) refill: u64,
    pub(super) bucket: Option<u64>,
}

/// The rules that have no key.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules {
    /// Which queue loses a packet with `victim = "round-robin"`, and with `"longest"`.
    pub(super) victims: [Victims; 2],
    /// The tokens without which nothing is expelled.
    pub(super) needed: i64,
    pub(super) ticks: Ticks,
    /// Whether a packet is expelled whenever there are enough tokens, and not only at ticks.
    pub(super) is_free_running: bool,
}

/// Which queue over its threshold loses a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Victims {
    /// The next one after the queue that lost a packet last.
    InTurn,
    /// The same, but the switch's first queue never does. After a pass that finds none, turns begin
    /// again.
    InPasses,
    /// The longest, if it is over its threshold; of several, the first.
    FirstLongest,
    /// The longest, if it is over its threshold; of several, the last.
    LastLongest,
    /// The longest of those over their threshold; of several, the first.
    LongestOver,
}

/// When tokens begin to come.
#[derive(Clone, Copy, Debug)]
pub(super) enum Ticks {
    /// From the beginning of the run, the bucket full.
    AtOnce,
    /// From the first arrival, the bucket empty.
    WithArrival,
    /// From a tick after the beginning of the run, the bucket empty.
    AfterATick,
}

impl Preset {
    pub(super) fn defaults(self) -> Defaults {
        let paper = Defaults {
            exempt_empty: false,
            threshold_every: "0us",
            bandwidth: 1.0,
            cell: "1B",
            refill: 1,
            bucket: None,
        };
        match self {
            Preset::Paper => paper,
            // 1600 bytes in the time in which the ports send 1500.
            Preset::Ns3 => Defaults {
                exempt_empty: true,
                bandwidth: 16.0 / 15.0,
                cell: "200B",
                refill: 8,
                bucket: Some(8),
                ..paper
            },
            // The whole tokens of half a microsecond at 55 million a second, for eight ports of 10
            // Gbps.
            Preset::Dpdk => Defaults {
                threshold_every: "1us",
                bandwidth: 1.08,
                cell: "200B",
                refill: 27,
                bucket: Some(200),
                ..paper
            },
        }
    }

    pub(super) fn rules(self) -> Rules {
        let paper = Rules {
            victims: [Victims::InTurn, Victims::FirstLongest],
            needed: 1,
            ticks: Ticks::AtOnce,
            is_free_running: false,
        };
        match self {
            Preset::Paper => paper,
            Preset::Ns3 => Rules {
                victims: [Victims::InTurn, Victims::LastLongest],
                ticks: Ticks::WithArrival,
                ..paper
            },
            Preset::Dpdk => Rules {
                victims: [Victims::InPasses, Victims::LongestOver],
                needed: 0,
                ticks: Ticks::AfterATick,
                is_free_running: true,
            },
        }
    }
}
