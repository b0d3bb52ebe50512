//! The average rates at which traffic asks hosts to send and to receive, if the traffic has rates.

use super::active_time::ActiveTime;
use super::racks::{Group, Racks};

/// The demand of a traffic section on every host while it is active, in bits of payload per second.
#[derive(Clone, Debug, PartialEq)]
pub struct Demand {
    /// When the section is active.
    pub active: ActiveTime,
    /// What each host sends.
    pub sends: Vec<f64>,
    /// What each host receives.
    pub receives: Vec<f64>,
}

/// Adds up amounts given to groups of hosts. Each is spread equally over its group.
pub struct Spread<'a> {
    racks: &'a Racks,
    /// What every participating host gets.
    each_host: f64,
    /// What every rack gets, for its hosts together.
    each_rack: f64,
    /// What a rack gets in addition.
    rack: Vec<f64>,
    /// What a host gets in addition to all of this.
    host: Vec<f64>,
}

impl<'a> Spread<'a> {
    /// Nothing has been added yet.
    pub fn over(racks: &'a Racks) -> Spread<'a> {
        let (rack, host) = (vec![0.0; racks.count()], vec![0.0; racks.all()]);
        Spread { racks, each_host: 0.0, each_rack: 0.0, rack, host }
    }

    /// Adds an amount for a group.
    pub fn add(&mut self, group: Group, amount: f64) {
        let each = amount / self.racks.size(group) as f64;
        match group {
            Group::Rack(rack) => self.rack[rack] += amount,
            Group::OutsideRack(rack) => {
                self.each_host += each;
                self.rack[rack] -= each * self.racks.size(Group::Rack(rack)) as f64;
            }
            Group::AllBut(host) => {
                self.each_host += each;
                self.host[host as usize] -= each;
            }
            Group::One(host) => self.host[host as usize] += amount,
        }
    }

    /// Adds an amount that goes to one rack, chosen among all except `but`.
    pub fn add_another_rack(&mut self, but: usize, amount: f64) {
        let each = amount / (self.racks.count() - 1) as f64;
        self.each_rack += each;
        self.rack[but] -= each;
    }

    /// The amount of every host.
    pub fn of_hosts(mut self) -> Vec<f64> {
        for &host in self.racks.hosts() {
            let rack = self.racks.rack_of(host);
            let of_rack = self.each_rack + self.rack[rack];
            let hosts = self.racks.size(Group::Rack(rack)) as f64;
            self.host[host as usize] += self.each_host + of_rack / hosts;
        }
        self.host
    }
}

#[cfg(test)]
mod tests {
    use crate::fixture::{self, Fixture};
    use spillway_engine::Time;

    /// The demand in Mbps on the hosts of a network of 3 racks with 2 hosts at 10 Gbps and 2
    /// uplinks each.
    fn demand(kind: &str, text: &str) -> Option<(Vec<f64>, Vec<f64>)> {
        let fixture = Fixture::new(fixture::leaf_spine(3, 2, 2));
        let demand = fixture.source(kind, text).unwrap().demand()?;
        assert_eq!(demand.active.stop, fixture.duration);
        let mbps = |each: Vec<f64>| each.into_iter().map(|bps| (bps * 1e-6).round()).collect();
        Some((mbps(demand.sends), mbps(demand.receives)))
    }

    #[test]
    fn poisson_arrivals_are_spread_over_their_destinations() {
        let to = |more: &str| {
            demand("poisson", &format!("sizes = \"10KB\"\nload_of = \"host\"\n{more}")).unwrap()
        };
        // All to all: every host receives as much as it sends.
        let half = vec![5_000.0; 6];
        assert_eq!(to("load = 0.5\ndestinations = \"uniform\""), (half.clone(), half.clone()));
        assert_eq!(to("load = 0.5"), (half.clone(), half.clone()));
        assert_eq!(to("load = 0.5\ndestinations = \"next-rack\""), (half.clone(), half));
        // Host 0 sends 4 Gbps: to the 4 hosts of other racks, to all 5 others, to 2 hosts, and to
        // one.
        for (destinations, receives) in [
            ("\"other-rack\"", [0.0, 0.0, 1_000.0, 1_000.0, 1_000.0, 1_000.0]),
            ("\"uniform\"", [0.0, 800.0, 800.0, 800.0, 800.0, 800.0]),
            ("\"next-rack\"", [0.0, 0.0, 2_000.0, 2_000.0, 0.0, 0.0]),
            ("4", [0.0, 0.0, 0.0, 0.0, 4_000.0, 0.0]),
        ] {
            let (sends, found) =
                to(&format!("load = 0.4\nsenders = \"0..0\"\ndestinations = {destinations}"));
            assert_eq!(sends, [4_000.0, 0.0, 0.0, 0.0, 0.0, 0.0], "{destinations}");
            assert_eq!(found, receives, "{destinations}");
        }
        // Only the first host of each rack takes part: 0, 2 and 4 send to each other.
        let (sends, receives) = to("load = 0.5\ndestinations = \"uniform\"\nplaces = \"0..0\"");
        assert_eq!(sends, [5_000.0, 0.0, 5_000.0, 0.0, 5_000.0, 0.0]);
        assert_eq!(sends, receives);
    }

    #[test]
    fn queries_are_spread_over_those_who_may_answer() {
        // 1,000 per second of 100 KB: 800 Mbps for host 0.
        for (senders, sends) in [
            ("next-rack", [0.0, 0.0, 400.0, 400.0, 0.0, 0.0]),
            ("one-other-rack", [0.0, 0.0, 200.0, 200.0, 200.0, 200.0]),
            ("other-racks", [0.0, 0.0, 200.0, 200.0, 200.0, 200.0]),
            ("any", [0.0, 160.0, 160.0, 160.0, 160.0, 160.0]),
        ] {
            let text = format!(
                "interval = \"1ms\"\nburst = \"100KB\"\nfan_in = 2\nreceivers = \"0..0\"\n\
                 senders = \"{senders}\""
            );
            let (found, receives) = demand("incast", &text).unwrap();
            assert_eq!(found, sends, "{senders}");
            assert_eq!(receives, [800.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
        }
    }

    #[test]
    fn what_has_no_rate_that_lasts_asks_nothing() {
        let poisson = "sizes = \"10KB\"\nload = 0.5\nload_of = \"host\"";
        assert!(demand("poisson", &format!("{poisson}\nflows = 1000000")).is_some());
        assert!(demand("poisson", &format!("{poisson}\nflows = 10")).is_none());
        let incast = "interval = \"1ms\"\nburst = \"100KB\"\nfan_in = 2";
        assert!(demand("incast", &format!("{incast}\nqueries = 1000")).is_some());
        assert!(demand("incast", &format!("{incast}\nqueries = 10")).is_none());
        assert!(demand("permutation", "size = \"1MB\"").is_none());
        let late = format!("{poisson}\nstart = \"1s\"");
        let fixture = Fixture::new(fixture::leaf_spine(3, 2, 2));
        let active = fixture.source("poisson", &late).unwrap().demand().unwrap().active;
        assert_eq!(active.start, Time::from_ms(1000));
    }
}
