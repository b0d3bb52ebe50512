//! Policies that are woken at regular times.

use super::Network;
use crate::event::Kind;
use crate::port::nic::Nic;
use crate::topology::Node;
use spillway_engine::Time;
use spillway_switch::{Discipline, Switch};

/// The timer of one policy.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PolicyTimer {
    /// The switch or host whose policy it is.
    pub at: Node,
    /// 0 for the sharing policy, 1 for the AQM.
    pub policy: usize,
    pub period: Time,
}

impl Network {
    /// Begins the first period of every policy with a timer.
    pub fn schedule_timers(&mut self) {
        for (number, timer) in (0..).zip(&self.timers) {
            self.events.push(timer.period, Kind::PolicyTimer.key(number));
        }
    }

    /// Whether no packet is left in the network and no event is pending other than policies'
    /// timers.
    pub fn is_still(&self) -> bool {
        self.packets.live() == 0 && self.events.len() <= self.timers.len()
    }

    /// A policy's period is over; the next one begins.
    pub fn on_policy_timer(&mut self, number: u32) {
        let PolicyTimer { at, policy, period } = self.timers[number as usize];
        match at {
            Node::Switch(switch) => {
                self.catch_up(switch);
                self.switches[switch as usize].on_timer(self.now, policy);
            }
            Node::Host(host) => self.nics[host as usize].on_timer(self.now),
        }
        self.events.push(self.now + period, Kind::PolicyTimer.key(number));
    }
}

/// The timers of all policies that have one.
pub(super) fn of_policies(switches: &[Switch], nics: &[Nic]) -> Vec<PolicyTimer> {
    let timers = |at: Node, periods: [Option<Time>; 2]| {
        let timer = move |(policy, period): (usize, Option<Time>)| {
            period.map(|period| PolicyTimer { at, policy, period })
        };
        periods.into_iter().enumerate().filter_map(timer)
    };
    let of_switch =
        |(number, switch): (u32, &Switch)| timers(Node::Switch(number), switch.periods());
    let of_host = |(number, nic): (u32, &Nic)| {
        let period = nic.discipline().and_then(Discipline::period);
        timers(Node::Host(number), [None, period])
    };
    let hosts = (0..).zip(nics).flat_map(of_host);
    (0..).zip(switches).flat_map(of_switch).chain(hosts).collect()
}
