//! Policies that are woken at regular times.

use super::Network;
use crate::event::Kind;
use crate::port::nic::Nic;
use spillway_engine::Time;
use spillway_switch::{Discipline, Switch};
use spillway_topology::Node;

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

    /// Whether no packet is left in the network and the only pending events are policies' timers
    /// and `samples` samples.
    pub fn is_still(&self, samples: usize) -> bool {
        self.packets.live() == 0 && self.events.len() <= self.timers.len() + samples
    }

    /// A policy's period is over; the next one begins.
    pub fn on_policy_timer(&mut self, number: u32) {
        let PolicyTimer { at, policy, period } = self.timers[number as usize];
        match at {
            Node::Switch(switch) => {
                self.catch_up(switch);
                self.switches[switch as usize].on_timer(self.now, policy);
                self.schedule_expulsion(self.now, switch);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::port::Shortcuts;
    use crate::testing::{Bench, NS, STAR, US};
    use spillway_engine::Rate;
    use spillway_settings::quantity::Amount;
    use spillway_switch::aqm::{Aqm, AqmPolicy};
    use spillway_switch::packet::{Contents, Packet};
    use spillway_switch::policy::{Arrival, Verdict, Watch};
    use spillway_switch::{Buffer, DisciplineParts};
    use std::sync::{Arc, Mutex};

    /// What an AQM was told: when, and the bytes in its buffer.
    type Heard = Arc<Mutex<Vec<(u64, u64)>>>;

    /// An AQM that wants to be woken and keeps what it sees.
    #[derive(Clone, Debug)]
    struct Ticks(Time, Heard);

    impl Watch for Ticks {
        fn period(&self) -> Option<Time> {
            Some(self.0)
        }

        fn on_timer(&mut self, now: Time, buffer: &Buffer) {
            self.1.lock().unwrap().push((now.ps(), buffer.occupancy()));
        }
    }

    impl Aqm for Ticks {
        fn on_arrival(&mut self, _arrival: &Arrival, _buffer: &Buffer) -> Verdict {
            Verdict::Pass
        }
    }

    /// A network in which the AQM of host 1's NIC is woken every 2 us.
    fn ticking() -> (Bench, Heard) {
        let mut bench = Bench::with(STAR, Shortcuts::ALL);
        let heard = Heard::default();
        let discipline = Discipline::new(DisciplineParts {
            rate: Rate::from_bits_per_second(8_000_000_000).unwrap(),
            queues: 1,
            unmanaged: None,
            queue_limit: Amount::Unlimited,
            aqm: AqmPolicy::Extension(Box::new(Ticks(Time::from_us(2), heard.clone()))),
        });
        bench.net.nics[1] = Nic::new(bench.scenario.nic, Some(discipline), None);
        bench.net.timers = of_policies(&bench.net.switches, &bench.net.nics);
        bench.net.schedule_timers();
        (bench, heard)
    }

    /// The timers of a network, as (where, which policy, period in picoseconds).
    fn told(timers: &[PolicyTimer]) -> Vec<(Node, usize, u64)> {
        timers.iter().map(|timer| (timer.at, timer.policy, timer.period.ps())).collect()
    }

    #[test]
    fn only_policies_with_a_period_have_a_timer() {
        let (bench, _) = ticking();
        assert_eq!(told(&bench.net.timers), [(Node::Host(1), 1, 2 * US)]);
        assert!(Bench::new(STAR).net.timers.is_empty());
    }

    #[test]
    fn a_policy_is_woken_at_each_multiple_of_its_period() {
        let (mut bench, heard) = ticking();
        assert_eq!(bench.steps::<3>(), [2, 4, 6].map(|us| (us * US, Kind::PolicyTimer, 0)));
        assert_eq!(*heard.lock().unwrap(), [(2 * US, 0), (4 * US, 0), (6 * US, 0)]);
        // One is pending, for 8 us.
        assert_eq!(bench.pending(), [(8 * US, Kind::PolicyTimer, 0)]);
    }

    #[test]
    fn timers_of_several_policies_keep_their_periods_and_numbers() {
        let mut bench = Bench::new(STAR);
        let timer = |at, policy, us| PolicyTimer { at, policy, period: Time::from_us(us) };
        let (switch, host) = (Node::Switch(0), Node::Host(2));
        bench.net.timers = vec![timer(switch, 0, 3), timer(switch, 1, 2), timer(host, 1, 6)];
        bench.net.schedule_timers();
        let expected = [(2, 1), (3, 0), (4, 1), (6, 0), (6, 1), (6, 2), (8, 1)];
        let got = bench.steps::<7>().map(|(ps, _, number)| (ps / US, number));
        assert_eq!(got, expected);
    }

    /// Of two packets of 1,000 bytes the second waits from 0 to 1 us.
    #[test]
    fn a_switch_s_ports_have_sent_what_they_could_when_its_policy_is_woken() {
        let occupancy_after = |at: Node| {
            let mut bench = Bench::new(STAR);
            for _ in 0..2 {
                let packet = Packet { size: 1_000, dst: 1, ..Packet::default() };
                let id = bench.make(packet, Contents::default());
                bench.net.forward(0, 0, id, &packet);
            }
            bench.net.timers = vec![PolicyTimer { at, policy: 0, period: Time::from_ns(1_500) }];
            bench.net.schedule_timers();
            assert_eq!(bench.net.switches[0].buffer().occupancy(), 1_000);
            assert_eq!(bench.step(), (1_500 * NS, Kind::PolicyTimer, 0));
            bench.net.switches[0].buffer().occupancy()
        };
        assert_eq!(occupancy_after(Node::Switch(0)), 0);
        // A host's policy sees no switch.
        assert_eq!(occupancy_after(Node::Host(1)), 1_000);
    }

    #[test]
    fn a_network_is_still_when_only_timers_are_left() {
        let (mut bench, _) = ticking();
        assert!(bench.net.is_still(0));
        let packet = Packet { size: 1_000, dst: 1, ..Packet::default() };
        let id = bench.make(packet, Contents::default());
        assert!(!bench.net.is_still(0), "a packet is somewhere");
        bench.net.packets.remove(id);
        bench.net.events.push(Time::from_us(11), Kind::Arrival.key(0));
        assert!(!bench.net.is_still(0), "something is still to come");
        // 2, 4, 6, 8 and 10 us, and the event of the arrival at 11 us, which finds nothing.
        bench.steps::<5>();
        assert_eq!(bench.step(), (11 * US, Kind::Arrival, 0));
        assert!(bench.net.is_still(0));
    }
}
