"""Runs every kernel once on a few words."""

import numpy as np

from aligntools.clustering.exchange import cluster, count_text
from aligntools.clustering.settings import ClassSettings


def warm() -> None:
    """Compile what clustering words uses."""
    words, offsets = np.array([1, 2, 1, 3], np.int32), np.array([0, 2, 4], np.int64)
    cluster(count_text(words, offsets, 4), ClassSettings(number=2))
