//! What arrives: for every slot the ports of its packets, in their order.

/// A sequence of arrivals.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Arrivals {
    ports: u32,
    /// The packets' ports, slot after slot.
    packets: Vec<u32>,
    /// Where every slot's packets end.
    ends: Vec<usize>,
}

impl Arrivals {
    /// Nothing yet, for so many ports.
    pub fn new(ports: u32) -> Arrivals {
        Arrivals { ports, packets: Vec::new(), ends: Vec::new() }
    }

    /// From the ports of every slot's packets.
    ///
    /// # Panics
    /// If a port is not one of them.
    pub fn of_slots<S: AsRef<[u32]>>(ports: u32, slots: &[S]) -> Arrivals {
        let mut arrivals = Arrivals::new(ports);
        slots.iter().for_each(|slot| arrivals.push(slot.as_ref().iter().copied()));
        arrivals
    }

    /// Adds a slot.
    ///
    /// # Panics
    /// If a packet's port is not one of them.
    pub fn push(&mut self, slot: impl IntoIterator<Item = u32>) {
        self.packets.extend(slot);
        let from = self.ends.last().copied().unwrap_or(0);
        assert!(self.packets[from..].iter().all(|&port| port < self.ports), "a port that there is");
        self.ends.push(self.packets.len());
    }

    /// How many ports there are (N).
    pub fn ports(&self) -> u32 {
        self.ports
    }

    /// The ports of all packets.
    pub fn packets(&self) -> &[u32] {
        &self.packets
    }

    /// The slots: the numbers of their packets.
    pub fn slots(&self) -> impl Iterator<Item = std::ops::Range<usize>> {
        let begins = std::iter::once(0).chain(self.ends.iter().copied());
        begins.zip(&self.ends).map(|(begin, &end)| begin..end)
    }

    /// The same slots without some packets, given by their numbers.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_keep_their_packets() {
        let arrivals = Arrivals::of_slots(3, &[vec![2, 0], vec![], vec![1]]);
        assert_eq!(arrivals.slots().collect::<Vec<_>>(), [0..2, 2..2, 2..3]);
        let rest = arrivals.without(|number| number == 0);
        assert_eq!(rest, Arrivals::of_slots(3, &[vec![0], vec![], vec![1]]));
    }
}
