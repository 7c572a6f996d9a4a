"""Learning link trees, from gold links or a better model's, by scikit-learn; using them does not need it."""

from typing import Any

import numpy as np

from aligntools.aligning.contrastive.features import NAMES
from aligntools.aligning.contrastive.linktrees import LinkTrees, inputs
from aligntools.ground.errors import UsageProblem

#: Features that link trees may ask about: those that a link has by itself.
INPUTS = (
    "translation", "relative-position", "posterior", "agreement", "rivals", "hardest-rival", "others", "best",
    "diagonal-support", "side-support", "wide-support", "forward-use", "reverse-use", "similarity", "same-word",
    "symbols", "mismatch", "frequency-gap", "rarity",
)  # fmt: skip
#: How many trees there are, and how they grow.
GROWTH = {
    "max_iter": 120, "learning_rate": 0.06, "max_leaf_nodes": 15, "min_samples_leaf": 120, "l2_regularization": 5,
}  # fmt: skip


def learner() -> tuple[Any, Any]:
    """Return what learns trees, and what bounds its threads.

    Raises
    ------
    UsageProblem
        When scikit-learn is not installed.
    """
    try:
        from sklearn.ensemble import HistGradientBoostingClassifier
        from threadpoolctl import threadpool_limits
    except ImportError:
        raise UsageProblem("teaching needs scikit-learn: python -m pip install 'aligntools[teach]'") from None
    return HistGradientBoostingClassifier, threadpool_limits


def table_of(candidates):
    """Return what trees may ask of candidates, float32 [candidates, FEATURES + SURROUNDINGS]; the rest is 0."""
    asked = np.where(np.isin(NAMES, INPUTS), candidates.local, np.float32(0))
    return np.concatenate([asked, inputs(candidates)], axis=1)


def fit_trees(table, links, shares, threads=1):
    """Learn link trees, each candidate seen from both sides.

    Parameters
    ----------
    table : float32 [candidates, FEATURES + SURROUNDINGS]
    links : bool [candidates]
    shares : float64 [candidates]
        What each counts for.
    threads : int
        Trees do not depend on it.

    Returns
    -------
    LinkTrees
    """
    classifier, limited = learner()
    turned = table.copy()
    a, b = NAMES.index("forward-use"), NAMES.index("reverse-use")
    turned[:, [a, b]] = turned[:, [b, a]]
    model = classifier(**GROWTH, early_stopping=False, random_state=1)
    with limited(limits=threads):  # OpenMP's idle threads spin
        model.fit(np.concatenate([table, turned]), np.tile(links, 2), sample_weight=np.tile(shares, 2))
    return _unpacked(model)


def _unpacked(model):
    """Return scikit-learn's trees as ours."""
    trees = [predictors[0].nodes for predictors in model._predictors]
    roots = np.concatenate([[0], np.cumsum([len(t) for t in trees])])[:-1].astype(np.int32)
    nodes = np.concatenate(trees)
    begin = np.repeat(roots, [len(t) for t in trees]).astype(np.int32)
    leaf = nodes["is_leaf"].astype(bool)
    return LinkTrees(
        roots, np.where(leaf, -1, nodes["feature_idx"]).astype(np.int32),
        np.where(leaf, 0, nodes["num_threshold"]).astype(np.float32),
        np.where(leaf, 0, nodes["left"].astype(np.int32) + begin).astype(np.int32),
        np.where(leaf, 0, nodes["right"].astype(np.int32) + begin).astype(np.int32),
        np.where(leaf, nodes["value"], 0).astype(np.float32), float(np.ravel(model._baseline_prediction)[0]),
    )  # fmt: skip
