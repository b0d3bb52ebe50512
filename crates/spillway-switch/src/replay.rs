//! Packets that went through a queue elsewhere, in another simulator or a switch, replayed to an
//! AQM: which of them does it mark?

use crate::discipline::Discipline;
use crate::packet::{Arena, Contents, Packet, PacketId, flags};
use crate::policy::DropReason;
use spillway_engine::Time;
use std::fmt;

/// A packet's way through a queue. The numbers of packets that it found and left order the events
/// of the same moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Passage {
    /// When it joined the queue.
    pub joined: Time,
    /// When it left the queue.
    pub left: Time,
    /// How many packets it found in the queue.
    pub found: usize,
    /// How many packets it left in the queue.
    pub remaining: usize,
    /// Its bytes, as the AQM counts them.
    pub size: u32,
}

/// Why passages cannot be replayed, with the number of the first packet that shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Misfit {
    /// Its times or the lengths that it found and left contradict those of other packets.
    Contradiction(usize),
    /// The AQM drops it.
    Loss(usize),
}

impl fmt::Display for Misfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Misfit::Contradiction(packet) => {
                let what = "its times, or the lengths that it found and left, cannot be";
                write!(f, "packet {packet} (from 0): {what}")
            }
            Misfit::Loss(packet) => write!(f, "packet {packet} (from 0): the AQM drops it"),
        }
    }
}

/// Whether the AQM of a discipline with a single queue marks each packet of that queue, in order.
/// All packets are ECN-capable. The last packets may leave others in the queue of which nothing
/// more is known. These are taken to be as large as the last known packet. An AQM with a period is
/// woken at multiples of that period, before other events of the same moment.
///
/// # Errors
/// If times or lengths contradict each other, or if the AQM drops a packet.
pub fn replay(discipline: &mut Discipline, passages: &[Passage]) -> Result<Vec<bool>, Misfit> {
    let period = discipline.period();
    let mut replay = Replay {
        timer: period.map(|period| (period, period)),
        discipline,
        passages,
        packets: Arena::new(),
        joined: Vec::with_capacity(passages.len()),
        marks: Vec::with_capacity(passages.len()),
        now: Time::ZERO,
    };
    for (number, passage) in passages.iter().enumerate() {
        let before = number.checked_sub(passage.found).ok_or(Misfit::Contradiction(number))?;
        while replay.marks.len() < before {
            replay.leave()?;
        }
        if replay.marks.len() != before || passage.joined < replay.now {
            return Err(Misfit::Contradiction(number));
        }
        replay.advance(passage.joined);
        replay.join(passage.size).map_err(|_| Misfit::Loss(number))?;
    }
    while replay.marks.len() < passages.len() {
        replay.leave()?;
    }
    Ok(replay.marks)
}

/// The state of a replay.
struct Replay<'a> {
    discipline: &'a mut Discipline,
    passages: &'a [Passage],
    packets: Arena,
    /// Every packet that has joined.
    joined: Vec<PacketId>,
    /// For every packet that has left, whether it is marked.
    marks: Vec<bool>,
    now: Time,
    /// The AQM's period and the end of the present period, if the AQM has one.
    timer: Option<(Time, Time)>,
}

impl Replay<'_> {
    /// Time goes on to this moment.
    fn advance(&mut self, now: Time) {
        self.now = now;
        if let Some((period, due)) = &mut self.timer {
            while *due <= now {
                self.discipline.on_timer(*due);
                *due = due.saturating_add(*period);
            }
        }
    }

    fn join(&mut self, size: u32) -> Result<(), DropReason> {
        let packet = Packet { size, flags: flags::ECT, ..Packet::default() };
        let id = self.packets.insert(packet, Contents::default());
        self.joined.push(id);
        self.discipline.on_arrival(self.now, 0, id, &mut self.packets)
    }

    fn leave(&mut self) -> Result<(), Misfit> {
        let number = self.marks.len();
        let Passage { joined, left, remaining, size, .. } = self.passages[number];
        if number >= self.joined.len() || left < self.now.max(joined) {
            return Err(Misfit::Contradiction(number));
        }
        self.advance(left);
        let waiting = |replay: &Replay| replay.joined.len() - number - 1;
        while self.joined.len() >= self.passages.len() && waiting(self) < remaining {
            self.join(size).map_err(|_| Misfit::Loss(number))?;
        }
        if waiting(self) != remaining {
            return Err(Misfit::Contradiction(number));
        }
        let id = self.joined[number];
        let left = self.discipline.on_departure(left, id, &mut self.packets);
        left.map_err(|_| Misfit::Loss(number))?;
        self.marks.push(self.packets[id].flags & flags::CE != 0);
        self.packets.remove(id);
        Ok(())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::aqm::AqmPolicy;
    use crate::catalogue::Environment;
    use crate::discipline::DisciplineParts;
    use spillway_settings::Section;
    use spillway_settings::quantity::Amount;

    /// Joined, left, found, remaining.
    type Row = (u64, u64, usize, usize);

    fn replayed(id: &str, text: &str, rows: &[Row]) -> Result<Vec<bool>, Misfit> {
        let environment = Environment::example(1);
        let mut section = Section::new("aqm", text.parse().unwrap());
        let mut discipline = Discipline::new(DisciplineParts {
            rate: environment.port_rates[0],
            queues: 1,
            unmanaged: None,
            queue_limit: Amount::Unlimited,
            aqm: AqmPolicy::read(id, &mut section, &environment).unwrap(),
        });
        let us = Time::from_us;
        let passage = |&(joined, left, found, remaining): &Row| Passage {
            joined: us(joined),
            left: us(left),
            found,
            remaining,
            size: 1500,
        };
        replay(&mut discipline, &rows.iter().map(passage).collect::<Vec<_>>())
    }

    #[test]
    fn marks_at_arrival_and_at_departure() {
        // The third finds two; the fourth joins when the first has left, and finds two as well.
        let rows = [(0, 5, 0, 2), (1, 7, 1, 2), (2, 9, 2, 1), (5, 11, 2, 0), (20, 20, 0, 0)];
        let ecn = replayed("ecn", "threshold = \"1pkt\"", &rows);
        assert_eq!(ecn, Ok(vec![false, false, true, true, false]));
        // Waits of 5, 6, 7, 6 and 0 us.
        let tcn = replayed("tcn", "threshold = \"6us\"", &rows);
        assert_eq!(tcn, Ok(vec![false, false, true, false, false]));
    }

    #[test]
    fn packets_of_which_only_the_number_is_known_wait_behind_the_last() {
        // Above target from 10 us on, persistent after 20: only if something is left then.
        let text = "target = \"5us\"\ninterval = \"10us\"";
        let rows = |last| [(1, 10, 0, 2), (2, 21, 1, last)];
        assert_eq!(replayed("codel", text, &rows(2)), Ok(vec![false, true]));
        assert_eq!(replayed("codel", text, &rows(1)), Ok(vec![false, false]));
    }

    #[test]
    fn what_cannot_have_been_is_refused() {
        let wrong = |number| Err(Misfit::Contradiction(number));
        let none = |rows: &[Row]| replayed("none", "", rows);
        assert_eq!(none(&[(0, 5, 0, 1), (1, 4, 1, 0)]), wrong(1), "it overtakes");
        assert_eq!(none(&[(0, 5, 0, 1), (1, 7, 2, 0)]), wrong(1), "it finds more than there were");
        assert_eq!(none(&[(0, 5, 0, 1), (6, 7, 0, 0)]), wrong(0), "it leaves more than there were");
        assert_eq!(
            none(&[(0, 5, 0, 1), (1, 7, 0, 0)]),
            wrong(0),
            "it finds that the first has left"
        );
        assert_eq!(none(&[(3, 2, 0, 0)]), wrong(0), "it leaves before it joins");
    }

    #[test]
    fn what_the_aqm_drops_is_told_apart() {
        // The first leaves 4 us late, the probability is 1 after the update at 10 us, and the
        // fourth finds three.
        let text = "target = \"1us\"\nupdate_interval = \"10us\"\nalpha = 1e10\nbeta = 0\nmark_up_to = 0.5";
        let rows = [(0, 5, 0, 2), (1, 20, 1, 3), (2, 21, 2, 2), (12, 22, 2, 1), (13, 23, 3, 0)];
        assert_eq!(replayed("pie", text, &rows), Err(Misfit::Loss(4)));
        assert_eq!(Misfit::Loss(4).to_string(), "packet 4 (from 0): the AQM drops it");
        let told = "packet 4 (from 0): its times, or the lengths that it found and left, cannot be";
        assert_eq!(Misfit::Contradiction(4).to_string(), told);
    }

    #[test]
    fn an_aqm_with_a_period_is_woken() {
        // The first has waited 5 us, 4 above target. At 10 us 1e10 * 4 us / 2048 = 19.5 makes the
        // probability 1. Earlier packets pass. From then on, packets that find three are marked.
        let text = "target = \"1us\"\nupdate_interval = \"10us\"\nalpha = 1e10\nbeta = 0";
        let rows = |fifth| {
            let last = (fifth, 25, 3, 0);
            [(0, 5, 0, 3), (1, 20, 1, 3), (2, 21, 2, 2), (3, 22, 3, 1), last]
        };
        let marks = |fifth| replayed("pie", text, &rows(fifth)).unwrap();
        assert_eq!(marks(9), [false; 5]);
        assert_eq!(marks(10), [false, false, false, false, true]);
    }
}
