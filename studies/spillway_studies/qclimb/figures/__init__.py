"""QCLIMB (Li et al., NSDI 2024): what its slides show, and how good a bound must be."""

from spillway_studies.qclimb.figures import (
    bounds,
    choices,
    comparison,
    job_choices,
    jobs,
    small_buffers,
)

FIGURES = (
    *comparison.FIGURES,
    *comparison.LONG,
    comparison.CLIMBING,
    *bounds.FIGURES,
    bounds.TOO_HIGH,
    *small_buffers.FAN_IN,
    small_buffers.SIZES,
    small_buffers.FINDING,
    choices.FIGURE,
    choices.SPRAYING,
    choices.OF_PFABRIC,
    choices.OF_SIMULATION,
    choices.LEVELS_AND_WINDOWS,
    *jobs.FIGURES,
    job_choices.FIGURE,
)
