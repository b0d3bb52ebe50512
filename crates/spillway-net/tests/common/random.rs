//! Random scenarios. A number determines a small network of any kind, with buffers small enough to
//! drop, any policies, transports and traffic, and links that fail or lose packets.

use spillway_engine::Stream;
use spillway_traffic::FlowColumns;

/// A scenario in parts.
pub struct Case {
    pub head: String,
    /// Sections of traffic, which may come in any order.
    pub traffic: Vec<String>,
    /// The flows of the section `list`, if it is there.
    pub list: FlowColumns,
}

impl Case {
    /// The whole scenario.
    pub fn text(&self) -> String {
        format!("{}\n{}", self.head, self.traffic.join("\n"))
    }

    /// Whether flows may go on for ever without any progress: those whose timeouts and windows
    /// never change, of pFabric where switches are not its own, and of go-back-N, which may lose
    /// the same packet again and again (C. Guo et al., "RDMA over Commodity Ethernet at Scale",
    /// SIGCOMM 2016, section 4.1).
    pub fn may_stall(&self) -> bool {
        let text = self.text();
        text.contains("go-back-n") || text.contains("transport = \"pfabric\"")
    }
}

/// Random choices.
pub struct Draw(pub Stream);

impl Draw {
    /// A number below `n`.
    pub fn below(&mut self, n: u64) -> u64 {
        self.0.below(n)
    }

    /// One of several.
    pub fn one<'a>(&mut self, options: &[&'a str]) -> &'a str {
        options[self.below(options.len() as u64) as usize]
    }

    /// True once in `n` times.
    pub fn once_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }
}

/// A topology, its number of hosts, whether it has several racks, and links by their ends.
fn topology(draw: &mut Draw) -> (String, u64, bool, Vec<(String, String)>) {
    let rate = draw.one(&["10Gbps", "10Gbps", "3Gbps", "25Gbps"]);
    let fabric = draw.one(&["10Gbps", "10Gbps", "40Gbps", "4Gbps"]);
    let delay = draw.one(&["0us", "1us", "1us", "7us"]);
    let link = |a: &str, b: String| (a.to_string(), b);
    let (kind, hosts, is_split, links) = match draw.below(8) {
        0 | 1 => {
            let hosts = 2 + draw.below(5);
            (format!("kind = \"star\"\nhosts = {hosts}"), hosts, false, Vec::new())
        }
        2 => {
            let (senders, receivers) = (1 + draw.below(4), 1 + draw.below(3));
            let text = format!(
                "kind = \"dumbbell\"\nsenders = {senders}\nreceivers = {receivers}\n\
                 bottleneck_rate = \"{fabric}\""
            );
            (text, senders + receivers, true, vec![link("leaf0", "leaf1".into())])
        }
        3..=5 => {
            let (leaves, spines, each) = (2 + draw.below(2), 1 + draw.below(3), 1 + draw.below(3));
            let parallel = 1 + draw.below(2);
            let text = format!(
                "kind = \"leaf-spine\"\nleaves = {leaves}\nspines = {spines}\n\
                 hosts_per_leaf = {each}\nlinks_per_pair = {parallel}\nfabric_rate = \"{fabric}\""
            );
            let links = (0..spines).map(|spine| link("leaf0", format!("spine{spine}")));
            (text, leaves * each, true, links.collect())
        }
        6 => {
            let text = format!("kind = \"fat-tree\"\nk = 4\nfabric_rate = \"{fabric}\"");
            let links =
                vec![link("leaf0", "aggregation1".into()), link("aggregation0", "core0".into())];
            (text, 16, true, links)
        }
        _ => {
            // A triangle whose sides differ, and a detour from one corner to another.
            let text = format!(
                "kind = \"graph\"\n\
                 switch = [{{ name = \"a\" }}, {{ name = \"b\" }}, {{ name = \"c\" }}, \
                 {{ name = \"d\" }}]\n\
                 host = [{}]\n\
                 link = [{}]",
                ["a", "a", "b", "b", "c"]
                    .iter()
                    .enumerate()
                    .map(|(i, at)| format!(
                        "{{ name = \"{i}\", switch = \"{at}\", rate = \"{rate}\", delay = \"1us\" }}"
                    ))
                    .collect::<Vec<_>>()
                    .join(", "),
                [("a", "b", "1Gbps"), ("b", "c", fabric), ("a", "c", "10Gbps"), ("a", "d", rate),
                 ("d", "b", "40Gbps")]
                    .iter()
                    .map(|(a, b, rate)| format!(
                        "{{ a = \"{a}\", b = \"{b}\", rate = \"{rate}\", delay = \"{delay}\" }}"
                    ))
                    .collect::<Vec<_>>()
                    .join(", "),
            );
            return (text, 5, true, vec![link("leaf0", "leaf1".into())]);
        }
    };
    let text = format!("{kind}\nhost_rate = \"{rate}\"\nlink_delay = \"{delay}\"");
    let mut links: Vec<(String, String)> = links;
    links.push(link("leaf0", "host0".into()));
    (text, hosts, is_split, links)
}

/// A switch with priorities on packets, or one that drops by them.
fn pfabric(draw: &mut Draw, links_change: bool) -> String {
    let release = draw.one(&["start", "start", "end"]);
    let fifo = match release {
        "start" if !links_change => draw.one(&["0", "0", "2"]),
        _ => "0",
    };
    let sharing = draw.one(&[
        "\"pfabric\"",
        "{ kind = \"pfabric\", limit = \"6KB\" }",
        "{ kind = \"pfabric\", limit = \"20KB\" }",
        "\"lqd\"",
        "{ kind = \"dt\", alpha = 0.5 }",
        "{ kind = \"cbm\", exempt_acks = false }",
    ]);
    let buffer = draw.one(&["16KB", "35KB", "unlimited"]);
    let queue_limit = draw.one(&["unlimited", "unlimited", "12pkt"]);
    let (queue_limit, release) =
        if sharing.contains("pfabric") { ("unlimited", "start") } else { (queue_limit, release) };
    format!(
        "buffer = \"{buffer}\"\nqueue_limit = \"{queue_limit}\"\nuncounted_bytes = \"{}\"\nrelease = \"{release}\"\n\
         port_fifo_packets = {fifo}\nsharing = {sharing}\nscheduling = \"{}\"",
        draw.one(&["0B", "0B", "24B"]),
        draw.one(&["pfabric", "pfabric", "fifo"]),
    )
}

/// Any switch that can hold a packet of 1500 bytes when it is empty.
fn switch(draw: &mut Draw, links_change: bool) -> String {
    if draw.once_in(8) {
        return pfabric(draw, links_change);
    }
    let sharing = draw.one(&[
        "\"cs\"",
        "\"sp\"",
        "{ kind = \"sp\", share = 0.3 }",
        "{ kind = \"dt\", alpha = [8, 0.5], alpha_first_rtt = 4 }",
        "{ kind = \"dt\", alpha = 0.25, count_arrival = false }",
        "\"lqd\"",
        "\"harmonic\"",
        "{ kind = \"harmonic\", form = \"prefix\", exempt_acks = false }",
        "\"followlqd\"",
        "{ kind = \"credence\", oracle = \"random\", drop_probability = 0.1 }",
        "{ kind = \"credence\", thresholds = \"code\", flip_probability = 0.2 }",
        "{ kind = \"blind-trust\", oracle = \"random\", drop_probability = 0.05 }",
        "{ kind = \"abm\", alpha = [8, 0.5] }",
        "\"cbm\"",
        "{ kind = \"cbm\", buffer_of = \"port\", exempt_acks = false }",
        "{ kind = \"fab\", alpha = [8, 0.5], short_bytes = \"6KB\", idle_timeout = \"50us\" }",
        "{ kind = \"edt\", alpha = [8, 0.5], burst_packets = 3, burst_time = \"20us\" }",
        "{ kind = \"smartbuf\", alpha = [8, 0.5], sigma = 20.0, record = \"admitted+dropped\", \
           estimate = \"quantile\", floor = \"dt\", learn_from = \"own-port\" }",
        "{ kind = \"sp\", form = \"rtt\", flows = 0.2 }",
        "{ kind = \"abm\", congestion = \"fractional\", drain = \"interval\", \
           update_interval = \"100us\" }",
        "{ kind = \"followlqd\", count_arrival = false, tie = \"lowest-index\" }",
        "{ kind = \"lqd\", count_arrival = false, tie = \"lowest-index\", exempt_acks = false }",
    ]);
    let aqm = draw.one(&[
        "\"none\"",
        "{ kind = \"ecn\", threshold = \"4pkt\" }",
        "{ kind = \"ecn\", threshold = \"3KB\", not_ect = \"drop\" }",
        "{ kind = \"ecn\", threshold = \"4pkt\", marks_at = \"departure\" }",
        "{ kind = \"ecn\", threshold = \"3KB\", scope = \"port\", not_ect = \"drop\", \
           marks_at = \"departure\" }",
        "{ kind = \"red\", min = \"2pkt\", max = \"9pkt\", max_probability = 0.3 }",
        "{ kind = \"red\", min = \"2pkt\", max = \"9pkt\", max_probability = 0.3, \
           not_ect = \"pass\", marks_at = \"departure\" }",
        "{ kind = \"red\", min = \"1pkt\", max = \"9pkt\", weight = 0.1, gentle = true, \
           scope = \"port\", spacing = \"uniform\", marks_at = \"departure\" }",
        "{ kind = \"red\", min = \"2pkt\", max = \"9pkt\", weight = 0.1, gentle = true }",
        "{ kind = \"ared\", min = \"2pkt\", max = \"9pkt\", weight = 0.1, interval = \"20us\" }",
        "{ kind = \"ared\", min = \"1KB\", max = \"9KB\", time_constant = \"9us\", \
           interval = \"7us\", scope = \"port\" }",
        "{ kind = \"codel\", target = \"2us\", interval = \"20us\" }",
        "{ kind = \"codel\", target = \"2us\", interval = \"20us\", not_ect = \"pass\" }",
        "{ kind = \"codel\", target = \"2us\", interval = \"20us\", rules = \"ns3\" }",
        "{ kind = \"tcn\", threshold = \"5us\" }",
        "{ kind = \"ecn-sharp\", instant = \"8us\", target = \"2us\", interval = \"20us\" }",
        "{ kind = \"pie\", target = \"3us\", update_interval = \"5us\" }",
        "{ kind = \"pie\", target = \"3us\", delay = \"rate\", mark_up_to = 0.1 }",
        "{ kind = \"pred\", min = \"2pkt\", q_left = \"3pkt\", max = \"9KB\" }",
        "{ kind = \"pred\", preset = \"paper\", min = \"2pkt\", q_left = \"3pkt\", max = \"9KB\" }",
        "{ kind = \"pred\", min = \"2pkt\", q_left = \"3pkt\", max = \"9KB\", phi_end = \"5pkt\", \
           t_qla = \"9us\", trial_rtts = 1, settle_rtts = 0.2 }",
        "{ kind = \"pred\", min = \"2pkt\", counter = \"hashes\", places = 16, qla = false }",
        "{ kind = \"pred\", min = \"2pkt\", fcs = false, mean = \"arrivals\", \
           qla_scope = \"port\" }",
        "{ kind = \"pred\", min = \"2pkt\", q_left = \"3pkt\", max = \"9KB\", \
           marks_at = \"departure\" }",
        "{ kind = \"pred\", min = \"1pkt\", lambda = 2.0, qla_scope = \"port\", \
           not_ect = \"drop\", marks_at = \"departure\" }",
        "{ kind = \"acc\", interval = \"9us\", exploration = 0.3 }",
        "{ kind = \"acc\", interval = \"7us\", idle = \"decides\", not_ect = \"drop\" }",
        "{ kind = \"mq-ecn\", rtt = \"9us\" }",
        "{ kind = \"mq-ecn\", rtt = \"5us\", alpha = 0.5, idle = \"reset\", not_ect = \"drop\" }",
    ]);
    let has_turns = aqm.contains("mq-ecn");
    let schedulers = ["\"rr\"", "{ kind = \"dwrr\", weights = [2, 1] }", "\"fifo\"", "\"strict\""];
    let scheduling = draw.one(if has_turns { &schedulers[..2] } else { &schedulers });
    let queues = if has_turns { 2 + draw.below(2) } else { 1 + draw.below(3) };
    let release = draw.one(&["start", "start", "end"]);
    let fifo = match release {
        "start" if !links_change => draw.one(&["0", "0", "1", "3"]),
        _ => "0",
    };
    format!(
        "buffer = \"{}\"\nqueue_limit = \"{}\"\nqueues_per_port = {}\nuncounted_bytes = \"{}\"\n\
         release = \"{release}\"\nport_fifo_packets = {fifo}\n\
         sharing = {sharing}\naqm = {aqm}\nscheduling = {scheduling}",
        draw.one(&["16KB", "16KB", "20KB", "35KB", "100KB", "unlimited"]),
        draw.one(&["unlimited", "unlimited", "unlimited", "2pkt", "12pkt", "10KB"]),
        queues,
        draw.one(&["0B", "0B", "24B"]),
    )
}

/// Policies with which switches are redrawn, each from the stream of this name.
const OTHER_SHARING: [(&str, [&str; 2]); 3] = [
    ("other-sharing", ["\"quasi-pushout\"", "{ kind = \"quasi-pushout\", exempt_acks = false }"]),
    ("fb", ["\"fb\"", "{ kind = \"fb\", alpha = [8, 0.5], congested_at = 0.5 }"]),
    (
        "reverie",
        [
            "\"reverie\"",
            "{ kind = \"reverie\", alpha = [8, 0.5], alpha_first_rtt = 4, gamma = 0.9, saturation = \"3KB\" }",
        ],
    ),
];

/// The switch. In a 20th of the scenarios for each other policy it has that one, except where
/// packets are dropped by their priorities.
fn with_other_sharing(seed: u64, mut switch: String) -> String {
    for (stream, policies) in &OTHER_SHARING {
        let draw = &mut Draw(Stream::new(seed, stream, 0));
        if !draw.once_in(20) || switch.contains("pfabric") {
            continue;
        }
        let other = draw.one(policies);
        let put = |line: &str| match line.strip_prefix("sharing = ") {
            Some(_) => format!("sharing = {other}\n"),
            None => format!("{line}\n"),
        };
        switch = switch.lines().map(put).collect();
    }
    switch
}

/// Settings of windows and loss recovery that every kind of window-based transport has.
fn window(draw: &mut Draw) -> String {
    let losses = match draw.below(6) {
        0 => format!(
            "recovery.kind = \"rack\"\nrecovery.tail_loss_probe = {}\nrecovery.cut_once = {}",
            draw.once_in(2),
            draw.once_in(2)
        ),
        1 => "recovery.kind = \"ns3\"".into(),
        2 => format!(
            "recovery.kind = \"per-priority\"\nrecovery.or_worse = {}\nrecovery.number_bytes = \"{}\"",
            draw.once_in(2),
            draw.one(&["0B", "4B"])
        ),
        3 => format!("recovery.kind = \"{}\"", draw.one(&["duplicate-acks", "timeout-only"])),
        _ => format!(
            "recovery.kind = \"sack\"\nrecovery.partial_acks_tell = {}\nrecovery.tail_loss_probe = {}\nrecovery.cut_once = {}",
            draw.once_in(2),
            draw.once_in(3),
            draw.once_in(2)
        ),
    };
    let ack_every = draw.one(&["1", "1", "2", "4"]);
    // With numbered packets each has an ack of its own.
    let ack_every = if losses.contains("per-priority") { "1" } else { ack_every };
    let dupthresh = draw.one(&["3", "3", "30"]);
    let dupthresh = if losses.contains("timeout-only") {
        String::new()
    } else {
        format!("recovery.dupthresh = {dupthresh}\n")
    };
    format!(
        "initial_window = \"{}\"\nhandshake = {}\nack_every = {ack_every}\nack_delay = \"{}\"\n\
         {dupthresh}recovery.reduction = \"{}\"\nsyn_window = \"{}\"\nmin_window = \"{}\"\n{losses}",
        draw.one(&["1pkt", "10pkt", "20KB", "flow"]),
        draw.once_in(3),
        draw.one(&["50us", "500us"]),
        draw.one(&["at-once", "proportional", "proportional-rfc6937", "proportional-ns3"]),
        draw.one(&["unlimited", "4pkt"]),
        draw.one(&["2pkt", "2pkt", "1pkt", "300B"]),
    )
}

/// Retransmission by NACKs. Its timeouts are above any round trip here.
fn nacks(draw: &mut Draw) -> String {
    if draw.once_in(2) {
        format!(
            "recovery.kind = \"go-back-n\"\nrecovery.ack_timeout = \"{}\"\nrecovery.nack_interval = \"{}\"",
            draw.one(&["3rtt", "1ms"]),
            draw.one(&["0us", "30us", "500us"]),
        )
    } else {
        format!(
            "recovery.kind = \"selective\"\nrecovery.max_in_flight = \"{}\"\nrecovery.rto_low = \"{}\"\n\
             recovery.rto_high = \"1ms\"\nrecovery.rto_low_packets = {}\nrecovery.after_timeout = \"{}\"",
            draw.one(&["1bdp", "10KB", "unlimited"]),
            draw.one(&["2rtt", "300us"]),
            draw.one(&["0", "3"]),
            draw.one(&["first", "all"]),
        )
    }
}

/// When hosts learn of what their flows wait for, in half of the sections that may have such flows.
/// Drawn from a stream of its own.
fn put_releases(seed: u64, traffic: &mut [String]) {
    let draw = &mut Draw(Stream::new(seed, "releases", 0));
    let may_wait =
        |section: &String| ["\"all-", "\"flows\""].iter().any(|kind| section.contains(kind));
    for section in traffic.iter_mut().filter(|section| may_wait(section)) {
        if draw.once_in(2) {
            let delay = draw.one(&["least", "0us", "3us", "70us"]);
            section.push_str(&format!("release_delay = \"{delay}\"\n"));
        }
    }
}

/// The same settings of windows, with NACKs in place of loss recovery.
fn with_nacks(window: &str, draw: &mut Draw) -> String {
    let stays = ["initial_window", "ack_", "min_window", "transport", "ecn"];
    let lines = window.lines().filter(|line| stays.iter().any(|key| line.starts_with(key)));
    let lines: Vec<&str> = lines.collect();
    format!("{}\n{}", lines.join("\n"), nacks(draw))
}

/// Puts NACKs into a fifth of the sections with a window or a pace of their own, and in a sixth of
/// all scenarios into the common settings, which are returned. Drawn from a stream of its own.
fn put_nacks(seed: u64, traffic: &mut [String], common: String) -> String {
    let draw = &mut Draw(Stream::new(seed, "nacks", 0));
    let has_own = |section: &str| section.contains("transport = ") && !section.contains("\"udp\"");
    for section in traffic.iter_mut().filter(|section| has_own(section)) {
        if draw.once_in(5) && !section.contains("\"pfabric\"") {
            let (body, own) = section.split_once("transport = ").expect("it has one of its own");
            let own = with_nacks(&format!("transport = {own}"), draw);
            *section = format!("{body}{own}\n");
        }
    }
    if !draw.once_in(6) {
        return common;
    }
    with_nacks(&common, draw)
}

/// How NICs mark and drop; mostly not at all. Senders are told of drops only if all of those with a
/// window cut for marks.
fn discipline(draw: &mut Draw, all_cut: bool) -> String {
    let aqm = draw.one(&[
        "\"none\"",
        "\"none\"",
        "{ kind = \"ecn\", threshold = \"3pkt\" }",
        "{ kind = \"ecn\", threshold = \"9KB\", not_ect = \"drop\" }",
        "{ kind = \"red\", min = \"2pkt\", max = \"9pkt\", weight = 0.1, gentle = true }",
        "{ kind = \"ecn\", threshold = \"3pkt\", marks_at = \"departure\" }",
    ]);
    let queue_limit = draw.one(&["unlimited", "unlimited", "unlimited", "3pkt", "15KB"]);
    let drops_nothing = (aqm, queue_limit) == ("\"none\"", "unlimited");
    let told = if drops_nothing || !all_cut { "silent" } else { draw.one(&["silent", "cut"]) };
    format!(
        "queues = {}\nqueue_limit = \"{queue_limit}\"\naqm = {aqm}\nlocal_drops = \"{told}\"",
        1 + draw.below(3)
    )
}

/// Important packets, in a fifth of the scenarios where nothing speaks against them, and a limit for
/// the others at switches. Drawn from a stream of its own.
fn protection(seed: u64, given: &str) -> (&'static str, &'static str) {
    let draw = &mut Draw(Stream::new(seed, "protection", 0));
    let against = ["go-back-n", "selective", "offload", "ack_push"];
    if against.iter().any(|text| given.contains(text)) || !draw.once_in(5) {
        return ("", "");
    }
    let limit = draw.one(&[
        "unimportant_limit = \"1600B\"",
        "unimportant_limit = \"4KB\"",
        "unimportant_limit = \"9KB\"",
    ]);
    ("protection = \"tlt\"", limit)
}

/// Whether connections stay open, in a third of all scenarios. It has a stream of its own, so the
/// rest of a scenario does not depend on it.
fn connections(seed: u64) -> &'static str {
    match Draw(Stream::new(seed, "connections", 0)).below(9) {
        0 => "connections = \"open\"",
        1 => "connections = \"open\"\nrestart_idle = false",
        2 => "connections = \"open\"\nrestart_each = true",
        _ => "",
    }
}

/// How next hops are chosen and counted, and which seeds hashes have.
fn routing(seed: u64, draw: &mut Draw) -> String {
    let (kind, seeds) = (draw.one(&["ecmp", "spray"]), draw.one(&["per-switch", "same"]));
    // Drawn from a stream of their own, as whether connections stay open.
    let draw = &mut Draw(Stream::new(seed, "routing", 0));
    let order = draw.one(&["", "", "\nnext_hops = \"descending\""]);
    let hash = if draw.once_in(4) {
        "hash = \"murmur3\"".into()
    } else {
        format!("hash_seeds = \"{seeds}\"")
    };
    format!("kind = \"{kind}\"\n{hash}{order}")
}

/// What DCTCP's share of marks is of, in half of the scenarios what has arrived.
fn share_of(seed: u64) -> &'static str {
    if Stream::new(seed, "share-of", 0).below(2) == 0 { "share_of = \"delivered\"" } else { "" }
}

/// What timeouts are beyond round trips, at least: a choice of a stream of its own.
fn timeouts(seed: u64) -> String {
    let draw = &mut Draw(Stream::new(seed, "timeouts", 0));
    let granularity = draw.one(&["1rtt", "0us", "20us"]);
    let bounds = draw.one(&["timeout", "timeout", "spread"]);
    format!("recovery.rto_granularity = \"{granularity}\"\nrecovery.min_rto_bounds = \"{bounds}\"")
}

/// When flows are complete.
fn completion(seed: u64) -> &'static str {
    let is_by_ack = Draw(Stream::new(seed, "completion", 0)).once_in(4);
    if is_by_ack { "completion = \"last-ack\"" } else { "" }
}

/// Whether times of transmission are cut to whole nanoseconds, in a fifth of all scenarios, and how
/// far clocks are off, in two fifths.
fn clocks(seed: u64) -> &'static str {
    if Draw(Stream::new(seed, "whole-ns", 0)).once_in(5) {
        return "whole_ns = true";
    }
    let wide = "host_clocks = \"-9000..9000ppm\"\nswitch_clocks = \"-9000..9000ppm\"";
    Draw(Stream::new(seed, "clocks", 0)).one(&[
        "clocks = \"exact\"",
        "clocks = \"exact\"",
        "clocks = \"spread\"",
        wide,
    ])
}

/// Whether ports choose after the arrivals of the same moment, in a sixth of all scenarios.
fn arrivals_first(seed: u64) -> &'static str {
    let is_late = Draw(Stream::new(seed, "arrivals-first", 0)).once_in(6);
    if is_late { "arrivals_first = true" } else { "" }
}

/// The scheduler of NICs, and how they mark and drop.
fn nic(draw: &mut Draw, all_cut: bool) -> String {
    if draw.once_in(6) {
        let queue_limit = draw.one(&["unlimited", "2pkt", "7500B", "20KB"]);
        return format!("scheduling = \"pfabric\"\nqueues = 1\nqueue_limit = \"{queue_limit}\"");
    }
    let scheduling = draw.one(&["fifo", "per-flow-rr"]);
    format!("scheduling = \"{scheduling}\"\n{}", discipline(draw, all_cut))
}

fn datagrams(draw: &mut Draw) -> String {
    let pacing = draw.one(&["constant", "poisson"]);
    format!("transport = \"udp\"\nrate = \"2Gbps\"\npacing = \"{pacing}\"")
}

/// A transport that learns of losses by timeouts alone. Its timeout is above any round trip here.
fn by_timeouts(draw: &mut Draw) -> String {
    format!(
        "transport = \"pfabric\"\ninitial_window = \"{}\"\nmax_window = \"{}\"\n\
         rto = \"{}\"\nprobe_after = {}\nremaining = \"{}\"\nknows_receiver = {}",
        draw.one(&["1bdp", "1pkt", "12pkt", "flow"]),
        draw.one(&["1.25bdp", "15pkt", "20KB"]),
        draw.one(&["3rtt", "1ms"]),
        draw.one(&["0", "1", "5"]),
        draw.one(&["unacknowledged", "unsent"]),
        draw.once_in(2),
    )
}

/// Transports with paced senders.
const PACED: [&str; 4] = ["theta-powertcp", "powertcp", "hpcc", "timely"];

/// Transports with a rate that marks cut, which take the place of some paced ones.
const MARKED: [&str; 2] = ["dcqcn", "dctcp-rdma"];

/// Gives a section of traffic whose sender is paced a rate that marks cut, every second time. It
/// has a stream of its own, as [`connections`].
fn marked(seed: u64, place: u64, section: &mut String) {
    let mut draw = Draw(Stream::new(seed, "marked", place));
    let Some(kind) = PACED.iter().find(|kind| section.contains(&format!("\"{kind}\""))) else {
        return;
    };
    if draw.once_in(2) {
        return;
    }
    let window = match draw.below(3) {
        0 => String::new(),
        varies => format!(
            "window = \"{}\"\nvary_window = {}",
            draw.one(&["1bdp", "9KB", "1B"]),
            varies == 1
        ),
    };
    let own = if draw.once_in(3) {
        "\"dctcp-rdma\"\nmin_rate = \"500Mbps\"\nrate_step = \"1%\"".into()
    } else {
        dcqcn(&mut draw)
    };
    let other = format!("transport = {own}\n{window}");
    *section = section.replace(&format!("transport = \"{kind}\""), &other);
}

/// Gives HPCC and TIMELY other rules, in two of three sections with them. It has a stream of its
/// own, as [`connections`].
fn as_simulated(seed: u64, place: u64, section: &mut String) {
    let mut draw = Draw(Stream::new(seed, "as-simulated", place));
    let (hpcc, timely) = ("transport = \"hpcc\"", "transport = \"timely\"");
    let (kind, more) = match (section.contains(hpcc), section.contains(timely)) {
        (true, _) => (
            hpcc,
            draw.one(&[
                "",
                "preset = \"simulator\"",
                "telemetry_units = 3\nfast_react = false\nrate_step = \"100Mbps\"\nmoves_next = true",
            ]),
        ),
        (_, true) => (
            timely,
            draw.one(&[
                "",
                "preset = \"simulator\"",
                "window = \"0.5bdp\"\nvary_window = true\nrow_counts = \"increases\"\nrtt_from = \"nic\"",
                "preset = \"abm\"",
            ]),
        ),
        _ => return,
    };
    *section = section.replace(kind, &format!("{kind}\n{more}"));
}

/// DCQCN with timers of all kinds.
fn dcqcn(draw: &mut Draw) -> String {
    let preset = draw.one(&["paper", "simulator", "simulator-paper"]);
    let timers = draw.one(&[
        "",
        "timers = \"from-cut\"\ndecrease_interval = \"4us\"",
        "timers = \"free-running\"\ndecrease_interval = \"3us\"\nfirst_cut = \"at-once\"",
        "first_cut = \"after-interval\"\nincrease_timer = \"5us\"",
        "alpha_interval = \"2us\"\nalpha_first = true\nshrink_target = true",
    ]);
    let counter = draw.one(&[
        "",
        "byte_counter = \"9KB\"\nhyper_halves = true",
        "byte_counter = \"3KB\"\nclamp_target = \"after-byte-counter\"",
        "byte_counter = \"none\"\nfast_recovery = 0\nhyper_after = 1",
    ]);
    let told = draw.one(&[
        "cnp = \"packet\"\ncnp_interval = \"5us\"",
        "cnp = \"packet\"\ncnp_size = \"1500B\"\ncnp_interval = \"0us\"",
        "cnp = \"ack-flag\"",
    ]);
    format!("\"dcqcn\"\npreset = \"{preset}\"\nmin_rate = \"500Mbps\"\n{timers}\n{counter}\n{told}")
}

fn traffic(draw: &mut Draw, hosts: u64, is_split: bool) -> (Vec<String>, FlowColumns) {
    let mut sections = Vec::new();
    let mut list = FlowColumns::default();
    let kinds = 1 + draw.below(7);
    for (place, name) in ["m", "c", "x"].iter().enumerate() {
        if kinds & 1 << place == 0 {
            continue;
        }
        let body = match draw.below(6) {
            0 => format!(
                "kind = \"poisson\"\nsizes = \"{}\"\nload = 0.7\nload_of = \"host\"\n\
                 destinations = \"{}\"\nflows = 25",
                draw.one(&["keyvalue", "20KB", "webserver"]),
                if is_split { draw.one(&["uniform", "other-rack"]) } else { "uniform" },
            ),
            1 => format!(
                "kind = \"incast\"\ninterval = \"150us\"\nburst = \"{}\"\nfan_in = {}\n\
                 senders = \"any\"\nreceivers = 1\njitter = \"{}\"",
                draw.one(&["30KB", "90KB"]),
                1 + draw.below(hosts - 1),
                draw.one(&["0us", "20us"]),
            ),
            2 => "kind = \"permutation\"\nsize = \"61234B\"".into(),
            5 if place == 0 => {
                let sender = hosts - 1;
                let ends = format!("receiver = 0\nsenders = {sender}\nstop = \"2ms\"");
                format!("kind = \"persistent\"\n{ends}\ninitial_window = \"5pkt\"")
            }
            3 if hosts <= 6 => collective(draw, hosts),
            _ if list.src.is_empty() => {
                for _ in 0..12 {
                    let src = draw.below(hosts);
                    let dst = (src + 1 + draw.below(hosts - 1)) % hosts;
                    list.src.push(src as u32);
                    list.dst.push(dst as u32);
                    list.size_bytes.push(1 + draw.below(40_000));
                    // Some flows start together, and are then ordered by their other properties.
                    list.start_ns.push(10_000 * draw.below(30));
                }
                let given = |draw: &mut Draw| (0..12).map(|_| Some(draw.below(4) as u32)).collect();
                list.path = draw.once_in(2).then(|| given(draw));
                list.ack_path = draw.once_in(2).then(|| given(draw));
                if draw.once_in(3) {
                    waiting(draw, &mut list);
                }
                "kind = \"flows\"\nfile = \"list\"".into()
            }
            _ => "kind = \"permutation\"\nsize = \"1B\"\nstart = \"50us\"".into(),
        };
        let own = match draw.below(6) {
            _ if body.contains("persistent") => String::new(),
            0 => datagrams(draw),
            1 => {
                let kind = draw.one(&["newreno", "cubic"]);
                format!("transport = \"{kind}\"\necn = {}\n{}", draw.once_in(2), window(draw))
            }
            2 => {
                let kind = draw.one(&PACED);
                format!("transport = \"{kind}\"")
            }
            3 => by_timeouts(draw),
            _ => String::new(),
        };
        let priority = if draw.once_in(3) { "priority = 1" } else { "" };
        sections.push(format!("[[traffic]]\nname = \"{name}\"\n{body}\n{priority}\n{own}\n"));
    }
    (sections, list)
}

/// Hosts that send to each other in steps.
fn collective(draw: &mut Draw, hosts: u64) -> String {
    let kind = match draw.below(3) {
        0 => format!("\"all-to-all\"\nsize = \"9KB\"\nphases = {}", 1 + draw.below(hosts - 1)),
        1 if hosts.is_power_of_two() => {
            "\"all-reduce\"\nalgorithm = \"halving-doubling\"\nsize = \"30KB\"".into()
        }
        _ => "\"all-reduce\"\nsize = \"20KB\"".into(),
    };
    format!(
        "kind = {kind}\niterations = {}\ncompute = \"{}\"\njitter = \"{}\"\nplacement = \"{}\"",
        1 + draw.below(2),
        draw.one(&["0us", "40us"]),
        draw.one(&["0us", "30us"]),
        draw.one(&["packed", "random"]),
    )
}

/// Some flows of a list wait for earlier ones, and some belong to jobs.
fn waiting(draw: &mut Draw, list: &mut FlowColumns) {
    let flows = list.src.len() as u64;
    let after = (0..flows).map(|flow| match draw.below(3) {
        _ if flow == 0 => Vec::new(),
        0 => Vec::new(),
        number => (0..number).map(|_| draw.below(flow) as u32).collect(),
    });
    let after: Vec<Vec<u32>> = after.collect();
    let delay = |others: &Vec<u32>| (!others.is_empty()).then(|| draw.below(9_000));
    list.delay_ns = Some(after.iter().map(delay).collect());
    list.after = Some(after);
    list.job = Some((0..flows).map(|_| draw.once_in(2).then(|| draw.below(3) as u32)).collect());
}

/// A tagger for a section of traffic whose flows have no priority, and bounds for its flows, where
/// a port of a switch and a NIC have this many queues.
fn tagging(draw: &mut Draw, section: &mut String, queues: u64) {
    let acks = if queues > 1 && draw.once_in(2) { "apart" } else { "with-first" };
    let levels = queues - u64::from(acks == "apart");
    if section.contains("priority") || draw.once_in(2) {
        return;
    }
    let thresholds: Vec<_> = (1..levels).map(|level| format!("\"{}KB\"", 4 * level)).collect();
    let thresholds = format!("thresholds = [{}]", thresholds.join(", "));
    let repairs = draw.one(&["as-before", "as-next", "as-first"]);
    let kind = match draw.below(5) {
        0 => format!("\"pias\", {thresholds}, counts_packet = {}", draw.once_in(2)),
        1 => format!("\"qclimb\", {thresholds}, reset_after = {}", draw.below(3)),
        2 => format!("\"qclimb-ps\", {thresholds}"),
        3 => format!("\"srpt\", {thresholds}"),
        _ => format!("\"las\", levels = {levels}, first = \"2KB\""),
    };
    let bound = draw.one(&[
        "\"none\"",
        "\"exact\"",
        "{ kind = \"constant\", size = \"1600B\" }",
        "{ kind = \"uniform\", least = 0.2 }",
        "{ kind = \"miss\", least = 0.5, misses = 0.3, excess = 2.0 }",
    ]);
    section.push_str(&format!(
        "tagging = {{ kind = {kind}, acks = \"{acks}\", repairs = \"{repairs}\" }}\nbound = {bound}\n"
    ));
}

/// The value of a key that holds a number of queues; without it there is one.
fn queues(text: &str, key: &str) -> u64 {
    let line = text.lines().find_map(|line| line.strip_prefix(&format!("{key} = ")));
    line.map_or(1, |value| value.parse().expect("a whole number"))
}

fn event(draw: &mut Draw, links: &[(String, String)]) -> String {
    let (a, b) = &links[draw.below(links.len() as u64) as usize];
    let at = draw.below(400);
    let until = at + 1 + draw.below(3_000);
    let what = match draw.below(2) {
        0 => format!("kind = \"link-loss\"\nrate = {}", draw.one(&["0.01", "0.1", "0.4"])),
        _ => {
            let reroute_after = draw.one(&["0us", "20us", "700us"]);
            format!("kind = \"link-down\"\nreroute_after = \"{reroute_after}\"")
        }
    };
    format!("[[event]]\na = \"{a}\"\nb = \"{b}\"\nat = \"{at}us\"\nuntil = \"{until}us\"\n{what}\n")
}

/// HyStart as drawn, or one of the later rules.
fn hystart_of(seed: u64, drawn: &'static str) -> &'static str {
    match seed % 7 {
        3 => "linux",
        5 => "rfc9406",
        _ => drawn,
    }
}

/// Keys of bursts, in some scenarios where nothing else speaks against them.
fn bursts(seed: u64, given: &str) -> &'static str {
    let against = ["per-priority", "go-back-n", "selective", "min_window", "local_drops"];
    match seed % 5 {
        _ if against.iter().any(|text| given.contains(text)) => "",
        1 => "offload = \"64KiB\"\nack_push = true\nquick_acks = 3",
        2 => "offload = \"3KB\"",
        3 => "ack_push = true\ncoalesce = \"9KB\"\ncoalesce_time = \"5us\"",
        _ => "",
    }
}

/// The scenario with this number.
pub fn case(seed: u64) -> Case {
    let mut draw = Draw(Stream::new(seed, "case", 0));
    let draw = &mut draw;
    let (topology, hosts, is_split, links) = topology(draw);
    let events = draw.below(4).saturating_sub(1);
    let events: String = (0..events).map(|_| event(draw, &links)).collect();
    let (switch, window) = (switch(draw, !events.is_empty()), window(draw));
    let switch = with_other_sharing(seed, switch);
    let fifo = if events.is_empty() { draw.one(&["0", "0", "2"]) } else { "0" };
    let hystart = draw.one(&["none", "exact", "ns3"]);
    let (mut traffic, list) = traffic(draw, hosts, is_split);
    for (place, section) in (0..).zip(&mut traffic) {
        marked(seed, place, section);
        as_simulated(seed, place, section);
    }
    put_releases(seed, &mut traffic);
    let cuts_not = |section: &String| {
        PACED
            .iter()
            .chain(&MARKED)
            .chain(&["pfabric"])
            .any(|kind| section.contains(&format!("\"{kind}\"")))
    };
    let timeouts = timeouts(seed);
    let common =
        format!("recovery.min_rto = \"1ms\"\nrecovery.initial_rto = \"2ms\"\n{timeouts}\n{window}");
    let window = put_nacks(seed, &mut traffic, common);
    let has_nacks = |text: &String| ["go-back-n", "selective"].iter().any(|way| text.contains(way));
    let all_cut = !traffic.iter().any(cuts_not) && !traffic.iter().chain([&window]).any(has_nacks);
    let (switch_queues, nic) = (queues(&switch, "queues_per_port"), nic(draw, all_cut));
    let queues = switch_queues.min(queues(&nic, "queues"));
    traffic.iter_mut().for_each(|section| tagging(draw, section, queues));
    let bursts = bursts(seed, &format!("{window}{nic}{}", traffic.concat()));
    let (protection, limit) = protection(seed, &format!("{window}{bursts}"));
    let head = format!(
        "seed = {seed}\nwarmup = \"{}\"\nduration = \"500us\"\nstop = \"200s\"\n{}\n\
         [topology]\n{topology}\n{}\n{}\n\
         [routing]\n{}\n\
         [switch]\n{switch}\n{limit}\n\
         [nic]\nfifo_packets = {fifo}\n{}\n\
         [transport]\nkind = {}\n{window}\n{}\n{bursts}\n{protection}\n\
         {events}",
        draw.one(&["0us", "0us", "100us"]),
        completion(seed),
        clocks(seed),
        arrivals_first(seed),
        routing(seed, draw),
        nic,
        match draw.one(&["newreno", "dctcp", "cubic"]) {
            "cubic" => {
                let hystart = hystart_of(seed, hystart);
                let alpha = Draw(Stream::new(seed, "friendly-alpha", 0)).one(&["rfc9438", "linux"]);
                format!("\"cubic\"\nhystart = \"{hystart}\"\nfriendly_alpha = \"{alpha}\"")
            }
            "dctcp" => format!("\"dctcp\"\n{}", share_of(seed)),
            kind => format!("\"{kind}\""),
        },
        connections(seed),
    );
    let mut case = Case { head, traffic, list };
    if case.may_stall() {
        // Senders that go back at every NACK may offer their NIC a million packets in a
        // millisecond.
        let goes_back_at_once = case.text().contains("recovery.nack_interval = \"0us\"");
        let stop = if goes_back_at_once { "stop = \"2ms\"" } else { "stop = \"20ms\"" };
        case.head = case.head.replace("stop = \"200s\"", stop);
    }
    case
}
