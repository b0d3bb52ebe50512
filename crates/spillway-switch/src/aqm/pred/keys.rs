//! The keys of PRED's parts: the counter of flows, the adjuster, and the table.

use super::adjuster::{Rules, Setting, Shape};
use super::counter::Kind;
use crate::aqm::bytes_of;
use crate::catalogue::Environment;
use spillway_engine::Time;
use spillway_settings::{Range, Section, SettingsError};

/// How the slope grows with the number of flows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Growth {
    Linear,
    Root,
    Square,
}

impl Growth {
    /// f(N).
    #[inline]
    pub fn of(self, flows: u32) -> f64 {
        let flows = f64::from(flows);
        match self {
            Growth::Linear => flows,
            Growth::Root => flows.sqrt(),
            Growth::Square => flows * flows,
        }
    }
}

/// The counter of flows.
#[derive(Clone, Debug)]
pub(super) struct Fcs {
    pub kind: Kind,
    pub period: Time,
    pub growth: Growth,
    pub counts_acks: bool,
}

/// The adjuster.
#[derive(Clone, Debug)]
pub(super) struct Qla {
    pub period: Time,
    pub rules: Rules,
    pub of_port: bool,
    pub by_time: bool,
    /// Whether settings are read and written by a slow control plane.
    pub is_slow: bool,
}

/// A table in place of the formula.
#[derive(Clone, Copy, Debug)]
pub(super) struct Steps {
    /// Bytes of a queue that share a row, above 0.
    pub queue: u64,
    /// The number of probabilities above 0.
    pub probabilities: f64,
}

/// The delays of the testbed's control plane in picoseconds (section 4.3): reading, and writing.
pub(super) const READING: (u64, u64) = (5_000_000_000, 12_000_000_000);
pub(super) const WRITING: (u64, u64) = (80_000_000_000, 110_000_000_000);

/// The keys of the counter of flows.
pub(super) fn read_fcs(
    section: &mut Section,
    environment: &Environment,
) -> Result<Option<Fcs>, SettingsError> {
    if !section.flag("fcs", true, "whether the slope follows the number of flows (FCS)")? {
        let keys = ["f", "t_fcs", "counter", "places", "count_max", "hash_bits", "count_acks"];
        section.needs("fcs = true", &keys)?;
        return Ok(None);
    }
    let meaning = "how the slope grows with the number of flows N";
    let growths = [("n", Growth::Linear), ("sqrt-n", Growth::Root), ("n-squared", Growth::Square)];
    let growth = section.choice("f", &growths, meaning)?;
    let meaning = "the period in which flows are counted; by default 1.25 base RTTs";
    let takes = "a time above 0, such as \"25.2us\"";
    let period = section
        .optional("t_fcs", takes, meaning, |section| section.positive_time("t_fcs", "", meaning))?;
    let default = Time::from_ps(environment.base_rtt.ps() / 4 * 5);
    let kind = Kind::read(section)?;
    if let Kind::Hashes { index_bits, hash_bits } = kind
        && index_bits == hash_bits
    {
        let places = 1_u64 << index_bits;
        let problem = format!(
            "{hash_bits} bits only tell {places} places apart: each would hold one hash for ever, and \
             soon no flow would be new"
        );
        return Err(section.error("hash_bits", problem));
    }
    let meaning = "whether acks count as flows, where they share the queues of data";
    let counts_acks = section.flag("count_acks", true, meaning)?;
    Ok(Some(Fcs { kind, period: period.unwrap_or(default), growth, counts_acks }))
}

/// The keys of the adjuster.
pub(super) fn read_qla(
    section: &mut Section,
    environment: &Environment,
    first: Setting,
    max: f64,
) -> Result<Option<Qla>, SettingsError> {
    if !section.flag("qla", true, "whether small trials adjust lambda and min (QLA)")? {
        let of_utility = ["beta", "phi", "q_left", "mean", "qla_scope", "idle"];
        let of_steps = ["delta", "lambda_min", "lambda_max", "min_step", "min_max", "min_trials"];
        for keys in [&["plane", "t_qla"][..], &of_utility, &of_steps] {
            section.needs("qla = true", keys)?;
        }
        return Ok(None);
    }
    let full_packet = f64::from(environment.full_packet);
    let packets = |amount| bytes_of(amount, environment) as f64 / full_packet;
    let planes = [("data", false), ("control", true)];
    let meaning = "where it runs: control is the testbed's, with its delays";
    let is_slow = section.choice("plane", &planes, meaning)?;
    let meaning = "the length of a trial; by default 5 base RTTs, or 400ms on the control plane";
    let takes = "a time above 0, such as \"25.2us\"";
    let period = section
        .optional("t_qla", takes, meaning, |section| section.positive_time("t_qla", "", meaning))?;
    let default = if is_slow { Time::from_us(400_000) } else { environment.base_rtt * 5 };
    let period = period.unwrap_or(default);
    if is_slow && period.ps() < READING.1 + WRITING.1 {
        return Err(section.error("t_qla", "the control plane needs 122 ms to read and write"));
    }
    let beta =
        section.number("beta", 0.4, Range::Unit, "the weight of throughput in the utility")?;
    let shapes =
        [("linear", Shape::Linear), ("square", Shape::Square), ("reciprocal", Shape::Reciprocal)];
    let meaning = "how the utility falls with the mean queue, from `q_left` on";
    let shape = section.choice("phi", &shapes, meaning)?;
    let q_left =
        section.amount("q_left", "15pkt", "the mean queue up to which shorter is no better")?;
    let q_left = packets(q_left);
    if q_left >= max {
        return Err(
            section.error("q_left", "the utility falls from here to `max`; it must be less")
        );
    }
    let meanings = "the mean queue: over time, or over what arrivals find";
    let by_time = section.choice("mean", &[("time", true), ("arrivals", false)], meanings)?;
    let meaning = "whose throughput and queue it looks at";
    let of_port = section.choice("qla_scope", &[("queue", false), ("port", true)], meaning)?;
    let step = section.number("delta", 0.025, Range::Positive, "a step of lambda")?;
    let meaning = "the least lambda; below it, `min` moves instead";
    let lambda_min = section.number("lambda_min", 0.05, Range::Positive, meaning)?;
    let meaning = "the largest lambda; none by default";
    let takes = "a number in (0, inf)";
    let lambda_max = section.optional("lambda_max", takes, meaning, |section| {
        section.number("lambda_max", None, Range::Positive, meaning)
    })?;
    let lambda_max = lambda_max.unwrap_or(f64::INFINITY);
    if lambda_max < first.lambda || first.lambda < lambda_min {
        let problem = "lambda must be from lambda_min to lambda_max";
        return Err(section.error("lambda", problem));
    }
    if step >= lambda_min {
        let problem = format!(
            "{step} is not below lambda_min = {lambda_min}: lambda - delta would be 0, which marks \
             nothing however many flows there are"
        );
        return Err(section.error("delta", problem));
    }
    let min_step = section.amount("min_step", "5pkt", "a step of `min`")?;
    if matches!(bytes_of(min_step, environment), 0 | u64::MAX) {
        let problem = format!("{min_step} is not valid; a step is above 0, and finite");
        return Err(section.error("min_step", problem));
    }
    let meaning = "the largest `min`; by default `max`";
    let takes = "a length such as \"65pkt\" or \"100KB\"";
    let min_max = section
        .optional("min_max", takes, meaning, |section| section.amount("min_max", "", meaning))?;
    let min_max = min_max.map_or(max, packets);
    if min_max < first.min || min_max > max {
        return Err(section.error("min_max", "it must be from `min` to `max`"));
    }
    let trials = [("both-sides", true), ("one-side", false)];
    let meaning = "what is compared where `min` moves: a step less with a step more, or with none";
    let both_sides = section.choice("min_trials", &trials, meaning)?;
    let meaning = "what a trial without a packet does: it counts, or the four trials begin anew";
    let skips_idle =
        section.choice("idle", &[("counts", false), ("begins-anew", true)], meaning)?;
    let rules = Rules {
        beta,
        shape,
        q_left,
        max,
        step,
        lambda_min,
        lambda_max,
        min_step: packets(min_step),
        min_first: first.min,
        min_max,
        both_sides,
        skips_idle,
    };
    Ok(Some(Qla { period, rules, of_port, by_time, is_slow }))
}

/// The keys of the table.
pub(super) fn read_steps(section: &mut Section) -> Result<Option<Steps>, SettingsError> {
    let meaning = "the rows of a table of probabilities; by default the formula is exact";
    let takes = "a size above 0, such as \"1500B\" or \"4MB\"";
    let queue = section.optional("table_step", takes, meaning, |section| {
        section.positive_size("table_step", "", meaning)
    })?;
    let Some(queue) = queue else {
        section.needs("`table_step`", &["table_bits"])?;
        return Ok(None);
    };
    let meaning = "bits of a probability in the table";
    let bits = section.integer("table_bits", 8, 1..=32, meaning)?;
    Ok(Some(Steps { queue, probabilities: ((1_u64 << bits) - 1) as f64 }))
}
