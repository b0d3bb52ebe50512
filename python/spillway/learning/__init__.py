"""What learns: environments and agents, oracles for Credence, bounds of flow sizes."""
