"""PRED (NSDI 2025)."""
