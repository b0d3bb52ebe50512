//! The tokens that expulsions and transmissions take.

use super::OccamyParams;
use super::preset::Ticks;
use spillway_engine::{Rate, Time};

/// Tokens. Ticks are counted when somebody asks, so that a tick costs nothing.
#[derive(Clone, Debug)]
pub(super) struct Bucket {
    cell: u64,
    refill: i64,
    most: i64,
    needed: i64,
    /// The length of a tick in parts of a picosecond: 2^20 of them are one.
    pub(super) tick: u128,
    /// When the tick 0 is; `None` if nothing has arrived yet.
    pub(super) start: Option<Time>,
    pub(super) tokens: i64,
    /// The ticks that have been counted.
    pub(super) ticks: u64,
}

/// The parts of a picosecond in which ticks are measured, as a logarithm.
pub(super) const PARTS_LOG2: u32 = 20;

impl Bucket {
    pub(super) fn new(params: &OccamyParams, rates: &[Rate]) -> Bucket {
        let bits_per_second: u64 = rates.iter().map(|rate| rate.bits_per_second()).sum();
        // refill cell / (bandwidth R), rounded once.
        let bits = params.refill as f64 * params.cell as f64 * 8.0;
        let seconds = bits / (params.bandwidth * bits_per_second as f64);
        let parts = (seconds * 1e12 * f64::from(1 << PARTS_LOG2)).round();
        let most = params.bucket as i64;
        // Where the first tokens come a tick after the beginning, the tick 0 brings none.
        let (start, tokens, ticks) = match params.rules.ticks {
            Ticks::AtOnce => (Some(Time::ZERO), most, 0),
            Ticks::WithArrival => (None, 0, 0),
            Ticks::AfterATick => (Some(Time::ZERO), 0, 1),
        };
        Bucket {
            cell: params.cell,
            refill: params.refill as i64,
            most,
            needed: params.rules.needed,
            tick: (parts as u128).max(1),
            start,
            tokens,
            ticks,
        }
    }

    /// How many ticks there have been up to this time, which counts.
    pub(super) fn ticks_by(&self, now: Time) -> u64 {
        let since = self.start.filter(|start| *start <= now).map(|start| now.since(start).ps());
        let number = |ps| (u128::from(ps) << PARTS_LOG2) / self.tick + 1;
        since.map_or(0, |ps| u64::try_from(number(ps)).unwrap_or(u64::MAX))
    }

    /// When the tick with this number is, from 0; `None` if it never is.
    fn time_of(&self, tick: u64) -> Option<Time> {
        let ps = u128::from(tick).checked_mul(self.tick)?.div_ceil(1 << PARTS_LOG2);
        let since = Time::from_ps(u64::try_from(ps).ok()?);
        Some(self.start?.saturating_add(since)).filter(|time| *time < Time::MAX)
    }

    /// Adds the tokens of the ticks up to a number.
    pub(super) fn add(&mut self, ticks: u64) {
        if ticks > self.ticks {
            let new = i64::try_from(ticks - self.ticks).unwrap_or(i64::MAX);
            let tokens = self.tokens.saturating_add(self.refill.saturating_mul(new));
            (self.tokens, self.ticks) = (tokens.min(self.most), ticks);
        }
    }

    /// Adds the tokens of all ticks before this time. Whatever happens at a tick happens before it.
    pub(super) fn add_before(&mut self, now: Time) {
        if let Some(before) = now.ps().checked_sub(1) {
            self.add(self.ticks_by(Time::from_ps(before)));
        }
    }

    /// Takes the tokens that a packet costs.
    pub(super) fn charge(&mut self, size: u32) {
        self.tokens -= u64::from(size).div_ceil(self.cell) as i64;
    }

    /// Whether there are enough tokens for an expulsion.
    pub(super) fn has_enough(&self) -> bool {
        self.tokens >= self.needed
    }

    /// The first tick that has not been counted and leaves enough tokens for an expulsion, if
    /// nothing is charged before.
    pub(super) fn next(&self) -> Option<Time> {
        let lacks = (self.needed - self.tokens).max(0);
        let more = (lacks as u64).div_ceil(self.refill as u64).saturating_sub(1);
        self.time_of(self.ticks.saturating_add(more))
    }
}
