"""What judges single links: learned beforehand, kept in files, told apart by fingerprints; trees and networks alike."""

import hashlib
import json
from abc import ABC, abstractmethod
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from aligntools.formats.modelfile import fitting, read_model, write_model


class Judge(ABC):
    """Gives each candidate the log-odds that it is a link: `linktrees.LinkTrees`, `linknetwork.LinkNetwork`."""

    #: What a file of it alone is called.
    KIND: ClassVar[str]

    @abstractmethod
    def odds(self, candidates: Any, pool: Any = None) -> np.ndarray:
        """Return the natural log-odds that candidates are links, float32 [candidates]."""

    @abstractmethod
    def parts(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Return the header and the arrays of a file."""

    @classmethod
    @abstractmethod
    def from_parts(cls, header: dict[str, Any], arrays: dict[str, np.ndarray]) -> Self:
        """Return what a file's parts hold.

        Raises
        ------
        ValueError, KeyError, TypeError
            When they do not fit together, or ask about features that there are not.
        """

    @cached_property
    def fingerprint(self) -> str:
        """What tells this from others, the same wherever it is kept: 16 hexadecimal digits."""
        header, arrays = self.parts()
        whole = hashlib.sha256(json.dumps(header, sort_keys=True).encode())
        for array in arrays.values():
            whole.update(np.ascontiguousarray(array).tobytes())
        return whole.hexdigest()[:16]

    def save(self, path: Any) -> None:
        """Write a file of it alone, which appears whole or not at all."""
        write_model(str(path), self.KIND, *self.parts())

    @classmethod
    def load(cls, path: Any) -> Self:
        """Read a file of it alone.

        Raises
        ------
        ModelError
            When it holds none, or one that asks about features that there are not.
        """
        header, arrays = read_model(str(path), cls.KIND)
        with fitting(path):
            return cls.from_parts(header, arrays)


def over_blocks(function, candidates, pool):
    """Call ``function`` with each block of sentence pairs ``(k0, k1)``, side by side where there is a pool."""
    blocks = candidates.blocks()
    if pool is None:
        for block in blocks:
            function(block)
    else:
        pool.map(function, blocks)
