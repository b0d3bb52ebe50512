"""Lower bounds of flows' sizes, learned from jobs."""
