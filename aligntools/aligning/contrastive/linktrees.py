"""Boosted decision trees that judge single links: one feature of the contrastive model.

They see what the features say of a link by itself, the posteriors of the eight cells around it and the size of the
sentence pair, nothing of what words or languages these are: so what they learned on some languages holds on others.
`starts` says which ones come with the program, and what taught them.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from aligntools.aligning.contrastive import kernels_linktrees as kl
from aligntools.aligning.contrastive.features import NAMES
from aligntools.aligning.contrastive.judge import Judge, over_blocks
from aligntools.formats.json_text import NUMBER
from aligntools.formats.modelfile import hold, hold_number

_ARRAYS = {
    "roots": np.int32, "columns": np.int32, "thresholds": np.float32, "lefts": np.int32, "rights": np.int32,
    "leaves": np.float32,
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class LinkTrees(Judge):
    """Trees, their nodes in one list, children after their parents.

    Attributes
    ----------
    roots : int32 [trees]
    columns, thresholds, lefts, rights, leaves : int32 or float32 [nodes]
        See `kernels_linktrees.tree_odds`.
    bias : float
        Log-odds before any tree.
    """

    KIND: ClassVar[str] = "link-trees"

    roots: np.ndarray
    columns: np.ndarray
    thresholds: np.ndarray
    lefts: np.ndarray
    rights: np.ndarray
    leaves: np.ndarray
    bias: float

    def odds(self, candidates, pool=None):
        """Return the natural log-odds that candidates are links, float32 [candidates]."""
        e, out = candidates, np.empty(len(candidates.rows), np.float32)
        around = inputs(e, pool)

        def judge(block):
            c0, c1 = e.starts[block[0]], e.starts[block[1]]
            nodes = (self.columns, self.thresholds, self.lefts, self.rights, self.leaves)
            kl.tree_odds(c0, c1, e.local, around, self.roots, *nodes, self.bias, out)

        over_blocks(judge, e, pool)
        return out

    def parts(self):
        """Return the header and the arrays of a file, with the names of the features that the trees ask about."""
        arrays = {name: getattr(self, name) for name in _ARRAYS}
        asked = sorted({c for c in self.columns.tolist() if 0 <= c < len(NAMES)})
        places = {c: n for n, c in enumerate([*asked, *range(len(NAMES), len(NAMES) + kl.SURROUNDINGS)])}
        arrays["columns"] = np.array([places.get(c, c) for c in self.columns.tolist()], np.int32)
        header = {"bias": float(self.bias), "features": [NAMES[c] for c in asked], "surroundings": kl.SURROUNDINGS}
        return header, arrays

    @classmethod
    def from_parts(cls, header, arrays):
        """Return the trees of a file's parts.

        Raises
        ------
        ValueError, KeyError, TypeError
            When they do not fit together, or the trees ask about features that there are not.

        Notes
        -----
        Nodes ask about features by their places among the names in the file, so trees go on asking about the same
        features when others are added or removed.
        """
        n = arrays["columns"].shape
        shapes = {name: n for name in _ARRAYS} | {"roots": arrays["roots"].shape}
        found = {name: hold(arrays, name, shapes[name], kind) for name, kind in _ARRAYS.items()}
        inner = np.flatnonzero(found["columns"] >= 0)
        children, parents = np.concatenate([found["lefts"][inner], found["rights"][inner]]), np.tile(inner, 2)
        names = header["features"]
        asked = {names[c] for c in found["columns"][inner].tolist() if c < len(names)}
        if not asked <= set(NAMES) or header["surroundings"] != kl.SURROUNDINGS:
            raise ValueError("they ask about other features")
        if (found["columns"] >= len(names) + kl.SURROUNDINGS).any() or len(n) != 1:
            raise ValueError("columns")
        places = [NAMES.index(name) if name in asked else -1 for name in names]
        places += range(len(NAMES), len(NAMES) + kl.SURROUNDINGS)
        found["columns"] = found["columns"].copy()
        found["columns"][inner] = np.array(places, np.int32)[found["columns"][inner]]
        if (children <= parents).any() or (children >= n[0]).any() or not _within(found["roots"], n[0]):
            raise ValueError("nodes")
        return cls(**found, bias=float(hold_number(header, "bias", NUMBER)))


def _within(places, n):
    return places.ndim == 1 and bool(((places >= 0) & (places < n)).all())


def inputs(candidates, pool=None):
    """Return what the trees see beside the features, float32 [candidates, SURROUNDINGS]."""
    e, out = candidates, np.empty((len(candidates.rows), kl.SURROUNDINGS), np.float32)

    def fill(block):
        kl.surroundings(*block, e.arrays(), out)

    over_blocks(fill, e, pool)
    return out
