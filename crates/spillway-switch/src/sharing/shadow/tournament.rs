//! Finds the least of many keys, most of which are out of date.
//!
//! A key that has risen need not be reported. A key that was correct once is a lower bound; when it
//! seems to be the least, it is read again, raised, and another one may win. Only keys that may
//! have fallen must be reported, which costs little until the least key is asked for. So the least
//! key is found exactly, in a few steps, without a search through all keys.

/// A key, with the number of its player in the lowest 32 bits: of equal keys, the first player's is
/// the least.
type Entry = u128;

fn entry(key: u64, player: u32) -> Entry {
    Entry::from(key) << 32 | Entry::from(player)
}

/// A tree of winners over keys that are stored elsewhere. Of equal keys, the first wins.
#[derive(Clone, Debug)]
pub(super) struct Tournament {
    /// The least entry below each node; the root has index 1, and the leaves come last.
    nodes: Vec<Entry>,
    /// The players whose keys may have fallen, each once.
    fallen: Vec<u32>,
    has_fallen: Vec<bool>,
}

impl Tournament {
    /// The key of a player that does not take part.
    pub const NONE: u64 = u64::MAX;

    /// A tournament in which no player takes part yet.
    pub fn new(players: usize) -> Tournament {
        let leaves = players.next_power_of_two();
        let mut nodes = vec![entry(Tournament::NONE, 0); leaves];
        nodes.extend((0..leaves as u32).map(|player| entry(Tournament::NONE, player)));
        Tournament { nodes, fallen: Vec::new(), has_fallen: vec![false; players] }
    }

    /// Reports that this player's key may have fallen.
    #[inline]
    pub fn fell(&mut self, player: u32) {
        if !self.has_fallen[player as usize] {
            self.has_fallen[player as usize] = true;
            self.fallen.push(player);
        }
    }

    /// The least key and its player, if the key is at most `most`; `key` gives the present keys.
    #[inline]
    pub fn least(&mut self, most: u64, key: impl Fn(usize) -> u64) -> Option<(u64, u32)> {
        while let Some(player) = self.fallen.pop() {
            self.has_fallen[player as usize] = false;
            self.set(player, key(player as usize));
        }
        loop {
            let (least, player) = ((self.nodes[1] >> 32) as u64, self.nodes[1] as u32);
            if least > most {
                return None;
            }
            let now = key(player as usize);
            debug_assert!(now >= least, "who falls says so");
            if now == least {
                return Some((least, player));
            }
            self.set(player, now);
        }
    }

    fn set(&mut self, player: u32, key: u64) {
        let nodes = &mut self.nodes[..];
        let mut node = nodes.len() / 2 + player as usize;
        let mut winner = entry(key, player);
        nodes[node] = winner;
        while node > 1 {
            winner = winner.min(nodes[node ^ 1]);
            node /= 2;
            if nodes[node] == winner {
                return;
            }
            nodes[node] = winner;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use spillway_engine::Stream;

    #[test]
    fn the_first_of_equals_wins_and_nobody_may() {
        let mut tournament = Tournament::new(3);
        let most = Tournament::NONE - 1;
        assert_eq!(tournament.least(most, |_| Tournament::NONE), None);
        (0..3).for_each(|player| tournament.fell(player));
        assert_eq!(tournament.least(most, |player| [7, 5, 5][player]), Some((5, 1)));
        // Two keys rise without a report: 7 is the least now.
        assert_eq!(tournament.least(most, |player| [7, 9, 8][player]), Some((7, 0)));
        tournament.fell(2);
        assert_eq!(tournament.least(most, |player| [7, 9, 7][player]), Some((7, 0)));
        assert_eq!(tournament.least(6, |player| [7, 9, 7][player]), None);
    }

    /// Compares with a search through all keys, with random rises and falls.
    #[test]
    fn the_least_is_that_of_a_search() {
        for players in [1, 2, 5, 16, 37] {
            let mut random = Stream::new(1, "tournament", players as u64);
            let mut keys = vec![Tournament::NONE; players];
            let mut tournament = Tournament::new(players);
            for _ in 0..20_000 {
                let player = random.below(players as u64) as usize;
                let before = keys[player];
                keys[player] = match random.below(20) {
                    0 => Tournament::NONE,
                    key => key,
                };
                if keys[player] < before {
                    tournament.fell(player as u32);
                }
                if random.below(3) == 0 {
                    let least = *keys.iter().min().unwrap();
                    let first = keys.iter().position(|&key| key == least).unwrap();
                    let most = 1 + random.below(20);
                    let expected = (least <= most).then_some((least, first as u32));
                    assert_eq!(tournament.least(most, |player| keys[player]), expected);
                }
            }
        }
    }
}
