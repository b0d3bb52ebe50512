//! The congestion window, and how it changes.

use crate::telemetry::Telemetry;
use spillway_engine::{Clock, Time};

/// A sender's congestion window, in bytes of payload.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Window {
    /// The most bytes that may be in flight.
    pub cwnd: u64,
    /// Below it the window grows by the bytes that are acknowledged, from it on by one segment per
    /// round trip.
    pub ssthresh: u64,
    /// Growth of less than a [unit](Window::unit) that the window has not received yet, in bytes
    /// times 1/cwnd.
    pub credit: u64,
    /// Payload of a full segment.
    pub mss: u64,
    /// The next byte to be sent when a mark last cut the window; 0 if none of the data before it is
    /// in flight.
    pub cut_until: u64,
    /// Whether there is slow start.
    pub slow_start: bool,
    /// Whether a packet that waits for its pace leaves earlier or later when the pace changes.
    pub moves_next: bool,
    /// Whether gaps between packets are cut to whole nanoseconds.
    pub whole_ns: bool,
    /// Whether a short packet needs as much room as a full one.
    pub is_for_full: bool,
    /// Whether it grows by whole segments, and cuts leave whole ones.
    pub in_segments: bool,
    /// The host's clock, by which gaps between packets are measured.
    pub clock: Clock,
    /// The spacing of packets, in picoseconds for every byte on the wire; 0 if only the window
    /// limits them.
    pub pace: u32,
    /// The least window that a cut for congestion leaves.
    pub min: u64,
}

impl Window {
    /// More bytes than any flow has.
    pub const UNLIMITED: u64 = 1 << 62;

    /// Sets the window, and the pace in picoseconds per byte.
    pub fn set_paced(&mut self, cwnd: u64, pace: f64) {
        self.cwnd = cwnd;
        self.ssthresh = cwnd;
        self.set_pace(pace);
    }

    /// Sets the pace alone.
    pub fn set_pace(&mut self, pace: f64) {
        self.pace = pace.round().clamp(1.0, f64::from(u32::MAX)) as u32;
    }

    /// The window with which packets leave as long as fewer than `bytes` bytes are in flight, even
    /// packets that do not fit. Usually a segment leaves if it fits beside what is in flight. In a
    /// window that is larger by a segment less a byte, a full segment fits exactly as long as fewer
    /// than `bytes` bytes are in flight.
    pub fn with_overshoot(&mut self, bytes: u64) -> u64 {
        self.is_for_full = true;
        bytes + self.mss - 1
    }

    /// The room in the window that a segment with so much payload needs.
    #[inline]
    pub fn room_for(&self, payload: u64) -> u64 {
        if self.is_for_full { self.mss } else { payload }
    }

    /// The time that a packet of so many bytes takes at the pace.
    pub fn time_of(&self, bytes: u64) -> Time {
        Time::from_ps(bytes * u64::from(self.pace))
    }

    /// The gap until the next packet, measured by the host's clock, if `exact` is the intended gap.
    /// If times are cut to whole nanoseconds, so is the gap.
    pub fn gap(&self, exact: Time) -> Time {
        if self.whole_ns { exact.in_whole_ns() } else { self.clock.stretch(exact) }
    }

    /// The unit in which the window changes: a byte or a segment.
    pub fn unit(&self) -> u64 {
        if self.in_segments { self.mss } else { 1 }
    }

    /// This many bytes or, if the window is in segments, the whole segments of them.
    pub fn whole(&self, bytes: u64) -> u64 {
        if self.in_segments { bytes / self.mss * self.mss } else { bytes }
    }

    /// The whole bytes or segments of so many bytes. A rounding error does not matter: 0.7 times 30
    /// segments are 21.
    pub fn whole_of(&self, bytes: f64) -> u64 {
        let segments = || (bytes / self.mss as f64 + 1e-9) as u64;
        if self.in_segments { segments() * self.mss } else { bytes as u64 }
    }

    /// Growth by newly acknowledged bytes: slow start up to `ssthresh`, then a segment for every
    /// window (RFC 5681, section 3.1, by bytes acknowledged as in RFC 3465).
    #[inline]
    pub fn grow(&mut self, acked: u64) {
        let mut acked = acked;
        if self.slow_start && self.cwnd < self.ssthresh {
            // A short segment counts as one.
            let counts = if self.in_segments { acked.next_multiple_of(self.mss) } else { acked };
            let step = counts.min(self.ssthresh - self.cwnd);
            self.cwnd += step;
            acked = acked.saturating_sub(step);
        }
        if acked > 0 {
            // cwnd += mss * acked / cwnd, keeping the remainder; no more than is acknowledged.
            let (window, unit) = (self.cwnd.max(self.mss), self.unit());
            self.credit += self.mss * acked;
            let steps = self.credit / (window * unit);
            self.credit -= steps * window * unit;
            self.cwnd += steps * unit;
        }
    }

    /// Cuts the window to this many bytes, from which it grows linearly. It never raises the
    /// window, which may be smaller after a timeout.
    #[inline]
    pub fn cut_to(&mut self, bytes: u64) {
        self.ssthresh = self.whole(bytes).max(self.min);
        self.cwnd = self.cwnd.min(self.ssthresh);
        self.credit = 0;
    }

    /// Cuts the window for a mark that an ack echoes. The cut holds until everything sent before it
    /// is acknowledged.
    #[inline]
    pub fn cut_for_mark(&mut self, bytes: u64, ack: &Ack) {
        self.cut_until = ack.nxt;
        self.cut_to(bytes);
    }

    /// Whether a mark has cut the window for the data in flight. Until all of that is acknowledged,
    /// there is no other cut for a mark, and no growth (RFC 3168, section 6.1.2).
    #[inline]
    pub fn is_held(&self, ack: &Ack) -> bool {
        self.holds(ack.una)
    }

    /// As above, given that everything before `una` is acknowledged.
    #[inline]
    pub fn holds(&self, una: u64) -> bool {
        // 0 < una <= cut_until
        una.wrapping_sub(1) < self.cut_until
    }

    /// Whether the window was cut since it had these values of `cwnd` and `ssthresh`, so that
    /// `reduction` applies. Never true for a window that is set together with a pace: such a window
    /// rises and falls all the time, and takes effect at once.
    #[inline]
    pub fn is_cut_from(&self, (cwnd, ssthresh): (u64, u64)) -> bool {
        self.ssthresh != ssthresh && self.pace == 0 && self.cwnd <= cwnd.max(self.min)
    }

    /// Sets `ssthresh` to half of what is in flight, but to at least two segments (RFC 5681,
    /// equation 4).
    pub fn halve(&mut self, in_flight: u64) {
        self.ssthresh = self.whole(in_flight / 2).max(2 * self.mss);
    }
}

/// What a congestion controller is told about an ack.
#[derive(Clone, Copy, Debug)]
pub struct Ack<'a> {
    /// Now.
    pub now: Time,
    /// Bytes newly acknowledged by the cumulative ack.
    pub acked: u64,
    /// Bytes that are newly known to have arrived, including those behind a gap.
    pub delivered: u64,
    /// The round trip of the packet that it acknowledges.
    pub rtt: Time,
    /// Whether it echoes a mark.
    pub ece: bool,
    /// The first unacknowledged byte, after this ack.
    pub una: u64,
    /// The next byte to be sent, which is the one behind everything in flight. After a timeout it
    /// is the byte up to which data has been retransmitted.
    pub nxt: u64,
    /// Whether the window limits what is sent, and not the sender's own line.
    pub may_grow: bool,
    /// Whether the sender is in recovery: the window was cut and does not change.
    pub in_recovery: bool,
    /// Whether the sender is to do as ns-3's does (`recovery = "ns3"`).
    pub as_ns3: bool,
    /// What switches have written on the packet that it acknowledges, if the transport asks for it.
    pub telemetry: Option<&'a Telemetry>,
}

/// An ack that has come while losses are repaired as in ns-3.
#[derive(Clone, Copy, Debug)]
pub struct Repair {
    /// Whether the sender is in recovery, and not after a timeout.
    pub in_recovery: bool,
    /// Whether the ack reports that something has arrived.
    pub tells: bool,
    /// Bytes in flight, not counting the segment that the ack lets go regardless of the window.
    pub in_flight: u64,
    /// The byte behind what was sent last, or the beginning of the segment that the ack lets go.
    pub sent_last: u64,
}

/// How a window reacts to acks and losses.
pub trait CongestionControl {
    /// An ack has arrived. Growth and the reaction to marks happen here.
    fn on_ack(&mut self, window: &mut Window, ack: &Ack);

    /// Selective acks have shown a loss: sets `ssthresh`, to which the window is then set.
    fn on_loss(&mut self, window: &mut Window, in_flight: u64) {
        window.halve(in_flight);
    }

    /// The retransmission timer has expired: sets `ssthresh`. The window is then one segment. Data
    /// sent before no longer counts as in flight, so growth must not wait any longer for its
    /// acknowledgement. Not called for further timeouts in a row.
    fn on_timeout(&mut self, window: &mut Window, in_flight: u64) {
        window.halve(in_flight);
    }

    /// Called again for the same ack, once the sender has decided what it retransmits.
    fn on_repair(&mut self, _window: &mut Window, _repair: &Repair) {}

    /// The next flow of the connection begins, after a time without data. Bytes are numbered on
    /// from flow to flow, and telemetry and times of earlier packets stay valid. So this matters
    /// only to state that assumes data to be sent all the time.
    fn on_idle(&mut self, _idle: Time) {}

    /// The sender's own host has dropped a packet: cuts as for a mark, if marks cut.
    fn on_local_drop(&mut self, _window: &mut Window) {}

    /// A paced sender lets a packet go that has so many bytes on the wire. Returns the time after
    /// which the next packet may leave.
    fn on_send(&mut self, window: &mut Window, _now: Time, bytes: u64) -> Time {
        window.time_of(bytes)
    }

    /// A notification from the receiver says that a packet was marked.
    fn on_notification(&mut self, _window: &mut Window, _now: Time) {}
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A window of this many segments of 1000 bytes.
    pub(crate) fn segments(cwnd: u64, ssthresh: u64) -> Window {
        Window {
            cwnd: cwnd * 1000,
            ssthresh: ssthresh * 1000,
            mss: 1000,
            min: 2000,
            cut_until: 0,
            slow_start: true,
            moves_next: false,
            whole_ns: false,
            is_for_full: false,
            in_segments: false,
            clock: Clock::EXACT,
            pace: 0,
            credit: 0,
        }
    }

    /// A host that is 250 ppm slow lets 1,000 ns last for 1,000 / 0.99975 = 1,000.25006 ns.
    #[test]
    fn gaps_are_those_of_the_hosts_clock() {
        let window = Window { clock: Clock::off_by_ppb(-250_000), ..segments(1, 1) };
        assert_eq!(window.gap(Time::from_ns(1_000)), Time::from_ps(1_000_251));
    }

    /// At 200 ps a byte 1,048 bytes take 209.6 ns, and 1,000 bytes 200 ns.
    #[test]
    fn gaps_are_cut_where_times_are() {
        let exact = segments(1, 1);
        let cut = Window { whole_ns: true, ..exact };
        for (ps, whole) in [(209_600, 209), (200_000, 199), (0, 0)] {
            let gap = Time::from_ps(ps);
            assert_eq!((exact.gap(gap), cut.gap(gap)), (gap, Time::from_ns(whole)));
        }
    }

    /// An ack of one segment that ends at `una` (in segments), with `nxt` segments sent.
    pub(crate) fn ack(una: u64, nxt: u64, ece: bool) -> Ack<'static> {
        Ack {
            now: Time::ZERO,
            acked: 1000,
            delivered: 1000,
            rtt: Time::ZERO,
            ece,
            una: una * 1000,
            nxt: nxt * 1000,
            may_grow: true,
            in_recovery: false,
            as_ns3: false,
            telemetry: None,
        }
    }

    #[test]
    fn slow_start_doubles_in_a_round_and_avoidance_adds_a_segment() {
        let mut window = segments(10, 20);
        (0..10).for_each(|_| window.grow(1000));
        assert_eq!(window.cwnd, 20_000);
        // The acks of one window add a segment, a little less because the window grows meanwhile.
        (0..20).for_each(|_| window.grow(1000));
        assert!((20_950..=21_000).contains(&window.cwnd), "{}", window.cwnd);
    }

    /// Linux's `tcp_cong_avoid_ai`: the eleventh ack of ten segments makes no eleventh and a bit.
    #[test]
    fn whole_segments_are_added_once_a_window_is_acknowledged() {
        let mut window = Window { in_segments: true, ..segments(10, 10) };
        let mut after = |acks| {
            (0..acks).for_each(|_| window.grow(1000));
            window.cwnd
        };
        assert_eq!([after(9), after(1), after(10), after(1)], [10_000, 11_000, 11_000, 12_000]);
        // An ack of two windows and a half.
        window.grow(30_000);
        assert_eq!((window.cwnd, window.credit), (14_000, 1000 * 6_000));
        // In slow start a short segment makes a whole one.
        let mut starts = Window { in_segments: true, ..segments(10, 12) };
        starts.grow(100);
        assert_eq!((starts.cwnd, starts.credit), (11_000, 0));
        // Half of 14 segments and a bit, and of 15.
        window.halve(14_900);
        assert_eq!(window.ssthresh, 7_000);
        window.cut_to(7_999);
        assert_eq!((window.cwnd, window.ssthresh), (7_000, 7_000));
    }

    #[test]
    fn without_slow_start_growth_is_linear_from_the_first_ack() {
        let mut window = Window { slow_start: false, ..segments(10, 1_000) };
        (0..10).for_each(|_| window.grow(1000));
        assert!((10_900..=11_000).contains(&window.cwnd), "{}", window.cwnd);
    }

    #[test]
    fn what_is_left_of_an_ack_at_the_threshold_grows_linearly() {
        // 1500 to the threshold, then 1000 * 500 / 20,000 = 25.
        let mut window = Window { cwnd: 18_500, ..segments(0, 20) };
        window.grow(2000);
        assert_eq!(window.cwnd, 20_025);
    }
}
