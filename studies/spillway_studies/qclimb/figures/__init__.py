"""QCLIMB (Li et al., NSDI 2024): what its slides show, and how good a bound must be."""

from spillway_studies.qclimb.figures import (
    bounds,
    choices,
    climbing,
    comparison,
    fan_in,
    job_choices,
    jobs,
    levels_and_windows,
    pfabric_choices,
    simulation_choices,
    small_buffers,
    too_high,
)

FIGURES = (
    *comparison.FIGURES,
    *comparison.LONG,
    climbing.FIGURE,
    *bounds.FIGURES,
    too_high.FIGURE,
    *fan_in.FIGURES,
    *small_buffers.FIGURES,
    choices.FIGURE,
    choices.SPRAYING,
    pfabric_choices.FIGURE,
    simulation_choices.FIGURE,
    levels_and_windows.FIGURE,
    *jobs.FIGURES,
    job_choices.FIGURE,
)
