"""Every AQM under every transport that reacts to marks, in three networks."""

from spillway_studies.aqms.figures import networks, queues

FIGURES = (*networks.FIGURES, queues.FIGURE)
"""In the networks of Credence and PRED, in one without oversubscription, and with three queues."""
