"""Ports and spines of Credence's program: its rules, followed by hand."""

from __future__ import annotations

import pytest

from spillway_studies.references.credence_paths import Connection, Flow, connections, murmur3


@pytest.mark.parametrize(
    ("text", "seed", "hash"),
    [
        ("", 0, 0),
        ("", 1, 0x514E28B7),
        ("", 0xFFFFFFFF, 0x81F16F39),
        ("test", 0, 0xBA6BD213),
        ("test", 0x9747B28C, 0x704B81DC),
        ("hello", 0, 0x248BFA47),
        ("Hello, world!", 0, 0xC0363E43),
        ("Hello, world!", 0x9747B28C, 0x24884CBA),
        ("The quick brown fox jumps over the lazy dog", 0, 0x2E4FF723),
        ("The quick brown fox jumps over the lazy dog", 0x9747B28C, 0x2FA826CD),
    ],
)
def test_murmur3_has_the_published_values(text, seed, hash):
    assert murmur3(text.encode(), seed) == hash


def background(source: int, destination: int, start: int) -> Flow:
    return Flow(source, destination, start, start, is_incast=False)


def incast(source: int, destination: int, start: int, opened: int) -> Flow:
    return Flow(source, destination, start, opened, is_incast=True)


def test_listening_ports_count_up_in_the_order_of_installation():
    flows = [
        # Leaf 2, whose servers receive incast last of all.
        incast(48, 32, start=900, opened=1),
        # A query of leaf 1, and the query before it: sender by sender.
        incast(33, 16, start=800, opened=2),
        incast(32, 16, start=800, opened=3),
        incast(34, 16, start=700, opened=4),
        # Server 1 of leaf 0, whatever its times, after server 0; both before leaf 1's queries.
        background(1, 16, start=10),
        background(0, 16, start=30),
        background(0, 16, start=20),
        # Leaf 1 sends to leaf 2 before leaf 2 receives incast.
        background(31, 32, start=999),
    ]
    ports = [connection.destination_port for connection in connections(flows)]
    assert ports == [4445, 4449, 4448, 4447, 4446, 4445, 4444, 4444]


def test_ephemeral_ports_count_up_as_connections_are_opened():
    flows = [
        background(16, 32, start=500),
        # Its connection has been open for long when it starts.
        incast(16, 3, start=900, opened=100),
        # Opened at the same time: host 1 is installed before host 2.
        incast(16, 2, start=600, opened=200),
        incast(16, 1, start=700, opened=200),
        background(17, 32, start=50),
    ]
    ports = [connection.source_port for connection in connections(flows)]
    assert ports == [49156, 49153, 49155, 49154, 49153]


def test_the_hash_covers_addresses_protocol_and_ports_in_network_order():
    # 10.1.4.1 to 10.1.8.1; TCP; ports 49153 and 4444; 12345678.
    there = "0a010401 0a010801 06 c001 115c 00bc614e"
    back = "0a010801 0a010401 06 115c c001 00bc614e"
    data = Connection(0, 16, 49153, 4444)
    assert data.hash == murmur3(bytes.fromhex(there), 0x8BADF00D)
    assert data.reverse.hash == murmur3(bytes.fromhex(back), 0x8BADF00D)
    assert data.spine == data.hash % 4
    # 10.1.64.31, the last server of the last leaf, to 10.1.4.3, the second one of the first.
    last = "0a01401f 0a010403 06 c001 115c 00bc614e"
    assert Connection(255, 1, 49153, 4444).hash == murmur3(bytes.fromhex(last), 0x8BADF00D)
