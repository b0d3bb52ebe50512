//! Taggers in comparison with switches, NICs and traffic: whether there is a queue for every
//! priority.

use super::NicSettings;
use super::{Result, TierSettings};
use crate::extensions::Extensions;
use spillway_settings::{ErrorKind, Section, Table};
use spillway_traffic::Source;
use spillway_transport::Transport;
use spillway_transport::tagging::Tagging;

/// The taggers of a scenario, each with the path of its key.
#[derive(Debug)]
pub(super) struct Tags(Vec<(String, Tagging)>);

impl Tags {
    /// The taggers of the common transport and of traffic sections, none of which has been read
    /// yet.
    pub fn of(
        transport: &Transport,
        sections: &[Section],
        extensions: &Extensions,
    ) -> Result<Tags> {
        let mut tags = vec![("transport.tagging".to_string(), transport.tagging.clone())];
        for section in sections {
            if let Some(given) = section.peek("tagging") {
                let table = Table::from_iter([("tagging".to_string(), given.clone())]);
                let mut alone = Section::new(section.path(), table);
                tags.push((
                    section.path_of("tagging"),
                    Tagging::read(&mut alone, &extensions.hosts.tagging)?,
                ));
            }
        }
        Ok(Tags(tags))
    }

    /// Whether data wait in the queues of acks.
    pub fn share_ack_queues(&self) -> bool {
        self.0.iter().any(|(_, tagging)| tagging.shares_ack_queue())
    }

    /// Refuses switches and NICs that lack a queue for a priority, or that have acks in another
    /// queue than a tagger assumes.
    pub fn check(&self, tiers: &[TierSettings], nic: &NicSettings) -> Result<()> {
        let of_tier = |tier: &TierSettings| {
            let of =
                if tiers.len() == 1 { "switch".into() } else { format!("switch.{}", tier.tier) };
            let settings = &tier.settings;
            (format!("{of}.queues_per_port"), settings.queues_per_port, settings.ack_queue)
        };
        let ports = tiers.iter().map(of_tier);
        let ports = ports.chain([("nic.queues".into(), nic.queues.into(), nic.ack_queue)]);
        for (key, queues, ack_queue) in ports {
            for (path, tagging) in &self.0 {
                check_port(path, tagging, (&key, queues, ack_queue))?;
            }
        }
        Ok(())
    }
}

fn check_port(path: &str, tagging: &Tagging, port: (&str, u32, u8)) -> Result<()> {
    let (key, queues, ack_queue) = port;
    let Some(priorities) = tagging.priorities() else { return Ok(()) };
    let with_acks =
        if tagging.shares_ack_queue() { "shared with acks" } else { "beside that of acks" };
    if queues < priorities.end.into() {
        let (levels, needed) = (priorities.len(), priorities.end);
        let problem =
            format!("{levels} priorities, {with_acks}, need {key} = {needed}, not {queues}");
        let refused = ErrorKind::Conflict.at(path, problem);
        let only_acks_have_none = queues as usize >= levels;
        return Err(if only_acks_have_none {
            refused.hint("acks may share that of the first priority: acks = \"with-first\"")
        } else {
            refused
        });
    }
    if ack_queue != 0 {
        let key =
            key.replace("queues_per_port", "ack_queue").replace("nic.queues", "nic.ack_queue");
        let problem = format!("acks come first, or with the best priority: it needs {key} = 0");
        return Err(ErrorKind::Conflict.at(path, problem));
    }
    Ok(())
}

/// Refuses priorities of flows that a tagger would overrule.
pub(super) fn check_source(source: &Source, tagging: &Tagging) -> Result<()> {
    if tagging.is_fixed() || !source.has_priorities() {
        return Ok(());
    }
    let problem = "a flow's own priority, by this key or by a column of its list, needs tagging = \
                   \"fixed\"; its tagger gives priorities here";
    Err(ErrorKind::Conflict.at(format!("traffic.{}.priority", source.name()), problem))
}

/// A warning about a tagger that goes by bounds, if no flow has a bound.
pub(super) fn warning(source: &Source, tagging: &Tagging) -> Option<String> {
    (tagging.knows_bounds() && !source.has_bounds()).then(|| {
        format!(
            "traffic.{}: its tagger goes by the flows' bounds, and none has one: it knows nothing of \
             them; see `bound`",
            source.name()
        )
    })
}
