"""A small convolutional network over the link matrix that judges links: one feature of the contrastive model.

Its inputs are the features that a link has by itself; through its layers it sees those of the cells around, and of the
row and the column. It does not see which words or languages these are, so what it learned on some languages holds for
others. `weights` says which network comes with the program, and what taught it.
"""

import hashlib
import json
import os
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from aligntools.aligning.contrastive import kernels_linknetwork as kn
from aligntools.aligning.contrastive.candidate_links import CandidateLinks
from aligntools.aligning.contrastive.features import NAMES
from aligntools.aligning.contrastive.kernels_features import largest_pair
from aligntools.formats.models.modelfile import hold, write_model
from aligntools.ground.parallel import Pool, over


@dataclass(frozen=True, eq=False)
class LinkNetwork:
    """Networks of the same shape, whose log-odds are averaged; for arrays see `kernels_linknetwork.Network`.

    The first layer takes the features ``names`` and those of the words. Each later layer is residual (He et al.
    2016): from a candidate's channels, its neighbours' and the highest of its row and column comes what is added to
    its channels, cut below 0. The output of the last layer is added to the base model's log-odds.
    """

    #: Kind of a file that holds only the network.
    KIND: ClassVar[str] = "link-network"

    names: tuple[str, ...]
    first: np.ndarray
    first_bias: np.ndarray
    layers: np.ndarray
    biases: np.ndarray
    last: np.ndarray
    last_bias: np.ndarray
    trust: np.ndarray

    @cached_property
    def _network(self) -> kn.Network:
        columns = [[NAMES.index(name) for name in names] for names in (self.names, map(turned, self.names))]
        return kn.Network(np.array(columns, np.int32), *(getattr(self, name) for name in _ARRAYS))

    def odds(self, candidates: CandidateLinks, pool: Pool | None = None, turned: bool = True) -> np.ndarray:
        """Return the natural log-odds that candidates are links, float32 [candidates].

        ``turned``: Each network judges both the pair and the pair with its sides exchanged, otherwise one of these.
        """
        arrays, out = candidates.arrays(), np.empty(len(candidates.rows), np.float32)

        def judge(block: tuple[int, int]) -> None:
            most, *longest = largest_pair(*block, arrays)
            inputs = max(self.first.shape[1], kn.TOGETHER * kn.CHANNELS)
            shapes = (2, inputs), (3, max(longest), kn.CHANNELS), (2, most, kn.CHANNELS)
            scratch = [np.empty(shape, np.float32) for shape in shapes]
            places = np.empty((2, max(most, *longest)), np.int64)
            kn.network_odds(*block, arrays, self._network, turned, *scratch, places, out)

        over(pool, judge, candidates.blocks())
        return out

    def parts(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Return the header and the arrays of a file."""
        return {"network": list(self.names)}, {name: getattr(self, name) for name in _ARRAYS}

    @classmethod
    def from_parts(cls, header: dict[str, Any], arrays: dict[str, np.ndarray]) -> "LinkNetwork":
        """Return the network of a file's parts; ValueError, KeyError or TypeError where they do not fit."""
        names = tuple(header["network"])
        if not {turned(n) for n in names} | set(names) <= set(NAMES):
            raise ValueError("it asks about other features")
        count, layers = arrays["layers"].shape[:2]
        if not count:
            raise ValueError("layers")
        own = shapes(len(names) + kn.WORD_INPUTS, layers)
        return cls(names, **{name: hold(arrays, name, (count, *shape), np.float32) for name, shape in own.items()})

    @cached_property
    def fingerprint(self) -> str:
        """A hash of names and numbers, by which weight files name the network: 16 hexadecimal digits."""
        header, arrays = self.parts()
        whole = hashlib.sha256(json.dumps(header, sort_keys=True).encode())
        for array in arrays.values():
            whole.update(np.ascontiguousarray(array).tobytes())
        return whole.hexdigest()[:16]

    def save(self, path: str | os.PathLike[str], taught: dict[str, Any] | None = None) -> None:
        """Write a file of the network, which appears whole or not at all; ``taught`` says by what, for readers."""
        header, arrays = self.parts()
        write_model(str(path), self.KIND, header | {"taught": taught or {}}, arrays, self.from_parts)


_ARRAYS = tuple(f.name for f in fields(LinkNetwork) if f.name != "names")


def shapes(inputs: int, layers: int) -> dict[str, tuple[int, ...]]:
    """Return the shapes of a network's arrays; inputs are the features of a candidate link and those of its words."""
    channels = kn.CHANNELS
    return {
        "first": (inputs, channels),
        "first_bias": (channels,),
        "layers": (layers, kn.PLACES, channels, channels),
        "biases": (layers, channels),
        "last": (channels,),
        "last_bias": (),
        "trust": (),
    }


def turned(name: str) -> str:
    """Return the name of a feature after source and target are exchanged."""
    for pair in (("forward-", "reverse-"), ("source-", "target-"), ("one-to-many", "many-to-one")):
        for one, other in (pair, pair[::-1]):
            if name.startswith(one):
                return other + name[len(one) :]
    return name
