//! The events of the whole, in a run in parts.

use super::Parallel;
use super::part::LostElsewhere;
use crate::event::Kind;
use crate::network::Lost;
use crate::scenario::Scenario;
use crate::simulation::Simulation;
use crate::simulation::ports::PortRows;
use spillway_engine::Time;
use spillway_switch::packet::PacketId;
use spillway_topology::Node;

impl Parallel {
    /// Handles the next event of the whole. All parts have come to it.
    pub(super) fn handle_common(&mut self, whole: &mut Simulation) {
        whole.add_up(&mut self.parts);
        let Some(event) = whole.network.events.take() else { return };
        (whole.network.now, whole.network.key) = (event.time, event.key);
        whole.counters.events += 1;
        match Kind::of(event.key) {
            (Kind::LinkChange, change) => self.change_link(whole, change),
            (Kind::RouteChange, change) => self.change_routes(whole, change),
            (Kind::SamplePorts, _) => self.sample_ports(whole),
            (Kind::SampleWindows, _) => self.sample_windows(whole),
            _ => {
                whole.lend_and_take(&mut self.parts);
                whole.on_rare_event(event.key);
                whole.lend_and_take(&mut self.parts);
            }
        }
    }

    /// An event of the scenario begins or ends on a link. What is on a line is lost first, in the
    /// part to which it leads, then what waits for it, in the part that sends. The whole takes what
    /// was lost.
    fn change_link(&mut self, whole: &mut Simulation, change: u32) {
        let Scenario { topology, events, .. } = &whole.scenario;
        let first = events[change as usize / 2].line;
        let mut lost = Vec::new();
        for line in [first, first ^ 1] {
            let sender = usize::from(self.cut.part_of(topology.lines[line as usize ^ 1].to));
            let others = (0..self.parts.len()).filter(|&number| number != sender);
            for number in others.chain([sender]) {
                let part = &mut self.parts[number];
                part.enter_window();
                part.network.now = whole.network.now;
                part.network.change_line(events, change, line);
                for of_part in part.network.lost.drain(..) {
                    let packets = &mut part.network.packets;
                    let (packet, contents) =
                        (packets[of_part.packet], *packets.contents(of_part.packet));
                    packets.remove(of_part.packet);
                    let packet = whole.network.packets.insert(packet, contents);
                    lost.push(Lost { packet, ..of_part });
                }
            }
        }
        whole.network.announce(events, change);
        whole.lend_and_take(&mut self.parts);
        for lost in lost {
            whole.network.losses += 1;
            let (to, is_data) = whole.take_lost(&lost);
            self.tell_of_loss(LostElsewhere { at: whole.network.moment(), to, is_data });
        }
        whole.lend_and_take(&mut self.parts);
        self.settle(whole);
    }

    /// Switches learn that a link has failed or recovered.
    fn change_routes(&mut self, whole: &mut Simulation, change: u32) {
        whole.on_rare_event(Kind::RouteChange.key(change));
        for part in &mut self.parts {
            part.network.routing = whole.network.routing.clone();
        }
    }

    /// Writes rows of ports, whose packets the parts have.
    fn sample_ports(&mut self, whole: &mut Simulation) {
        whole.lend_and_take(&mut self.parts);
        let part_of = |node: Node| &self.parts[usize::from(self.cut.part_of(node))];
        for number in whole.sampled_switches() {
            let packets = &part_of(Node::Switch(number)).network.packets;
            let switch = &mut whole.network.switches[number as usize];
            let rows = PortRows { now: whole.network.now, number, packets };
            let class_of = |id: PacketId| {
                let to = part_of(Node::Host(packets[id].dst));
                to.hosts.ends.receiving(packets.contents(id).slot).class
            };
            rows.write(switch, class_of, &mut whole.record);
        }
        whole.lend_and_take(&mut self.parts);
        whole.schedule_next_sample_of_ports();
    }

    /// Writes rows of windows. Senders have them, and receivers know what was delivered.
    fn sample_windows(&mut self, whole: &mut Simulation) {
        for (_, number, slot) in self.alive() {
            let hosts = &self.parts[usize::from(number)].hosts;
            let sending = hosts.ends.sending(slot);
            let to = usize::from(self.cut.part_of_host(sending.flow.spec.dst));
            let receiving = self.parts[to].hosts.ends.receiving(sending.flow.peer);
            let wanted = &whole.scenario.recording.window_flows;
            if hosts.completion_of(sending, receiving) == Time::MAX
                && wanted.contains(&sending.flow.id)
            {
                let row = whole.instruments.window_row(whole.network.now, sending, receiving);
                whole.record.windows.push(row);
            }
        }
        whole.schedule_next_sample_of_windows();
    }
}
