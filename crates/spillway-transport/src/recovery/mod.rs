//! Loss recovery: how a sender finds out what is lost, and what it sends again. One file for each
//! kind, with its keys.
//!
//! Most kinds share TCP's phases (RFC 5681, RFC 6675): they only tell what is lost, and the sender
//! cuts its window once for a flight, and repairs. A kind with rules of its own chooses each
//! segment itself; [`OwnRecovery`] is what it may see and do.

mod duplicate_acks;
mod fixed_timeout;
mod go_back_n;
mod ns3;
mod orders;
mod own;
mod per_priority;
mod rack;
mod reader;
pub mod reduction;
mod sack;
pub mod scoreboard;
mod segments;
mod selective;
mod timeout_only;

pub use fixed_timeout::FixedTimeout;
pub use orders::OrderCounts;
pub use own::{Course, Flight, Own, OwnAck, OwnRecovery, Reaction, TimedOut};
pub(crate) use per_priority::ByOrder;
pub(crate) use rack::{ByRack, RackAck};
pub(crate) use reader::refuse_moved;
pub use reader::{Losses, Reader, moved};

#[cfg(test)]
pub(crate) use rack::naive as naive_rack;

use crate::Access;
use crate::ranges::Range;
use crate::receiver::EcnEcho;
use crate::rtt::RtoBounds;
use scoreboard::Scoreboard;
use spillway_engine::Time;
use spillway_settings::{Key, Section, SettingsError, Table, Value};
use std::fmt;
use std::sync::Arc;

/// The row of a kind of loss recovery.
pub struct Kind {
    /// The field's short name.
    pub id: &'static str,
    /// A description of one line.
    pub summary: &'static str,
    /// Where it was published.
    pub citation: &'static str,
    /// Its results number. It rises whenever the results of runs with this recovery change although
    /// nothing else of these runs has changed.
    pub results: u32,
    read: fn(&mut Reader) -> Result<Settings, SettingsError>,
}

/// Kinds of loss recovery as the catalogue lists them. The first is the default.
pub const KINDS: &[Kind] = &[
    sack::KIND,
    rack::KIND,
    ns3::KIND,
    per_priority::KIND,
    duplicate_acks::KIND,
    timeout_only::KIND,
    go_back_n::KIND,
    selective::KIND,
];

/// A kind of loss recovery that is not compiled in: the counterpart of a row in the catalogue.
pub trait RecoveryExtension: fmt::Debug + Send + Sync {
    /// The name by which scenarios choose it. No recovery of the catalogue has this name.
    fn id(&self) -> &str;

    /// Reads its parameters.
    ///
    /// # Errors
    /// If they are wrong.
    fn read(&self, section: &mut Section) -> Result<Box<dyn OwnRecovery>, SettingsError>;
}

/// The key of a transport that chooses its recovery.
pub const KEY: &str = "recovery";

/// The loss recovery of a flow, with its state. In settings: that of a flow before its start.
#[derive(Clone, Debug)]
pub enum Recovery {
    /// By the amount of data that has arrived behind a missing segment.
    Sack,
    /// By the number of acks that acknowledge nothing new.
    DuplicateAcks,
    /// By timeouts alone. What is in flight is then a range that ends at the next byte to be sent,
    /// whatever part of it has arrived.
    TimeoutOnly,
    /// As the TCP of ns-3.
    Ns3,
    /// By the times at which segments were sent.
    Rack(Box<ByRack>),
    /// By the order in which packets of one priority were sent.
    PerPriority(Box<ByOrder>),
    /// By rules of its own for every segment.
    Own(Box<Own>),
}

/// What the section of a recovery gives.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The recovery of a flow before its start.
    pub recovery: Recovery,
    /// What kinds with TCP's phases share.
    pub losses: Losses,
    /// The bounds of the retransmission timeout, for these kinds.
    pub rto: RtoBounds,
}

impl Settings {
    /// Reads the key `recovery` of a transport whose receivers echo marks like this, and which has
    /// a window or a pace.
    ///
    /// # Errors
    /// If there is no such recovery, or its parameters are wrong.
    pub(crate) fn read(
        section: &mut Section,
        echo: EcnEcho,
        is_paced: bool,
        outside: &[Arc<dyn RecoveryExtension>],
    ) -> Result<Settings, SettingsError> {
        let meaning = "how losses are found and repaired";
        let ids = KINDS.iter().map(|kind| kind.id).chain(outside.iter().map(|kind| kind.id()));
        let (id, mut own) = section.policy(KEY, KINDS[0].id, ids, meaning)?;
        let settings = match KINDS.iter().find(|kind| kind.id == id) {
            Some(kind) => (kind.read)(&mut Reader { section: &mut own, echo, is_paced })?,
            None => {
                let kind = outside.iter().find(|kind| kind.id() == id);
                Settings::of_own(kind.expect("it is one of those listed").read(&mut own)?)
            }
        };
        section.put(KEY, Value::Table(own.finish()?));
        Ok(settings)
    }

    /// The settings of a recovery that chooses every segment itself. Nothing of what the others
    /// share is used.
    pub(crate) fn of_own(rules: Box<dyn OwnRecovery>) -> Settings {
        let recovery = Recovery::Own(Box::new(Own { rules, course: Course::default() }));
        Settings { recovery, losses: Losses::UNUSED, rto: RtoBounds::UNUSED }
    }
}

impl Kind {
    /// The keys of its section, for a sender with a window.
    pub fn keys(&self) -> Vec<Key> {
        let mut section = Section::empty();
        let (echo, is_paced) = (EcnEcho::PerPacket, false);
        let read = (self.read)(&mut Reader { section: &mut section, echo, is_paced });
        debug_assert!(read.is_ok(), "{} has no defaults: {:?}", self.id, read.err());
        section.keys().to_vec()
    }

    /// Whether it has TCP's phases.
    fn has_phases(&self) -> bool {
        self.default_of("min_rto").is_some()
    }

    /// The default of a key, if it has the key.
    fn default_of(&self, key: &str) -> Option<String> {
        self.keys().into_iter().find(|known| known.name == key).map(|known| known.default)
    }
}

/// The section of a recovery after `change`, which gives a kind, keys, or both. If the kind
/// changes, keys stay that the new kind has, too, unless they have other defaults there: they were
/// meant for the earlier kind.
pub fn merge(given: Option<&Value>, change: &Value) -> Value {
    let (mut merged, change) = (table_of(given), table_of(Some(change)));
    let kind_of = |table: &Table| {
        let id = table.get("kind").map_or(Some(KINDS[0].id), Value::as_str);
        KINDS.iter().find(|kind| Some(kind.id) == id)
    };
    if change.contains_key("kind") {
        match (kind_of(&merged), kind_of(&change)) {
            (Some(earlier), Some(kind)) if earlier.id == kind.id => {}
            (Some(earlier), Some(kind)) => merged.retain(|key, _| {
                let default = kind.default_of(key);
                // What no kind has stays, so that reading reports it.
                let is_known = KINDS.iter().any(|any| any.default_of(key).is_some());
                !is_known || (default.is_some() && default == earlier.default_of(key))
            }),
            _ => merged.clear(),
        }
    }
    merged.extend(change);
    Value::Table(merged)
}

/// Keys of a transport that mean nothing with a recovery that chooses every segment itself.
pub(crate) const OF_PHASES: [&str; 8] = [
    "syn_window",
    "handshake",
    "offload",
    "ack_push",
    "quick_acks",
    "coalesce",
    "coalesce_time",
    crate::protection::KEY,
];

/// Whether a kind of recovery has TCP's phases. Kinds from outside choose every segment themselves.
pub(crate) fn has_phases(kind: &str) -> bool {
    KINDS.iter().any(|known| known.id == kind && known.has_phases())
}

/// The kind of recovery that a transport's section gives, or the default.
pub fn chosen(given: Option<&Value>) -> &str {
    let id = given.and_then(|given| given.as_str().or_else(|| given.get("kind")?.as_str()));
    id.unwrap_or(KINDS[0].id)
}

/// Keys of a recovery that mean nothing where a pace is set, which no loss cuts.
const OF_CUTS: [&str; 2] = ["cut_once", "reduction"];

/// Drops what does not go with a kind of transport from its section's recovery, if another kind
/// had it before. Returns the names of these keys.
pub fn fit(section: &mut Table, kind: &str) -> Vec<String> {
    let is_paced = crate::KINDS
        .iter()
        .any(|known| known.id == kind && known.needs.pace == crate::Pace::Always);
    let Some(Value::Table(recovery)) = section.get_mut(KEY).filter(|_| is_paced) else {
        return Vec::new();
    };
    let gone = OF_CUTS.iter().filter(|key| recovery.remove(**key).is_some());
    let gone = gone.map(|key| format!("{KEY}.{key}")).collect();
    if recovery.is_empty() {
        section.remove(KEY);
    }
    gone
}

/// Whether a kind of the catalogue has a key.
pub fn has(kind: &str, key: &str) -> bool {
    KINDS.iter().any(|known| known.id == kind && known.default_of(key).is_some())
}

/// The section of a policy, which may be only an id.
pub fn table_of(policy: Option<&Value>) -> Table {
    match policy {
        Some(Value::Table(table)) => table.clone(),
        Some(id) => Table::from_iter([("kind".to_string(), id.clone())]),
        None => Table::new(),
    }
}

impl Recovery {
    /// The state of a flow that starts, in segments of `mss`. The ack of a single segment may be
    /// delayed by `held_back`.
    pub(crate) fn start(
        &self,
        mss: u64,
        losses: &Losses,
        held_back: Time,
        access: &Access,
    ) -> Recovery {
        let mut fresh = self.clone();
        match &mut fresh {
            Recovery::Rack(by_rack) => by_rack.start(mss, losses, held_back),
            Recovery::PerPriority(by_order) => by_order.start(mss, losses),
            Recovery::Own(own) => own.rules.start(mss, access),
            Recovery::Sack | Recovery::DuplicateAcks | Recovery::TimeoutOnly | Recovery::Ns3 => {}
        }
        fresh
    }

    /// Whether it chooses every segment itself.
    #[inline]
    pub fn is_own(&self) -> bool {
        matches!(self, Recovery::Own(_))
    }

    /// Whether packets have numbers, which acks echo.
    #[inline]
    pub fn numbers_packets(&self) -> bool {
        matches!(self, Recovery::PerPriority(_))
    }

    /// Whether it keeps TCP's phases as ns-3 does.
    #[inline]
    pub(crate) fn is_ns3(&self) -> bool {
        matches!(self, Recovery::Ns3)
    }

    /// The next lost segment that has not been retransmitted.
    pub(crate) fn next_lost(&self, board: &Scoreboard) -> Option<Range> {
        match self {
            Recovery::Rack(by_rack) => by_rack.rack.next_lost(),
            Recovery::PerPriority(by_order) => by_order.orders.next_lost(),
            _ => board.next_lost(),
        }
    }

    /// The last new segment was not sent after all.
    pub(crate) fn take_back(&mut self, seq: u64) {
        match self {
            Recovery::Rack(by_rack) => by_rack.rack.take_back(seq),
            Recovery::PerPriority(by_order) => by_order.orders.take_back(seq),
            _ => {}
        }
    }

    /// The next flow of the same connection begins, with this byte.
    pub(crate) fn begin_next(&mut self, first: u64, access: &Access) {
        match self {
            Recovery::PerPriority(by_order) => by_order.orders.reset_counts(),
            Recovery::Own(own) => {
                own.course = Course { sent_to: first, ..Course::default() };
                own.rules.begin_next(first, access);
            }
            _ => {}
        }
    }
}

impl fmt::Debug for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{closed_loop, transport};
    use crate::{ClosedLoop, Transport};
    use spillway_settings::{ErrorKind, quantity::BdpSize};

    fn refused(text: &str) -> SettingsError {
        let mut section = Section::new("transport", text.parse().unwrap());
        let read = Transport::read(&mut section, &crate::Extensions::default());
        read.and_then(|_| section.finish()).unwrap_err()
    }

    fn own(closed: &ClosedLoop) -> &dyn OwnRecovery {
        let Recovery::Own(own) = &closed.recovery else { panic!("{closed:?}") };
        &*own.rules
    }

    #[test]
    fn kinds_have_keys_of_their_own() {
        let with = |name: &str| {
            let kinds = KINDS.iter().filter(|kind| has(kind.id, name));
            kinds.map(|kind| kind.id).collect::<Vec<_>>().join(" ")
        };
        let of_phases = "sack rack ns3 per-priority duplicate-acks timeout-only";
        assert_eq!([with("min_rto"), with("reduction")], [of_phases; 2]);
        assert_eq!(with("dupthresh"), "sack rack ns3 per-priority duplicate-acks");
        assert_eq!(with("cut_once"), "sack rack per-priority duplicate-acks timeout-only");
        assert_eq!(with("tail_loss_probe"), "sack rack");
        assert_eq!(with("partial_acks_tell"), "sack");
        assert_eq!([with("or_worse"), with("number_bytes")], ["per-priority"; 2]);
        assert_eq!(with("ack_timeout"), "go-back-n");
        assert_eq!(with("rto_low"), "selective");
    }

    #[test]
    fn a_key_of_another_kind_is_refused() {
        for (kind, key, value) in [
            ("sack", "or_worse", "true"),
            ("rack", "partial_acks_tell", "true"),
            ("ns3", "cut_once", "true"),
            ("duplicate-acks", "tail_loss_probe", "true"),
            ("timeout-only", "dupthresh", "3"),
            ("go-back-n", "min_rto", "'1ms'"),
            ("selective", "nack_interval", "'1ms'"),
        ] {
            let error = refused(&format!("recovery = {{ kind = '{kind}', {key} = {value} }}"));
            let found = (error.kind, &*error.path);
            assert_eq!(found, (ErrorKind::UnknownKey, &*format!("transport.recovery.{key}")));
        }
        let error = refused("recovery = 'irn'");
        assert_eq!((error.kind, &*error.path), (ErrorKind::WrongValue, "transport.recovery"));
        // pFabric has its own, and datagrams have no acks.
        for kind in ["pfabric", "udp"] {
            let error = refused(&format!("kind = '{kind}'\nrecovery = 'go-back-n'"));
            assert_eq!(error.kind, ErrorKind::UnknownKey);
        }
        let error = refused("kind = 'timely'\nrecovery.cut_once = true");
        let problem = "transport.recovery.cut_once: means nothing where a pace is set: a pace is \
                       never cut for a loss";
        assert_eq!(error.to_string(), problem);
        let error = refused("recovery = 'per-priority'\nack_every = 2");
        assert!(
            error.to_string().starts_with("transport.ack_every: recovery = \"per-priority\" needs")
        );
    }

    #[test]
    fn a_key_from_before_is_refused_with_its_new_place() {
        for (key, place) in [
            ("loss_detection = 'rack'", "recovery"),
            ("retransmit = 'selective'", "recovery"),
            ("min_rto = '1ms'", "recovery.min_rto"),
            ("ack_timeout = '1ms'", "recovery.ack_timeout"),
        ] {
            let error = refused(key);
            assert_eq!(error.kind, ErrorKind::UnknownKey);
            assert_eq!(error.hint, Some(format!("it is transport.{place} now")));
        }
    }

    #[test]
    fn keys_of_phases_mean_nothing_without_them() {
        for kind in ["go-back-n", "selective"] {
            for key in ["handshake = false", "syn_window = 'unlimited'", "offload = '64KiB'"] {
                let error = refused(&format!("recovery = '{kind}'\n{key}"));
                let why = "means nothing where the recovery chooses every segment itself";
                assert_eq!(error.problem, why);
                let name = key.split(' ').next().unwrap();
                assert!(OF_PHASES.contains(&name) && !has_phases(kind) && has_phases("rack"));
            }
            let closed = closed_loop(&format!("recovery = '{kind}'"));
            assert!(!closed.losses.are_plain && !closed.losses.cut_once);
        }
        // Every transport with acks may have any recovery.
        for kind in ["dctcp", "newreno", "cubic", "theta-powertcp", "powertcp", "hpcc", "timely"] {
            for recovery in KINDS {
                transport(&format!("kind = '{kind}'\nrecovery = '{}'", recovery.id));
            }
        }
    }

    /// The defaults are those of the specification and of IRN.
    #[test]
    fn timeouts_may_be_none_or_multiples_of_the_round_trip() {
        let shortest = |text: &str| {
            let told = own(&closed_loop(text)).shortest_rto(Time::from_us(10));
            told.map(|(rto, key)| (rto.ps() / 1_000_000, key))
        };
        let go_back = "recovery.kind = 'go-back-n'";
        assert_eq!(shortest(go_back), Some((4_000, "recovery.ack_timeout")));
        assert_eq!(shortest(&format!("{go_back}\nrecovery.ack_timeout = 'none'")), None);
        let three = shortest(&format!("{go_back}\nrecovery.ack_timeout = '3rtt'"));
        assert_eq!(three, Some((30, "recovery.ack_timeout")));
        let selective = "recovery.kind = 'selective'";
        assert_eq!(shortest(selective), Some((100, "recovery.rto_low")));
        let nine = shortest(&format!("{selective}\nrecovery.rto_high = '9rtt'"));
        assert_eq!(nine, Some((90, "recovery.rto_high")));
        let error = refused(&format!("{go_back}\nrecovery.ack_timeout = '0us'"));
        let problem = "\"0us\" is not valid; expected a time above 0 such as \"45us\", a multiple of the \
                       base RTT such as \"3rtt\", or \"none\"";
        assert_eq!((&*error.path, &*error.problem), ("transport.recovery.ack_timeout", problem));
    }

    #[test]
    fn receivers_answer_as_the_kind_asks() {
        let acks = |text: &str| closed_loop(text).acks;
        let rule = acks("recovery = 'go-back-n'").in_order.unwrap();
        assert_eq!((rule.nack_interval, rule.answers_old), (Time::from_us(500), true));
        assert!(acks("recovery = 'selective'").in_order.is_none());
        use crate::receiver::Tells;
        for (kind, tells) in [
            ("sack", Tells::Ranges),
            ("rack", Tells::Duplicates),
            ("go-back-n", Tells::Packet),
            ("selective", Tells::Packet),
        ] {
            assert_eq!(acks(&format!("recovery = '{kind}'")).tells, tells);
        }
        let bound = BdpSize::parse("1bdp").unwrap();
        let closed = closed_loop("recovery = 'selective'");
        let mut own = dyn_clone::clone_box(own(&closed));
        let access = crate::tests::access(10, 25);
        own.start(1_000, &access);
        assert_eq!(own.most(), bound.bytes(access.rate, access.base_rtt));
    }

    /// A change of the kind keeps what both kinds have with the same default.
    #[test]
    fn a_change_keeps_what_it_does_not_touch() {
        let merged = |given: &str, change: &str| {
            let of = |text: &str| text.parse::<Table>().unwrap().remove("r");
            let expected = merge(of(given).as_ref(), &of(change).unwrap());
            let Value::Table(table) = expected else { panic!() };
            table.to_string().replace('\n', " ").trim().to_string()
        };
        let given = "r = { min_rto = '1ms', tail_loss_probe = false, partial_acks_tell = true }";
        assert_eq!(merged(given, "r = 'rack'"), "min_rto = \"1ms\" kind = \"rack\"");
        assert_eq!(merged(given, "r = { kind = 'ns3' }"), "min_rto = \"1ms\" kind = \"ns3\"");
        assert_eq!(merged(given, "r = 'go-back-n'"), "kind = \"go-back-n\"");
        let same = merged(given, "r = { kind = 'sack', min_rto = '2ms' }");
        let kept = "min_rto = \"2ms\" tail_loss_probe = false partial_acks_tell = true";
        assert_eq!(same, format!("{kept} kind = \"sack\""));
        let same = merged("r = 'rack'", "r = { min_rto = '2ms' }");
        assert_eq!(same, "kind = \"rack\" min_rto = \"2ms\"");
        // ns-3's recovery comes down to its window in another way.
        let given = "r = { kind = 'ns3', reduction = 'proportional-ns3', dupthresh = 5 }";
        assert_eq!(merged(given, "r = 'rack'"), "kind = \"rack\" dupthresh = 5");
        // What no kind has is left to be refused. A kind from outside starts anew.
        assert_eq!(merged("r = { x = 1 }", "r = 'rack'"), "x = 1 kind = \"rack\"");
        assert_eq!(merged(given, "r = 'mine'"), "kind = \"mine\"");
    }
}
