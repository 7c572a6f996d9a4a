"""Derivations of references, which the likelihood of equation 5 sums over."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from aligntools.ground.parallel import Pool
from aligntools.translating.forest.candidates import CandidateLists, offsets_of
from aligntools.translating.forest.hypergraph import Hypergraph
from aligntools.translating.forest.intersection import intersection
from aligntools.translating.forest.union import united

Strings = tuple[np.ndarray, np.ndarray]


@dataclass(eq=False)
class Reachable:
    """What a text's sentences are to be translated to.

    force: Takes translations of all sentences, words and offsets, and returns their derivations as a Hypergraph.
    strings (list of (int32 [words], int64 [sentences + 1])): References of each sentence, sets one after another;
        without words where an earlier set has the same.
    """

    force: Callable[[np.ndarray, np.ndarray, Pool | None], Hypergraph]
    strings: list[Strings]
    _found: Hypergraph | None = None

    @classmethod
    def of(
        cls,
        force: Callable[[np.ndarray, np.ndarray, Pool | None], Hypergraph],
        sides: Iterable[Strings],
        groups: npt.ArrayLike,
    ) -> "Reachable":
        """Take sets of references (words, offsets), of which each sentence has those of its group."""
        groups, strings = np.asarray(groups, np.int64), []
        seen: list[set[bytes]] = [set() for _ in range(len(groups))]
        for words, offsets in sides:
            rows: list[np.ndarray] = []
            for k, group in enumerate(groups.tolist()):
                row = np.asarray(words[offsets[group] : offsets[group + 1]], np.int32)
                rows.append(row[:0] if row.tobytes() in seen[k] else row)
                seen[k].add(row.tobytes())
            strings.append((np.concatenate([np.zeros(0, np.int32), *rows]), offsets_of([len(row) for row in rows])))
        return cls(force, strings)

    def references(self, pool: Pool | None = None) -> Hypergraph:
        """Return all derivations of the references; they do not depend on the weights."""
        if self._found is None:
            made = [self.force(*strings, pool) for strings in self.strings]
            self._found = made[0]
            for more in made[1:]:
                self._found = united(self._found, more)
        return self._found

    def targets(self, nearest: CandidateLists | None, pool: Pool | None = None) -> tuple[Hypergraph, list[Strings]]:
        """Return the derivations of what each sentence is to become, and the words.

        nearest: A translation of each sentence, used where no reference can be derived.
        """
        found = self.references(pool)
        if nearest is None:
            return found, self.strings
        missed = (found.roots < 0) & (np.diff(nearest.offsets) > 0)
        sizes = np.zeros(len(found), np.int64)
        rows = nearest.sentences(np.flatnonzero(missed))
        sizes[missed] = np.diff(rows.word_offsets)
        strings = rows.words, offsets_of(sizes)
        return united(found, self.force(*strings, pool)), [*self.strings, strings]


def shared(forest: Hypergraph, strings: list[Strings], pool: Pool | None = None) -> Hypergraph:
    """Return the derivations of a forest that yield one of each sentence's strings."""
    made = [intersection(forest, *one, pool) for one in strings]
    found = made[0]
    for more in made[1:]:
        found = united(found, more)
    return found
