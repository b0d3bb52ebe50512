"""Comparisons with other simulators: the same flows, the published times and ours."""
