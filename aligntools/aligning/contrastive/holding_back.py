"""How far the network that judges links holds back: in large text the base model's own log-odds count beside its.

The network was taught by base models of little text and of much, but it does not see how much the one at hand has read.
The more that is, the less it has to add (`bench/SETTINGS.md`).
"""

import math

import numpy as np

from aligntools.aligning.contrastive import kernels_features as kf

#: Pairs of a text up to which the network decides alone, and from which on the base model counts for MOST of the
#: decision; in between for a share that rises with the logarithm.
FEW, MANY = 1_000, 100_000
MOST = 0.3


def share_of_base(pairs: int) -> float:
    """Return what the base model's log-odds count for, beside the network's, in a text of so many pairs: 0 to MOST."""
    return MOST * min(1.0, max(0.0, math.log(max(pairs, 1) / FEW) / math.log(MANY / FEW)))


def held_back(start: np.ndarray, active: np.ndarray, pairs: int) -> np.ndarray:
    """Return start weights of both log-odds, for text of so many pairs.

    Those that do not rest on the network stay as they are.

    start (float64 [FEATURES]), active (bool [FEATURES]).
    """
    share = share_of_base(pairs)
    if not share or not active[[kf.TREES, kf.POSTERIOR]].all() or start[kf.TREES] <= 0:
        return start
    found, whole = start.copy(), start[kf.TREES]
    found[kf.TREES] = (1.0 - share) * whole
    found[kf.POSTERIOR] += share * whole
    return found
