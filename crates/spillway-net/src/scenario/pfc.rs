//! `[switch] pfc`: lossless priorities and the pause frames that make them so.

use super::choice::Choice;
use super::switches::{MOST_QUEUES, no_queue_class};
use super::{Result, SwitchSettings, TierSettings};
use spillway_engine::Time;
use spillway_settings::{ErrorKind, Form, Range, Section, Takes, Value, quantity};
use spillway_switch::packet::{NO_PRIORITY, Packet, flags};
use spillway_switch::pfc::{Crossing, LosslessParts, LowPassParams, PauseThreshold};
use spillway_topology::{LineSpec, Topology};

/// The ids of `pfc`.
pub(super) const IDS: [&str; 4] = ["none", "static", "dynamic", "reverie"];

/// What ends a pause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ends {
    /// Another frame.
    Resume,
    /// Time: this many quanta after the last frame, which is repeated after a while. Another frame
    /// ends the pause sooner, as in IEEE 802.1Qbb, unless `alone` is set.
    Quanta {
        /// The quanta, each the time of 512 bits.
        quanta: u32,
        /// The time after which the frame of a pause that must last is repeated.
        refresh_after: Time,
        /// Whether only quanta end a pause, and no frame ends it sooner.
        alone: bool,
    },
}

/// The pause frames of a switch, or of a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PauseFrames {
    /// Bytes of a frame on the wire.
    pub bytes: u32,
    /// The time from a frame's arrival until it acts.
    pub response_time: Time,
    /// Whether the neighbours obey.
    pub obeyed: bool,
    /// What ends a pause.
    pub ends: Ends,
}

/// Lossless priorities of a tier's switches.
#[derive(Clone, Debug)]
pub struct PfcSettings {
    /// The lossless queue classes, in order.
    pub queue_classes: Box<[u8]>,
    /// How far below the threshold a pause ends, in bytes.
    pub resume_offset: u64,
    /// Its frames.
    pub frames: PauseFrames,
    /// Whether a deadlock ends the run.
    pub ends_run: bool,
    /// The largest packet for which headroom is computed.
    pub mtu: u64,
    threshold: PauseThreshold,
    /// Whether alpha holds for the slowest ports, and grows for other ports in proportion to their
    /// rate.
    by_rate: bool,
    reserve: u64,
    headroom: Headroom,
    crossing: Crossing,
    sees_all: bool,
    /// Whether its switches have no other queue classes.
    are_all_lossless: bool,
}

/// The headroom of a port's accounts.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Headroom {
    /// As much as may arrive after a pause is sent.
    Auto,
    /// So many bytes.
    Bytes(u64),
    /// This many times what the port's link holds: its rate times its delay, one way.
    OfLink(f64),
}

impl Headroom {
    fn parse(text: &str) -> Option<Headroom> {
        if text == "auto" {
            return Some(Headroom::Auto);
        }
        match text.strip_suffix("bdp") {
            None => quantity::size(text).map(Headroom::Bytes),
            Some(factor) => {
                let factor: f64 = factor.parse().ok()?;
                (0.0..=1e6).contains(&factor).then_some(Headroom::OfLink(factor))
            }
        }
    }
}

impl PfcSettings {
    /// Reads the parameters of a choice of `pfc`. `None` if nothing is lossless.
    pub(super) fn read(
        choice: &Choice,
        section: &mut Section,
        switch: &SwitchSettings,
        full_packet: u32,
    ) -> Result<Option<PfcSettings>> {
        if choice.id == IDS[0] {
            return Ok(None);
        }
        let queue_classes = read_priorities(section, switch)?;
        let threshold = match choice.id.as_str() {
            "static" => {
                let meaning = "bytes of what is shared at which a port and priority pause";
                PauseThreshold::Bytes(section.size("threshold", "100KB", meaning)?)
            }
            "dynamic" => {
                let meaning = "a port and priority pause at this multiple of what is free of the \
                               buffer less headroom and reserves";
                PauseThreshold::OfFree(section.number("alpha", 0.125, Range::Positive, meaning)?)
            }
            _ => {
                let meaning = "filtered bytes that the congested ports may hold together, of a \
                               priority, for every free byte of the buffer less headroom and \
                               reserves";
                let alpha = section.number("alpha", 1.0, Range::Positive, meaning)?;
                PauseThreshold::Filtered(alpha, LowPassParams::read(section)?)
            }
        };
        let by_rate = choice.id == "dynamic"
            && section.choice(
                "alpha_of",
                &[("all", false), ("rate", true)],
                "alpha is that of all ports, or that of the slowest ones, and others have it in \
                 proportion to their rate",
            )?;
        let meaning = "how far below the threshold a pause ends";
        let resume_offset = section.size("resume_offset", "3KB", meaning)?;
        let meaning = "bytes that belong to each port and priority";
        let reserve = section.size("reserve", "4KB", meaning)?;
        let meaning = "the largest packet for which headroom is reckoned";
        let default = format!("{full_packet}B");
        let mtu = section.positive_size("mtu", &default, meaning)?;
        let takes =
            "\"auto\", bytes such as \"64KB\", or a multiple of rate times delay such as \"3bdp\"";
        let meaning = "bytes of each port and priority for what comes after a pause is sent; \
                       \"auto\": 2 rate delay + 2 mtu + a frame for each lossless priority + rate \
                       response_time, and one mtu more if the packet on which a pause is sent may go \
                       there";
        let forms = [Form::word("auto"), Form::size(), Form::Pattern("[-+.0-9eE]+bdp")];
        let takes = Takes::new(takes, forms);
        let parse = |value: &Value| value.as_str().and_then(Headroom::parse);
        let headroom = section.value("headroom", "auto", takes, meaning, parse)?;
        let crossing = section.choice(
            "crosses_into",
            &[("shared", Crossing::Shared), ("headroom", Crossing::Headroom)],
            "where the packet goes that takes its port and priority over the threshold",
        )?;
        let sees_all = section.choice(
            "sees",
            &[("lossy", false), ("all", true)],
            "what the sharing policy sees: the other queues alone, or lossless ones, too",
        )?;
        let frames = read_frames(section)?;
        let ends_run = section.choice(
            "on_deadlock",
            &[("stop", true), ("continue", false)],
            "whether the run ends when ports pause each other for ever",
        )?;
        let pfc = PfcSettings {
            are_all_lossless: queue_classes.len() == switch.queues_per_port as usize,
            queue_classes,
            resume_offset,
            frames,
            ends_run,
            mtu,
            threshold,
            by_rate,
            reserve,
            headroom,
            crossing,
            sees_all,
        };
        pfc.check_threshold(section)?;
        Ok(Some(pfc))
    }

    /// Refuses a threshold that no packet stays below.
    fn check_threshold(&self, section: &Section) -> Result<()> {
        let PauseThreshold::Bytes(threshold) = self.threshold else { return Ok(()) };
        if threshold < self.mtu {
            let problem = format!(
                "{threshold}B is not valid; it must hold a packet, {}B: else every packet pauses",
                self.mtu
            );
            return Err(section.conflict("threshold", problem));
        }
        if self.resume_offset > threshold {
            let problem = format!("{}B is more than threshold, {threshold}B", self.resume_offset);
            return Err(section.conflict("resume_offset", problem));
        }
        Ok(())
    }

    /// What a switch with so large a buffer accounts for lossless packets, given the links of its
    /// ports.
    pub fn parts(&self, topology: &Topology, switch: u32, capacity: u64) -> LosslessParts {
        let parts = self.parts_with(topology, switch, 2);
        if self.crossing == Crossing::Headroom || self.may_be_full(&parts, capacity) {
            self.parts_with(topology, switch, 3)
        } else {
            parts
        }
    }

    /// As `parts`, if headroom must hold so many packets in addition to what is under way.
    fn parts_with(&self, topology: &Topology, switch: u32, packets: u64) -> LosslessParts {
        let rates = || incoming(topology, switch).map(|line| line.rate.bits_per_second());
        let slowest = rates().min().unwrap_or(1) as f64;
        let threshold = |rate: u64| match self.threshold {
            PauseThreshold::OfFree(alpha) if self.by_rate => {
                PauseThreshold::OfFree(alpha * rate as f64 / slowest)
            }
            threshold => threshold,
        };
        let headroom = |line| self.headroom_of(line, packets);
        LosslessParts {
            queue_classes: self.queue_classes.clone(),
            thresholds: rates().map(threshold).collect(),
            resume_offset: self.resume_offset,
            reserve: self.reserve,
            headroom: incoming(topology, switch).map(headroom).collect(),
            crossing: self.crossing,
            sees_all: self.sees_all,
        }
    }

    /// Whether a packet that crosses its account's threshold may find all shared bytes in use.
    /// Lossy packets can fill them. Lossless packets alone cannot fill them if one packet still
    /// fits when every account holds its most: its threshold, the packet that reaches it, and, if
    /// the threshold has fallen since, one more. Filtered bytes may be few however much is held.
    fn may_be_full(&self, parts: &LosslessParts, capacity: u64) -> bool {
        let mut left = capacity.saturating_sub(parts.set_aside());
        for &threshold in &parts.thresholds {
            for _ in &*parts.queue_classes {
                left = match threshold {
                    PauseThreshold::Bytes(bytes) => left.saturating_sub(bytes),
                    PauseThreshold::OfFree(alpha) => {
                        (left.saturating_sub(self.mtu) as f64 / (1.0 + alpha)) as u64
                    }
                    PauseThreshold::Filtered(..) => 0,
                };
            }
        }
        let accounts = (parts.thresholds.len() * parts.queue_classes.len()) as u64;
        !self.are_all_lossless || left < (accounts + 1).saturating_mul(self.mtu)
    }

    /// The headroom for packets that come in on a line: what may arrive after a pause is sent. The
    /// frame may have to wait for a packet that has begun, and for a frame about each other
    /// lossless priority. When the frame acts, another packet may have begun. The packet that
    /// causes the pause may need headroom too; then `packets` is 3. If times are cut, full packets
    /// come a little faster than the line's rate.
    fn headroom_of(&self, line: &LineSpec, packets: u64) -> u64 {
        let bytes = |time: Time| line.rate.byte_time().bytes_begun_in(time);
        let arriving = |time: Time| {
            if line.whole_ns {
                let each = line.time_of(self.mtu).ps().max(1);
                (u128::from(time.ps()) * u128::from(self.mtu)).div_ceil(each.into()) as u64
            } else {
                bytes(time)
            }
        };
        let PauseFrames { bytes: frame, response_time, .. } = self.frames;
        match self.headroom {
            Headroom::Auto => {
                let in_flight = 2 * arriving(line.delay) + arriving(response_time);
                let frames = self.queue_classes.len() as u64 * u64::from(frame);
                in_flight + packets * self.mtu + frames
            }
            Headroom::Bytes(bytes) => bytes,
            Headroom::OfLink(factor) => (factor * bytes(line.delay) as f64) as u64,
        }
    }

    /// Whether headroom is to suffice for everything that may arrive.
    pub(super) fn has_auto_headroom(&self) -> bool {
        self.headroom == Headroom::Auto
    }

    /// The bytes that come in on a line to a host from the packet on that takes the host to its
    /// threshold.
    pub(super) fn after_pause(&self, line: &LineSpec) -> u64 {
        self.headroom_of(line, 3)
    }

    /// Refuses settings that leave no room at a switch with this much buffer. Refuses quanta that
    /// are over before the frame is repeated.
    pub(super) fn check(
        &self,
        section: &Section,
        topology: &Topology,
        switch: u32,
        capacity: Option<u64>,
    ) -> Result<()> {
        let name = topology.switch_name(switch);
        let Some(capacity) = capacity else {
            let problem = "not with an unlimited buffer: what is set aside for lossless packets is \
                           a part of it";
            return Err(section.conflict("kind", problem));
        };
        let set_aside = self.parts(topology, switch, capacity).set_aside();
        if set_aside > capacity {
            let problem = format!(
                "reserves and headrooms of {name} are {set_aside}B, more than its buffer, {capacity}B"
            );
            return Err(section.conflict("headroom", problem));
        }
        let room = capacity - set_aside;
        if room < self.mtu {
            let problem = format!(
                "reserves and headrooms of {name}, {set_aside}B, leave {room}B of its buffer: less \
                 than one packet, {}B",
                self.mtu
            );
            return Err(section.conflict("headroom", problem));
        }
        if let PauseThreshold::OfFree(alpha) = self.threshold
            && self.threshold.bytes(room) < self.mtu
        {
            let problem = format!(
                "{alpha} of the {room}B that reserves and headrooms of {name} leave is a threshold of \
                 {}B; it must hold a packet, {}B: else every packet pauses",
                self.threshold.bytes(room),
                self.mtu
            );
            return Err(section.conflict("alpha", problem));
        }
        let Ends::Quanta { quanta, refresh_after, .. } = self.frames.ends else { return Ok(()) };
        // A frame may have to wait for a packet, and for frames about other priorities.
        let others = (self.queue_classes.len() as u64 - 1) * u64::from(self.frames.bytes);
        let all = 64 * u64::from(quanta);
        for line in incoming(topology, switch) {
            let (last, waits) =
                (line.rate.time_of(all), line.rate.time_of(all.min(self.mtu + others)));
            let problem = match () {
                () if refresh_after >= last => format!(
                    "{refresh_after} is not before {quanta} quanta are over, after {last} at {name}"
                ),
                () if refresh_after + waits > last => format!(
                    "{refresh_after} is too late at {name}: a frame may have to wait for {waits}, and \
                     {quanta} quanta are over after {last}"
                ),
                () => continue,
            };
            return Err(section.conflict("refresh_after", problem));
        }
        Ok(())
    }

    /// Whether the sharing policy sees lossless queues.
    pub(super) fn sees_all(&self) -> bool {
        self.sees_all
    }
}

/// The lines on which packets come in by each of a switch's ports.
fn incoming(topology: &Topology, switch: u32) -> impl Iterator<Item = &LineSpec> {
    let ports = &topology.switches[switch as usize].ports;
    // The two lines of a link are neighbours.
    ports.iter().map(|&line| &topology.lines[(line ^ 1) as usize])
}

fn read_priorities(section: &mut Section, switch: &SwitchSettings) -> Result<Box<[u8]>> {
    let class = Form::Integer { least: 0, most: MOST_QUEUES - 1 };
    let classes = Form::List { of: vec![class], least: 0, most: usize::MAX };
    let takes = Takes::new("a list of queue classes", [classes]);
    let meaning = "the queue classes that are lossless";
    let read = |value: &Value| -> Option<Vec<i64>> {
        value.as_array()?.iter().map(Value::as_integer).collect()
    };
    let listed = section
        .optional("priorities", |section| section.value("priorities", "", takes, meaning, read))?
        .unwrap_or_else(|| vec![switch.data_queue.into()]);
    section.put("priorities", Value::Array(listed.iter().map(|&class| class.into()).collect()));
    let queues = u64::from(switch.queues_per_port);
    let mut classes: Vec<u8> = Vec::new();
    for class in listed {
        if !(0..queues as i64).contains(&class) {
            let problem = no_queue_class(class, ("queues_per_port", queues));
            return Err(section.conflict("priorities", problem));
        }
        if classes.contains(&(class as u8)) {
            return Err(section.error(
                ErrorKind::WrongValue,
                "priorities",
                format!("{class} is there twice"),
            ));
        }
        classes.push(class as u8);
    }
    if classes.is_empty() {
        let problem = "it is empty; without lossless priorities it is pfc = \"none\"";
        return Err(section.error(ErrorKind::WrongValue, "priorities", problem));
    }
    classes.sort_unstable();
    Ok(classes.into())
}

fn read_frames(section: &mut Section) -> Result<PauseFrames> {
    let meaning = "bytes of a pause frame on the wire";
    let bytes = section.positive_size("frame", "64B", meaning)?.min(u64::from(u32::MAX)) as u32;
    let meaning = "time from a frame's arrival until the neighbour stops";
    let response_time = section.time("response_time", "0us", meaning)?;
    let meaning = "whether neighbours stop; if not, frames take their time on lines alone";
    let obeyed = section.flag("obeyed", true, meaning)?;
    let ends = section.choice(
        "ends",
        &[("resume", None), ("quanta", Some(false)), ("quanta-only", Some(true))],
        "what ends a pause: another frame, the first of another frame and time, or time alone",
    )?;
    let Some(alone) = ends else {
        section.needs("ends = \"quanta\"", &["quanta", "refresh_after"])?;
        return Ok(PauseFrames { bytes, response_time, obeyed, ends: Ends::Resume });
    };
    let meaning = "how long a pause lasts after a frame, in times of 512 bits";
    let quanta = section.integer("quanta", 65_535, 1..=65_535, meaning)? as u32;
    let meaning = "when a pause that must last is said again";
    let refresh_after = section.positive_time("refresh_after", "10us", meaning)?;
    let ends = Ends::Quanta { quanta, refresh_after, alone };
    Ok(PauseFrames { bytes, response_time, obeyed, ends })
}

/// Refuses lossless priorities if ports choose after arrivals: pause frames act before that.
pub(super) fn check_order(topology: &Topology, tiers: &[TierSettings]) -> Result<()> {
    if !topology.arrivals_first || tiers.iter().all(|tier| tier.pfc.is_none()) {
        return Ok(());
    }
    let problem = "arrivals_first = true is not modelled where priorities are lossless";
    Err(ErrorKind::Conflict.at("topology", problem).hint("switch.pfc is on"))
}

/// Refuses tiers whose pauses would stop the wrong packets: a pause frame names a queue class, and
/// the paused switch stops its own queue class of that number.
pub(super) fn check_tiers(tiers: &[TierSettings]) -> Result<()> {
    let control = flags::CONTROL;
    let without = [0, control].map(|flags| (NO_PRIORITY, flags));
    let kinds = (0..64).map(|priority| (priority, 0)).chain(without);
    let packets: Vec<Packet> =
        kinds.map(|(priority, flags)| Packet { priority, flags, ..Packet::default() }).collect();
    for by in tiers {
        let Some(pfc) = &by.pfc else { continue };
        for paused in tiers.iter().filter(|tier| tier.pfc.is_some()) {
            let (here, there) = (by.settings.packet_classes(), paused.settings.packet_classes());
            for &class in &pfc.queue_classes {
                if packets.iter().any(|of| here.of(of) == class && there.of(of) != class) {
                    let (by, paused) = (by.tier, paused.tier);
                    let problem = format!(
                        "a {by} pauses queue class {class}, and its packets wait in another one at a \
                         {paused}, which would not stop them: both need the same queues_per_port, \
                         ack_queue and data_queue"
                    );
                    return Err(ErrorKind::Conflict.at("switch.pfc.priorities", problem));
                }
            }
        }
    }
    Ok(())
}

/// Refuses packets larger than those for which headroom was computed.
pub(super) fn check_packets<'a>(
    tiers: impl Iterator<Item = (&'static str, &'a PfcSettings)>,
    full_packet: u32,
) -> Result<()> {
    for (tier, pfc) in tiers {
        if u64::from(full_packet) > pfc.mtu {
            let problem = format!(
                "{}B is less than a full packet, {full_packet}B (at a {tier}): headroom would not \
                 suffice",
                pfc.mtu
            );
            return Err(ErrorKind::Conflict.at("switch.pfc.mtu", problem));
        }
    }
    Ok(())
}
