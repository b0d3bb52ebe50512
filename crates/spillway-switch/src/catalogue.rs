//! The catalogue of a room: one row for every algorithm in it.

use crate::buffer::Buffer;
use crate::cost::Cost;
use crate::scheduling::{Fifo, RoundRobin, SchedulingPolicy};
use spillway_engine::{Rate, Time};
use spillway_settings::{ErrorKind, Files, Key, Range, Section, SettingsError, Value};
use std::fmt::Debug;
use std::sync::Arc;

/// How the ports of a switch serve their queues, for policies that simulate another switch.
#[derive(Clone, Debug)]
pub struct Service {
    /// The scheduler, in its state before anything is sent.
    pub scheduling: SchedulingPolicy,
    /// Bytes of every packet that the buffer does not count.
    pub uncounted_bytes: u32,
    /// Whether a packet's bytes are held until its transmission ends, rather than starts.
    pub release_at_end: bool,
    /// The length of a time slot in the slotted model. There a packet is one byte, and every port
    /// has one queue and sends one packet in each slot. Packets arrive at the beginning of a slot,
    /// and are sent half a slot later.
    pub slot: Option<Time>,
}

impl Service {
    /// How long a packet that finds its port idle waits before it is sent.
    pub fn delay(&self) -> Time {
        self.slot.map_or(Time::ZERO, |slot| Time::from_ps(slot.ps() / 2))
    }
}

/// What a policy may know of its switch and the network.
///
/// The switches of a tier differ only in their numbers, in the rates of their ports, and, if the
/// buffer's size depends on these rates, in the bytes of their buffers.
#[derive(Clone, Debug)]
pub struct Environment {
    /// The run's seed.
    pub seed: u64,
    /// The switch's number. A host has a number too: hosts are numbered on after all switches. The
    /// policy's random stream follows from this number, the seed and a name.
    pub switch: u32,
    /// The names of all switches, by their numbers: a tier and a place in it, as in `leaf3`.
    pub names: Arc<[String]>,
    /// Bytes of the buffer ([`crate::Buffer::UNLIMITED`] if it is never full).
    pub capacity: u64,
    /// The rates of the ports.
    pub port_rates: Vec<Rate>,
    /// Queues that each port has.
    pub queues_per_port: u32,
    /// The queue class of acks and other control packets.
    pub ack_queue_class: u8,
    /// The queue class of data without a priority.
    pub data_queue_class: u8,
    /// Whether data with a priority may wait in the queues of acks.
    pub shares_ack_queues: bool,
    /// The round trip of an empty network, above 0.
    pub base_rtt: Time,
    /// Bytes of a full packet on the wire.
    pub full_packet: u32,
    /// How ports serve their queues.
    pub service: Service,
    /// The files that parameters may name.
    pub files: Files,
}

impl Environment {
    /// An example of a switch, for tests: `ports` ports of 10 Gbps with one queue each share 1 MB.
    pub fn example(ports: usize) -> Environment {
        let rate = Rate::from_bits_per_second(10_000_000_000).expect("10 Gbps is a rate");
        Environment {
            seed: 1,
            switch: 0,
            names: Arc::new(["leaf0".into()]),
            capacity: 1_000_000,
            port_rates: vec![rate; ports],
            queues_per_port: 1,
            ack_queue_class: 0,
            data_queue_class: 1,
            shares_ack_queues: false,
            base_rtt: Time::from_us(25),
            full_packet: 1500,
            service: Service {
                scheduling: SchedulingPolicy::Fifo(Fifo),
                uncounted_bytes: 0,
                release_at_end: false,
                slot: None,
            },
            files: Files::default(),
        }
    }

    /// A switch at which every policy has its parameters, for listing them: 4 ports with two queues
    /// each, served in turn.
    fn listing() -> Environment {
        let mut environment = Environment { queues_per_port: 2, ..Environment::example(4) };
        let scheduling = SchedulingPolicy::RoundRobin(RoundRobin::new(&(), &environment));
        environment.service.scheduling = scheduling;
        environment
    }

    /// How many queues the switch has.
    pub fn queues(&self) -> usize {
        self.port_rates.len() * self.queues_per_port as usize
    }

    /// Whether acks have queues of their own, so that policies may tell them from data.
    pub fn has_ack_queues(&self) -> bool {
        let data_are_elsewhere = self.ack_queue_class != self.data_queue_class;
        self.queues_per_port > 1 && data_are_elsewhere && !self.shares_ack_queues
    }

    /// The queue class of acks, if acks have queues of their own. No AQM manages this class.
    pub fn unmanaged(&self) -> Option<u8> {
        self.has_ack_queues().then_some(self.ack_queue_class)
    }

    /// The bytes of the file that a key names.
    pub fn file(
        &self,
        section: &Section,
        key: &str,
        name: &str,
    ) -> Result<Arc<[u8]>, SettingsError> {
        let refused = |why| {
            let problem = format!("{name}: it cannot be read: {why}");
            section.error(ErrorKind::File, key, problem)
        };
        self.files.read(section, key, name).map_err(refused)
    }

    /// What was recorded in the file of this kind that a key names.
    pub fn records(
        &self,
        kind: &'static str,
        section: &Section,
        key: &str,
        name: &str,
    ) -> Result<Arc<[u8]>, SettingsError> {
        let refused = |why| {
            let problem = format!("{name}: it cannot be read: {why}");
            section.error(ErrorKind::File, key, problem)
        };
        self.files.records(kind, section, key, name).map_err(refused)
    }

    /// Reads one number, one for every queue class, or a table of them by role, which is resolved to
    /// such a list. Warns if there are more numbers than queue classes.
    pub fn by_queue_class(
        &self,
        section: &mut Section,
        key: &'static str,
        default: f64,
        range: Range,
        meaning: &'static str,
    ) -> Result<Vec<f64>, SettingsError> {
        if let Some(Value::Table(_)) = section.peek(key) {
            self.by_role(section, key)?;
        }
        let numbers = section.numbers(key, &[default], range, meaning)?;
        let (given, queues) = (numbers.len(), self.queues_per_port);
        if given > queues as usize {
            let of_port = if queues == 1 { "one queue".into() } else { format!("{queues} queues") };
            let text =
                format!("{given} numbers, but a port has {of_port}: the others mean nothing");
            section.warn(key, text);
        }
        Ok(numbers)
    }

    /// Replaces numbers by role, such as `{ acks = 64, data = [2, 1] }`, by a list by queue class.
    /// `data` is one number, or one for each queue class of data, from the best one on; the last holds
    /// for all further ones. Where acks wait with data, `data` holds for them, too.
    fn by_role(&self, section: &mut Section, key: &'static str) -> Result<(), SettingsError> {
        let Some(Value::Table(mut roles)) = section.raw(key) else { return Ok(()) };
        let wrong = |section: &Section, problem: String| {
            Err(section.error(ErrorKind::WrongValue, key, problem))
        };
        let acks = roles.remove("acks");
        let data = match roles.remove("data") {
            Some(Value::Array(list)) => list,
            one => one.into_iter().collect(),
        };
        if let Some(role) = roles.keys().next() {
            return wrong(section, format!("{role:?} is not a role; these are acks and data"));
        }
        let Some(last) = data.last().cloned() else {
            return wrong(section, "`data` is missing: a number, or a list of them".into());
        };
        let apart = self.unmanaged();
        match (apart, &acks) {
            (Some(class), None) => {
                let problem = format!("`acks` is missing: they have queue class {class}");
                return wrong(section, problem);
            }
            (None, Some(_)) => {
                section
                    .warn(key, "acks wait with data, whose number they have: `acks` means nothing");
            }
            _ => {}
        }
        let queues = self.queues_per_port as usize;
        let given = data.len();
        let room = queues - usize::from(apart.is_some());
        if given > room {
            let text = format!("{given} numbers for data, but data have {room} queues at a port");
            section.warn(key, text);
        }
        let mut data = data.into_iter().chain(std::iter::repeat(last));
        let mut list: Vec<Value> = Vec::with_capacity(queues);
        for class in 0..queues {
            let own = acks.as_ref().filter(|_| apart.map(usize::from) == Some(class));
            list.extend(own.cloned().or_else(|| data.next()));
        }
        // Where acks wait with data, a list has a number for every queue class, so that none can be
        // taken for one of acks alone.
        let tail = list.iter().rev().take_while(|number| Some(*number) == list.last()).count();
        if apart.is_some() || tail == queues {
            list.truncate(queues - tail + 1);
        }
        let one = list.len() == 1;
        section.give(key, if one { list.remove(0) } else { Value::Array(list) });
        Ok(())
    }

    /// Reads whether a policy exempts acks; if so, returns their queue class.
    pub fn exempt_acks(&self, section: &mut Section) -> Result<Option<u8>, SettingsError> {
        let meaning = "whether acks that have queues of their own are neither tested nor victims";
        let exempt_acks = section.flag("exempt_acks", true, meaning)?;
        Ok(if exempt_acks { self.unmanaged() } else { None })
    }
}

/// An algorithm as the catalogue lists it.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The field's short name, by which scenarios choose it.
    pub id: &'static str,
    /// What it does, in a line.
    pub summary: &'static str,
    /// Where it was published.
    pub citation: &'static str,
    /// Its parameters.
    pub keys: Vec<Key>,
    /// The keys whose values can change while a run goes on.
    pub changes: &'static [&'static str],
    /// Whether the values of these keys can differ from port to port.
    pub changes_by_port: bool,
    /// What it requires of a switch's hardware, if stated.
    pub cost: Option<Cost>,
}

/// Where parameters change, and when.
#[derive(Clone, Copy, Debug)]
pub struct Adoption<'a> {
    /// Now.
    pub now: Time,
    /// The port whose parameters change. `None` if those of all ports change.
    pub port: Option<u32>,
    /// The buffer at this moment.
    pub buffer: &'a Buffer,
}

impl Adoption<'_> {
    /// The ports whose parameters change.
    pub fn ports(&self) -> std::ops::Range<u32> {
        match self.port {
            Some(port) => port..port + 1,
            None => 0..self.buffer.ports(),
        }
    }

    /// Replaces the entries of the ports whose parameters change.
    pub fn replace<T: Clone>(&self, ports: &mut [T], fresh: &[T]) {
        for port in self.ports() {
            ports[port as usize] = fresh[port as usize].clone();
        }
    }
}

/// Why a change of parameters is refused: the key, and the problem with it.
pub type Refusal = (&'static str, String);

/// What every policy states about itself, and how it is made. Its parameters are read once for all
/// switches of a tier. From them, a state is made for every switch.
pub trait Policy: Sized {
    /// The field's short name.
    const ID: &'static str;
    /// What it does, in a line.
    const SUMMARY: &'static str;
    /// Where it was published.
    const CITATION: &'static str;

    /// Its results number. It rises whenever the results of runs with this policy change although
    /// nothing else of these runs has changed.
    const RESULTS: u32 = 1;

    /// What it requires of a switch's hardware; stated by every sharing policy.
    const COST: Option<Cost> = None;

    /// Settings that give it keys which it does not have by default. The listing needs them.
    const VARIANTS: &'static [&'static str] = &[];

    /// The keys whose values can change while a run goes on.
    const CHANGES: &'static [&'static str] = &[];

    /// Whether the values of these keys can differ from port to port.
    const CHANGES_BY_PORT: bool = false;

    /// The parameters that its section gives. Whatever is large in them is shared by all copies.
    type Params: Clone + Debug + Send + Sync;

    /// Reads the parameters: every key with its default, its range and its meaning. They may depend
    /// on what all switches of a tier have in common; the environment is that of the first switch.
    ///
    /// # Errors
    /// If a value is wrong, or a file that a value names.
    fn params(
        section: &mut Section,
        environment: &Environment,
    ) -> Result<Self::Params, SettingsError>;

    /// The state for one switch of the tier, before any packet has arrived. Its ports and buffer
    /// may differ from those of the first switch.
    fn new(params: &Self::Params, environment: &Environment) -> Self;

    /// Refuses a change that `CHANGES` alone would allow.
    ///
    /// # Errors
    /// If the parameters cannot change from the first to the second while a run goes on.
    fn check_change(_from: &Self::Params, _to: &Self::Params) -> Result<(), Refusal> {
        Ok(())
    }

    /// Takes over the parameters of a policy that was made for the same switch with other values of
    /// its [`Policy::CHANGES`], and keeps everything else.
    fn adopt(&mut self, _fresh: Self, _adoption: &Adoption) {
        unreachable!("nothing of {} changes", Self::ID)
    }

    /// Reads the parameters and makes the state, for a single switch.
    ///
    /// # Errors
    /// As for [`Policy::params`].
    fn read(section: &mut Section, environment: &Environment) -> Result<Self, SettingsError> {
        Ok(Self::new(&Self::params(section, environment)?, environment))
    }

    /// The row of the catalogue.
    fn entry() -> Entry {
        let environment = Environment::listing();
        let mut section = Section::empty();
        let read = Self::params(&mut section, &environment);
        debug_assert!(read.is_ok(), "{} has no defaults: {:?}", Self::ID, read.err());
        let mut keys = section.keys().to_vec();
        for text in Self::VARIANTS {
            let settings = text.parse().expect("variants are written as settings");
            let mut section = Section::new(Self::ID, settings);
            // The keys asked for are listed even if there was an error.
            let _ = Self::params(&mut section, &environment);
            for key in section.keys() {
                if !keys.iter().any(|known| known.name == key.name) {
                    keys.push(key.clone());
                }
            }
        }
        Entry {
            id: Self::ID,
            summary: Self::SUMMARY,
            citation: Self::CITATION,
            keys,
            changes: Self::CHANGES,
            changes_by_port: Self::CHANGES_BY_PORT,
            cost: Self::COST,
        }
    }
}

/// Makes a room's enums from its rows `file::Type`: one of policies and one of their parameters,
/// with their public names, static dispatch, reading by id, and the listing.
/// `each!(self, policy => call)`, under the name that the room gives it, evaluates `call` with
/// whichever policy `self` is. A room that is open to policies from outside the program names the
/// trait that they implement.
macro_rules! catalogue {
    (
        $(#[$meta:meta])*
        $name:ident of $params:ident by $each:ident { $($file:ident::$variant:ident),+ $(,)? }
    ) => {
        catalogue! { @expand ($) [$(#[$meta])*] $name $params $each [$($file::$variant)+] [] }
    };
    (
        $(#[$meta:meta])*
        $name:ident of $params:ident by $each:ident, open to $extension:path {
            $($file:ident::$variant:ident),+ $(,)?
        }
    ) => {
        catalogue! {
            @expand ($) [$(#[$meta])*] $name $params $each [$($file::$variant)+]
            [
                /// A policy that is not compiled in.
                Extension(
                    Box<dyn $extension>,
                    std::sync::Arc<dyn crate::extension::ExtensionParams<dyn $extension>>
                )
            ]
        }
    };
    (
        @expand ($d:tt) [$(#[$meta:meta])*] $name:ident $params:ident $each:ident
        [$($file:ident::$variant:ident)+]
        [$($(#[$of_outside:meta])* $outside:ident($from_outside:ty, $params_from_outside:ty))?]
    ) => {
        $(pub use $file::$variant;)+

        $(#[$meta])*
        // Every call reads the variant's number. `repr(u8)` keeps it apart from the variant's
        // content.
        #[derive(Clone, Debug)]
        #[repr(u8)]
        pub enum $name {
            $(
                #[doc = concat!("See [`", stringify!($variant), "`].")]
                $variant($variant),
            )+
            $($(#[$of_outside])* $outside($from_outside),)?
        }

        #[doc = concat!("The parameters of a [`", stringify!($name), "`]: the same for all")]
        /// switches of a tier.
        #[derive(Clone, Debug)]
        pub enum $params {
            $(
                #[doc = concat!("Of [`", stringify!($variant), "`].")]
                $variant(<$variant as crate::catalogue::Policy>::Params),
            )+
            $($(#[$of_outside])* $outside($params_from_outside),)?
        }

        macro_rules! $each {
            ($d this:ident, $d policy:ident => $d call:expr) => {
                match $d this {
                    $($name::$variant($d policy) => $d call,)+
                    $($name::$outside($d policy) => $d call,)?
                }
            };
        }

        impl $params {
            /// Reads the parameters of the policy with this id, for a tier whose first switch has
            /// this environment.
            ///
            /// # Errors
            /// If something is wrong with them.
            ///
            /// # Panics
            /// If no policy has this id.
            pub fn read(
                id: &str,
                section: &mut spillway_settings::Section,
                environment: &crate::catalogue::Environment,
            ) -> Result<$params, spillway_settings::SettingsError> {
                use crate::catalogue::Policy as _;
                $(
                    if id == $variant::ID {
                        return $variant::params(section, environment).map($params::$variant);
                    }
                )+
                panic!("no {} has the id {id:?}", stringify!($name))
            }

            /// The keys that can change while a run goes on, and whether they can differ from port
            /// to port.
            pub fn changes(&self) -> (&'static [&'static str], bool) {
                use crate::catalogue::Policy as _;
                match self {
                    $($params::$variant(_) => ($variant::CHANGES, $variant::CHANGES_BY_PORT),)+
                    $($params::$outside(_) => crate::catalogue::none_of(stringify!($outside)),)?
                }
            }

            /// Refuses a change that `CHANGES` alone would allow.
            ///
            /// # Errors
            /// If these parameters cannot change to the others while a run goes on.
            pub fn check_change(&self, to: &$params) -> Result<(), crate::catalogue::Refusal> {
                use crate::catalogue::Policy as _;
                match (self, to) {
                    $(($params::$variant(from), $params::$variant(to)) => {
                        $variant::check_change(from, to)
                    })+
                    _ => unreachable!("a policy stays what it is"),
                }
            }

            /// Makes the policy for one switch, before any packet has arrived.
            pub fn make(&self, environment: &crate::catalogue::Environment) -> $name {
                use crate::catalogue::Policy as _;
                match self {
                    $($params::$variant(params) => {
                        $name::$variant($variant::new(params, environment))
                    })+
                    $($params::$outside(params) => $name::$outside(params.make(environment)),)?
                }
            }
        }

        impl $name {
            /// The ids, in the order of the listing.
            pub const IDS: &'static [&'static str] =
                &[$(<$variant as crate::catalogue::Policy>::ID),+];

            /// The results numbers, in the same order.
            pub const RESULTS: &'static [u32] =
                &[$(<$variant as crate::catalogue::Policy>::RESULTS),+];

            /// Reads the parameters of the policy with this id and makes it, for a single switch.
            ///
            /// # Errors
            /// If something is wrong with the parameters.
            ///
            /// # Panics
            /// If no policy has this id.
            pub fn read(
                id: &str,
                section: &mut spillway_settings::Section,
                environment: &crate::catalogue::Environment,
            ) -> Result<$name, spillway_settings::SettingsError> {
                Ok($params::read(id, section, environment)?.make(environment))
            }

            /// Takes over the parameters of a policy of the same kind that was made for the same
            /// switch, and keeps everything else.
            pub fn adopt(&mut self, fresh: $name, adoption: &crate::catalogue::Adoption) {
                use crate::catalogue::Policy as _;
                match (self, fresh) {
                    $(($name::$variant(policy), $name::$variant(fresh)) => {
                        policy.adopt(fresh, adoption);
                    })+
                    _ => unreachable!("a policy stays what it is"),
                }
            }

            /// All policies with their parameters.
            pub fn catalogue() -> Vec<crate::catalogue::Entry> {
                vec![$(<$variant as crate::catalogue::Policy>::entry()),+]
            }
        }
    };
}
pub(crate) use catalogue;

/// The keys that can change of a policy that is not compiled in.
pub(crate) fn none_of(_outside: &str) -> (&'static [&'static str], bool) {
    (&[], false)
}

#[cfg(test)]
mod tests;
