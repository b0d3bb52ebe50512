"""Models beside the packets: time slots, fluids, thresholds."""
