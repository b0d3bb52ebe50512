//! The keys of PRED's parts: the counter of flows, the adjuster, and the table.

use super::adjuster::{Idle, RoundTrips, Rules, Setting, Shape};
use super::counter::Kind;
use crate::aqm::{Scope, bytes_of};
use crate::catalogue::Environment;
use spillway_engine::Time;
use spillway_settings::{ErrorKind, Range, Section, SettingsError};

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
    pub base_rtt: Time,
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

/// Whether the defaults are those of the paper's text.
pub(super) fn read_preset(section: &mut Section) -> Result<bool, SettingsError> {
    let meaning = "whose defaults other keys have: those measured here to hold the queue, or the paper's text";
    section.choice("preset", &[("settled", false), ("paper", true)], meaning)
}

/// What the settled preset has: the largest min in packets, and the largest lambda.
const MIN_MAX: f64 = 15.0;
const LAMBDA_MAX: f64 = 0.3;

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
    let period =
        section.optional("t_fcs", |section| section.positive_time("t_fcs", "", meaning))?;
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
        return Err(section.conflict("hash_bits", problem));
    }
    let meaning = "whether acks count as flows, where they share the queues of data";
    let counts_acks = section.flag("count_acks", true, meaning)?;
    Ok(Some(Fcs { kind, period: period.unwrap_or(default), growth, counts_acks }))
}

/// The keys of the adjuster.
pub(super) fn read_qla(
    section: &mut Section,
    environment: &Environment,
    is_paper: bool,
    scope: Scope,
    first: Setting,
    max: f64,
) -> Result<Option<Qla>, SettingsError> {
    if !section.flag("qla", true, "whether small trials adjust lambda and min (QLA)")? {
        let of_utility = ["beta", "phi", "q_left", "mean", "qla_scope", "idle"];
        let of_steps = ["delta", "lambda_min", "lambda_max", "min_step", "min_max", "min_trials"];
        let of_trials = [
            "plane",
            "t_qla",
            "trials",
            "trial_rtts",
            "settle_rtts",
            "tolerance",
            "decides",
            "busy",
        ];
        for keys in [&of_trials[..], &of_utility, &["phi_end"], &of_steps] {
            section.needs("qla = true", keys)?;
        }
        return Ok(None);
    }
    let full_packet = f64::from(environment.full_packet);
    let packets = |amount| bytes_of(amount, environment) as f64 / full_packet;
    let planes = [("data", false), ("control", true)];
    let meaning = "where it runs: control is the testbed's, with its delays";
    let is_slow = section.choice("plane", &planes, meaning)?;
    let meaning = "how often it measures, the text's length of a trial; by default 5 base RTTs, or 400ms on the \
                   control plane";
    let period =
        section.optional("t_qla", |section| section.positive_time("t_qla", "", meaning))?;
    let default = if is_slow { Time::from_us(400_000) } else { environment.base_rtt * 5 };
    let period = period.unwrap_or(default);
    if is_slow && period.ps() < READING.1 + WRITING.1 {
        return Err(section.conflict("t_qla", "the control plane needs 122 ms to read and write"));
    }
    let round_trips = read_trials(section, is_paper || is_slow)?;
    let beta = if is_paper { 0.4 } else { 0.25 };
    let beta =
        section.number("beta", beta, Range::Unit, "the weight of throughput in the utility")?;
    let [one, other] = first_if(is_paper, ("linear", Shape::Linear), ("square", Shape::Square));
    let shapes = [one, other, ("reciprocal", Shape::Reciprocal)];
    let meaning = "how the utility falls with the mean queue, from `q_left` on";
    let shape = section.choice("phi", &shapes, meaning)?;
    let meaning = "the mean queue up to which shorter is no better";
    let q_left = section.amount("q_left", if is_paper { "15pkt" } else { "14.5pkt" }, meaning)?;
    let q_left = packets(q_left);
    if q_left >= max {
        return Err(
            section.conflict("q_left", "the utility falls from here to `max`; it must be less")
        );
    }
    let phi_end = match shape {
        Shape::Reciprocal => {
            section.needs("phi = \"linear\" or \"square\"", &["phi_end"])?;
            max
        }
        _ => {
            let meaning = "the mean queue from which on its utility is 0; by default `max`";
            let given =
                section.optional("phi_end", |section| section.amount("phi_end", "", meaning))?;
            given.map_or(max, packets)
        }
    };
    if phi_end <= q_left || phi_end > max {
        return Err(section.conflict("phi_end", "it must be above `q_left`, and at most `max`"));
    }
    let meanings = "the mean queue: over time, or over what arrivals find";
    let by_time = section.choice("mean", &[("time", true), ("arrivals", false)], meanings)?;
    let meaning = "whose throughput and queue it looks at";
    let of_port = if scope == Scope::Port {
        section.needs("scope = \"queue\"", &["qla_scope"])?;
        true
    } else {
        section.choice("qla_scope", &[("queue", false), ("port", true)], meaning)?
    };
    let step = section.number("delta", 0.025, Range::Positive, "a step of lambda")?;
    let meaning = "the least lambda; below it, `min` moves instead";
    let lambda_min = section.number("lambda_min", 0.05, Range::Positive, meaning)?;
    let meaning = "the largest lambda; by default 0.3, or where it begins if that is more; none with the preset of the text";
    let lambda_max = section.optional("lambda_max", |section| {
        section.number("lambda_max", None, Range::Positive, meaning)
    })?;
    let lambda_max =
        lambda_max.unwrap_or(if is_paper { f64::INFINITY } else { first.lambda.max(LAMBDA_MAX) });
    if lambda_max < first.lambda || first.lambda < lambda_min {
        let problem = "lambda must be from lambda_min to lambda_max";
        return Err(section.conflict("lambda", problem));
    }
    if step >= lambda_min {
        let problem = format!(
            "{step} is not below lambda_min = {lambda_min}: lambda - delta would be 0, which marks \
             nothing however many flows there are"
        );
        return Err(section.conflict("delta", problem));
    }
    let min_step = section.amount("min_step", "5pkt", "a step of `min`")?;
    if matches!(bytes_of(min_step, environment), 0 | u64::MAX) {
        let problem = format!("{min_step} is not valid; a step is above 0, and finite");
        return Err(section.error(ErrorKind::WrongValue, "min_step", problem));
    }
    let meaning = "the largest `min`; by default 15 packets, and `max` with the text's preset";
    let min_max = section.optional("min_max", |section| section.amount("min_max", "", meaning))?;
    let min_max =
        min_max.map_or(if is_paper { max } else { max.min(first.min.max(MIN_MAX)) }, packets);
    if min_max < first.min || min_max > max {
        return Err(section.conflict("min_max", "it must be from `min` to `max`"));
    }
    let trials = [("both-sides", true), ("one-side", false)];
    let meaning = "what is compared where `min` moves: a step less with a step more, or with none";
    let both_sides = section.choice("min_trials", &trials, meaning)?;
    let meaning = "the difference of utilities up to which they are alike";
    let default = if is_paper { 0.0 } else { 0.001 };
    let tolerance = section.number("tolerance", default, Range::Unit, meaning)?;
    let busy = read_decides(section, is_paper)?;
    let meaning = "what a period without a packet does: it counts, the four trials begin anew, or it is left out";
    let others = [("counts", Idle::Counts), ("begins-anew", Idle::BeginsAnew)];
    let pauses = ("pauses", Idle::Pauses);
    let options =
        if is_paper { [others[0], others[1], pauses] } else { [pauses, others[0], others[1]] };
    let idle = section.choice("idle", &options, meaning)?;
    let rules = Rules {
        beta,
        shape,
        q_left,
        phi_end,
        round_trips,
        step,
        lambda_first: first.lambda,
        lambda_min,
        lambda_max,
        min_step: packets(min_step),
        min_first: first.min,
        min_max,
        both_sides,
        tolerance,
        busy,
        idle,
    };
    let base_rtt = environment.base_rtt;
    Ok(Some(Qla { period, base_rtt, rules, of_port, by_time, is_slow }))
}

/// Two options of a choice. The default comes first: `one` if the condition holds.
fn first_if<T: Copy>(
    condition: bool,
    one: (&'static str, T),
    other: (&'static str, T),
) -> [(&'static str, T); 2] {
    if condition { [one, other] } else { [other, one] }
}

/// Reads what decides where trials disagree. If the line does, returns the share from which on the
/// line counts as busy.
fn read_decides(section: &mut Section, is_paper: bool) -> Result<Option<f64>, SettingsError> {
    let meaning = "what moves lambda and `min`: the trials alone, or where they disagree the queue and the line";
    let options = first_if(is_paper, ("trials", false), ("trials-and-line", true));
    if !section.choice("decides", &options, meaning)? {
        section.needs("decides = \"trials-and-line\"", &["busy"])?;
        return Ok(None);
    }
    let meaning = "the share of the line in use from which on it counts as busy";
    section.number("busy", 0.9, Range::Share, meaning).map(Some)
}

/// How long trials last.
fn read_trials(
    section: &mut Section,
    are_periods: bool,
) -> Result<Option<RoundTrips>, SettingsError> {
    let meaning = "how long a trial lasts: round trips, of the base RTT and the wait in the queue, or `t_qla`";
    let options = first_if(are_periods, ("period", false), ("round-trips", true));
    if !section.choice("trials", &options, meaning)? {
        section.needs("trials = \"round-trips\"", &["trial_rtts", "settle_rtts"])?;
        return Ok(None);
    }
    let all = section.number("trial_rtts", 30.0, Range::Positive, "round trips of a trial")?;
    let meaning =
        "round trips at a trial's beginning that are left out, while senders answer the setting";
    let settling = section.number("settle_rtts", 10.0, Range::NotNegative, meaning)?;
    if settling >= all {
        let problem =
            format!("{settling} is not below trial_rtts = {all}: nothing would be measured");
        return Err(section.conflict("settle_rtts", problem));
    }
    Ok(Some(RoundTrips { all, settling }))
}

/// The keys of the table.
pub(super) fn read_steps(section: &mut Section) -> Result<Option<Steps>, SettingsError> {
    let meaning = "the rows of a table of probabilities; by default the formula is exact";
    let queue = section
        .optional("table_step", |section| section.positive_size("table_step", "", meaning))?;
    let Some(queue) = queue else {
        section.needs("`table_step`", &["table_bits"])?;
        return Ok(None);
    };
    let meaning = "bits of a probability in the table";
    let bits = section.integer("table_bits", 8, 1..=32, meaning)?;
    Ok(Some(Steps { queue, probabilities: ((1_u64 << bits) - 1) as f64 }))
}
