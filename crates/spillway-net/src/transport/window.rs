//! The congestion window, and what changes it.

use crate::telemetry::Telemetry;
use spillway_engine::Time;

/// A sender's congestion window, in bytes of payload.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Window {
    /// Bytes that may be in flight.
    pub cwnd: u64,
    /// Below it the window grows by what is acknowledged, from it on by a segment each round.
    pub ssthresh: u64,
    /// The part of a byte, in units of 1/cwnd, that growth has not given yet.
    pub credit: u64,
    /// Payload of a full segment.
    pub mss: u64,
    /// Where what had been sent ends when a mark cut the window last; 0 if none of that is in flight.
    pub cut_until: u64,
    /// Whether there is slow start at all.
    pub slow_start: bool,
    /// How long after a packet the next one leaves, in picoseconds for every byte on the wire; 0 for as
    /// soon as the window allows it.
    pub pace: u32,
    /// A cut for congestion leaves at least this.
    pub min: u64,
}

impl Window {
    /// More than any flow has bytes.
    pub const UNLIMITED: u64 = 1 << 62;

    /// A window that is set, and packets so many picoseconds for every byte apart.
    pub fn set_paced(&mut self, cwnd: u64, pace: f64) {
        self.cwnd = cwnd;
        self.ssthresh = cwnd;
        self.pace = pace.round().clamp(1.0, f64::from(u32::MAX)) as u32;
    }

    /// Growth by newly acknowledged bytes: slow start up to `ssthresh`, then a segment for every
    /// window (RFC 5681, section 3.1, by bytes acknowledged as in RFC 3465).
    #[inline]
    pub fn grow(&mut self, acked: u64) {
        let mut acked = acked;
        if self.slow_start && self.cwnd < self.ssthresh {
            let step = acked.min(self.ssthresh - self.cwnd);
            self.cwnd += step;
            acked -= step;
        }
        if acked > 0 {
            // cwnd += mss * acked / cwnd, keeping the remainder; no more than is acknowledged.
            let window = self.cwnd.max(self.mss);
            self.credit += self.mss * acked;
            let step = self.credit / window;
            self.credit -= step * window;
            self.cwnd += step;
        }
    }

    /// A cut to so many bytes, from which the window grows again linearly. It never raises the window: after
    /// a timeout that is less than what a cut leaves.
    #[inline]
    pub fn cut_to(&mut self, bytes: u64) {
        self.ssthresh = bytes.max(self.min);
        self.cwnd = self.cwnd.min(self.ssthresh);
        self.credit = 0;
    }

    /// A cut for the mark that an ack echoes: it holds until all that was sent before is acknowledged.
    #[inline]
    pub fn cut_for_mark(&mut self, bytes: u64, ack: &Ack) {
        self.cut_until = ack.nxt;
        self.cut_to(bytes);
    }

    /// Whether a mark has cut the window for what is in flight: until all of that is acknowledged
    /// there is no other cut for a mark, and no growth (RFC 3168, section 6.1.2).
    #[inline]
    pub fn is_held(&self, ack: &Ack) -> bool {
        self.holds(ack.una)
    }

    /// The same, where all before `una` is acknowledged.
    #[inline]
    pub fn holds(&self, una: u64) -> bool {
        // 0 < una <= cut_until
        una.wrapping_sub(1) < self.cut_until
    }

    /// Whether it was cut since it was (`cwnd`, `ssthresh`), to be reached as `reduction` says. A window
    /// that is set with its pace is set up and down all the time, and holds at once.
    #[inline]
    pub fn is_cut_from(&self, (cwnd, ssthresh): (u64, u64)) -> bool {
        self.ssthresh != ssthresh && self.pace == 0 && self.cwnd <= cwnd.max(self.min)
    }

    /// Half of what is in flight, and two segments at least (RFC 5681, equation 4).
    pub fn halve(&mut self, in_flight: u64) {
        self.ssthresh = (in_flight / 2).max(2 * self.mss);
    }
}

/// What an ack tells a congestion controller.
#[derive(Clone, Copy, Debug)]
pub struct Ack<'a> {
    /// Now.
    pub now: Time,
    /// Bytes newly acknowledged by the cumulative ack.
    pub acked: u64,
    /// How long ago the packet was sent that it acknowledges.
    pub rtt: Time,
    /// Whether it echoes a mark.
    pub ece: bool,
    /// The first byte not acknowledged, after this ack.
    pub una: u64,
    /// The next byte to be sent: the one behind all that is in flight. After a timeout that is where the
    /// repair has come to.
    pub nxt: u64,
    /// Whether the window, rather than the sender's own line, limits what is sent.
    pub may_grow: bool,
    /// Whether lost data is being repaired after a fast retransmit: the window was cut and waits.
    pub in_recovery: bool,
    /// What switches wrote on the packet that it acknowledges, if the transport asks for it.
    pub telemetry: Option<&'a Telemetry>,
}

/// A way of setting the window.
pub trait CongestionControl {
    /// An ack has come. Growth and the reaction to marks happen here.
    fn on_ack(&mut self, window: &mut Window, ack: &Ack);

    /// A loss was found by duplicate acks: sets `ssthresh`; the window is then set to it.
    fn on_loss(&mut self, window: &mut Window, in_flight: u64) {
        window.halve(in_flight);
    }

    /// The retransmission timer ran out: sets `ssthresh`; the window is then one segment. Nothing that
    /// was sent before counts as in flight any more, so growth that waits until that is acknowledged must
    /// wait no longer. A timeout that follows another without an ack for all that was lost is not told.
    fn on_timeout(&mut self, window: &mut Window, in_flight: u64) {
        window.halve(in_flight);
    }

    /// The sender's own host has dropped a packet: a cut as for a mark, where marks cut.
    fn on_local_drop(&mut self, _window: &mut Window) {}
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A window of so many segments of 1000 bytes.
    pub(crate) fn segments(cwnd: u64, ssthresh: u64) -> Window {
        Window {
            cwnd: cwnd * 1000,
            ssthresh: ssthresh * 1000,
            mss: 1000,
            min: 2000,
            cut_until: 0,
            slow_start: true,
            pace: 0,
            credit: 0,
        }
    }

    /// An ack of one segment that ends at `una` (in segments), with `nxt` segments sent.
    pub(crate) fn ack(una: u64, nxt: u64, ece: bool) -> Ack<'static> {
        Ack {
            now: Time::ZERO,
            acked: 1000,
            rtt: Time::ZERO,
            ece,
            una: una * 1000,
            nxt: nxt * 1000,
            may_grow: true,
            in_recovery: false,
            telemetry: None,
        }
    }

    #[test]
    fn slow_start_doubles_in_a_round_and_avoidance_adds_a_segment() {
        let mut window = segments(10, 20);
        (0..10).for_each(|_| window.grow(1000));
        assert_eq!(window.cwnd, 20_000);
        // A window's worth of acks adds a segment, less what the growth on the way took.
        (0..20).for_each(|_| window.grow(1000));
        assert!((20_950..=21_000).contains(&window.cwnd), "{}", window.cwnd);
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
