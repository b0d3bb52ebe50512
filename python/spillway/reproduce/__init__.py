"""Figures of papers, run again: data, plots, and a verdict on every claim.

`spillway.reproduce.figure` has what a figure is made of, `spillway.reproduce.credence` those of a
paper, a file for each.
"""
