//! Arrivals: for every slot, the ports of its packets, in order.

/// A sequence of arrivals.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Arrivals {
    ports: u32,
    /// The packets' ports, slot after slot.
    packets: Vec<u32>,
    /// For every slot, where its packets end.
    ends: Vec<usize>,
}

impl Arrivals {
    /// No arrivals yet, for this number of ports.
    pub fn new(ports: u32) -> Arrivals {
        Arrivals { ports, packets: Vec::new(), ends: Vec::new() }
    }

    /// Arrivals with these packets in every slot, given by their ports.
    ///
    /// # Panics
    /// If a packet is for a port that does not exist.
    pub fn of_slots<S: AsRef<[u32]>>(ports: u32, slots: &[S]) -> Arrivals {
        let mut arrivals = Arrivals::new(ports);
        slots.iter().for_each(|slot| arrivals.push(slot.as_ref().iter().copied()));
        arrivals
    }

    /// Adds a slot.
    ///
    /// # Panics
    /// If a packet is for a port that does not exist.
    pub fn push(&mut self, slot: impl IntoIterator<Item = u32>) {
        self.packets.extend(slot);
        let from = self.ends.last().copied().unwrap_or(0);
        assert!(self.packets[from..].iter().all(|&port| port < self.ports), "a port that there is");
        self.ends.push(self.packets.len());
    }

    /// Reads the slot and the port of every packet, in order, with `slots` slots in all.
    pub fn of_columns(
        ports: u32,
        slot: &[u64],
        port: &[u32],
        slots: u64,
    ) -> Result<Arrivals, ArrivalsError> {
        if slots > MOST_SLOTS {
            return Err(ArrivalsError::TooManySlots(slots));
        }
        if let Some(packet) = slot.windows(2).position(|pair| pair[1] < pair[0]) {
            let [before, slot] = [slot[packet], slot[packet + 1]];
            return Err(ArrivalsError::OutOfOrder { packet: packet + 1, slot, before });
        }
        if let Some(&slot) = slot.last().filter(|&&last| last >= slots) {
            return Err(ArrivalsError::NoSuchSlot { slot, slots });
        }
        if let Some(packet) = port.iter().position(|&port| port >= ports) {
            return Err(ArrivalsError::NoSuchPort { packet, port: port[packet], ports });
        }
        let mut ends = Vec::with_capacity(slots as usize);
        let mut end = 0;
        for number in 0..slots {
            end += slot[end..].iter().take_while(|&&slot| slot == number).count();
            ends.push(end);
        }
        Ok(Arrivals { ports, packets: port.to_vec(), ends })
    }

    /// The number of slots.
    pub fn slot_count(&self) -> usize {
        self.ends.len()
    }

    /// The number of ports (N).
    pub fn ports(&self) -> u32 {
        self.ports
    }

    /// The ports of all packets.
    pub fn packets(&self) -> &[u32] {
        &self.packets
    }

    /// For every slot, the range of its packets' numbers.
    pub fn slots(&self) -> impl Iterator<Item = std::ops::Range<usize>> {
        let begins = std::iter::once(0).chain(self.ends.iter().copied());
        begins.zip(&self.ends).map(|(begin, &end)| begin..end)
    }

    /// The same slots without those packets whose numbers `leaves_out` selects.
    pub fn without(&self, leaves_out: impl Fn(usize) -> bool) -> Arrivals {
        let mut rest = Arrivals::new(self.ports);
        for slot in self.slots() {
            rest.push(
                slot.filter(|&number| !leaves_out(number)).map(|number| self.packets[number]),
            );
        }
        rest
    }
}

/// The most slots that a sequence may have.
const MOST_SLOTS: u64 = 1 << 30;

/// What is wrong with arrivals given as columns.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ArrivalsError {
    /// The slots are not in order.
    #[error("packet {packet} is in slot {slot}, after one in slot {before}")]
    OutOfOrder {
        /// The packet's number.
        packet: usize,
        /// Its slot.
        slot: u64,
        /// The slot of the packet before it.
        before: u64,
    },
    /// There is no such slot.
    #[error("a packet is in slot {slot}, and there are {slots}, from 0")]
    NoSuchSlot {
        /// The packet's slot.
        slot: u64,
        /// The number of slots.
        slots: u64,
    },
    /// There is no such port.
    #[error("packet {packet} is for port {port}, and there are {ports}, from 0")]
    NoSuchPort {
        /// The packet's number.
        packet: usize,
        /// Its port.
        port: u32,
        /// The number of ports.
        ports: u32,
    },
    /// There are more slots than can be stored.
    #[error("{0} slots are too many; at most {MOST_SLOTS} are possible")]
    TooManySlots(u64),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_checked() {
        let of = |slot: &[u64], port: &[u32], slots| Arrivals::of_columns(3, slot, port, slots);
        let expected = Arrivals::of_slots(3, &[vec![2, 0], vec![], vec![1], vec![]]);
        assert_eq!(of(&[0, 0, 2], &[2, 0, 1], 4), Ok(expected));
        let text = |made: Result<Arrivals, ArrivalsError>| made.unwrap_err().to_string();
        assert_eq!(text(of(&[1, 0], &[0, 0], 2)), "packet 1 is in slot 0, after one in slot 1");
        assert_eq!(text(of(&[0, 2], &[0, 0], 2)), "a packet is in slot 2, and there are 2, from 0");
        assert_eq!(text(of(&[0], &[3], 2)), "packet 0 is for port 3, and there are 3, from 0");
        assert!(text(of(&[], &[], 1 << 40)).ends_with("at most 1073741824 are possible"));
    }

    #[test]
    fn slots_keep_their_packets() {
        let arrivals = Arrivals::of_slots(3, &[vec![2, 0], vec![], vec![1]]);
        assert_eq!(arrivals.slots().collect::<Vec<_>>(), [0..2, 2..2, 2..3]);
        let rest = arrivals.without(|number| number == 0);
        assert_eq!(rest, Arrivals::of_slots(3, &[vec![0], vec![], vec![1]]));
    }
}
