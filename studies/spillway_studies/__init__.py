"""Studies made with Spillway: figures of papers, and runs of other simulators."""
