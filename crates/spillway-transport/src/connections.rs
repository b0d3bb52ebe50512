//! Connections: whether each flow opens one of its own, or takes one that earlier flows have left
//! open.
//!
//! # Reference
//! M. Allman, V. Paxson, E. Blanton, RFC 5681, 2009, section 4.1: the window after a time without
//! data.

use spillway_settings::{ErrorKind, Section, SettingsError};

/// How long connections last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Connections {
    /// Each flow has one of its own.
    Own,
    /// They stay open, and a flow that starts takes one that is idle.
    Open {
        /// When the window returns to the initial window.
        restart: Restart,
    },
}

/// When the window of a connection that stays open returns to the initial window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Restart {
    /// Never.
    Never,
    /// After more than a retransmission timeout without data, if the window is larger.
    Idle,
    /// With each flow, whatever the window is.
    Each,
}

impl Connections {
    /// The keys that mean something only where connections stay open.
    pub(crate) const OF_OPEN: &[&str] = &["restart_idle", "restart_each"];

    /// Reads the settings, for a sender with a window or a pace (`is_paced`).
    pub(super) fn read(
        section: &mut Section,
        is_paced: bool,
    ) -> Result<Connections, SettingsError> {
        let meaning = "whether each flow has a connection of its own, or takes an idle one that \
                       earlier flows of its class between the same hosts have left open";
        let stay_open =
            section.choice("connections", &[("own", false), ("open", true)], meaning)?;
        if let Some(key) = Self::OF_OPEN.iter().find(|key| is_paced && section.has(key)) {
            let problem = "means nothing where a pace is set: a sender keeps the pace that it had";
            return Err(section.error(ErrorKind::UnusedKey, key, problem));
        }
        if !stay_open {
            section.needs("connections = \"open\"", Self::OF_OPEN)?;
            return Ok(Connections::Own);
        }
        if is_paced {
            return Ok(Connections::Open { restart: Restart::Never });
        }
        let meaning = "whether each flow begins with the initial window, whatever window its \
                       connection has (with connections = \"open\")";
        if section.optional_flag("restart_each", meaning)? == Some(true) {
            section.needs("restart_each = false", &["restart_idle"])?;
            return Ok(Connections::Open { restart: Restart::Each });
        }
        let meaning = "whether the window falls back to the initial one after more than a \
                       retransmission timeout without data (RFC 5681; with connections = \"open\")";
        let restart = if section.flag("restart_idle", true, meaning)? {
            Restart::Idle
        } else {
            Restart::Never
        };
        Ok(Connections::Open { restart })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::closed_loop;

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
        let open = |restart| Connections::Open { restart };
        let dctcp = |more: &str| read(&format!("\"dctcp\"\nconnections = \"open\"\n{more}"));
        assert_eq!(read("\"cubic\"\nconnections = \"open\""), open(Restart::Idle));
        assert_eq!(dctcp("restart_idle = false"), open(Restart::Never));
        assert_eq!(dctcp("restart_each = true"), open(Restart::Each));
        assert_eq!(dctcp("restart_each = false"), open(Restart::Idle));
        // A pace does not fall back.
        assert_eq!(read("\"hpcc\"\nconnections = \"open\""), open(Restart::Never));
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
            refused("restart_each = true"),
            "transport.restart_each: it needs connections = \"open\""
        );
        assert_eq!(
            refused("connections = \"open\"\nrestart_each = true\nrestart_idle = true"),
            "transport.restart_idle: it needs restart_each = false"
        );
        assert!(
            refused("kind = \"hpcc\"\nconnections = \"open\"\nrestart_each = true")
                .starts_with("transport.restart_each: means nothing where a pace is set")
        );
        assert_eq!(
            refused("connections = \"closed\""),
            "transport.connections: \"closed\" is not valid; expected \"own\" or \"open\"\n\
             hint: valid here: own, open"
        );
    }
}
