//! What the summary says of pauses.

use super::Simulation;
use serde_json::{Map, Value, json};
use spillway_topology::Node;

impl Simulation {
    /// Pauses, the time for which ports were paused, and headroom, by kind of node; and the first
    /// deadlock. `None` if nothing is lossless.
    pub(crate) fn pauses(&self) -> Option<Value> {
        let pausing = self.network.pausing.as_ref()?;
        let sums = pausing.sums(self.network.now);
        let tiers = self.scenario.tiers.iter().map(|tier| tier.tier).chain(["host"]);
        let by_tier: Map<String, Value> = tiers
            .zip(&sums)
            .map(|(tier, sum)| {
                let row = json!({ "pauses": sum.pauses, "time_us": sum.time.ps() as f64 * 1e-6 });
                (tier.to_string(), row)
            })
            .collect();
        let accounts = self.network.switches.iter().filter_map(|switch| switch.accounts());
        let peak = accounts.map(|accounts| accounts.headroom_peak()).max();
        let lost = self.counters.drops[spillway_switch::DropReason::Headroom as usize];
        Some(json!({
            "pauses": sums.iter().map(|sum| sum.pauses).sum::<u64>(),
            "time_us": sums.iter().map(|sum| sum.time.ps() as f64 * 1e-6).sum::<f64>(),
            "by_tier": by_tier,
            "frames": pausing.frames_sent,
            "headroom_peak_bytes": peak,
            "lost_for_headroom": lost,
            "deadlock": self.deadlock(),
        }))
    }

    /// The first deadlock: when it closed, and its ports, each of which waits for the next.
    fn deadlock(&self) -> Value {
        let found = self.network.deadlocks.as_ref().and_then(|deadlocks| deadlocks.found.as_ref());
        let Some(found) = found else { return Value::Null };
        let member = |&(line, priority): &(u32, u8)| {
            let name = match self.network.sender_on(line) {
                Node::Switch(switch) => self.scenario.switch_name(switch),
                Node::Host(host) => format!("host{host}"),
            };
            json!({ "switch": name, "port": self.network.port_of(line), "priority": priority })
        };
        let ports: Vec<Value> = found.members.iter().map(member).collect();
        json!({ "time_us": found.time.ps() as f64 * 1e-6, "ports": ports })
    }
}
