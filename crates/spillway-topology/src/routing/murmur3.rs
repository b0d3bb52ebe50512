//! The hash by which the switches of the public RDMA simulators choose next hops, for comparisons
//! with them.
//!
//! # Reference
//! A. Appleby, MurmurHash3, 2011, the variant of 32 bits. The key is that of the simulator of HPCC
//! (alibaba-edu/High-Precision-Congestion-Control, switch-node.cc), and of those built on it.
//!
//! # Rule
//! A packet's key is its addresses and ports: three words, that of the sender, that of the
//! receiver, and the source port with the destination port above it. The seed of a switch is its
//! number among all nodes, hosts first. Host h has the address 11.x.y.1, where x is h / 256 and y
//! is h mod 256. Flows come from ports 10000, 10001, ... for each pair of hosts, in the order of
//! their starts, and go to port 100. An ack's key is that of its own header: its sender is the
//! flow's receiver.

/// The port to which all flows go.
const FLOWS_GO_TO: u32 = 100;

/// The port from which the first flow between two hosts comes.
const FIRST_PORT: u16 = 10_000;

/// The most hosts of a network: a packet tells its sender in 15 bits.
pub const MOST_HOSTS: u32 = 1 << 15;

/// Set in a packet's `path` if the packet answers a flow's packets.
const IS_ANSWER: u32 = 1 << 31;

/// The port of a flow that starts after `flows` others between the same two hosts. Ports are
/// limited, so in the end they begin anew.
pub fn port_after(flows: u32) -> u16 {
    FIRST_PORT.wrapping_add(flows as u16)
}

/// The `path` of a packet: who sent it, its flow's port, and whether it is an answer.
pub fn path_of(sender: u32, port: u16, is_answer: bool) -> u32 {
    debug_assert!(sender < MOST_HOSTS, "larger networks are refused");
    let answer = if is_answer { IS_ANSWER } else { 0 };
    answer | sender << 16 | u32::from(port)
}

/// The choice of a packet to host `dst`, among `n` next hops, at a switch with this seed.
pub fn choose(path: u32, dst: u32, switch_seed: u32, n: usize) -> usize {
    let (sender, port) = (path >> 16 & (MOST_HOSTS - 1), path & 0xffff);
    let ports = match path & IS_ANSWER {
        0 => FLOWS_GO_TO << 16 | port,
        _ => port << 16 | FLOWS_GO_TO,
    };
    hash([address(sender), address(dst), ports], switch_seed) as usize % n
}

/// The address of a host.
fn address(host: u32) -> u32 {
    0x0b00_0001 + ((host / 256) << 16) + ((host % 256) << 8)
}

/// MurmurHash3 of three words.
fn hash(words: [u32; 3], seed: u32) -> u32 {
    let mut hash = seed;
    for word in words {
        let word = word.wrapping_mul(0xcc9e_2d51).rotate_left(15).wrapping_mul(0x1b87_3593);
        hash = (hash ^ word).rotate_left(13).wrapping_mul(5).wrapping_add(0xe654_6b64);
    }
    hash ^= size_of_val(&words) as u32;
    hash = (hash ^ hash >> 16).wrapping_mul(0x85eb_ca6b);
    hash = (hash ^ hash >> 13).wrapping_mul(0xc2b2_ae35);
    hash ^ hash >> 16
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compared with the values of another implementation, that of scikit-learn.
    #[test]
    fn it_is_murmur3_of_twelve_bytes() {
        let text = |text: &[u8; 12]| {
            [0, 4, 8].map(|at| u32::from_le_bytes(text[at..at + 4].try_into().unwrap()))
        };
        assert_eq!(hash(text(b"Hello, world"), 0), 0x6a72_8c54);
        assert_eq!(hash([0; 3], 0), 0xd941_144b);
        assert_eq!(hash([u32::MAX; 3], 7), 0xb543_47d5);
    }

    #[test]
    fn addresses_are_those_of_the_simulator() {
        let bytes = |host| address(host).to_be_bytes();
        assert_eq!([0, 31, 255].map(bytes), [[11, 0, 0, 1], [11, 0, 31, 1], [11, 0, 255, 1]]);
        assert_eq!([256, 1_000].map(bytes), [[11, 1, 0, 1], [11, 3, 232, 1]]);
    }

    #[test]
    fn ports_begin_anew_where_there_are_no_more() {
        assert_eq!([0, 1, 55_535, 55_536].map(port_after), [10_000, 10_001, 65_535, 0]);
    }

    /// The paths of flows, and of their acks, in a run of the simulator: sender, receiver, port,
    /// and the spines that data and acks took. There are 32 hosts, 8 on each leaf; the leaves are
    /// the nodes 32 to 35, and the spines 36 to 39 are their next hops in descending order.
    #[test]
    fn a_leaf_chooses_as_that_of_the_simulator() {
        let flows = [
            (13, 29, 10_000, 39, 38),
            (20, 26, 10_000, 37, 39),
            (9, 6, 10_000, 38, 36),
            (26, 18, 10_000, 39, 37),
            (19, 27, 10_000, 39, 37),
            (0, 31, 10_000, 36, 37),
            (24, 2, 10_000, 38, 37),
            (19, 25, 10_003, 39, 37),
            (25, 0, 10_005, 39, 36),
            (14, 19, 10_007, 39, 36),
        ];
        let spine = |sender: u32, dst: u32, port, is_answer| {
            let leaf = 32 + sender / 8;
            39 - choose(path_of(sender, port, is_answer), dst, leaf, 4)
        };
        for (src, dst, port, there, back) in flows {
            assert_eq!(spine(src, dst, port, false), there, "from {src} to {dst}");
            assert_eq!(spine(dst, src, port, true), back, "back from {dst} to {src}");
        }
    }
}
