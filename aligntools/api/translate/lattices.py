"""Word lattices as what `Translator` takes: from files, as lines of PLF, or as objects."""

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any, TypeAlias

from aligntools.formats.inputs.sentences import Lines, Sentence, Text, stream_lines
from aligntools.formats.text.memory_text import IN_MEMORY
from aligntools.formats.translation.plf import Arc as Arc
from aligntools.formats.translation.plf import WordLattice as WordLattice
from aligntools.formats.translation.plf import parse_cn, parse_plf, stream_lattices
from aligntools.translating.lattices import PREFIX, LatticeLines, lattice_lines
from aligntools.translating.settings import LatticeSettings
from aligntools.words.white_space import is_blank

#: Text, or lattices.
Input: TypeAlias = Text | Iterable[Sentence | WordLattice]


@dataclass(frozen=True)
class LatticeInput:
    """How lattices are read.

    named: Named features of arcs that count.
    """

    settings: LatticeSettings
    named: tuple[str, ...] = ()

    def stream(self, text: Input, lattices: int) -> Iterator[Lines]:
        """Yield lattices in parts of this many."""
        if isinstance(text, LatticeLines):
            yield text
            return
        name, found = IN_MEMORY, _lattices(text, self.settings)
        if isinstance(text, str | os.PathLike):
            name = os.fspath(text)
            found = stream_lattices(name, self.settings.input, self.settings.arc_scores)
        first = 1
        while part := list(islice(found, lattices)):
            yield lattice_lines(part, self.settings.arc_scores, self.named, name, first)
            first += len(part)


def _lattices(items: Any, settings: LatticeSettings) -> Iterator[WordLattice]:
    scores = settings.arc_scores
    for number, item in enumerate(items, 1):
        if isinstance(item, WordLattice):
            yield parse_plf(str(item), scores, IN_MEMORY, number)  # which checks it
        elif settings.input == "plf":
            yield parse_plf(item, scores, IN_MEMORY, number)
        else:
            yield parse_cn((line for line in item.split("\n") if not is_blank(line)), scores)


def stream_input(text: Input, size: int, how: LatticeInput | None, split: str | None = None) -> Iterator[Lines]:
    """Yield text, or lattices if it is known how they are read, in parts of ``size`` lines."""
    return stream_lines(text, size, split) if how is None else how.stream(text, size)  # type: ignore[arg-type]


def lattice_input(settings: LatticeSettings, given: Mapping[str, float]) -> tuple[LatticeInput, dict[str, float]]:
    """Return how lattices are read, and the weight of each feature of their arcs.

    given: Weights of the features of arcs, as far as they are known.
    """
    dense = [f"{PREFIX}{k}" for k in range(1, settings.arc_scores + 1)]
    known = {name: given.get(name, 1.0) for name in dense}
    if settings.arc_weights is not None:
        known = dict(zip(dense, map(float, settings.arc_weights), strict=True))
    named = [name for name in given if not name.removeprefix(PREFIX).isdecimal()]
    how = LatticeInput(settings, tuple(name.removeprefix(PREFIX) for name in named))
    return how, known | {name: given[name] for name in named}


def without_arcs(features: Mapping[str, float]) -> tuple[dict[str, float], dict[str, float]]:
    """Return weights without those of the features of arcs, and the latter."""
    of_arcs = {name: value for name, value in features.items() if name.startswith(PREFIX)}
    return {name: value for name, value in features.items() if name not in of_arcs}, of_arcs
