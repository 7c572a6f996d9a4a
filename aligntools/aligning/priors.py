"""Priors: what the alignment of one text tells the alignment of another, in eflomal's form."""

import hashlib
import logging
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from aligntools.aligning.settings import PriorWeights
from aligntools.aligning.text.views import CutSide
from aligntools.formats.inputs.sentences import Sentences, Split
from aligntools.formats.links import priors as format
from aligntools.formats.links.pharaoh import Links
from aligntools.formats.links.priors import Counted, Priors, combined
from aligntools.formats.text.corpus import Bitext, Side
from aligntools.ground.errors import UsageProblem
from aligntools.links.alignments import ManyAlignments, as_written, links_of_text
from aligntools.words.vocabulary import AnyVocabulary, ExtendedVocabulary, Vocabulary

_log = logging.getLogger("aligntools")

#: Priors as functions take them: a file, counts in memory, or several of these, which add.
SomePriors: TypeAlias = "Priors | str | os.PathLike[str] | Iterable[Priors | str | os.PathLike[str]]"


def read_priors(priors: SomePriors) -> Priors:
    """Read priors in eflomal's form; those of several files add.

    Parameters
    ----------
    priors : str, path, Priors, or iterable of these
        Files of lines ``LEX source target n``, ``FERF source k n``, ``FERR target k n``, ``HMMF jump n`` and
        ``HMMR jump n``, separated by tabs; any compression.

    Returns
    -------
    Priors
        Counts in arrays; ``len()`` is the number of lines.

    Raises
    ------
    DataError
        When a file cannot be read, or for its first line that is not a count.

    Examples
    --------
    >>> import aligntools as at
    >>> at.read_priors("data/samples/de-en.priors")
    <Priors: 5 LEX, 0 FERF, 0 FERR, 0 HMMF, 0 HMMR>
    """
    if isinstance(priors, Priors):
        return priors
    if isinstance(priors, str | os.PathLike):
        return format.read_priors(os.fspath(priors))
    parts = [read_priors(part) for part in priors]
    return parts[0] if len(parts) == 1 else format.combined(parts)


def fingerprint(priors: Priors) -> str:
    """Return what tells priors apart."""
    words = (
        getattr(v, what) for v in (priors.source_vocabulary, priors.target_vocabulary) for what in ("blob", "starts")
    )
    found = hashlib.sha256()
    for array in (priors.lexical.keys, priors.lexical.alphas, *words):
        found.update(array.tobytes())
    return found.hexdigest()


def write_priors(path: str | os.PathLike[str], priors: Priors) -> None:
    """Write priors as eflomal does, sorted; the file appears whole or not at all.

    Raises
    ------
    DataError
        When it cannot be written.
    """
    format.write_priors(os.fspath(path), priors)


@dataclass(frozen=True, eq=False)
class WeightedPriors:
    """Counts in other text, and what they weigh in the training that takes them."""

    counts: Priors
    weights: PriorWeights

    @classmethod
    def of(cls, priors: "SomePriors | None", weights: PriorWeights) -> "WeightedPriors | None":
        """Read priors where there are any; see `read_priors`."""
        return None if priors is None else cls(read_priors(priors), weights)

    def of_pieces(self, bitext: Bitext, lowercase: bool) -> Priors | None:
        """Return the links, in full, that pieces of words have too: those with a word of the text on a side."""
        table, kept = self.counts.lexical, np.zeros(len(self.counts.lexical), np.bool_)
        sides = [self.counts.source_vocabulary.words(), self.counts.target_vocabulary.words()]
        for k, (_, vocabulary) in enumerate(bitext.sides):
            own = {*vocabulary.words()}
            kept |= np.array([(word.lower() if lowercase else word) in own for word in sides[k]])[table.keys[:, k]]
        kept &= (table.keys > 0).all(1)
        if not kept.any():
            return None
        used = [np.unique(table.keys[kept, k], return_inverse=True) for k in range(2)]
        names = [Vocabulary.from_words([sides[k][i] for i in ids]) for k, (ids, _) in enumerate(used)]
        columns = [places + 1 for _, places in used]
        return Priors(names[0], names[1], Counted.of(columns, table.alphas[kept] * self.weights.prior_lexical))

    def tell_unused(self) -> None:
        """Log which weights were chosen of what the counts do not have."""
        kinds = {"prior_lexical": ("LEX",), "prior_fertility": ("FERF", "FERR"), "prior_jumps": ("HMMF", "HMMR")}
        tables = self.counts.tables()
        for name, own in kinds.items():
            chosen = getattr(self.weights, name) != getattr(PriorWeights, name)
            if chosen and not any(len(tables[kind]) for kind in own):
                _log.warning("`%s` changes nothing: `priors` have no %s", name, " or ".join(own))


# Priors counted from links, as eflomal's ``calculate_priors`` counts them.
#
# Links come in two directions: *forward*, which target words chose, and *reverse*, which source words chose;
# symmetrized links may serve as both.

_KINDS = ("lexical", "source_fertilities", "target_fertilities", "forward_jumps", "reverse_jumps")
#: Counted keys that wait to be added to the others, as a share of these, and at least.
_WAIT, _FEW = 1.0, 1 << 20


class PriorCounter:
    """Counts priors of a text that comes in parts, with the same vocabularies or extensions of them."""

    def __init__(self) -> None:
        self._bases: list[Vocabulary | None] = [None, None]
        self._extra: tuple[dict[str, int], dict[str, int]] = ({}, {})
        self._tables: dict[str, list[Counted]] = {kind: [] for kind in _KINDS}

    def add(self, text: Bitext, forward: Links, reverse: Links) -> None:
        """Count the links of sentence pairs.

        forward, reverse: As many sentences, whose links lie within them.
        Raises UsageProblem when the words of the text were cut while a model was trained on it.
        """
        sides = text.source, text.target
        if any(isinstance(side, CutSide) for side in sides):
            raise UsageProblem("this text was cut while a model was trained on it; read it again")
        ids = [
            self._known(k, side.tokens, vocabulary)
            for k, (side, vocabulary) in enumerate(
                zip(sides, (text.source_vocabulary, text.target_vocabulary), strict=True)
            )
        ]
        places = [_places(side, forward, k) for k, side in enumerate(sides)]
        self._count("lexical", ids[0][places[0]], ids[1][places[1]])
        self._count("source_fertilities", *_fertilities(ids[0], places[0]))
        self._count("target_fertilities", *_fertilities(ids[1], _places(text.target, reverse, 1)))
        self._count("forward_jumps", _jumps(forward, text.source.lengths(), 0))
        self._count("reverse_jumps", _jumps(reverse, text.target.lengths(), 1))

    def _known(self, k: int, tokens: np.ndarray, vocabulary: AnyVocabulary) -> np.ndarray:
        """Return words in ids that hold for all parts."""
        extended = vocabulary if isinstance(vocabulary, ExtendedVocabulary) else None
        base = vocabulary.base if isinstance(vocabulary, ExtendedVocabulary) else vocabulary
        if self._bases[k] is None:
            self._bases[k] = base
        elif self._bases[k] is not base:
            raise UsageProblem("the parts of a text that is counted have one vocabulary")
        if extended is None or not extended.extra:
            return tokens
        known, n = self._extra[k], len(base)
        new = np.array([n + known.setdefault(word, len(known)) for word in extended.extra], np.int32)
        return np.where(tokens < n, tokens, new[np.maximum(tokens - n, 0)])

    def _count(self, kind: str, *columns: np.ndarray) -> None:
        parts = self._tables[kind]
        parts.append(Counted.of(columns, np.ones(len(columns[0]))))
        waiting = sum(map(len, parts[1:]))
        if waiting > max(_FEW, _WAIT * len(parts[0])):
            self._tables[kind] = [_added(parts)]

    def finish(self) -> Priors:
        """Return the counts of all parts."""
        vocabularies = []
        for base, extra in zip(self._bases, self._extra, strict=True):
            whole = base or Vocabulary.from_words([])
            if extra:
                whole = Vocabulary.from_words([*whole.words()[1:], *extra])
            vocabularies.append(whole)
        tables = {kind: _added(parts) if parts else None for kind, parts in self._tables.items()}
        found = {kind: table for kind, table in tables.items() if table is not None}
        return Priors(vocabularies[0], vocabularies[1], **found)


def _added(parts: Sequence[Counted]) -> Counted:
    keys = np.concatenate([part.keys for part in parts])
    return Counted.of(list(keys.T), np.concatenate([part.alphas for part in parts]))


def _places(side: Side, links: Links, k: int) -> np.ndarray:
    """Return the place of each link's word of one side among all words."""
    places: np.ndarray = np.repeat(side.offsets[:-1], links.counts()) + links.pairs[:, k]
    return places


def _fertilities(ids: np.ndarray, places: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return words that have links, and how many each has."""
    counts = np.bincount(places, minlength=len(ids))
    linked = np.flatnonzero(counts)
    return ids[linked], counts[linked]


def _jumps(links: Links, lengths: np.ndarray, k: int) -> np.ndarray:
    """Return the jumps on side ``k`` between links of consecutive words of the other side, from -1 to the length."""
    sentences = links.sentences()
    positions, others = links.pairs[:, k].astype(np.int64), links.pairs[:, 1 - k]
    order = np.lexsort((positions, others, sentences))
    sentences, positions, others = sentences[order], positions[order], others[order]
    begins = np.ones(len(order), bool)
    begins[1:] = sentences[1:] != sentences[:-1]
    before = np.append(-1, positions[:-1])[: len(order)]
    before[begins] = -1
    first = begins.copy()  # of the links of one word
    first[1:] |= others[1:] != others[:-1]
    last = np.full(len(links), -1, np.int64)
    ends = np.ones(len(order), bool)
    ends[:-1] = begins[1:]
    last[sentences[ends]] = positions[ends]
    return np.concatenate([(positions - before)[first], lengths - last])


def joined_with(
    priors: Priors | None, known: Priors | None, weights: PriorWeights
) -> tuple[Priors | None, PriorWeights]:
    """Join priors with what is known of words beforehand, which counts in full; return what they weigh then, too."""
    if known is None:
        return priors, weights
    in_full = replace(weights, prior_lexical=1.0)
    if priors is None:
        return known, in_full
    own = Counted(priors.lexical.keys, priors.lexical.alphas * weights.prior_lexical)
    return combined([replace(priors, lexical=own), known]), in_full


def count_priors(
    sources: "Sentences | Bitext",
    targets: Sentences | None,
    forward: "ManyAlignments | str | os.PathLike[str]",
    reverse: "ManyAlignments | str | os.PathLike[str]",
    *,
    index_base: int = 0,
    split: Split = "spaces",
) -> "Priors":
    """Count priors in aligned text, as eflomal's ``calculate_priors`` does.

    ``LEX`` and ``FERF`` count the forward links, ``FERR`` the reverse ones, and ``HMMF`` and ``HMMR`` the jumps between
    them, the first and the last of each sentence among them. Words are taken as they stand, upper and lower case.

    Parameters
    ----------
    sources, targets : iterables of str or of lists of str, or files (str or path)
        ``sources`` alone, with ``targets`` None: a `Bitext` (`read_bitext`), or a file with ``' ||| '`` between the
        sides.
    forward, reverse : iterables of alignments, or Pharaoh files (str or path)
        The links that target words chose and those that source words chose, both as source-target. Symmetrized links
        may be given as both.
    index_base : int
        Number of the first word in Pharaoh text, 0 or 1.
    split : str
        What separates words in lines, as for `read_bitext`.

    Returns
    -------
    Priors

    Raises
    ------
    DataError
        When there is not one alignment for each pair, or a link points past its sentence.

    Examples
    --------
    >>> import aligntools as at
    >>> at.count_priors(["das Haus", "das Buch"], ["the house", "the book"], ["0-0 1-1"] * 2, ["0-0 1-1"] * 2)
    <Priors: 3 LEX, 3 FERF, 3 FERR, 1 HMMF, 1 HMMR>
    """
    bitext = sources if isinstance(sources, Bitext) else as_written(sources, targets, split)
    named = ((forward, "forward"), (reverse, "reverse"))
    counter = PriorCounter()
    counter.add(bitext, *(links_of_text(links, bitext, name, index_base)[0] for links, name in named))
    return counter.finish()
