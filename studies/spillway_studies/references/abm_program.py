"""How the program of ABM's authors (inet-tub/ns3-datacenter) differs from their paper."""

FRACTIONS = ("switch.sharing.congestion=fractional",)
"""Congestion is summed up in fractions, by how full queues are."""
INTERVALS = ("switch.sharing.drain=interval",)
"""Drain rates are measured over whole intervals."""
FIRST_PACKETS = ("switch.sharing.first_rtt=scaled", "switch.sharing.alpha_first_rtt=1024")
"""First packets are subject to the whole formula, with an alpha of their own."""
ALL = (*FRACTIONS, *INTERVALS, *FIRST_PACKETS)
