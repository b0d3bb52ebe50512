//! When packets are decided about by the length of a queue: as they arrive, or as they leave.

use super::Scope;
use crate::buffer::{Buffer, Length};
use crate::catalogue::Environment;
use crate::policy::Departure;
use spillway_settings::{Section, SettingsError};

/// When packets are decided about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// As they arrive, by the queue that they find.
    Arrival,
    /// As they leave, by the queue that they leave behind.
    Departure,
}

impl Moment {
    /// Reads when packets are decided about.
    pub fn read(section: &mut Section) -> Result<Moment, SettingsError> {
        let moments = [("arrival", Moment::Arrival), ("departure", Moment::Departure)];
        let meaning =
            "when packets are decided about: by the queue that they find, or leave behind";
        section.choice("marks_at", &moments, meaning)
    }
}

/// How long the queues are that packets leave behind.
#[derive(Clone, Copy, Debug)]
pub struct LeftBehind {
    scope: Scope,
    /// Whether the buffer still counts the bytes of the packet that leaves.
    holds_until_sent: bool,
}

impl LeftBehind {
    /// For switches that count bytes as this one does.
    pub fn new(scope: Scope, environment: &Environment) -> LeftBehind {
        LeftBehind { scope, holds_until_sent: environment.service.release_at_end }
    }

    /// The length that counts, without the packet that leaves.
    pub fn by(self, departure: &Departure, buffer: &Buffer) -> Length {
        let length = self.scope.length(departure.queue, buffer);
        let held = if self.holds_until_sent { departure.size } else { 0 };
        Length { bytes: length.bytes - held, ..length }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aqm::tests::leaving;
    use spillway_engine::Time;

    #[test]
    fn the_packet_that_leaves_is_not_left_behind() {
        // A port with packets of 1000 and 3000 bytes, and the queue beside that a packet of 1500
        // bytes leaves: 1000 bytes are left in it, and 4000 at the port.
        for holds in [false, true] {
            let mut environment = Environment { queues_per_port: 2, ..Environment::example(1) };
            environment.service.release_at_end = holds;
            let mut buffer = Buffer::new(10_000, environment.port_rates.clone(), 2);
            let packets = [(0, 1500), (0, 1000), (1, 3000)];
            packets.into_iter().for_each(|(queue, size)| buffer.add(queue, size));
            buffer.subtract_packet(0);
            if !holds {
                buffer.subtract_bytes(0, 1500);
            }
            let departure = leaving(Time::ZERO, Time::from_us(5));
            let left = |scope| LeftBehind::new(scope, &environment).by(&departure, &buffer);
            assert_eq!(left(Scope::Queue), Length { bytes: 1000, packets: 1 }, "{holds}");
            assert_eq!(left(Scope::Port), Length { bytes: 4000, packets: 2 }, "{holds}");
        }
    }

    #[test]
    fn another_moment_is_refused() {
        let mut section = Section::new("aqm", "marks_at = \"dequeue\"".parse().unwrap());
        let error = Moment::read(&mut section).unwrap_err().to_string();
        let expected =
            "aqm.marks_at: \"dequeue\" is not valid; expected \"arrival\" or \"departure\"";
        assert!(error.starts_with(expected), "{error}");
    }
}
