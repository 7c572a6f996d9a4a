"""The files that GIZA++ leaves: alignments of both directions, tables, vocabularies, coded text."""

import os
from collections.abc import Sequence
from contextlib import ExitStack
from itertools import pairwise
from typing import Any

import numpy as np

from aligntools.aligning.aligner import Aligner
from aligntools.aligning.alignments import Alignments
from aligntools.aligning.models import kernels_cepts as kc
from aligntools.aligning.models import kernels_jumps as kj
from aligntools.aligning.models.base import LexicalModel
from aligntools.aligning.models.cepts import CeptModel
from aligntools.aligning.models.ibm4 import Ibm4
from aligntools.aligning.models.registry import kind_of
from aligntools.aligning.settings import DIRECTIONS, Decisions
from aligntools.formats.links.giza import (
    FARTHEST_JUMP,
    LEAST,
    LONGEST,
    GizaTables,
    format_giza_a3,
    write_classes,
    write_settings,
    write_tables,
)
from aligntools.formats.links.pharaoh import Links, concatenate
from aligntools.formats.opening.files import making_folder, writing
from aligntools.formats.text.corpus import Bitext, Side
from aligntools.formats.text.giza_trainings import FIRST, format_snt, format_vcb
from aligntools.ground.errors import UsageProblem
from aligntools.words.white_space import kept_returns

#: How files' names begin: by side, and by direction.
SIDES, NAMES = ("source", "target"), ("forward", "reverse")
#: Which of GIZA++'s options says how many iterations a model has.
_STAGES = {"ibm1": "m1", "ibm2": "m2", "hmm": "mh", "ibm3": "m3", "ibm4": "m4"}


class GizaDirection:
    """One direction of a text that an aligner was trained on, and what it found, as it comes.

    numbers (tuple of int64, or None): GIZA++'s numbers of the words that generate, and of those that are generated;
        None counts them from FIRST on.
    """

    def __init__(self, bitext: Bitext, d: int, numbers: tuple[np.ndarray, np.ndarray] | None = None) -> None:
        sides = bitext.source, bitext.target
        vocabularies = bitext.source_vocabulary, bitext.target_vocabulary
        self.d, self.given, self.observed = d, sides[d], sides[1 - d]
        self.words = [_words(vocabularies[d].words()), _words(vocabularies[1 - d].words())]
        self.numbers = numbers

    def write_tables(self, prefix: str, aligner: Aligner, links: Links, numbers: Sequence[np.ndarray] | None) -> None:
        """Write the tables.

        links: At most one for each observed word.
        numbers (sequence of int64, or None): GIZA++'s numbers of the classes of source words, and of target words.
        """
        of = (numbers[self.d], numbers[1 - self.d]) if numbers else None
        tables = giza_tables(aligner.model.views[0], self.d, self.given, self.observed, links, of)
        write_tables(prefix, tables.renumbered(*self.numbers) if self.numbers else tables)

    def write_alignments(self, path: str, links: Links, scores: np.ndarray) -> None:
        """Write the alignments; ``scores`` [pairs] are natural logarithms of the sentences' probabilities."""
        turned = links if self.d == 0 else Links.from_lists([[(j, i) for i, j in row] for row in links.tolists()])
        texts = (
            kept_returns(b"".join(b" ".join([words[n] for n in row]) + b"\n" for row in _rows(side)))
            for side, words in zip((self.given, self.observed), self.words, strict=True)
        )
        with writing(path) as file:
            file.write(format_giza_a3(turned, *texts, scores=np.exp(scores).tolist()))


class GizaFolder:
    """A folder of GIZA++'s files in the making."""

    def __init__(self, stack: ExitStack, folder: str, decisions: Decisions) -> None:
        if decisions.decode == "posterior":
            raise UsageProblem("`giza_dir` has one link for each word; leave out `decode=posterior`")
        self.folder = stack.enter_context(making_folder(folder))
        self._links: tuple[list[Links], list[Links]] = ([], [])
        self._scores: list[np.ndarray] = []

    def take(self, block: Alignments) -> None:
        """Keep a block's links of single directions."""
        for found, table in zip(self._links, (block.forward_table, block.reverse_table), strict=True):
            if table is not None:
                found.append(table)
        self._scores.append(np.asarray(block.scores)[:, :2])

    def finish(self, aligner: Aligner, bitext: Bitext) -> None:
        """Write the files."""
        trained = [d for d in (0, 1) if DIRECTIONS[aligner.settings.direction] & (d + 1)]
        both = [GizaDirection(bitext, d) for d in (0, 1)]
        for name, of in zip(SIDES, both, strict=True):
            counts = np.bincount(of.given.tokens, minlength=len(of.words[0]))
            with writing(self._path(f"{name}.vcb")) as file:
                file.write(format_vcb(of.words[0][1:], counts[1:].tolist()))
        numbers = write_all_classes([self._path(f"{name}.vcb.classes") for name in SIDES], aligner, both)
        scores = np.concatenate([*self._scores, np.zeros((0, 2))])
        for d in trained:
            given, observed = SIDES[d], SIDES[1 - d]
            links, prefix = concatenate(self._links[d]), self._path(NAMES[d])
            both[d].write_tables(prefix, aligner, links, numbers)
            both[d].write_alignments(f"{prefix}.A3.final", links, scores[:, d])
            coded = [Side(side.tokens + (FIRST - 1), side.offsets) for side in (both[d].given, both[d].observed)]
            with writing(self._path(f"{given}_{observed}.snt")) as file:
                file.writelines(format_snt(coded[0], coded[1], [1.0] * len(coded[0])))
            own = {"s": f"{given}.vcb", "t": f"{observed}.vcb", "c": f"{given}_{observed}.snt", "o": NAMES[d]}
            write_settings(self._path(f"{NAMES[d]}.gizacfg"), own | settings_of(aligner))

    def _path(self, name: str) -> str:
        return os.fspath(self.folder / name)


def write_all_classes(
    paths: Sequence[str], aligner: Aligner, both: Sequence[GizaDirection], given: Sequence[dict[bytes, int] | None] = ()
) -> tuple[np.ndarray, np.ndarray] | None:
    """Write the classes of both sides' words, where the model has some; return their numbers.

    given: Words' classes of each side by GIZA++'s numbers, where a file has them already: nothing is written of them.
    """
    model = aligner.model.views[0]
    if not isinstance(model, Ibm4):
        return None
    found = []
    for path, of, of_words, known in zip(paths, both, model.word_classes, given or (None, None), strict=True):
        words, classes = of.words[0][1:], of_words[1 : len(of.words[0])]
        found.append(write_classes(path, words, classes) if known is None else _numbers(words, classes, known))
    return found[0], found[1]


def _numbers(words: Sequence[bytes], classes: np.ndarray, known: dict[bytes, int]) -> np.ndarray:
    """Return the numbers of classes, by the numbers that their words' classes have; -1 of those without words."""
    numbers = np.full(int(classes.max(initial=0)) + 1, -1, np.int64)
    for word, of_word in zip(words, classes.tolist(), strict=True):
        if of_word == 0:
            numbers[0] = 0
        elif word in known:
            numbers[of_word] = known[word]
    return numbers


def settings_of(aligner: Aligner) -> dict[str, object]:
    """Return what GIZA++ calls the settings of a training."""
    s = aligner.settings
    ran = dict.fromkeys(_STAGES.values(), 0) | {"m1": s.ibm1_iterations}
    for kind in kind_of(s.model_type).chain()[1:]:
        if kind.name in _STAGES and "iterations" in kind.own:
            ran[_STAGES[kind.name]] = s.iterations
    return {
        **ran,
        "p0": f"{1 - s.p_null:g}",
        "emprobforempty": s.p_null,
        "maxfertility": 10,
        "compactadtable": 1,
        "depm4": 76,
    }


def _words(words: list[str]) -> list[bytes]:
    return [word.encode("utf-8", "surrogateescape") for word in words]


def _rows(side: Side) -> list[list[int]]:
    tokens = side.tokens.tolist()
    return [tokens[a:b] for a, b in pairwise(side.offsets.tolist())]


def giza_tables(
    model: LexicalModel,
    d: int,
    given: Side,
    observed: Side,
    links: Links,
    numbers: tuple[np.ndarray, np.ndarray] | None,
) -> GizaTables:
    """Return the tables of one direction. Its positions are counted over links, at most one for each observed word.

    numbers (tuple of int64, or None): GIZA++'s number of each class of the given words, and of the observed ones; -1 of
        classes without words.
    """
    fertilities = p0 = heads = others = jumps = first = None
    if isinstance(model, CeptModel):
        fertilities, p0 = model.fertility[d][1:-1], 1.0 - float(model.p1[d])
        # jumps from -FARTHEST_JUMP to FARTHEST_JUMP, and first positions, tails written out
        row, w, n = model.jumps[d], kj.WINDOW, FARTHEST_JUMP
        jumps, first = np.full(2 * n + 1, row[kj.TAIL]), np.full(n, row[kj.FIRST_TAIL])
        jumps[n - w : n + w + 1] = row[: 2 * w + 1]
        first[: w + 1] = row[kj.FIRST : kj.FIRST_TAIL]
    if isinstance(model, Ibm4) and numbers is not None:
        of_given, of_observed = numbers
        heads = np.zeros((int(of_given.max()) + 1, int(of_observed.max()) + 1, 2 * LONGEST + 1))
        others = np.zeros(heads.shape[1:])
        known = np.flatnonzero(of_observed >= 0)
        for e in range(len(of_given)):
            if e == 0 or of_given[e] > 0:
                heads[max(of_given[e], 0), of_observed[known]] = _all_distances(model.heads[d][e, known])
        others[of_observed[known]] = _all_distances(model.others[d][known])
    positions = _positions(given, observed, links, d)
    return GizaTables(*_translations(model, d), fertilities, positions, p0, heads, others, jumps, first)


def _all_distances(known: np.ndarray) -> np.ndarray:
    """Return distances from -LONGEST to LONGEST; those that the last ones known stand for have their probability."""
    middle = LONGEST
    found = np.zeros((*known.shape[:-1], 2 * LONGEST + 1))
    found[..., middle - kc.FARTHEST : middle + kc.FARTHEST + 1] = known
    far = min(2 * kc.FARTHEST, LONGEST + 1)
    found[..., middle + kc.FARTHEST : middle + far] = known[..., -1:]
    found[..., middle - far + 1 : middle - kc.FARTHEST + 1] = known[..., :1]
    return found


def _translations(model: LexicalModel, d: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the numbers of given and observed words and their probabilities, by given word, NULL first."""
    table, lexicon = model.table, model.lexicon
    s, t = np.repeat(np.arange(table.n_source), np.diff(table.ptr)), table.ids.astype(np.int64)
    values, inverse = ((lexicon.forward, lexicon.s_inverse), (lexicon.reverse, lexicon.t_inverse))[d]
    given, observed, null = (s, t, model.t_null) if d == 0 else (t, s, model.s_null)
    p = values.astype(np.float64) * inverse[given]
    kept = np.flatnonzero(p > LEAST)
    if d:
        kept = kept[np.argsort(given[kept], kind="stable")]
    words = np.arange(1, len(null) - 1)
    return (
        np.concatenate([np.zeros(len(words), np.int64), given[kept] + FIRST - 1]),
        np.concatenate([words, observed[kept]]) + FIRST - 1,
        np.concatenate([null[1:-1], p[kept]]),
    )


def _positions(given: Side, observed: Side, links: Links, d: int) -> list[tuple[Any, Any, Any, Any]]:
    """Return ``a(i | j, l)`` and ``d(j | i, m)`` as the links have them, of sentences that GIZA++ takes."""
    lengths = given.lengths(), observed.lengths()
    sentence = np.repeat(np.arange(len(observed)), lengths[1])
    j = np.arange(len(sentence)) - np.repeat(observed.offsets[:-1], lengths[1])
    i = np.zeros(len(sentence), np.int64)
    of_link = links.sentences()
    i[observed.offsets[of_link] + links.pairs[:, 1 - d]] = links.pairs[:, d] + 1
    fits = (np.maximum(*lengths)[sentence] < LONGEST) & (lengths[0][sentence] > 0)
    i, j, sentence = i[fits], j[fits] + 1, sentence[fits]
    linked = i > 0
    return [
        _shares(i, j, lengths[0][sentence], of_observed=True),
        _shares(i[linked], j[linked], lengths[1][sentence[linked]], of_observed=False),
    ]


def _shares(i: np.ndarray, j: np.ndarray, length: np.ndarray, of_observed: bool) -> tuple[Any, Any, Any, Any]:
    """Return i, j and length, and their share of those with the same length and j, or i."""
    size = LONGEST + 1
    keys, counts = np.unique((length * size + i) * size + j, return_counts=True)
    length, i, j = keys // size**2, keys // size % size, keys % size
    of = length * size + (j if of_observed else i)
    return i, j, length, counts / np.bincount(of, counts)[of]
