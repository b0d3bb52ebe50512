//! Enhanced Dynamic Thresholds: Dynamic Thresholds, except that a port with a new burst may fill
//! the buffer for a short time.
//!
//! # Reference
//! D. Shan, W. Jiang, F. Ren, "Absorbing Micro-burst Traffic by Enhancing Dynamic Threshold Policy
//! of Data Center Switches", IEEE INFOCOM 2015. <https://doi.org/10.1109/INFOCOM.2015.7218373>
//!
//! # Rule
//! This is a reconstruction: only the paper's idea was available, and none of its numbers.
//!
//! - A *controlled* port has the thresholds of Dynamic Thresholds, alpha (B - Q), for its queues.
//! - A port whose queues were empty, and grow by `burst_packets` within `burst_time`, becomes
//!   *uncontrolled*: its queues together may hold B divided by the number of uncontrolled ports
//!   (`limit = "equal"`), or the whole buffer (`limit = "whole"`).
//! - It becomes controlled again when its queues have shrunk by `drain_packets` from their maximum,
//!   when a packet is lost because the buffer had no room, or after `max_time`.
//!
//! # What is left open
//! - Smartbuf's paper, which compares itself with EDT, describes it in two ways: EDT allocates
//!   memory equally among the congested ports (section I), and a port's threshold is then the whole
//!   buffer (section IV). `limit` chooses between them.
//! - Whether a port must also have reached its threshold before it becomes uncontrolled. Here it
//!   need not: under DT a port may hold hundreds of packets, which none reaches in the time of
//!   eight, so all ports would stay controlled. So more ports are uncontrolled, and share the
//!   buffer, than have large bursts; `limit = "whole"` shows the cost of this.
//! - All numbers. Here `burst_packets` is eight and `burst_time` the time that these take at four
//!   times the line's rate; `drain_packets` is four; `max_time` is the time in which a port sends a
//!   whole buffer.
//!
//! # Scope and limitations
//! Packets are counted whatever their size, without the one in transmission. The limit in a burst
//! applies to the port and counts the arrival; the thresholds of Dynamic Thresholds apply to
//! queues.
//!
//! # In composition
//! In a burst the limit is that of the port. Under strict priority what waits in its worse queues
//! counts against packets of better ones, and has them refused; a run warns of this.
//!
//! # Validation
//! Has the same limits, to the byte, and makes the same decisions as a second, naive implementation
//! on thousands of random cases (`tests/naive_edt.rs`). That one searches all lengths that a port
//! has had.
//!
//! # Cost
//! A scan of all ports for every packet that arrives for a port in a burst (`limit = "equal"`); 40
//! bytes for every port.

use super::{Count, DynamicThresholds, Sharing};
use crate::buffer::{Buffer, QueueId};
use crate::catalogue::{Adoption, Environment, Policy};
use crate::cost::{self, Cost, Operations};
use crate::policy::{Admission, Arrival, LARGEST_PACKET, Watch};
use spillway_engine::{Rate, Time};
use spillway_settings::{Section, SettingsError};

/// When a port is in a burst, and what it may hold then.
#[derive(Clone, Debug)]
pub struct EnhancedDynamicThresholdsParams {
    /// The thresholds of queues at ports that are in no burst.
    dynamic: <DynamicThresholds as Policy>::Params,
    /// The packets by which an empty port must grow to be in a burst, from 1 to 1,000,000.
    burst_packets: u32,
    /// The time within which it must do so. By default, the time of these packets at four times the
    /// line's rate.
    burst_time: Option<Time>,
    /// The packets by which a port must shrink for its burst to be over, from 1 to 1,000,000.
    drain_packets: u32,
    /// The longest that a burst may last. By default, the time in which a port sends a whole
    /// buffer.
    max_time: Option<Time>,
    /// Whether ports in a burst share the buffer equally, or each may hold all of it.
    is_equal: bool,
}

/// Dynamic Thresholds, except for ports in a burst.
#[derive(Clone, Debug)]
pub struct EnhancedDynamicThresholds {
    /// Whether ports in a burst share the buffer equally, or each may hold all of it.
    is_equal: bool,
    dynamic: DynamicThresholds,
    ports: Vec<Port>,
    bursts: u64,
}

/// The state of a port.
#[derive(Clone, Copy, Debug)]
struct Port {
    burst_packets: u32,
    burst_time: Time,
    drain_packets: u32,
    max_time: Time,
    /// When its queues were last empty.
    empty_at: Time,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Controlled,
    /// In a burst since `since`, in which the port's queues held at most `most` packets.
    Uncontrolled {
        since: Time,
        most: u32,
    },
}

impl Policy for EnhancedDynamicThresholds {
    const ID: &'static str = "edt";
    const SUMMARY: &'static str =
        "EDT: Dynamic Thresholds, except for ports with a new burst (a reconstruction)";
    const CITATION: &'static str =
        "Shan, Jiang, Ren: EDT, INFOCOM 2015, doi:10.1109/INFOCOM.2015.7218373";
    const COST: Option<Cost> = Some(Cost {
        // The bytes and packets that it holds, and the most packets in the burst; when it was
        // empty, when the burst began, and the two time limits.
        port: cost::State { counters: 3, times: 4, bits: 1, ..cost::State::NONE },
        // Whether its burst continues, how many ports are in one, and an equal share; what the port
        // would hold; whether it was empty, and has grown by a burst in time.
        arrival: DynamicThresholds::TEST.and(Operations {
            additions: 4,
            comparisons: 4,
            divisions: 1,
            port_searches: 1,
            ..Operations::NONE
        }),
        departure: Operations { additions: 3, comparisons: 1, ..Operations::NONE },
        at_times: &[("each loss", Operations { additions: 1, comparisons: 2, ..Operations::NONE })],
        needs: "the ports' rates (all this is the reconstruction's: the paper's rule is not known)",
        ..Cost::NONE
    });

    const CHANGES: &'static [&'static str] =
        &["alpha", "alpha_first_rtt", "burst_packets", "burst_time", "drain_packets", "max_time"];
    const CHANGES_BY_PORT: bool = true;

    type Params = EnhancedDynamicThresholdsParams;

    fn params(
        section: &mut Section,
        environment: &Environment,
    ) -> Result<EnhancedDynamicThresholdsParams, SettingsError> {
        let dynamic = DynamicThresholds::params(section, environment)?;
        let meaning = "packets by which an empty port must grow to be in a burst";
        let burst_packets = section.integer("burst_packets", 8, 1..=1_000_000, meaning)? as u32;
        let meaning = "the time within which it must do so; that of these packets at four times \
                       the line's rate if not given";
        let burst_time = section.optional("burst_time", |s| s.time("burst_time", "", meaning))?;
        let meaning = "packets by which a port must shrink for its burst to be over";
        let drain_packets = section.integer("drain_packets", 4, 1..=1_000_000, meaning)? as u32;
        let meaning = "the longest that a burst may last; the time in which a port sends a whole \
                       buffer if not given";
        let max_time = section.optional("max_time", |s| s.time("max_time", "", meaning))?;
        let meaning = "what a port may hold in a burst: its share of the buffer among such ports, or \
                       all of it";
        let is_equal = section.choice("limit", &[("equal", true), ("whole", false)], meaning)?;
        Ok(EnhancedDynamicThresholdsParams {
            dynamic,
            burst_packets,
            burst_time,
            drain_packets,
            max_time,
            is_equal,
        })
    }

    fn new(params: &EnhancedDynamicThresholdsParams, environment: &Environment) -> Self {
        let burst = u64::from(params.burst_packets) * u64::from(environment.full_packet);
        // If the buffer is unlimited, a burst may last for ever.
        let whole =
            |rate: &Rate| rate.nominal().byte_time().saturating_time_of(environment.capacity);
        let port = |rate: &Rate| {
            let fast = rate.nominal().byte_time().saturating_time_of(burst).ps() / 4;
            Port {
                burst_packets: params.burst_packets,
                burst_time: params.burst_time.unwrap_or(Time::from_ps(fast)),
                drain_packets: params.drain_packets,
                max_time: params.max_time.unwrap_or_else(|| whole(rate)),
                empty_at: Time::ZERO,
                state: State::Controlled,
            }
        };
        EnhancedDynamicThresholds {
            is_equal: params.is_equal,
            dynamic: DynamicThresholds::new(&params.dynamic, environment),
            ports: environment.port_rates.iter().map(port).collect(),
            bursts: 0,
        }
    }

    fn adopt(&mut self, fresh: Self, adoption: &Adoption) {
        self.dynamic.adopt(fresh.dynamic, adoption);
        let before = adoption.now.since(Time::from_ps(1));
        for place in adoption.ports() {
            let (port, fresh) = (&mut self.ports[place as usize], fresh.ports[place as usize]);
            // Bursts that have reached their time limit without any packet since are over.
            if !port.is_uncontrolled(before) {
                port.state = State::Controlled;
            }
            *port = Port { empty_at: port.empty_at, state: port.state, ..fresh };
        }
    }
}

impl Port {
    fn is_uncontrolled(&self, now: Time) -> bool {
        matches!(self.state, State::Uncontrolled { since, .. } if now.since(since) <= self.max_time)
    }
}

impl EnhancedDynamicThresholds {
    fn control(&mut self, port: u32) {
        self.ports[port as usize].state = State::Controlled;
    }

    /// A port's queues have shrunk; its burst may be over.
    fn control_if_drained(&mut self, port: u32, buffer: &Buffer) {
        let Port { state, drain_packets, .. } = self.ports[port as usize];
        if let State::Uncontrolled { most, .. } = state
            && packets_of(port, buffer) + drain_packets <= most
        {
            self.control(port);
        }
    }

    /// The limit of a port in a burst; `None` if it is in no burst.
    fn limit(&self, now: Time, port: u32, capacity: u64) -> Option<u64> {
        if !self.ports[port as usize].is_uncontrolled(now) {
            return None;
        }
        if !self.is_equal {
            return Some(capacity);
        }
        // Other ports' bursts may have reached their time limit without any packet since.
        let uncontrolled = self.ports.iter().filter(|port| port.is_uncontrolled(now));
        Some(capacity / uncontrolled.count() as u64)
    }
}

impl Watch for EnhancedDynamicThresholds {
    /// A packet that passes the idle port of empty queues is no burst, and ends none that could not
    /// have ended before, when these queues became empty. But if `drain_packets` has changed
    /// meanwhile, it may end one.
    fn watches_queues(&self) -> bool {
        let may_change = |port: &Port| port.burst_packets == 1 || port.state != State::Controlled;
        self.ports.iter().any(may_change)
    }

    fn watches_beside_paused(&self) -> bool {
        true
    }

    fn on_enqueue(&mut self, arrival: &Arrival, buffer: &Buffer) {
        let number = buffer.port_of(arrival.queue);
        let packets = packets_of(number, buffer);
        let port = &mut self.ports[number as usize];
        if packets == 1 {
            port.empty_at = arrival.now;
        }
        match &mut port.state {
            State::Uncontrolled { most, .. } => *most = packets.max(*most),
            State::Controlled => {
                let is_fast = arrival.now.since(port.empty_at) <= port.burst_time;
                if packets >= port.burst_packets && is_fast {
                    port.state = State::Uncontrolled { since: arrival.now, most: packets };
                    self.bursts += 1;
                }
            }
        }
    }

    fn on_dequeue(&mut self, _now: Time, queue: QueueId, _size: u32, buffer: &Buffer) {
        self.control_if_drained(buffer.port_of(queue), buffer);
    }

    fn on_drop(&mut self, _now: Time, queue: QueueId, size: u32, buffer: &Buffer) {
        let port = buffer.port_of(queue);
        if buffer.free() < size.into() {
            self.control(port);
        }
        // The packet may have waited at this port, for a link that has failed.
        self.control_if_drained(port, buffer);
    }
}

fn packets_of(port: u32, buffer: &Buffer) -> u32 {
    buffer.queues_of(port).map(|queue| buffer.packets(queue)).sum()
}

impl Sharing for EnhancedDynamicThresholds {
    fn admit(&mut self, arrival: &Arrival, buffer: &Buffer) -> Admission {
        let port = buffer.port_of(arrival.queue);
        let Some(limit) = self.limit(arrival.now, port, buffer.capacity()) else {
            self.control(port);
            return self.dynamic.admit(arrival, buffer);
        };
        Admission::if_within(buffer.port_bytes(port) + u64::from(arrival.size) <= limit)
    }

    fn open_below(&self, capacity: u64) -> u64 {
        // A port in a burst has at least an equal share.
        let is_open = capacity / self.ports.len() as u64 >= LARGEST_PACKET.into();
        if is_open { self.dynamic.open_below(capacity) } else { 0 }
    }

    fn counters(&self) -> Vec<Count> {
        vec![("bursts".into(), self.bursts)]
    }

    fn threshold(&self, arrival: &Arrival, buffer: &Buffer) -> Option<u64> {
        let port = buffer.port_of(arrival.queue);
        let limit = self.limit(arrival.now, port, buffer.capacity());
        limit.or_else(|| self.dynamic.threshold(arrival, buffer))
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{OVER, arrival};
    use super::*;

    /// A buffer of 1,000,000 bytes and four ports of 10 Gbps, which send a full packet in 1.2 us.
    struct Bench {
        edt: EnhancedDynamicThresholds,
        buffer: Buffer,
        now: Time,
    }

    impl Bench {
        fn new(text: &str) -> Bench {
            let mut section = Section::new("sharing", text.parse().unwrap());
            let environment = Environment::example(4);
            let buffer = Buffer::new(environment.capacity, environment.port_rates.clone(), 1);
            let edt = EnhancedDynamicThresholds::read(&mut section, &environment).unwrap();
            Bench { edt, buffer, now: Time::from_us(100) }
        }

        /// Packets join a port's queue, `apart_ns` nanoseconds apart.
        fn join(&mut self, port: u32, packets: u32, apart_ns: u64) {
            for _ in 0..packets {
                let given = Arrival { now: self.now, ..arrival(port, 1500) };
                self.buffer.add(port, 1500);
                self.edt.on_enqueue(&given, &self.buffer);
                self.now += Time::from_ns(apart_ns);
            }
        }

        fn leave(&mut self, port: u32, packets: u32) {
            for _ in 0..packets {
                self.buffer.subtract(port, 1500);
                self.edt.on_dequeue(self.now, port, 1500, &self.buffer);
            }
        }

        fn admits(&mut self, port: u32, size: u32) -> bool {
            let given = Arrival { now: self.now, ..arrival(port, size) };
            self.edt.admit(&given, &self.buffer) != OVER
        }
    }

    #[test]
    fn a_burst_lifts_the_threshold_until_the_queue_has_shrunk() {
        // Eight packets within 2.4 us, their time at 40 Gbps, lift it:
        // T = 0.5 (1,000,000 - 12,000).
        let mut bench = Bench::new("");
        bench.join(0, 7, 342);
        assert!(!bench.admits(0, 490_000));
        bench.join(0, 1, 0);
        assert!(bench.admits(0, 988_000) && !bench.admits(0, 988_001));
        // With three packets fewer, the burst continues; with four fewer, it is over.
        bench.leave(0, 3);
        assert!(bench.admits(0, 900_000));
        bench.leave(0, 1);
        assert!(!bench.admits(0, 900_000));
        // Packets for a queue that has not been empty since are no new burst.
        bench.now += Time::from_us(1);
        bench.join(0, 8, 1);
        assert!(!bench.admits(0, 900_000));
        assert_eq!(bench.edt.counters(), [("bursts".into(), 1)]);
    }

    #[test]
    fn eight_packets_in_more_time_are_no_burst() {
        // 7 * 343 ns = 2.401 us.
        let mut bench = Bench::new("");
        bench.join(0, 8, 343);
        assert!(!bench.admits(0, 900_000));
        let mut bench = Bench::new("burst_time = \"2401ns\"");
        bench.join(0, 8, 343);
        assert!(bench.admits(0, 900_000));
    }

    #[test]
    fn ports_in_bursts_share_the_buffer_or_may_have_all_of_it() {
        for (limit, most) in [("equal", 488_000), ("whole", 988_000)] {
            let mut bench = Bench::new(&format!("limit = \"{limit}\""));
            bench.join(0, 8, 10);
            bench.join(1, 8, 10);
            for port in [0, 1] {
                assert!(bench.admits(port, most) && !bench.admits(port, most + 1), "{limit}");
            }
            // When one of the bursts is over, the other port has all of the buffer.
            bench.leave(1, 4);
            assert!(bench.admits(0, 988_000), "{limit}");
        }
    }

    #[test]
    fn a_full_buffer_and_time_end_a_burst() {
        let mut bench = Bench::new("max_time = \"50us\"");
        bench.join(0, 8, 10);
        // The eighth packet arrived at 100.07 us.
        bench.now = Time::from_ns(150_070);
        assert!(bench.admits(0, 900_000));
        bench.now += Time::from_ps(1);
        assert!(!bench.admits(0, 900_000));

        let mut bench = Bench::new("");
        bench.join(0, 8, 10);
        bench.edt.on_drop(bench.now, 0, 988_000, &bench.buffer);
        assert!(bench.admits(0, 900_000), "there was room for it");
        bench.edt.on_drop(bench.now, 0, 988_001, &bench.buffer);
        assert!(!bench.admits(0, 900_000));
    }

    #[test]
    fn a_burst_that_is_over_does_not_go_on_with_more_time() {
        // The burst began at 100.07 us and may last until 150.07 us.
        for (at_ns, goes_on) in [(120_000, true), (150_070, true), (150_071, false)] {
            let mut bench = Bench::new("max_time = \"50us\"");
            bench.join(0, 8, 10);
            bench.now = Time::from_ns(at_ns);
            let adoption = Adoption { now: bench.now, port: None, buffer: &bench.buffer };
            bench.edt.adopt(Bench::new("max_time = \"1ms\"").edt, &adoption);
            assert_eq!(bench.admits(0, 900_000), goes_on, "{at_ns}");
        }
    }

    #[test]
    fn where_the_buffer_has_no_end_bursts_have_none() {
        let mut section = Section::new("sharing", "limit = \"whole\"".parse().unwrap());
        let capacity = Buffer::UNLIMITED;
        let environment = Environment { capacity, ..Environment::example(4) };
        let edt = EnhancedDynamicThresholds::read(&mut section, &environment).unwrap();
        let buffer = Buffer::new(capacity, environment.port_rates.clone(), 1);
        let mut bench = Bench { edt, buffer, now: Time::from_us(100) };
        bench.join(0, 8, 10);
        bench.now = Time::MAX;
        let given = Arrival { now: bench.now, ..arrival(0, 1500) };
        assert_eq!(bench.edt.threshold(&given, &bench.buffer), Some(capacity));
        assert!(bench.admits(0, 1500));
    }
}
