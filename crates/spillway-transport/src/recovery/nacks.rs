//! Retransmission as RDMA's NICs have it: a receiver tells of a gap in a NACK, and the sender goes
//! back to it, or sends what is missing. Losses cut neither windows nor paces.
//!
//! # Reference
//! - Go-back-N: InfiniBand Trade Association, InfiniBand Architecture Specification, volume 1,
//!   chapter 9, as RoCE's NICs have it; in the details as the simulator of HPCC
//!   (alibaba-edu/High-Precision-Congestion-Control, rdma-hw.cc).
//! - Selective: R. Mittal, A. Shpiner, A. Panda, E. Zahavi, A. Krishnamurthy, S. Ratnasamy, S.
//!   Shenker, "Revisiting Network Support for RDMA", SIGCOMM 2018 (IRN), sections 3.1, 3.2 and 4.1.
//!   doi:10.1145/3230543.3230557

use crate::Losses;
use crate::receiver::InOrderRule;
use spillway_engine::Time;
use spillway_settings::quantity::{BdpSize, RttTime};
use spillway_settings::{Section, SettingsError};

/// How losses are told in NACKs and repaired.
#[derive(Clone, Copy, Debug)]
pub enum Nacks {
    /// The receiver accepts only the packet that it expects, and the sender goes back to it.
    GoBackN {
        /// How the receiver answers what it discards.
        receiver: InOrderRule,
        /// The timeout, if there is one.
        rto: Option<RttTime>,
    },
    /// The receiver accepts all packets, and the sender sends those that are missing (IRN).
    Selective(Selective),
}

/// The settings of IRN.
#[derive(Clone, Copy, Debug)]
pub struct Selective {
    /// The most bytes in flight, if there is a bound (BDP-FC).
    pub max_in_flight: Option<BdpSize>,
    /// The timeout with few packets in flight.
    pub rto_low: RttTime,
    /// The timeout with more.
    pub rto_high: RttTime,
    /// The most packets in flight that count as few.
    pub few_packets: u64,
    /// Whether a timeout shows that everything not known to have arrived is lost, rather than only
    /// the first missing packet.
    pub timeout_takes_all: bool,
}

/// The values of the key `retransmit`.
const WAYS: [&str; 3] = ["tcp", "go-back-n", "selective"];

impl Nacks {
    /// The keys that mean nothing where NACKs tell of losses.
    const OF_TCP: [&'static str; 20] = [
        "loss_detection",
        "dupthresh",
        "partial_acks_tell",
        "tail_loss_probe",
        "cut_once",
        "reduction",
        "or_worse",
        "number_bytes",
        "initial_rto",
        "min_rto",
        "rto_granularity",
        "min_rto_bounds",
        "max_rto",
        "syn_window",
        "handshake",
        "offload",
        "ack_push",
        "quick_acks",
        "coalesce",
        "coalesce_time",
    ];
    const OF_GO_BACK_N: [&'static str; 3] = ["nack_interval", "old_packets", "ack_timeout"];
    const OF_SELECTIVE: [&'static str; 5] =
        ["max_in_flight", "rto_low", "rto_high", "rto_low_packets", "after_timeout"];

    /// Reads the settings. `None` if losses are found and repaired as by TCP. Keys that mean
    /// nothing with the chosen way are refused.
    pub(crate) fn read(section: &mut Section) -> Result<Option<Nacks>, SettingsError> {
        let meaning = "how losses are told and repaired: as by TCP, as `loss_detection` says; or in \
                       NACKs, as by RDMA's NICs, which go back to the first gap or send only what is \
                       missing (IRN)";
        let way = section.optional("retransmit", |section| {
            section.choice("retransmit", &WAYS.map(|way| (way, way)), meaning)
        })?;
        let way = way.unwrap_or(WAYS[0]);
        for key in Nacks::OF_GO_BACK_N.iter().chain(&Nacks::OF_SELECTIVE) {
            if Nacks::is_foreign(key, way) {
                let own = if Nacks::OF_GO_BACK_N.contains(key) { WAYS[1] } else { WAYS[2] };
                section.needs(&format!("retransmit = {own:?}"), &[key])?;
            }
        }
        for key in Nacks::OF_TCP {
            if Nacks::is_foreign(key, way) {
                let why = format!("with retransmit = {way:?}: NACKs and timeouts of its own tell");
                Losses::refuse(section, key, &why)?;
            }
        }
        match way {
            "go-back-n" => Nacks::read_go_back_n(section).map(Some),
            "selective" => Nacks::read_selective(section).map(Some),
            _ => Ok(None),
        }
    }

    fn read_go_back_n(section: &mut Section) -> Result<Nacks, SettingsError> {
        let meaning = "time after which a receiver tells of the same gap again, if packets still come \
                       from behind it";
        let nack_interval = section.time("nack_interval", "500us", meaning)?;
        let meaning = "how a receiver answers a packet that has arrived before";
        let answers_old =
            section.choice("old_packets", &[("ack", true), ("silent", false)], meaning)?;
        let rto = section.quantity(
            "ack_timeout",
            "4ms",
            "a time above 0 such as \"45us\", a multiple of the base RTT such as \"3rtt\", or \"none\"",
            "the retransmission timeout, which never changes; with \"none\" a flow whose last packets \
             are lost never ends",
            |text| match text {
                "none" => Some(None),
                _ => RttTime::parse(text).map(Some),
            },
        )?;
        Ok(Nacks::GoBackN { receiver: InOrderRule { nack_interval, answers_old }, rto })
    }

    fn read_selective(section: &mut Section) -> Result<Nacks, SettingsError> {
        let max_in_flight = section.quantity(
            "max_in_flight",
            "1bdp",
            "a size such as \"30KB\" or \"1bdp\", or \"unlimited\"",
            "the most bytes in flight, whatever the window is",
            |text| match text {
                "unlimited" => Some(None),
                _ => BdpSize::parse(text).map(Some),
            },
        )?;
        let rto = |section: &mut Section, key, default, meaning| {
            let takes =
                "a time above 0 such as \"45us\", or a multiple of the base RTT such as \"3rtt\"";
            section.quantity(key, default, takes, meaning, RttTime::parse)
        };
        let meaning = "the retransmission timeout with few packets in flight";
        let rto_low = rto(section, "rto_low", "100us", meaning)?;
        let meaning = "the retransmission timeout with more packets in flight";
        let rto_high = rto(section, "rto_high", "320us", meaning)?;
        let meaning = "how many packets in flight are few";
        let few_packets = section.integer("rto_low_packets", 3, 0..=1_000_000, meaning)?;
        let meaning = "what a timeout sends again: the first missing packet, or all that is not known \
                       to have arrived";
        let timeout_takes_all =
            section.choice("after_timeout", &[("first", false), ("all", true)], meaning)?;
        Ok(Nacks::Selective(Selective {
            max_in_flight,
            rto_low,
            rto_high,
            few_packets,
            timeout_takes_all,
        }))
    }

    /// Whether a key means nothing with this value of `retransmit`.
    pub fn is_foreign(key: &str, way: &str) -> bool {
        let of_go_back_n = Nacks::OF_GO_BACK_N.contains(&key) && way != "go-back-n";
        let of_selective = Nacks::OF_SELECTIVE.contains(&key) && way != "selective";
        let of_tcp = Nacks::OF_TCP.contains(&key) && WAYS[1..].contains(&way);
        of_go_back_n || of_selective || of_tcp
    }

    /// The shortest timeout for a base RTT, and the key that sets it; `None` if there is none.
    pub fn shortest_rto(&self, base_rtt: Time) -> Option<(Time, &'static str)> {
        match self {
            Nacks::GoBackN { rto, .. } => rto.map(|rto| (rto.of(base_rtt), "ack_timeout")),
            Nacks::Selective(Selective { rto_low, rto_high, .. }) => {
                let timeouts = [(rto_low, "rto_low"), (rto_high, "rto_high")];
                timeouts.into_iter().map(|(rto, key)| (rto.of(base_rtt), key)).min()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{closed_loop, transport};
    use crate::{LossDetection, Transport};

    fn nacks(text: &str) -> Option<Nacks> {
        closed_loop(text).nacks
    }

    fn refused(text: &str) -> String {
        let mut section = Section::new("transport", text.parse().unwrap());
        let read = Transport::read(&mut section, &crate::Extensions::default());
        read.and_then(|_| section.finish()).unwrap_err().to_string()
    }

    #[test]
    fn defaults_are_those_of_the_specification_and_of_irn() {
        assert!(nacks("").is_none() && nacks("retransmit = \"tcp\"").is_none());
        let rtt = Time::from_us(10);
        match nacks("retransmit = \"go-back-n\"") {
            Some(Nacks::GoBackN { receiver, rto }) => {
                let nack_interval = Time::from_us(500);
                assert_eq!(receiver, InOrderRule { nack_interval, answers_old: true });
                assert_eq!(rto.map(|rto| rto.of(rtt)), Some(Time::from_ms(4)));
            }
            other => panic!("{other:?}"),
        }
        match nacks("kind = \"hpcc\"\nretransmit = \"selective\"") {
            Some(Nacks::Selective(irn)) => {
                let rto = [irn.rto_low, irn.rto_high].map(|rto| rto.of(rtt));
                assert_eq!(rto, [Time::from_us(100), Time::from_us(320)]);
                assert_eq!((irn.few_packets, irn.timeout_takes_all), (3, false));
                assert_eq!(irn.max_in_flight, BdpSize::parse("1bdp"));
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn timeouts_may_be_none_or_multiples_of_the_round_trip() {
        let shortest = |text: &str| {
            let told = nacks(text).unwrap().shortest_rto(Time::from_us(10));
            told.map(|(rto, key)| (rto.ps() / 1_000_000, key))
        };
        let go_back = "retransmit = \"go-back-n\"\n";
        assert_eq!(shortest(&format!("{go_back}ack_timeout = \"none\"")), None);
        assert_eq!(
            shortest(&format!("{go_back}ack_timeout = \"3rtt\"")),
            Some((30, "ack_timeout"))
        );
        let selective = "retransmit = \"selective\"\n";
        assert_eq!(shortest(selective), Some((100, "rto_low")));
        assert_eq!(shortest(&format!("{selective}rto_high = \"9rtt\"")), Some((90, "rto_high")));
    }

    #[test]
    fn losses_of_nacks_cut_nothing_and_are_found_by_nothing_else() {
        for way in ["go-back-n", "selective"] {
            let closed = closed_loop(&format!("retransmit = \"{way}\""));
            assert_eq!(closed.losses.detection, LossDetection::Nacks);
            assert!(!closed.losses.are_plain() && !closed.losses.cut_once);
        }
        // Every kind of transport that otherwise has another loss detection may have it.
        for kind in ["dctcp", "newreno", "cubic", "theta-powertcp", "powertcp", "hpcc", "timely"] {
            transport(&format!("kind = \"{kind}\"\nretransmit = \"selective\""));
        }
    }

    #[test]
    fn what_means_nothing_is_refused() {
        let tells = |way: &str| {
            format!(
                "means nothing with retransmit = \"{way}\": NACKs and timeouts \
                                         of its own tell"
            )
        };
        for (key, value) in [
            ("loss_detection", "\"sack\""),
            ("dupthresh", "3"),
            ("min_rto", "\"1ms\""),
            ("reduction", "\"at-once\""),
            ("handshake", "false"),
            ("syn_window", "\"unlimited\""),
        ] {
            for way in ["go-back-n", "selective"] {
                let text = format!("retransmit = \"{way}\"\n{key} = {value}");
                assert_eq!(refused(&text), format!("transport.{key}: {}", tells(way)));
            }
        }
        assert_eq!(
            refused("ack_timeout = \"1ms\""),
            "transport.ack_timeout: it needs retransmit = \"go-back-n\""
        );
        assert_eq!(
            refused("retransmit = \"selective\"\nnack_interval = \"1ms\""),
            "transport.nack_interval: it needs retransmit = \"go-back-n\""
        );
        assert_eq!(
            refused("retransmit = \"go-back-n\"\nrto_low = \"1ms\""),
            "transport.rto_low: it needs retransmit = \"selective\""
        );
        assert_eq!(
            refused("retransmit = \"irn\""),
            "transport.retransmit: \"irn\" is not valid; expected \"tcp\" or \"go-back-n\" or \
             \"selective\"\nhint: valid here: tcp, go-back-n, selective"
        );
        assert_eq!(
            refused("retransmit = \"go-back-n\"\nack_timeout = \"0us\""),
            "transport.ack_timeout: \"0us\" is not valid; expected a time above 0 such as \"45us\", a multiple \
             of the base RTT such as \"3rtt\", or \"none\""
        );
        // pFabric's senders have timeouts alone, and datagrams have no acks.
        for kind in ["pfabric", "udp"] {
            let told = refused(&format!("kind = \"{kind}\"\nretransmit = \"go-back-n\""));
            assert!(told.starts_with("transport.retransmit: unknown key"), "{told}");
        }
    }
}
