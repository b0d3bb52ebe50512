"""Figures of papers, reproduced: data, plots, and a verdict on every claim.

`spillway.reproduce.figure` defines what a figure consists of, `spillway.reproduce.credence` and its
siblings the figures of each paper, a file for each.
"""
