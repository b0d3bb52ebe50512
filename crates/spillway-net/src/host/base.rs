//! What the slowdowns of the summary are relative to.

use crate::scenario::{Scenario, SlowdownBase};
use spillway_engine::{Rate, Time};
use spillway_topology::base_rtt;
use spillway_transport::flow::FlowSpec;

/// The base of slowdowns.
#[derive(Clone, Debug, Default)]
pub(crate) enum Base {
    /// The least time of the flow.
    #[default]
    Ideal,
    /// Propagation both ways, and the payload at the nominal rate of the sender's line.
    Published { propagation: Time, rates: Vec<Rate> },
}

impl Base {
    /// The base that a scenario asks for.
    pub fn of(scenario: &Scenario) -> Base {
        let topology = &scenario.topology;
        let rate = |&line: &u32| topology.lines[line as usize].rate.nominal();
        match scenario.slowdown_base {
            SlowdownBase::Ideal => Base::Ideal,
            SlowdownBase::Published => Base::Published {
                propagation: base_rtt(topology, 0),
                rates: topology.nics.iter().map(rate).collect(),
            },
        }
    }

    /// The base of a flow that takes at least the time `ideal`.
    pub fn of_flow(&self, spec: &FlowSpec, ideal: Time) -> Time {
        match self {
            Base::Published { propagation, rates } if spec.size != FlowSpec::ENDLESS => {
                *propagation + rates[spec.src as usize].time_of(spec.size)
            }
            _ => ideal,
        }
    }
}
