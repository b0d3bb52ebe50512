//! Lower bounds of flows' sizes: what a host knows of a flow's size before it sends.

use super::flow_model::FlowModel;
use spillway_engine::Stream;
use spillway_settings::{Files, Range, Section, SettingsError, Value};
use spillway_transport::flow::FlowSpec;

/// How a section's flows get their bounds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bounds {
    /// No flow has one.
    None,
    /// Each flow's size.
    Exact,
    /// The same bound for all flows: the least that an application sends.
    Constant(u64),
    /// The size times a number from `least` to 1, drawn for each flow.
    Uniform { least: f64 },
    /// As `Uniform`. For the share `misses` of flows, however, the size times 1 + `excess`, which
    /// is too high a bound.
    Miss { least: f64, misses: f64, excess: f64 },
    /// The bounds that a forest computes for the flows of a list. The flows come with them.
    Model,
}

impl Bounds {
    /// Reads the key `bound` of a traffic section, and the model that it may name.
    pub fn read(
        section: &mut Section,
        files: &Files,
    ) -> Result<(Bounds, Option<FlowModel>), SettingsError> {
        let ids = ["none", "exact", "constant", "uniform", "miss", "model"];
        let meaning =
            "The lower bound of each flow's size, which its host knows: taggers may use it.";
        let (id, mut own) = section.policy("bound", ids[0], ids.into_iter(), meaning)?;
        let least = |own: &mut Section, default: f64| {
            own.number("least", default, Range::Unit, "The least bound, as a share of the size.")
        };
        let mut model = None;
        let bounds = match id.as_str() {
            "exact" => Bounds::Exact,
            "constant" => Bounds::Constant(own.size("size", "", "The bound of every flow.")?),
            "uniform" => Bounds::Uniform { least: least(&mut own, 0.5)? },
            "miss" => Bounds::Miss {
                least: least(&mut own, 1.0)?,
                misses: {
                    let meaning = "The share of flows with a bound that is too high.";
                    own.number("misses", 0.01, Range::Unit, meaning)?
                },
                excess: {
                    let meaning = "How far such a bound is too high, as a share of the size.";
                    own.number("excess", 1.0, Range::Positive, meaning)?
                },
            },
            "model" => {
                model = Some(FlowModel::read(&mut own, files)?);
                Bounds::Model
            }
            _ => Bounds::None,
        };
        let resolved = own.finish()?;
        if bounds != Bounds::None {
            section.put("bound", Value::Table(resolved));
        }
        Ok((bounds, model))
    }

    /// The bound of a flow that has none yet. An endless flow has no size, so it can only have the
    /// constant bound.
    pub fn draw(self, flow: &FlowSpec, random: &mut Stream) -> u64 {
        let share = match self {
            Bounds::None | Bounds::Constant(_) | Bounds::Model => 0.0,
            Bounds::Exact => 1.0,
            Bounds::Uniform { least } => within(least, random),
            Bounds::Miss { least, misses, excess } => {
                if random.uniform() < misses {
                    1.0 + excess
                } else {
                    within(least, random)
                }
            }
        };
        match self {
            _ if flow.bound > 0 => flow.bound,
            Bounds::Constant(bytes) => bytes,
            _ if flow.size == FlowSpec::ENDLESS => 0,
            Bounds::Exact => flow.size,
            _ => (flow.size as f64 * share) as u64,
        }
    }
}

/// A number from `least` to 1. It is drawn only if the two differ.
fn within(least: f64, random: &mut Stream) -> f64 {
    if least == 1.0 { 1.0 } else { least + (1.0 - least) * random.uniform() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bounds(text: &str) -> Bounds {
        let mut section = Section::new("traffic.x", text.parse().unwrap());
        Bounds::read(&mut section, &Files::default()).unwrap().0
    }

    /// The bounds of many flows of 10,000 bytes.
    fn drawn(text: &str) -> Vec<u64> {
        let (bounds, mut random) = (bounds(text), Stream::new(1, "bound", 0));
        (0..10_000).map(|_| bounds.draw(&FlowSpec::new(0, 1, 10_000), &mut random)).collect()
    }

    #[test]
    fn bounds_are_none_all_or_the_same() {
        assert!(drawn("").iter().all(|&bound| bound == 0));
        assert!(drawn("bound = \"exact\"").iter().all(|&bound| bound == 10_000));
        let constant = "bound = { kind = \"constant\", size = \"1600B\" }";
        assert!(drawn(constant).iter().all(|&bound| bound == 1_600));
    }

    #[test]
    fn a_bound_is_a_share_of_the_size() {
        let drawn = drawn("bound = { kind = \"uniform\", least = 0.4 }");
        assert!(drawn.iter().all(|bound| (4_000..=10_000).contains(bound)));
        // The mean is 7,000; the standard error 6,000 / sqrt(12 * 10,000) = 17.
        let mean = drawn.iter().sum::<u64>() as f64 / drawn.len() as f64;
        assert!((mean - 7_000.0).abs() < 70.0, "{mean}");
    }

    #[test]
    fn some_bounds_are_too_high() {
        let text = "bound = { kind = \"miss\", misses = 0.1, excess = 0.5 }";
        let drawn = drawn(text);
        let misses = drawn.iter().filter(|&&bound| bound == 15_000).count();
        // 1,000, with a standard deviation of 30; the others are exact.
        assert!((880..1_120).contains(&misses), "{misses}");
        assert_eq!(drawn.iter().filter(|&&bound| bound == 10_000).count(), 10_000 - misses);
    }

    #[test]
    fn a_flow_keeps_a_bound_of_its_own_and_an_endless_one_has_only_a_constant() {
        let mut random = Stream::new(1, "bound", 0);
        let mut draw = |bounds: Bounds, spec| bounds.draw(&spec, &mut random);
        assert_eq!(draw(Bounds::Exact, FlowSpec { bound: 7, ..FlowSpec::new(0, 1, 10_000) }), 7);
        let endless = FlowSpec::new(0, 1, FlowSpec::ENDLESS);
        let none = [Bounds::Exact, Bounds::Uniform { least: 0.5 }, Bounds::None, Bounds::Model];
        assert!(none.into_iter().all(|bounds| draw(bounds, endless) == 0));
        assert_eq!(draw(Bounds::Constant(1_600), endless), 1_600);
    }
}
