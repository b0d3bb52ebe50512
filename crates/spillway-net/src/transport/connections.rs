//! Connections: whether each flow opens one of its own, or takes one that earlier flows have left
//! open.
//!
//! # Reference
//! M. Allman, V. Paxson, E. Blanton, RFC 5681, 2009, section 4.1: the window after a time without
//! data.

use spillway_settings::{Section, SettingsError};

/// How long connections last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Connections {
    /// Each flow has one of its own.
    Own,
    /// They stay open, and a flow that starts takes one that is idle.
    Open {
        /// Whether the window falls back to the initial one after more than a retransmission timeout
        /// without data.
        restarts: bool,
    },
}

impl Connections {
    /// The key that means something only where connections stay open.
    const OF_OPEN: &str = "restart_idle";

    /// Reads the settings, for a sender with a window or a pace (`is_paced`).
    pub(super) fn read(
        section: &mut Section,
        is_paced: bool,
    ) -> Result<Connections, SettingsError> {
        let meaning = "whether each flow has a connection of its own, or takes an idle one that \
                       earlier flows of its class between the same hosts have left open";
        let stay_open =
            section.choice("connections", &[("own", false), ("open", true)], meaning)?;
        if is_paced && section.has(Self::OF_OPEN) {
            let problem = "means nothing where a pace is set: a sender keeps the pace that it had";
            return Err(section.error(Self::OF_OPEN, problem));
        }
        if !stay_open {
            section.needs("connections = \"open\"", &[Self::OF_OPEN])?;
            return Ok(Connections::Own);
        }
        let meaning = "whether the window falls back to the initial one after more than a \
                       retransmission timeout without data (RFC 5681; with connections = \"open\")";
        let restarts = !is_paced && section.flag(Self::OF_OPEN, true, meaning)?;
        Ok(Connections::Open { restarts })
    }

    /// Whether a key means nothing with this value of `connections`.
    pub fn is_foreign(key: &str, connections: &str) -> bool {
        connections == "own" && key == Self::OF_OPEN
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::tests::closed_loop;

    fn refused(text: &str) -> String {
        let mut section = Section::new("transport", text.parse().unwrap());
        let is_paced = text.contains("hpcc");
        Connections::read(&mut section, is_paced).unwrap_err().to_string()
    }

    #[test]
    fn connections_are_own_ones_unless_they_stay_open() {
        let read = |text: &str| closed_loop(&format!("kind = {text}")).connections;
        assert_eq!(read("\"dctcp\""), Connections::Own);
        assert_eq!(read("\"dctcp\"\nconnections = \"own\""), Connections::Own);
        let open = |restarts| Connections::Open { restarts };
        assert_eq!(read("\"cubic\"\nconnections = \"open\""), open(true));
        assert_eq!(read("\"dctcp\"\nconnections = \"open\"\nrestart_idle = false"), open(false));
        // A pace does not fall back.
        assert_eq!(read("\"hpcc\"\nconnections = \"open\""), open(false));
    }

    #[test]
    fn what_means_nothing_is_refused() {
        assert_eq!(
            refused("restart_idle = true"),
            "transport.restart_idle: it needs connections = \"open\""
        );
        assert_eq!(
            refused("kind = \"hpcc\"\nconnections = \"open\"\nrestart_idle = true"),
            "transport.restart_idle: means nothing where a pace is set: a sender keeps the pace \
             that it had"
        );
        assert_eq!(
            refused("connections = \"closed\""),
            "transport.connections: \"closed\" is not valid; expected \"own\" or \"open\"\n\
             hint: valid here: own, open"
        );
    }
}
