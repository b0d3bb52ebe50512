//! Bursts at the ports of a switch: how fast they grew, how large they became, and how large they
//! would have become in an unlimited buffer.
//!
//! Bursts are defined as in Smartbuf's Algorithm 1, whatever policy shares the buffer: a burst is
//! detected when a port holds more than `above` bytes, and is over when the port holds less than
//! `beta` of the burst's maximum. A port is examined whenever a packet leaves it.

use crate::burst::{Burst, KeyGradient};
use spillway_engine::{ByteTime, Time};

/// What counts as a burst.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BurstTracing {
    /// A port that holds more bytes than this is in a burst (B / sigma).
    pub above: u64,
    /// The share of its maximum below which a burst is over.
    pub beta: f64,
}

/// A burst that is over, or that the end of the run cut off.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BurstReport {
    /// The port.
    pub port: u32,
    /// When its queues began to grow: when the first packet after the previous burst left the port.
    pub start: Time,
    /// When it was detected.
    pub detected: Time,
    /// When it was over; `None` if the run ended before.
    pub end: Option<Time>,
    /// How fast its queues grew when it was detected: a smoothed rate, in bytes per second.
    pub gradient: f64,
    /// The most bytes that the port held.
    pub peak_bytes: u64,
    /// The most bytes that it would have held if nothing had ever been lost.
    pub demand_bytes: u64,
    /// The sharing policy's limits for the port while the burst lasted.
    pub limits: Option<Limits>,
    /// Packets lost.
    pub lost_packets: u64,
    /// Their bytes.
    pub lost_bytes: u64,
}

/// The limits during a burst. A limit is taken at each departure of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// At the detection.
    pub first: u64,
    /// At the last departure before the burst was over.
    pub last: u64,
    /// The least of them.
    pub least: u64,
    /// The greatest of them.
    pub most: u64,
}

/// The bursts of all ports.
#[derive(Clone, Debug)]
pub struct Bursts {
    tracing: BurstTracing,
    ports: Vec<Port>,
    over: Vec<BurstReport>,
}

/// A packet that has left a port.
#[derive(Clone, Copy, Debug)]
pub struct Left {
    /// When.
    pub now: Time,
    /// The port.
    pub port: u32,
    /// Bytes that are left there.
    pub bytes: u64,
    /// When the packet's transmission ends.
    pub sent: Time,
}

#[derive(Clone, Copy, Debug, Default)]
struct Port {
    burst: Burst,
    unbounded: Unbounded,
    start: Option<Time>,
    detected: Option<Time>,
    demand_bytes: u64,
    limits: Option<Limits>,
    lost_packets: u64,
}

/// The queue that a port would have if it had lost nothing. It holds the port's bytes and `excess`
/// bytes more. While the port sends a packet, this queue sends the same packet. While the port is
/// idle, this queue sends its excess.
#[derive(Clone, Copy, Debug, Default)]
struct Unbounded {
    excess: u64,
    /// When the port has sent all that it took out of its queues.
    idle_from: Time,
}

impl Unbounded {
    fn serve(&mut self, now: Time, byte_time: ByteTime) {
        let served = byte_time.bytes_in(now.since(self.idle_from));
        self.excess = self.excess.saturating_sub(served);
        self.idle_from = self.idle_from.max(now);
    }
}

impl Bursts {
    /// The state before any of the `ports` ports has held anything.
    pub fn new(tracing: BurstTracing, ports: usize) -> Bursts {
        Bursts { tracing, ports: vec![Port::default(); ports], over: Vec::new() }
    }

    /// A packet has left a port. The port may now hold `limit` bytes, and takes `byte_time`
    /// to send a byte.
    pub fn departs(&mut self, left: Left, byte_time: ByteTime, limit: Option<u64>) {
        let Left { now, port: number, bytes, sent } = left;
        let BurstTracing { above, beta } = self.tracing;
        let port = &mut self.ports[number as usize];
        port.unbounded.serve(now, byte_time);
        port.unbounded.idle_from = sent;
        let start = *port.start.get_or_insert(now);
        port.burst.sample(now, bytes, sent, PAST);
        port.demand_bytes = port.demand_bytes.max(bytes + port.unbounded.excess);
        let is_large = port.burst.max_held > above;
        if bytes as f64 >= beta * port.burst.max_held as f64 {
            if is_large {
                port.detected.get_or_insert(now);
                port.burst.detect();
                port.limits = limit.map(|limit| Limits::with(port.limits, limit));
            }
            return;
        }
        if let Some(report) = port.report(number, start, Some(now)) {
            self.over.push(report);
        }
        let unbounded = port.unbounded;
        port.burst.end();
        *port = Port { burst: port.burst, unbounded, ..Port::default() };
    }

    /// A packet for a port that holds `bytes` bytes has been lost.
    pub fn loses(&mut self, now: Time, port: u32, size: u32, bytes: u64, byte_time: ByteTime) {
        let port = &mut self.ports[port as usize];
        port.unbounded.serve(now, byte_time);
        port.unbounded.excess += u64::from(size);
        port.demand_bytes = port.demand_bytes.max(bytes + port.unbounded.excess);
        port.lost_packets += 1;
        port.burst.lose(size.into());
    }

    /// What a port that holds `bytes` bytes would hold if nothing had ever been lost.
    pub fn unbounded(&self, now: Time, port: u32, bytes: u64, byte_time: ByteTime) -> u64 {
        let mut unbounded = self.ports[port as usize].unbounded;
        unbounded.serve(now, byte_time);
        bytes + unbounded.excess
    }

    /// Takes the bursts that ended since the last call.
    pub fn take(&mut self) -> Vec<BurstReport> {
        std::mem::take(&mut self.over)
    }

    /// The run is over: the bursts still going on are reported without an end.
    pub fn finish(&mut self) {
        for (number, port) in (0..).zip(&self.ports) {
            self.over.extend(port.start.and_then(|start| port.report(number, start, None)));
        }
    }
}

/// The weight of the previous gradient, as in Algorithm 1.
const PAST: f64 = 0.75;

impl Port {
    fn report(&self, port: u32, start: Time, end: Option<Time>) -> Option<BurstReport> {
        self.detected.map(|detected| BurstReport {
            port,
            start,
            detected,
            end,
            gradient: self.burst.key(KeyGradient::AtDetection),
            peak_bytes: self.burst.max_held,
            demand_bytes: self.demand_bytes,
            limits: self.limits,
            lost_packets: self.lost_packets,
            lost_bytes: self.burst.lost,
        })
    }
}

impl Limits {
    fn with(before: Option<Limits>, last: u64) -> Limits {
        match before {
            None => Limits { first: last, last, least: last, most: last },
            Some(Limits { first, least, most, .. }) => {
                Limits { first, last, least: least.min(last), most: most.max(last) }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BYTE: ByteTime = ByteTime::from_ps(800);

    /// A port of 10 Gbps, which takes 800 ps for a byte. A burst is more than 10,000 bytes, and
    /// lasts until half of its maximum is left.
    struct Bench {
        bursts: Bursts,
        now: Time,
    }

    impl Bench {
        fn new() -> Bench {
            let tracing = BurstTracing { above: 10_000, beta: 0.5 };
            Bench { bursts: Bursts::new(tracing, 2), now: Time::from_us(10) }
        }

        /// A packet of 1000 bytes leaves port 1 and has been sent 800 ns later.
        fn leaves(&mut self, bytes: u64, limit: Option<u64>) {
            let sent = self.now + Time::from_ns(800);
            self.bursts.departs(Left { now: self.now, port: 1, bytes, sent }, BYTE, limit);
            self.now = sent;
        }

        fn loses(&mut self, size: u32, bytes: u64) {
            self.bursts.loses(self.now, 1, size, bytes, BYTE);
        }

        fn unbounded(&self, bytes: u64) -> u64 {
            self.bursts.unbounded(self.now, 1, bytes, BYTE)
        }
    }

    #[test]
    fn a_burst_is_told_with_all_that_it_was() {
        let mut bench = Bench::new();
        for (bytes, limit) in [(4_000, 90), (8_000, 80), (12_000, 70), (16_000, 50)] {
            bench.leaves(bytes, Some(limit));
        }
        bench.loses(1_500, 16_000);
        bench.loses(500, 16_500);
        bench.leaves(15_000, Some(60));
        assert!(bench.bursts.take().is_empty());
        // Below half of 16,000 the burst is over; the limit at that moment no longer counts.
        bench.leaves(7_999, Some(1));
        let expected = BurstReport {
            port: 1,
            start: Time::from_us(10),
            detected: Time::from_ns(11_600),
            end: Some(Time::from_us(14)),
            // The queue always grew by 4000 bytes in 800 ns.
            gradient: 5e9,
            peak_bytes: 16_000,
            demand_bytes: 18_500,
            limits: Some(Limits { first: 70, last: 60, least: 50, most: 70 }),
            lost_packets: 2,
            lost_bytes: 2_000,
        };
        assert_eq!(bench.bursts.take(), [expected]);
        assert!(bench.bursts.take().is_empty());
    }

    #[test]
    fn what_is_small_or_has_no_limit_is_told_as_that() {
        let mut bench = Bench::new();
        for bytes in [5_000, 10_000, 4_000, 10_001] {
            bench.leaves(bytes, None);
        }
        bench.bursts.finish();
        let reports = bench.bursts.take();
        assert_eq!(reports.len(), 1, "10,000 bytes are not above 10,000");
        let report = reports[0];
        assert_eq!((report.start, report.end, report.limits), (Time::from_ns(12_400), None, None));
        assert_eq!((report.peak_bytes, report.demand_bytes), (10_001, 10_001));
    }

    #[test]
    fn a_queue_that_loses_nothing_is_served_on_when_the_port_is_idle() {
        let mut bench = Bench::new();
        bench.leaves(1_000, None);
        bench.loses(3_000, 1_000);
        assert_eq!(bench.unbounded(1_000), 4_000);
        // The last packet leaves. While it is sent, both queues are served.
        bench.leaves(0, None);
        assert_eq!(bench.unbounded(0), 3_000);
        // Then 1000 bytes of the excess are sent within 800 ns, and all of it within 2400 ns.
        bench.now += Time::from_ns(800);
        assert_eq!(bench.unbounded(0), 2_000);
        bench.leaves(0, None);
        assert_eq!(bench.unbounded(0), 2_000);
        bench.now += Time::from_ns(1_600);
        assert_eq!(bench.unbounded(0), 0);
    }
}
