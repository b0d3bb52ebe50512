"""Scenarios: read, changed, varied; the files that they name."""
