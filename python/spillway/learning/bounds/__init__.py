"""Lower bounds of flows' sizes, learned from jobs: what QCLIMB's hosts know before they send.

`load` reads jobs with the columns of the Flux traces, `synthetic.make_all` makes some up. `train`
grows a random forest on them, and makes bounds of it in several ways. `Model.save` writes one to a
file, which a traffic section uses with `bound = { kind = "model", model = FILE }`. `evaluate` tests
it on other jobs.
"""

from spillway.learning.bounds.files import FlowList, load
from spillway.learning.bounds.job import Job
from spillway.learning.bounds.model import METHODS, Model
from spillway.learning.bounds.training import Errors, Scores, Training, evaluate, train

__all__ = [
    "METHODS",
    "Errors",
    "FlowList",
    "Job",
    "Model",
    "Scores",
    "Training",
    "evaluate",
    "load",
    "train",
]
