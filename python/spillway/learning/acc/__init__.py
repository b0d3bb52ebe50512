"""ACC: an agent that sets a port's RED, trained by Double DQN.

`train` needs the extra `train`, environments and evaluation `rl`; models in files need neither.
"""

from spillway.learning.acc.model import Model
from spillway.learning.acc.variant import ACC, PRED, VARIANTS, Variant

__all__ = ["ACC", "PRED", "VARIANTS", "Model", "Variant"]
