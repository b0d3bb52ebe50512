//! Algorithms that are not compiled in decide as compiled-in ones do, through a pointer.

use crate::common::{Run, finish};
use spillway_net::extensions::Extensions;
use spillway_net::scenario::{Scenario, Sources};
use spillway_net::simulation::Simulation;
use spillway_settings::{Range, Section, SettingsError};
use spillway_switch::aqm::{EcnThreshold, NoAqm};
use spillway_switch::scheduling::DeficitRoundRobin;
use spillway_switch::sharing::{CompleteSharing, DynamicThresholds};
use spillway_switch::{
    AqmExtension, Environment, Extension, ExtensionParams, Policy, SchedulingExtension,
    SharingExtension,
};
use spillway_transport::receiver::EcnEcho;
use spillway_transport::tagging::{Tagged, Tagger, TaggerExtension};
use spillway_transport::window::Window;
use spillway_transport::{
    Access, Congestion, ControlExtension, ControlMaker, Dctcp, DctcpParams, Ecn, Needs, Pace,
};
use std::fmt;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

const STAR: &str = r#"
    duration = "2ms"
    topology = { kind = "leaf-spine", leaves = 2, spines = 1, hosts_per_leaf = 8 }
    [[traffic]]
    name = "load"
    kind = "poisson"
    sizes = "hadoop-hpcc"
    load = 0.5
    destinations = "uniform"
    [[traffic]]
    name = "queries"
    kind = "incast"
    queries_per_host_per_s = 400
    burst = "60KB"
    fan_in = 8
    senders = "next-rack"
    [record]
    queue_interval = "20us"
"#;

/// Dynamic Thresholds, ECN, deficit weighted round robin and DCTCP under another name.
#[derive(Debug)]
struct Outside;

/// The parameters of a compiled-in policy.
struct Of<T: Policy>(T::Params);

impl<T: Policy> fmt::Debug for Of<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<T: Policy + SharingExtension + 'static> ExtensionParams<dyn SharingExtension> for Of<T> {
    fn make(&self, environment: &Environment) -> Box<dyn SharingExtension> {
        Box::new(T::new(&self.0, environment))
    }
}

impl<T: Policy + AqmExtension + 'static> ExtensionParams<dyn AqmExtension> for Of<T> {
    fn make(&self, environment: &Environment) -> Box<dyn AqmExtension> {
        Box::new(T::new(&self.0, environment))
    }
}

impl<T: Policy + SchedulingExtension + 'static> ExtensionParams<dyn SchedulingExtension> for Of<T> {
    fn make(&self, environment: &Environment) -> Box<dyn SchedulingExtension> {
        Box::new(T::new(&self.0, environment))
    }
}

impl Extension<dyn SharingExtension> for Outside {
    fn id(&self) -> &str {
        "outside"
    }

    fn params(
        &self,
        section: &mut Section,
        environment: &Environment,
    ) -> Result<Arc<dyn ExtensionParams<dyn SharingExtension>>, SettingsError> {
        Ok(Arc::new(Of::<DynamicThresholds>(DynamicThresholds::params(section, environment)?)))
    }
}

impl Extension<dyn AqmExtension> for Outside {
    fn id(&self) -> &str {
        "outside"
    }

    fn params(
        &self,
        section: &mut Section,
        environment: &Environment,
    ) -> Result<Arc<dyn ExtensionParams<dyn AqmExtension>>, SettingsError> {
        Ok(Arc::new(Of::<EcnThreshold>(EcnThreshold::params(section, environment)?)))
    }
}

impl Extension<dyn SchedulingExtension> for Outside {
    fn id(&self) -> &str {
        "outside"
    }

    fn params(
        &self,
        section: &mut Section,
        environment: &Environment,
    ) -> Result<Arc<dyn ExtensionParams<dyn SchedulingExtension>>, SettingsError> {
        Ok(Arc::new(Of::<DeficitRoundRobin>(DeficitRoundRobin::params(section, environment)?)))
    }
}

impl ControlExtension for Outside {
    fn id(&self) -> &str {
        "outside"
    }

    fn needs(&self) -> Needs {
        Needs {
            pace: Pace::Possible,
            ecn: Ecn::Default(true),
            echo: EcnEcho::PerPacket,
            ..Needs::OF_WINDOW
        }
    }

    fn read(&self, section: &mut Section) -> Result<Arc<dyn ControlMaker>, SettingsError> {
        let g = section.number("gain", 0.0625, Range::Unit, "weight of a new sample")?;
        Ok(Arc::new(Maker(DctcpParams {
            g,
            alpha0: 1.0,
            counts_delivered: false,
            losses_as_marks: false,
        })))
    }
}

impl TaggerExtension for Outside {
    fn id(&self) -> &str {
        "outside"
    }

    fn read(&self, section: &mut Section) -> Result<Arc<dyn Tagger>, SettingsError> {
        Ok(Arc::new(Sinks(section.size(
            "step",
            "10KB",
            "bytes in each of three levels but one",
        )?)))
    }
}

/// PIAS with two thresholds, at one step and at two.
#[derive(Debug)]
struct Sinks(u64);

impl Tagger for Sinks {
    fn levels(&self) -> u8 {
        3
    }

    fn level(&self, packet: &Tagged) -> u8 {
        1 + u8::from(packet.sent > self.0) + u8::from(packet.sent > 2 * self.0)
    }
}

#[derive(Debug)]
struct Maker(DctcpParams);

impl ControlMaker for Maker {
    fn start(&self, _window: &mut Window, _access: &Access) -> Congestion {
        Congestion::Extension(Box::new(Dctcp::new(self.0)))
    }
}

fn read(settings: &str) -> Result<Scenario, SettingsError> {
    let given = format!("{settings}\n{STAR}").parse().expect("TOML");
    let extensions = Extensions {
        sharing: vec![Arc::new(Outside)],
        aqm: vec![Arc::new(Outside)],
        scheduling: vec![Arc::new(Outside)],
        hosts: spillway_transport::Extensions {
            transport: vec![Arc::new(Outside)],
            recovery: Vec::new(),
            tagging: vec![Arc::new(Outside)],
        },
    };
    Scenario::read(given, &Sources { extensions, ..Sources::of(Path::new("")) })
}

fn run(settings: &str) -> Run {
    finish(Simulation::new(read(settings).expect("a scenario")))
}

fn assert_same(outside: &str, within: &str) {
    let (outside, within) = (run(outside), run(within));
    assert!(within.all_drops() > 0 && within.number("marks") > 0.0);
    assert_eq!(outside.summary, within.summary);
    assert_eq!(outside.flows, within.flows);
}

const DT: &str = "switch.buffer = \"40KB\"\nswitch.sharing = { kind = \"dt\", alpha = 0.2 }";
const ECN: &str = "switch.aqm = { kind = \"ecn\", threshold = \"2pkt\" }";

#[test]
fn policies_from_outside_decide_as_those_within() {
    let within = format!("{DT}\n{ECN}");
    assert_same(&within.replace("\"dt\"", "\"outside\""), &within);
    assert_same(&within.replace("\"ecn\"", "\"outside\""), &within);
}

#[test]
fn schedulers_from_outside_decide_as_those_within() {
    let with = |kind: &str| {
        format!(
            "{DT}\n{ECN}\nswitch.queues_per_port = 4\n\
             switch.scheduling = {{ kind = {kind}, weights = [1, 4, 2] }}\n\
             transport = {{ kind = \"dctcp\", tagging = {{ kind = \"outside\", step = \"4KB\" }} }}"
        )
    };
    assert_same(&with("\"outside\""), &with("\"dwrr\""));
}

#[test]
fn controllers_from_outside_decide_as_those_within() {
    let with = |kind: &str| format!("{DT}\n{ECN}\ntransport = {{ kind = {kind} }}");
    assert_same(&with("\"outside\", gain = 0.25"), &with("\"dctcp\", g = 0.25"));
}

#[test]
fn taggers_from_outside_decide_as_those_within() {
    let with = |tagging: &str| {
        format!(
            "{DT}\n{ECN}\nswitch.queues_per_port = 4\nswitch.scheduling = \"strict\"\n\
             transport = {{ kind = \"dctcp\", tagging = {{ kind = {tagging} }} }}"
        )
    };
    let within = "\"pias\", thresholds = [\"4KB\", \"8KB\"], reset_after = 0";
    assert_same(&with("\"outside\", step = \"4KB\""), &with(within));
}

#[test]
fn what_is_wrong_with_them_is_told_as_with_any() {
    let error = |settings: &str| read(settings).expect_err("an error").to_string();
    let text = error("switch.sharing = { kind = \"outside\", alfa = 1 }");
    assert!(text.ends_with("unknown key\nhint: did you mean `alpha`?"), "{text}");
    let text = error("switch.aqm = \"outsid\"");
    assert!(text.ends_with("hint: did you mean `outside`?"), "{text}");
    let text = error("switch = { queues_per_port = 2, scheduling = \"outsid\" }");
    assert!(text.ends_with("hint: did you mean `outside`?"), "{text}");
    let text =
        error("switch = { queues_per_port = 2, scheduling = { kind = \"outside\", weight = 1 } }");
    assert!(text.ends_with("hint: did you mean `weights`?"), "{text}");
    let text = error("transport = { kind = \"outsid\" }");
    assert!(text.ends_with("hint: did you mean `outside`?"), "{text}");
    let text = error("transport = { tagging = \"outsid\" }");
    assert!(text.ends_with("hint: did you mean `outside`?"), "{text}");
    let text = error("transport = { kind = \"outside\", gan = 1 }");
    assert!(text.ends_with("unknown key\nhint: did you mean `gain`?"), "{text}");
}

/// Complete Sharing and no AQM, which count how often they are read and made.
#[derive(Debug, Default)]
struct Counted {
    read: AtomicUsize,
    made: Arc<Mutex<Vec<u32>>>,
}

/// The switches for which something was made.
#[derive(Debug)]
struct Made(Arc<Mutex<Vec<u32>>>);

impl Counted {
    fn params(&self) -> Arc<Made> {
        self.read.fetch_add(1, Ordering::Relaxed);
        Arc::new(Made(Arc::clone(&self.made)))
    }

    /// How often it has been read, and for which switches it has been made since this was last
    /// asked.
    fn take(&self) -> (usize, Vec<u32>) {
        (self.read.load(Ordering::Relaxed), std::mem::take(&mut *self.made.lock().unwrap()))
    }
}

impl Extension<dyn SharingExtension> for Counted {
    fn id(&self) -> &str {
        "counted"
    }

    fn params(
        &self,
        _section: &mut Section,
        _environment: &Environment,
    ) -> Result<Arc<dyn ExtensionParams<dyn SharingExtension>>, SettingsError> {
        Ok(self.params())
    }
}

impl Extension<dyn AqmExtension> for Counted {
    fn id(&self) -> &str {
        "counted"
    }

    fn params(
        &self,
        _section: &mut Section,
        _environment: &Environment,
    ) -> Result<Arc<dyn ExtensionParams<dyn AqmExtension>>, SettingsError> {
        Ok(self.params())
    }
}

impl ExtensionParams<dyn SharingExtension> for Made {
    fn make(&self, environment: &Environment) -> Box<dyn SharingExtension> {
        self.0.lock().unwrap().push(environment.switch);
        Box::new(CompleteSharing)
    }
}

impl ExtensionParams<dyn AqmExtension> for Made {
    fn make(&self, environment: &Environment) -> Box<dyn AqmExtension> {
        self.0.lock().unwrap().push(environment.switch);
        Box::new(NoAqm)
    }
}

/// Parameters are read once for a tier, and what is made from them for a switch is made once: but
/// for each tier's first, with which it is looked at what they come to.
#[test]
fn parameters_are_read_once_for_a_tier() {
    let (sharing, aqm, of_hosts) =
        (Arc::<Counted>::default(), Arc::<Counted>::default(), Arc::<Counted>::default());
    let read = |settings: &str, aqm: &Arc<Counted>| {
        let extensions = Extensions {
            sharing: vec![sharing.clone()],
            aqm: vec![aqm.clone()],
            ..Extensions::default()
        };
        let given = format!("{settings}\n{STAR}").parse().unwrap();
        Scenario::read(given, &Sources { extensions, ..Sources::of(Path::new("")) }).unwrap()
    };
    let scenario = read("switch = { sharing = \"counted\", aqm = \"counted\" }", &aqm);
    // Switches 0 and 1 are leaves, 2 is the spine.
    assert_eq!((sharing.take(), aqm.take()), ((2, vec![0, 2]), (2, vec![0, 2])));
    drop(Simulation::new(scenario));
    assert_eq!((sharing.take(), aqm.take()), ((2, vec![0, 1, 2]), (2, vec![0, 1, 2])));
    // A tier's own settings are read once more, with what they leave of those of all.
    read("switch = { sharing = \"counted\", spine = { buffer = \"1MB\" } }", &aqm);
    assert_eq!(sharing.take(), (4, vec![0, 2]));
    // The hosts' places are behind those of the switches.
    let scenario = read("nic.aqm = \"counted\"", &of_hosts);
    assert_eq!(of_hosts.take(), (1, vec![3]));
    drop(Simulation::new(scenario));
    assert_eq!(of_hosts.take(), (1, (3..19).collect()));
}
