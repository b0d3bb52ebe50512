"""What ABM's authors' program (inet-tub/ns3-datacenter) does otherwise than their paper on it."""

FRACTIONS = ("switch.sharing.congestion=fractional",)
"""Congestion is added up by how full queues are."""
INTERVALS = ("switch.sharing.drain=interval",)
"""Drain rates are measured over whole intervals."""
FIRST_PACKETS = ("switch.sharing.first_rtt=scaled", "switch.sharing.alpha_first_rtt=1024")
"""First packets are held to the whole formula, with an alpha of their own."""
ALL = (*FRACTIONS, *INTERVALS, *FIRST_PACKETS)
