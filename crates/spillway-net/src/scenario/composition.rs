//! Warnings about algorithms that are used together with others than they were made for.

mod models;

use self::models::foreign_models;
use super::routing::Spreading;
use super::{Result, Scenario, TierSettings};
use spillway_settings::{Table, Value};
use spillway_switch::Policy;
use spillway_switch::aqm::Pred;
use spillway_switch::scheduling::{SchedulingParams, StrictPriority};
use spillway_switch::sharing::{
    Cbm, Credence, EnhancedDynamicThresholds, Fab, FollowLqd, Reverie, SharingParams, Smartbuf,
};
use spillway_transport::Transport;
use std::collections::BTreeSet;

/// All of these warnings.
pub(super) fn warnings(scenario: &Scenario) -> Result<Vec<String>> {
    let mut told: Vec<String> = Vec::new();
    for tier in &scenario.tiers {
        let place = Place::of(scenario, tier);
        let mut found = numbers_for_acks(&place, scenario);
        found.extend(under_strict(&place));
        found.extend(limits_of_ports(&place));
        found.extend(first_bytes_of_levels(&place, scenario));
        found.extend(marks_of_ports(&place));
        found.extend(halves_of_reverie(&place));
        found.extend(foreign_models(&place, scenario));
        // Tiers without settings of their own give the same warnings.
        found.retain(|text| !told.contains(text));
        told.extend(found);
    }
    told.extend(changed_numbers_for_acks(scenario)?);
    told.extend(protection(scenario));
    Ok(told)
}

/// Warnings if important packets are tagged and no switch looks, or the other way round, and if an
/// important packet makes those look lost that it overtakes.
fn protection(scenario: &Scenario) -> Vec<String> {
    let protects =
        |transport: &&Transport| transport.closed_loop().is_some_and(|closed| closed.protects);
    let mut tagging = scenario.transports.iter().filter(protects).peekable();
    let is_limited = scenario.tiers.iter().any(|tier| tier.settings.unimportant_limit.is_some());
    let mut found = Vec::new();
    match (tagging.peek().is_some(), is_limited) {
        (true, false) => found.push(
            "transport.protection: no switch has an `unimportant_limit`, so important packets find no \
             more room than others"
                .into(),
        ),
        (false, true) => found.push(
            "switch.unimportant_limit: no sender tags its packets (`transport.protection`), so none is \
             unimportant, and none is limited"
                .into(),
        ),
        _ => {}
    }
    let is_sprayed =
        scenario.routing.spreading == Spreading::Spray && scenario.topology.switches.len() > 1;
    if tagging.any(|transport| is_sprayed || transport.tagging.overtakes()) {
        found.push(
            "transport.protection: an important packet may overtake others of its flow, which are then \
             taken to be lost, and sent again"
                .into(),
        );
    }
    found
}

/// The switches of a tier, and what is sent through them.
struct Place<'a> {
    tier: &'a TierSettings,
    /// The path of its section, and the section with every default written out.
    section: (String, &'a Value),
    /// The queue classes in which data wait.
    data: BTreeSet<u8>,
}

impl<'a> Place<'a> {
    fn of(scenario: &'a Scenario, tier: &'a TierSettings) -> Place<'a> {
        let switch = &scenario.resolved["switch"];
        let section = match switch.get(tier.tier) {
            Some(own) => (format!("switch.{}", tier.tier), own),
            None => ("switch".into(), switch),
        };
        let classes = tier.settings.packet_classes();
        let mut data = BTreeSet::new();
        for source in &scenario.traffic.sources {
            let own = source.priorities();
            for class in source.class_numbers() {
                let place = scenario.class_transport[usize::from(class)];
                match scenario.transport(place).tagging.priorities() {
                    Some(levels) => data.extend(levels.map(|level| level.min(classes.last))),
                    None if own.is_empty() => _ = data.insert(classes.data),
                    None => data.extend(own.iter().map(|&priority| priority.min(classes.last))),
                }
            }
        }
        Place { tier, section, data }
    }

    /// The path of a policy, and its parameters.
    fn policy(&self, key: &str) -> (String, &'a Table) {
        let (path, section) = &self.section;
        let parameters = section.get(key).and_then(Value::as_table);
        (format!("{path}.{key}"), parameters.expect("policies are written out as tables"))
    }

    /// Smartbuf as the sharing policy's oracle: its path, and its parameters.
    fn oracle(&self) -> Option<(String, &'a Table)> {
        let (path, parameters) = self.policy("sharing");
        let own = parameters.get(Smartbuf::ID)?.as_table()?;
        Some((format!("{path}.{}", Smartbuf::ID), own))
    }

    /// Smartbuf, as the sharing policy or as its oracle.
    fn smartbuf(&self) -> Option<(String, &'a Table)> {
        let is_policy = self.tier.policies()[0] == Smartbuf::ID;
        if is_policy { Some(self.policy("sharing")) } else { self.oracle() }
    }

    /// Whether packets of some data wait until there are none of other data.
    fn is_strict(&self) -> bool {
        self.data.len() > 1 && self.tier.policies()[2] == StrictPriority::ID
    }
}

/// Warnings about lists by queue class in which a number that is meant for acks holds for data.
fn numbers_for_acks(place: &Place, scenario: &Scenario) -> Vec<String> {
    // What lists mean to a policy from outside is not known.
    let outside = [
        ("sharing", matches!(place.tier.sharing().1, SharingParams::Extension(_))),
        ("scheduling", matches!(place.tier.scheduling().1, SchedulingParams::Extension(_))),
    ];
    let mut found = Vec::new();
    for (key, _) in outside.into_iter().filter(|(_, is_outside)| !is_outside) {
        let oracle = place.oracle().filter(|_| key == "sharing");
        for (path, parameters) in [place.policy(key)].into_iter().chain(oracle) {
            for (key, value) in parameters {
                let text = number_for_acks(place, scenario, key, value, true);
                found.extend(text.map(|text| format!("{path}.{key}: {text}")));
            }
        }
    }
    found
}

/// As `numbers_for_acks`, for the values that events set, which take no table.
fn changed_numbers_for_acks(scenario: &Scenario) -> Result<Vec<String>> {
    let mut found = Vec::new();
    for (path, tier, key, value) in scenario.sharing_changes()? {
        let place = Place::of(scenario, &scenario.tiers[tier]);
        let text = number_for_acks(&place, scenario, &key, &value, false);
        found.extend(text.map(|text| format!("{path}: {text}")));
    }
    Ok(found)
}

/// How much larger than all others the first number of a list must be to be meant for acks.
const MEANT_FOR_ACKS: f64 = 16.0;

/// The warning about a list, if one is due. A list of more than two numbers that has one for every
/// class of data is taken as meant, unless its first number is far larger than all others.
fn number_for_acks(
    place: &Place,
    scenario: &Scenario,
    key: &str,
    value: &Value,
    takes_roles: bool,
) -> Option<String> {
    let list = numbers(value)?;
    let (acks, queues) = (place.tier.settings.ack_queue, place.tier.settings.queues_per_port);
    let is_shared = place.data.contains(&acks);
    let last = place.data.last().map_or(0, |&class| usize::from(class));
    let of_acks = usize::from(acks).min(list.len() - 1);
    let is_short = list.len() <= 2.max(last) && list.iter().any(|&n| n != list[of_acks]);
    let most = list[1..].iter().fold(f64::MIN, |most, &number| most.max(number));
    let is_far = list.len() > 1 && list[0] >= MEANT_FOR_ACKS * most && place.data.contains(&0);
    if queues == 1 || !(is_far || is_shared && is_short) {
        return None;
    }
    let (held, problem) = if is_far && acks != 0 {
        let text = format!(
            "data wait in queue class 0, and acks in {acks}, so {} holds for data",
            list[0]
        );
        (0, text)
    } else {
        let text = format!(
            "data wait with acks in queue class {acks}, so {} holds for these data as well as for acks",
            list[of_acks]
        );
        (of_acks, text)
    };
    let others = (0..).zip(&list).filter(|(place, _)| *place != held);
    let mut others: Vec<String> = others.map(|(_, number)| number.to_string()).collect();
    if others.iter().all(|number| *number == others[0]) {
        others.truncate(1);
    }
    let data = match &others[..] {
        [one] => one.clone(),
        several => format!("[{}]", several.join(", ")),
    };
    let mut ways = Vec::new();
    if takes_roles && (scenario.shares_ack_queues || place.tier.settings.data_queue == acks) {
        ways.push(format!("write {key} = {{ data = {data} }}"));
    } else if takes_roles && !is_shared {
        ways.push(format!("write {key} = {{ acks = {}, data = {data} }}", list[held]));
    } else if !is_shared {
        ways.push("write its numbers in the order of queue classes".into());
    }
    if list.len() < queues as usize {
        ways.push(format!("write one number for each of the {queues} queue classes"));
    }
    if is_shared {
        ways.push("let acks wait apart from data".into());
    }
    Some(format!("{problem}; {}", ways.join(", or ")))
}

/// The numbers of a list; `None` for other values.
fn numbers(value: &Value) -> Option<Vec<f64>> {
    let number = |value: &Value| value.as_float().or(value.as_integer().map(|whole| whole as f64));
    value.as_array()?.iter().map(number).collect::<Option<Vec<_>>>().filter(|list| !list.is_empty())
}

/// A warning about a sharing policy under which packets of worse queues are lost, or have others
/// lost, because better ones are served first.
fn under_strict(place: &Place) -> Option<String> {
    let (path, parameters) = place.policy("sharing");
    let id = place.tier.policies()[0];
    let given = |key: &str| parameters.get(key).and_then(Value::as_str);
    let takes_back = parameters.get("push_out").and_then(Value::as_bool) == Some(true);
    let is_met = match id {
        Cbm::ID => given("delay") == Some("served"),
        _ => takes_back,
    };
    if !place.is_strict() || is_met {
        return None;
    }
    let of_thresholds = |name: &str, way: &str| {
        format!(
            "{name} pushes nothing out, and under \"strict\" worse queues send nothing as long as \
             better ones do, so what they hold over their thresholds may fill the buffer; {way} \
             takes that room back"
        )
    };
    let text = match id {
        Credence::ID => of_thresholds("Credence", "push_out = true"),
        FollowLqd::ID => of_thresholds("FollowLQD", "\"lqd\""),
        Cbm::ID => "CBM drops packets that have waited for long, and under \"strict\" worse queues \
                    wait as long as better ones send, so they may lose far more than the buffer makes \
                    them; delay = \"served\" leaves out the time in which others are sent; or serve \
                    queues in turn (\"rr\")"
            .into(),
        _ => return None,
    };
    Some(format!("{path}: {text}"))
}

/// A warning about limits of ports under which what waits for better packets has these refused.
fn limits_of_ports(place: &Place) -> Option<String> {
    let told = |(path, name, ways): (String, &str, &str)| {
        format!(
            "{path}: in a burst {name} limits all queues of a port together, so under \"strict\" what \
             waits in its worse queues has packets of better ones refused; {ways}\"dt\" and \"abm\" limit \
             each queue by itself"
        )
    };
    if !place.is_strict() {
        return None;
    }
    if place.tier.policies()[0] == EnhancedDynamicThresholds::ID {
        return Some(told((place.policy("sharing").0, "EDT", "")));
    }
    let (path, parameters) = place.smartbuf()?;
    let given = |key: &str| parameters.get(key).and_then(Value::as_str);
    if given("floor") == Some("dt") || given("limit") == Some("queue") {
        return None;
    }
    let limit = "limit = \"queue\" limits each queue's own burst; ";
    // The printed lines have no floor.
    let floor = given("floor").map_or("", |_| "floor = \"dt\" admits what is within DT's; ");
    Some(told((path, "Smartbuf", &format!("{limit}{floor}"))))
}

/// A warning if a flow has first bytes in several queues.
fn first_bytes_of_levels(place: &Place, scenario: &Scenario) -> Option<String> {
    let (path, _) = place.policy("sharing");
    let levels = |transport: &Transport| transport.tagging.priorities().map_or(0, |all| all.len());
    let moves = scenario.transports.iter().any(|transport| levels(transport) > 1);
    (place.tier.policies()[0] == Fab::ID && moves).then(|| {
        format!(
            "{path}: FAB counts a flow's bytes in each queue, so with several levels of a tagger long \
             flows, too, have alpha_short at the beginning of each level; \"dt\" and \"abm\" count none"
        )
    })
}

/// A warning if PRED marks queues by what the port's other queues have or leave.
fn marks_of_ports(place: &Place) -> Option<String> {
    let (path, parameters) = place.policy("aqm");
    let is = |key: &str, value: Value| parameters.get(key) == Some(&value);
    if place.tier.policies()[1] != Pred::ID || place.data.len() < 2 || is("scope", "port".into()) {
        return None;
    }
    let is_strict = place.is_strict();
    let (among, queue, others) = if is_strict {
        ("under \"strict\"", "a worse queue", "better ones")
    } else {
        ("with data in several queues", "a queue", "others, too")
    };
    let mut problems = Vec::new();
    if is("fcs", true.into()) {
        problems.push(format!(
            "is marked for the flows of {others}, since those of the port are counted (fcs = false \
             counts none)"
        ));
    }
    if is_strict && is("qla_scope", "queue".into()) {
        problems.push(
            "is adjusted by a throughput that better ones leave it, whatever is marked (qla_scope = \
             \"port\" measures the line)"
                .into(),
        );
    }
    (!problems.is_empty()).then(|| {
        format!(
            "{path}: {among} PRED is not by queue: {queue} {}; scope = \"port\" marks the queues of a \
             port as one",
            problems.join(", and ")
        )
    })
}

/// A warning if the lossy and lossless packets of a buffer do not both have Reverie's rule.
fn halves_of_reverie(place: &Place) -> Option<String> {
    let (path, section) = &place.section;
    let of = |key: &str| section.get(key).and_then(Value::as_table);
    let pfc = place.tier.pfc.as_ref()?;
    let (sharing, pauses) = (of("sharing")?, of("pfc")?);
    let is_reverie = |half: &Table| half.get("kind").and_then(Value::as_str) == Some(Reverie::ID);
    let problem = match [sharing, pauses].map(is_reverie) {
        _ if place.data.iter().all(|class| pfc.queue_classes.contains(class)) => return None,
        [true, false] => {
            "sharing = \"reverie\" holds for lossy packets alone; pfc = \"reverie\" is its \
                          rule for lossless ones"
                .into()
        }
        [false, true] => {
            "pfc = \"reverie\" holds for lossless packets alone; sharing = \"reverie\" is \
                          its rule for lossy ones"
                .into()
        }
        [true, true] => {
            let differs = |key: &&str| sharing.get(*key) != pauses.get(*key);
            let key = ["gamma", "saturation"].into_iter().find(differs)?;
            format!("{key} of sharing is not that of pfc")
        }
        [false, false] => return None,
    };
    Some(format!("{path}: Reverie is one rule for all packets that share a buffer: {problem}"))
}
