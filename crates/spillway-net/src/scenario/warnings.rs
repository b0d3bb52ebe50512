//! Warnings: what is valid but may be a mistake.

use super::TierSettings;
use super::events::Event;
use super::routing::Spreading;
use spillway_engine::Time;
use spillway_settings::quantity::Amount;
use spillway_switch::Policy;
use spillway_switch::scheduling::{PFabric as PFabricScheduling, StrictPriority};
use spillway_switch::sharing::PFabric as PFabricSharing;
use spillway_topology::{Node, Topology};
use spillway_traffic::Traffic;
use spillway_transport::receiver::Tells;
use spillway_transport::{PFABRIC, Recovery, Transport};

/// Warnings about the network and its switches.
pub(super) fn of(
    topology: &Topology,
    tiers: &[TierSettings],
    transports: &[Transport],
    spreading: Spreading,
) -> Vec<String> {
    let mut warnings = Vec::new();
    for line in topology.lines.iter().filter(|line| !line.rate.is_exact()) {
        let ps = line.rate.nominal().ps_per_byte();
        let rate = line.rate;
        warnings.push(format!("{rate} is not a whole number of ps per byte: {ps} ps are used"));
    }
    warnings.sort();
    warnings.dedup();
    let largest = transports.iter().map(Transport::full_packet).max().unwrap_or(0);
    for tier in tiers {
        // Tiers without settings of their own give the same warnings.
        let own = tier.warnings.iter().cloned().chain(tier_without_room(topology, tier, largest));
        let new: Vec<String> = own.filter(|text| !warnings.contains(text)).collect();
        warnings.extend(new);
    }
    warnings.extend(deaf_to_pauses(topology, tiers));
    warnings.extend(worse_witnesses(tiers, transports));
    warnings.extend(levels_in_turn(tiers, transports));
    warnings.extend(overtaken(transports));
    warnings.extend(pfabric_in_part(tiers, transports));
    warnings.extend(sprayed(topology, transports, spreading));
    warnings
}

/// A warning if acks come into a lossless priority although pauses do not stop them, and the
/// headroom, which is to suffice, is computed without them.
pub(super) fn unpaused_acks(
    leaf: &TierSettings,
    pauses_acks: bool,
    transports: &[Transport],
) -> Option<String> {
    let queue = leaf.settings.packet_classes().acks;
    let may_lose = leaf
        .pfc
        .as_ref()
        .is_some_and(|pfc| pfc.has_auto_headroom() && pfc.queue_classes.contains(&queue));
    let has_acks = transports.iter().any(|transport| transport.closed_loop().is_some());
    (may_lose && has_acks && !pauses_acks).then(|| {
        format!(
            "nic.pauses_acks: hosts send acks while queue class {queue} is paused, and leaves count \
             them in its headroom, which is reckoned without them: acks may be lost; with an ack_queue \
             of their own, which is not lossless, they take none of it"
        )
    })
}

/// A warning if switches that send pause frames send them to switches that do not stop.
fn deaf_to_pauses(topology: &Topology, tiers: &[TierSettings]) -> Option<String> {
    let tier_of = |node: Node| match node {
        Node::Switch(switch) => {
            let tier = topology.switches[switch as usize].tier;
            tiers.iter().find(|settings| settings.tier == tier)
        }
        Node::Host(_) => None,
    };
    let (from, to) = topology.lines.iter().find_map(|line| {
        let (from, to) = (tier_of(line.from)?, tier_of(line.to)?);
        (from.pfc.is_none() && to.pfc.is_some()).then_some((from.tier, to.tier))
    })?;
    Some(format!(
        "switch.pfc: a {from} has none, so it does not stop when a {to} pauses it: lossless packets \
         that come from it may be lost"
    ))
}

/// A warning if packets of worse priorities show losses although they may come first.
fn worse_witnesses(tiers: &[TierSettings], transports: &[Transport]) -> Option<String> {
    let or_worse =
        |found: &Recovery| matches!(found, Recovery::PerPriority(by_order) if by_order.or_worse);
    if !recoveries(transports).any(or_worse) {
        return None;
    }
    let of = |matches: fn(&TierSettings) -> bool| tiers.iter().find(|tier| matches(tier));
    let (tier, how) = of(serves_in_turn)
        .map(|tier| (tier, "serve their queues otherwise"))
        .or_else(|| of(|tier| tier.pfc.is_some()).map(|tier| (tier, "pause some of them")))?;
    let tier = tier.tier;
    Some(format!(
        "transport.recovery.or_worse: packets of worse priorities show losses, which is right under strict \
         priority; ports of a {tier} {how}, so packets on their way are taken to be lost"
    ))
}

/// Whether a tier's ports have several queues and serve others before the best one is empty.
fn serves_in_turn(tier: &TierSettings) -> bool {
    tier.settings.queues_per_port > 1 && tier.policies()[2] != StrictPriority::ID
}

/// A warning if a tagger's levels are not served in their order.
fn levels_in_turn(tiers: &[TierSettings], transports: &[Transport]) -> Option<String> {
    let levels = transports.iter().filter_map(|transport| transport.tagging.priorities());
    let levels = levels.map(|levels| levels.len()).max().filter(|&levels| levels > 1)?;
    let tier = tiers.iter().find(|tier| serves_in_turn(tier))?;
    let (name, scheduling) = (tier.tier, tier.policies()[2]);
    Some(format!(
        "transport.tagging: packets get {levels} priorities, but ports of a {name} serve their queues \
         by \"{scheduling}\", not by \"strict\""
    ))
}

/// A warning if a part of pFabric is used, but not all switches both push out and serve as pFabric
/// does.
fn pfabric_in_part(tiers: &[TierSettings], transports: &[Transport]) -> Option<String> {
    let ours = [PFabricSharing::ID, PFabricScheduling::ID];
    let parts = |tier: &TierSettings| {
        let [sharing, _, scheduling] = tier.policies();
        [sharing == ours[0], scheduling == ours[1]]
    };
    let is_sent = transports.iter().any(|transport| transport.kind == PFABRIC.id);
    let has = |part: usize| tiers.iter().any(|tier| parts(tier)[part]);
    let key = match (is_sent, has(0)) {
        (true, _) => "transport.kind",
        (false, true) => "switch.sharing",
        (false, false) if has(1) => "switch.scheduling",
        (false, false) => return None,
    };
    let tier = tiers.iter().find(|tier| parts(tier) != [true, true])?;
    let (name, [sharing, _, scheduling]) = (tier.tier, tier.policies());
    Some(format!(
        "{key}: pFabric's ports both push out and serve by what flows have left, but a {name} has \
         sharing = \"{sharing}\" and scheduling = \"{scheduling}\""
    ))
}

/// A warning if packets that were only overtaken are taken to be lost.
fn overtaken(transports: &[Transport]) -> Option<String> {
    let overtaking = transports.iter().filter(|transport| transport.tagging.overtakes());
    let mistakes = |found: &&Recovery| match found {
        // RACK waits, and waits longer once it was wrong.
        Recovery::PerPriority(_) | Recovery::TimeoutOnly | Recovery::Rack(_) => false,
        Recovery::Own(own) => own.rules.tells() == Tells::Packet,
        _ => true,
    };
    let found = recoveries(overtaking).find(mistakes)?;
    // Receivers of NACKs do not know priorities.
    let advice = if found.is_own() { "" } else { "; \"per-priority\" tells them apart" };
    Some(format!(
        "transport.recovery: by its tagger later packets of a flow overtake earlier ones, which are then \
         taken to be lost, and sent again{advice}"
    ))
}

/// A warning if the order of packets shows losses although each packet takes a path of its own.
fn sprayed(topology: &Topology, transports: &[Transport], spreading: Spreading) -> Option<String> {
    // With a single switch there is one path.
    let is_sprayed = spreading == Spreading::Spray && topology.switches.len() > 1;
    (is_sprayed && recoveries(transports).any(Recovery::numbers_packets)).then(|| {
        "transport.recovery: per-priority takes later packets of a priority for a sign of loss, \
         but routing.kind = \"spray\" lets them overtake: packets on their way are taken to be lost"
            .into()
    })
}

fn recoveries<'a>(
    transports: impl IntoIterator<Item = &'a Transport>,
) -> impl Iterator<Item = &'a Recovery> {
    let closed = transports.into_iter().filter_map(Transport::closed_loop);
    closed.map(|closed| &closed.recovery)
}

/// A warning if a tier's switches cannot hold a full packet.
fn tier_without_room(topology: &Topology, tier: &TierSettings, packet: u32) -> Option<String> {
    let counted = u64::from(packet.saturating_sub(tier.settings.uncounted_bytes));
    let of_tier = |switch: &u32| topology.switches[*switch as usize].tier == tier.tier;
    let switches = (0..topology.switches.len() as u32).filter(of_tier);
    let buffer = switches.filter_map(|switch| tier.capacity_of(topology, switch)).min();
    let (key, bytes) = match (buffer, tier.settings.queue_limit) {
        (Some(bytes), _) if bytes < counted => ("buffer", bytes),
        (_, Amount::Bytes(bytes)) if bytes < counted => ("queue_limit", bytes),
        _ => return None,
    };
    let tier = tier.tier;
    Some(format!(
        "switch.{key}: a {tier} has room for {bytes} bytes; a full packet, which counts {counted}, never \
         gets through it"
    ))
}

/// Warnings about settings that never have an effect.
pub(super) fn of_times(
    traffic: &Traffic,
    events: &[Event],
    duration: Time,
    stop: Time,
) -> Vec<String> {
    let mut warnings = Vec::new();
    if traffic.sources.is_empty() {
        warnings.push("there is no [[traffic]]: nothing is sent".into());
    }
    for source in traffic.sources.iter().filter(|source| source.expected().flows == 0.0) {
        let name = source.name();
        warnings.push(format!("traffic.{name}: no flow starts before duration = {duration}"));
    }
    let times = events.iter().map(Event::at).enumerate();
    for (place, at) in times.filter(|&(_, at)| at >= stop) {
        warnings.push(format!(
            "event.{place}: at = {at} is not before stop = {stop}: it never happens"
        ));
    }
    warnings
}
