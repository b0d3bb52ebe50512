//! Oracles, which tell a policy whether Longest Queue Drop would lose a packet.

mod dated;
mod features;
mod models;
mod recorded;
mod seen;
mod trained;

pub use models::MODELS;

use super::{Sharing, Smartbuf};
use crate::buffer::{Buffer, QueueId};
use crate::catalogue::{Environment, Policy};
use crate::policy::{Admission, Arrival, Watch};
use recorded::{Recorded, RecordedParams};
use spillway_engine::{Stream, Time};
use spillway_settings::{Range, Section, SettingsError};
use std::collections::BTreeMap;
use std::sync::Arc;
use trained::{Trained, TrainedParams};

/// The source of an oracle's answers, and how often they are flipped.
#[derive(Clone, Debug)]
pub struct OracleParams {
    source: SourceParams,
    /// The probability that an answer is flipped, from 0 to 1.
    flip: f64,
}

/// The source of an oracle's answers.
#[derive(Clone, Debug)]
enum SourceParams {
    /// Random forests trained on LQD's drops.
    Forest(TrainedParams),
    /// The outcomes that packets had in another run.
    Recorded(RecordedParams),
    /// Predicts that no packet is lost.
    AlwaysAccept,
    /// Predicts that every packet is lost.
    AlwaysDrop,
    /// Predicts at random.
    Random {
        /// The probability of a drop, from 0 to 1.
        drop_probability: f64,
    },
    /// What Smartbuf would refuse.
    Smartbuf(Box<<Smartbuf as Policy>::Params>),
}

impl OracleParams {
    /// Reads the keys of a section that choose the oracle.
    pub fn read(
        section: &mut Section,
        environment: &Environment,
    ) -> Result<OracleParams, SettingsError> {
        let source = SourceParams::read(section, environment)?;
        let meaning = "the probability that an answer of the oracle is flipped";
        let flip = section.number("flip_probability", 0.0, Range::Unit, meaning)?;
        Ok(OracleParams { source, flip })
    }

    /// What the files of trained models record of their training; see
    /// [`trainings`](super::SharingParams::trainings).
    pub fn trainings(&self) -> BTreeMap<&str, &str> {
        match &self.source {
            SourceParams::Forest(trained) => trained.trainings(),
            _ => BTreeMap::new(),
        }
    }
}

impl SourceParams {
    fn read(
        section: &mut Section,
        environment: &Environment,
    ) -> Result<SourceParams, SettingsError> {
        let meaning = "who predicts whether LQD would drop a packet; with \"smartbuf\", whether \
                       Smartbuf would refuse it";
        let kinds = [
            ("forest", 0),
            ("trace", 1),
            ("always-accept", 2),
            ("always-drop", 3),
            ("random", 4),
            ("smartbuf", 5),
        ];
        let chosen = section.choice("oracle", &kinds, meaning)?;
        let keys = [(0, "model"), (1, "trace"), (4, "drop_probability"), (5, "smartbuf")];
        for (kind, key) in keys.into_iter().filter(|(kind, _)| *kind != chosen) {
            section.needs(&format!("oracle = {:?}", kinds[kind].0), &[key])?;
        }
        Ok(match chosen {
            0 => SourceParams::Forest(TrainedParams::read(section, environment)?),
            1 => SourceParams::Recorded(RecordedParams::read(section, environment)?),
            2 => SourceParams::AlwaysAccept,
            3 => SourceParams::AlwaysDrop,
            5 => {
                let meaning = "with oracle = \"smartbuf\", its keys; see smartbuf";
                let mut own = section.table("smartbuf", meaning)?;
                let params = Smartbuf::params(&mut own, environment)?;
                section.put("smartbuf", own.finish()?);
                SourceParams::Smartbuf(Box::new(params))
            }
            _ => {
                let meaning = "with oracle = \"random\", the probability that it predicts a drop";
                let drop_probability =
                    section.number("drop_probability", 0.5, Range::Unit, meaning)?;
                SourceParams::Random { drop_probability }
            }
        })
    }
}

/// An oracle at one switch.
#[derive(Clone, Debug)]
pub struct Oracle {
    source: Source,
    /// The probability that an answer is flipped.
    flip: f64,
    random: Stream,
    flips: u64,
}

/// The source of the answers.
#[derive(Clone, Debug)]
enum Source {
    /// A random forest trained on LQD's drops.
    Forest(Box<Trained>),
    /// The outcomes that packets had in another run.
    Recorded(Box<Recorded>),
    /// Predicts that no packet is lost.
    AlwaysAccept,
    /// Predicts that every packet is lost.
    AlwaysDrop,
    /// Predicts at random.
    Random {
        /// The probability of a drop.
        drop_probability: f64,
    },
    /// What Smartbuf would refuse of what arrives at the real buffer.
    Smartbuf(Box<Smartbuf>),
    /// Given predictions, arrival by arrival.
    Predictions {
        /// For every arrival, whether it is lost.
        drops: Arc<[bool]>,
        /// Arrivals so far.
        arrivals: usize,
    },
}

impl Oracle {
    /// A new oracle, for the policy with this id.
    pub fn new(params: &OracleParams, policy: &str, environment: &Environment) -> Oracle {
        let source = Source::new(&params.source, environment);
        let random = Stream::new(environment.seed, policy, environment.switch.into());
        Oracle { source, flip: params.flip, random, flips: 0 }
    }

    /// Takes over the probabilities of another oracle of the same kind.
    pub fn adopt(&mut self, fresh: Oracle) {
        self.flip = fresh.flip;
        if let (Source::Random { drop_probability }, Source::Random { drop_probability: next }) =
            (&mut self.source, fresh.source)
        {
            *drop_probability = next;
        }
    }

    /// Replaces the oracle's answers by a prediction for every arrival, in order of arrival.
    pub fn with_predictions(self, drops: Arc<[bool]>) -> Oracle {
        Oracle { source: Source::Predictions { drops, arrivals: 0 }, ..self }
    }

    /// Whether it must be told of every packet that leaves, even at an idle port.
    pub fn watches_queues(&self) -> bool {
        matches!(self.source, Source::Smartbuf(_))
    }

    /// Whether it must be told every packet's flow and first byte before the packet arrives.
    pub fn knows_packets(&self) -> bool {
        matches!(self.source, Source::Recorded(_))
    }

    /// The next arrival is this packet of this flow.
    pub fn introduce(&mut self, flow: u32, seq: u64) {
        if let Source::Recorded(recorded) = &mut self.source {
            recorded.introduce(flow, seq);
        }
    }

    /// A packet arrives, whether or not a prediction will be asked for.
    #[inline]
    pub fn on_arrival(&mut self, arrival: &Arrival, buffer: &Buffer) {
        match &mut self.source {
            Source::Forest(trained) => trained.held(arrival.now, arrival.queue, buffer),
            Source::Predictions { arrivals, .. } => *arrivals += 1,
            _ => {}
        }
    }

    /// A packet has left its queue to be sent.
    #[inline]
    pub fn on_dequeue(&mut self, now: Time, queue: QueueId, size: u32, buffer: &Buffer) {
        match &mut self.source {
            Source::Forest(trained) => trained.departed(now, queue, size, buffer),
            Source::Smartbuf(smartbuf) => smartbuf.on_dequeue(now, queue, size, buffer),
            _ => {}
        }
    }

    /// A packet has been lost: an arrival, or one that was in this queue.
    pub fn on_drop(&mut self, now: Time, queue: QueueId, size: u32, buffer: &Buffer) {
        if let Source::Smartbuf(smartbuf) = &mut self.source {
            smartbuf.on_drop(now, queue, size, buffer);
        }
    }

    /// Bytes of a queue are about to be freed without a departure.
    pub fn on_release(&mut self, now: Time, queue: QueueId, buffer: &Buffer) {
        if let Source::Forest(trained) = &mut self.source {
            trained.held(now, queue, buffer);
        }
    }

    /// Whether LQD would drop the arriving packet, according to the oracle.
    #[inline]
    pub fn predicts_drop(&mut self, arrival: &Arrival, buffer: &Buffer) -> bool {
        let drops = self.source.predicts_drop(arrival, buffer, &mut self.random);
        let flips = self.flip > 0.0 && self.random.uniform() < self.flip;
        self.flips += u64::from(flips);
        drops != flips
    }

    /// How many answers were flipped.
    pub fn flips(&self) -> u64 {
        self.flips
    }

    /// Its other counters, by name.
    pub fn counters(&self) -> Vec<(&'static str, u64)> {
        match &self.source {
            Source::Recorded(recorded) => vec![("oracle_unknown", recorded.unknown())],
            Source::Forest(trained) => {
                trained.outside().map(|n| ("oracle_outside", n)).into_iter().collect()
            }
            _ => Vec::new(),
        }
    }
}

impl Source {
    fn new(params: &SourceParams, environment: &Environment) -> Source {
        match params {
            SourceParams::Forest(trained) => {
                Source::Forest(Box::new(Trained::new(trained, environment)))
            }
            SourceParams::Recorded(recorded) => {
                Source::Recorded(Box::new(Recorded::new(recorded, environment)))
            }
            SourceParams::AlwaysAccept => Source::AlwaysAccept,
            SourceParams::AlwaysDrop => Source::AlwaysDrop,
            &SourceParams::Random { drop_probability } => Source::Random { drop_probability },
            SourceParams::Smartbuf(params) => {
                Source::Smartbuf(Box::new(Smartbuf::new(params, environment)))
            }
        }
    }

    #[inline]
    fn predicts_drop(&mut self, arrival: &Arrival, buffer: &Buffer, random: &mut Stream) -> bool {
        match self {
            Source::Forest(trained) => trained.predicts_drop(arrival, buffer),
            Source::Recorded(recorded) => recorded.is_dropped(),
            Source::AlwaysAccept => false,
            Source::AlwaysDrop => true,
            Source::Random { drop_probability } => random.uniform() < *drop_probability,
            Source::Smartbuf(smartbuf) => smartbuf.admit(arrival, buffer) != Admission::Admit,
            Source::Predictions { drops, arrivals } => drops[*arrivals - 1],
        }
    }
}
