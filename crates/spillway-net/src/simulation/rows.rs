//! The row of each flow, written at its end.

use super::Simulation;
use crate::event::Kind;
use crate::record::{Extra, JobRow, Outcome, Over};
use spillway_engine::Time;
use spillway_transport::flow::FlowSpec;

impl Simulation {
    /// If a flow became over in this event, writes its row and frees its place.
    #[inline(always)]
    pub(super) fn write_row_if_over(&mut self) {
        if self.hosts.has_news() {
            self.look_after_flows();
        }
    }

    /// Writes the row of a flow that is over. If a flow is complete for which others wait,
    /// schedules their start.
    #[cold]
    fn look_after_flows(&mut self) {
        if let Some(slot) = self.hosts.take_over() {
            match &mut self.part {
                None => self.write_last_row(slot, self.network.now),
                Some(part) => part.over.push((self.network.moment(), slot)),
            }
        }
        // Of a part, the whole looks after these.
        if self.part.is_none() && !self.hosts.awaited.is_empty() {
            self.network.events.push(self.network.now, Kind::FlowStart.key(0));
        }
    }

    /// Writes the row of a flow, and removes the flow.
    #[cold]
    pub(super) fn write_last_row(&mut self, slot: u32, now: Time) {
        let mut outcome = self.outcome_of(slot, now);
        let sending = self.hosts.ends.sending(slot);
        let flow = &sending.flow;
        self.record.add(&Over {
            id: flow.id,
            spec: &flow.spec,
            outcome: &outcome,
            sender: sending.sender(),
            receiver: &self.hosts.ends.receiving(slot).receiver,
            connection: flow.connection,
            acked_at: (flow.acked_at != Time::MAX).then_some(flow.acked_at),
            repairs: self.hosts.ends.repairs(slot),
        });
        let is_endless = flow.spec.size == FlowSpec::ENDLESS;
        let counted = !is_endless && flow.spec.start >= self.scenario.warmup;
        if counted {
            outcome.base = self.hosts.base.of_flow(&flow.spec, flow.ideal);
            self.record.outcomes.push(outcome);
        }
        self.hosts.note_over(slot);
        self.hosts.remove(slot);
    }

    /// Ends the run at this time: writes the rows of flows that are alive, and what instruments
    /// still hold.
    pub fn finish(&mut self) {
        self.finish_parts();
        for slot in self.hosts.ends.slots() {
            self.write_last_row(slot, self.network.now);
        }
        self.waits.unfinished().iter().for_each(|each| self.record.jobs.push(JobRow::of(each)));
        self.finish_fates();
        self.finish_ports();
        self.finish_lines();
        if let Some(pausing) = &mut self.network.pausing {
            pausing.finish();
        }
        self.collect_traces_before(None);
    }

    fn outcome_of(&self, slot: u32, now: Time) -> Outcome {
        let (sending, receiving) = (self.hosts.ends.sending(slot), self.hosts.ends.receiving(slot));
        let spec = &sending.flow.spec;
        let repairs = self.hosts.ends.repairs(slot);
        let climbed = match receiving.climbed_at {
            Time::MAX => Time::MAX,
            at => at.since(spec.start),
        };
        let has_extra = self.scenario.recording.climbing || !repairs.is_empty();
        let completed_at = self.hosts.completed_at(slot);
        let is_complete = completed_at != Time::MAX;
        let end = if is_complete { completed_at } else { now };
        Outcome {
            start: spec.start,
            fct: end.since(spec.start),
            base: sending.flow.ideal,
            size: spec.size,
            query: spec.query.unwrap_or(u32::MAX),
            class: spec.class,
            complete: is_complete,
            timed_out: sending.sender().is_some_and(|sender| sender.timeouts > 0),
            extra: has_extra.then(|| Box::new(Extra { repairs, climbed })),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulation::Progress;
    use crate::testing::{
        Listed, NS, STAR, US, columns, finish, finished, scenario, scenario_of, transport,
    };
    use spillway_traffic::FlowColumns;

    fn text(head: &str, kind: &str, more: &str) -> String {
        format!("{head}\n{STAR}\n{}", transport(kind, more))
    }

    const MILLISECOND: &str = "duration = \"1ms\"";

    /// A packet takes 2 * (1 + 10) us; the flow starts at 5 us.
    #[test]
    fn a_flow_that_is_complete_has_its_time_and_slowdown() {
        let list = columns(&[(0, 1, 960, 5_000)]);
        let mut run = Simulation::new(scenario_of(&text(MILLISECOND, "newreno", ""), &list));
        while run.run(1 << 10) == Progress::Running {}
        // The row is there before the run is finished, and the flow's place is free.
        assert_eq!((run.record.flows.len(), run.hosts.ends.slot_of(0)), (1, None));
        assert_eq!(run.hosts.unfinished, 0);
        let run = finish(run);
        let (flows, [outcome]) = (&run.record.flows, &run.record.outcomes[..]) else {
            panic!("one flow")
        };
        assert_eq!((flows.start_ps[0], flows.fct_ps.known(0)), (5 * US, Some(22 * US)));
        assert_eq!((flows.ideal_ps[0], flows.slowdown.known(0)), (22 * US, Some(1.0)));
        assert_eq!((flows.size_bytes[0], flows.delivered_bytes[0]), (960, 960));
        assert_eq!((outcome.start, outcome.fct), (Time::from_us(5), Time::from_us(22)));
        assert!(outcome.complete && !outcome.timed_out);
        assert_eq!(flows.len(), 1);
    }

    /// Packets leave at 5 and 6 us and arrive at 27 and 28 us; the run stops at 27.5 us.
    #[test]
    fn a_flow_that_is_cut_off_has_no_time_but_has_waited() {
        let head = "duration = \"10us\"\nstop = \"27500ns\"";
        let run = finished(&text(head, "newreno", ""), &[(0, 1, 1_920, 5_000)]);
        let flows = &run.record.flows;
        assert_eq!((flows.len(), flows.fct_ps.known(0), flows.slowdown.known(0)), (1, None, None));
        assert_eq!(flows.delivered_bytes[0], 960);
        let outcome = &run.record.outcomes[0];
        assert_eq!((outcome.complete, outcome.fct), (false, Time::from_ns(22_500)));
        assert_eq!((outcome.size, outcome.base), (1_920, Time::from_us(23)));
    }

    /// A packet is there after 2 * (1 + 10) us. Its ack of 50 bytes takes 2 * (0.05 + 10) us back.
    #[test]
    fn a_flow_may_tell_when_everything_was_acknowledged() {
        let told = |record: &str, kind: &str, list: &[Listed]| {
            let head = format!("duration = \"1ms\"\nstop = \"2ms\"\n{record}");
            finished(&text(&head, kind, ""), list).record.acknowledged
        };
        let one = [(0, 1, 960, 5_000)];
        let asked = "record.acknowledged = true";
        let times = told(asked, "newreno", &one).expect("it is asked for").acked_ps;
        assert_eq!((times.len(), times.known(0)), (1, Some(42 * US + US / 10)));
        // Two hosts send a packet each to a third: the second one and its ack come 1 us later.
        let times =
            told(asked, "newreno", &[(0, 2, 960, 5_000), (1, 2, 960, 5_000)]).unwrap().acked_ps;
        assert_eq!([0, 1].map(|row| times.known(row)), [421, 431].map(|t| Some(t * US / 10)));
        // Datagrams are not acknowledged.
        assert_eq!(told(asked, "udp", &one).unwrap().acked_ps.known(0), None);
        assert_eq!(told("", "newreno", &one), None);
        assert_eq!(told("record.acknowledged = false", "newreno", &one), None);
    }

    /// A packet is there after 2 * (1 + 10) us, and its ack after another 2 * (0.05 + 10) us.
    /// Without the key the run ends with the last byte.
    #[test]
    fn a_flow_may_be_complete_with_its_last_ack() {
        let head = |more: &str| format!("duration = \"10us\"\nstop = \"1ms\"\n{more}");
        let told = |more: &str, kind: &str, list: &[Listed]| {
            let mut run = Simulation::new(scenario(&text(&head(more), kind, ""), list));
            while run.run(1 << 10) == Progress::Running {}
            assert_eq!(
                (run.hosts.unfinished, run.counters().flows_completed),
                (0, list.len() as u64)
            );
            let run = finish(run);
            let flows = &run.record.flows;
            let row = |row| (flows.fct_ps.known(row).unwrap(), flows.ideal_ps[row]);
            let outcomes = &run.record.outcomes;
            assert!(outcomes.iter().all(|outcome| outcome.complete), "{outcomes:?}");
            ((0..flows.len()).map(row).collect::<Vec<_>>(), run.now().ps())
        };
        let one = [(0, 1, 960, 5_000)];
        let (byte, ack) = (22 * US, 42_100 * NS);
        assert_eq!(told("", "newreno", &one), (vec![(byte, byte)], 27 * US));
        let by_byte = "completion = \"last-byte\"";
        assert_eq!(told(by_byte, "newreno", &one), (vec![(byte, byte)], 27 * US));
        let by_ack = "completion = \"last-ack\"";
        assert_eq!(told(by_ack, "newreno", &one), (vec![(ack, ack)], 47_100 * NS));
        // The second of two packets at one port, and its ack, come 1 us later than if it were
        // alone.
        let two = [(0, 2, 960, 5_000), (1, 2, 960, 5_000)];
        let rows = vec![(ack, ack), (ack + US, ack)];
        assert_eq!(told(by_ack, "newreno", &two), (rows, 48_100 * NS));
        // Datagrams have no acks.
        assert_eq!(told(by_ack, "udp", &one), (vec![(byte, byte)], 27 * US));
        let published = "completion = \"last-ack\"\nslowdown_base = \"published\"";
        assert_eq!(told(published, "newreno", &one).0, [(ack, ack)]);
    }

    /// The last byte arrives at 27 us, and the run stops at 40 us, before the ack is there at 47.1
    /// us.
    #[test]
    fn a_flow_without_its_last_ack_may_be_incomplete() {
        let head = "duration = \"10us\"\nstop = \"40us\"\ncompletion = \"last-ack\"";
        let mut run = Simulation::new(scenario(&text(head, "newreno", ""), &[(0, 1, 960, 5_000)]));
        let progress = loop {
            match run.run(1 << 10) {
                Progress::Running => {}
                other => break other,
            }
        };
        assert_eq!((progress, run.hosts.unfinished), (Progress::Stopped, 1));
        let run = finish(run);
        let (flows, outcome) = (&run.record.flows, &run.record.outcomes[0]);
        assert_eq!((flows.fct_ps.known(0), flows.delivered_bytes[0]), (None, 960));
        assert_eq!((outcome.complete, outcome.fct), (false, Time::from_us(35)));
        assert_eq!(run.hosts.unfinished, 0);
    }

    /// Five packets of 960 bytes arrive at 22, 23, ... 26 us.
    #[test]
    fn a_flow_may_tell_how_long_it_climbed() {
        let told = |record: &str, tagging: &str, bound: u64| {
            let bound_bytes = Some(vec![Some(bound)]);
            let list = FlowColumns { bound_bytes, ..columns(&[(0, 1, 4_800, 5_000)]) };
            let more = format!("tagging = {{ {tagging}, acks = \"with-first\" }}");
            let text = text(&format!("{MILLISECOND}\n{record}"), "newreno", &more);
            finish(Simulation::new(scenario_of(&text, &list))).record.climbing
        };
        let (asked, qclimb) = ("record.climbing = true", "kind = \"qclimb\", thresholds = []");
        let climbed =
            |tagging: &str, bound| told(asked, tagging, bound).unwrap().climbed_ps.known(0);
        // The third packet begins at byte 1,920.
        for (bound, us) in [(0, 0), (1, 22), (1_920, 23), (1_921, 24), (4_800, 26), (9_600, 26)] {
            assert_eq!(climbed(qclimb, bound), Some(us * US), "{bound} B");
        }
        assert_eq!(climbed("kind = \"qclimb-ps\", thresholds = []", 1), Some(26 * US));
        assert_eq!(climbed("kind = \"pias\", thresholds = []", 1_920), Some(0));
        assert_eq!(told("", qclimb, 1_920), None);
        assert_eq!(told("record.climbing = false", qclimb, 1_920), None);
    }

    /// Packets arrive at 27 and 28 us, and the run stops at 27.5 us. The summary takes a flow that
    /// is not over to last until the stop.
    #[test]
    fn a_flow_that_is_cut_off_may_have_climbed_or_not() {
        let told = |bound| {
            let bound_bytes = Some(vec![Some(bound)]);
            let list = FlowColumns { bound_bytes, ..columns(&[(0, 1, 1_920, 5_000)]) };
            let head = "duration = \"10us\"\nstop = \"27500ns\"\nrecord.climbing = true";
            let tagging = "tagging = { kind = \"qclimb\", thresholds = [], acks = \"with-first\" }";
            let run = finish(Simulation::new(scenario_of(&text(head, "newreno", tagging), &list)));
            let climbed = run.record.climbing.unwrap().climbed_ps.known(0);
            (climbed, run.record.outcomes[0].climbed().ps())
        };
        assert_eq!(told(960), (Some(22 * US), 22 * US));
        assert_eq!(told(961), (None, 22_500 * NS));
    }

    /// The summary keeps 48 bytes of each flow. If the flow has counts of repairs, these ten counts
    /// lie in a box of 56 bytes, which also holds a time.
    #[test]
    fn memory_counts_repairs_where_a_flow_has_some() {
        let kept = |rto: &str, list: &[Listed]| {
            let timers = format!("recovery.initial_rto = \"{rto}\", recovery.min_rto = \"{rto}\"");
            let mut record = finished(&text(MILLISECOND, "newreno", &timers), list).record;
            assert_eq!(record.flows.len(), list.len());
            record.flows = Default::default();
            record.bytes()
        };
        let [one, other] = [(0, 1, 960, 0), (0, 2, 960, 500_000)];
        // An ack is back after 42.1 us.
        assert_eq!([kept("50us", &[one]), kept("15us", &[one])], [48, 104]);
        assert_eq!(kept("15us", &[one, other]), 208);
    }

    #[test]
    fn flows_from_before_the_window_and_endless_ones_are_not_summed_up() {
        let head = format!("{MILLISECOND}\nwarmup = \"10us\"");
        let flows: [Listed; 3] = [(0, 1, 960, 0), (0, 1, 960, 9_999), (0, 1, 960, 10_000)];
        let run = finished(&text(&head, "udp", ""), &flows);
        assert_eq!(run.record.flows.len(), 3);
        let starts: Vec<Time> = run.record.outcomes.iter().map(|outcome| outcome.start).collect();
        assert_eq!(starts, [Time::from_us(10)]);
        let endless =
            "[[traffic]]\nname = \"on\"\nkind = \"persistent\"\nsenders = [0]\nreceiver = 1";
        let head = "duration = \"50us\"\nstop = \"100us\"";
        let run = finished(&format!("{}\n{endless}", text(head, "newreno", "")), &[(2, 1, 960, 0)]);
        let flows = &run.record.flows;
        let endless = (0..2).find(|&row| flows.src[row] == 0).unwrap();
        assert_eq!((flows.size_bytes[endless], flows.fct_ps.known(endless)), (0, None));
        assert!(flows.delivered_bytes[endless] > 0);
        assert_eq!(run.record.outcomes.len(), 1);
    }

    #[test]
    fn a_row_says_what_the_flow_was_asked_to_be() {
        let list = FlowColumns {
            priority: Some(vec![Some(2), None]),
            query_id: Some(vec![Some(3), None]),
            ..columns(&[(0, 1, 960, 0), (0, 2, 960, 0)])
        };
        let text = text(MILLISECOND, "udp", "");
        let run = finish(Simulation::new(scenario_of(&text, &list)));
        let flows = &run.record.flows;
        let known = |row| (flows.priority.known(row), flows.query_id.known(row));
        assert_eq!([0, 1].map(known), [(Some(2), Some(3)), (None, None)]);
        let queries: Vec<u32> = run.record.outcomes.iter().map(|outcome| outcome.query).collect();
        assert_eq!(queries, [3, u32::MAX]);
    }

    /// An ack is back after 42.1 us. The timer expires at 15 us, and would again at 45 us.
    #[test]
    fn a_row_counts_timeouts_and_what_was_sent_again() {
        let timers = "recovery.initial_rto = \"15us\", recovery.min_rto = \"15us\"";
        let run = finished(&text(MILLISECOND, "newreno", timers), &[(0, 1, 960, 0)]);
        let flows = &run.record.flows;
        assert_eq!((flows.timeouts[0], flows.retransmitted_packets[0]), (1, 1));
        assert_eq!((flows.delivered_bytes[0], flows.fct_ps.known(0)), (960, Some(22 * US)));
        assert!(run.record.outcomes[0].timed_out);
        // Nothing of an open loop is sent again.
        let run = finished(&text(MILLISECOND, "udp", ""), &[(0, 1, 960, 0)]);
        let flows = &run.record.flows;
        assert_eq!((flows.timeouts[0], flows.retransmitted_packets[0]), (0, 0));
        assert!(!run.record.outcomes[0].timed_out);
    }
}
