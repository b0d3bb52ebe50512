"""Credence (NSDI 2024)."""
