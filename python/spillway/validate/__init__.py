"""Beside other simulators: the same flows, their published times, ours."""
