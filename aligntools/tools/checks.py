"""Sentence pairs checked: what their translations leave out, add or repeat."""

import json
from collections.abc import Sequence
from copy import copy
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Unpack

import numpy as np

from aligntools.aligning.aligner import Aligner
from aligntools.aligning.alignments import Alignments, AlignmentTally
from aligntools.aligning.settings import CheckSettings
from aligntools.formats.inputs.sentences import Sentence, words_of
from aligntools.formats.links.findings import DIFFERENCES, SPANS, Finding, as_text, of_fields
from aligntools.formats.opening.files import writing
from aligntools.ground.declarations import Keywords, taking
from aligntools.ground.errors import UsageProblem
from aligntools.tools.filters import best_links, model_for
from aligntools.tools.judgements import (
    Floats,
    Judged,
    Lengths,
    WordTypes,
    judge,
    judge_alone,
    log_odds,
    null_shares,
    usual_rates,
)
from aligntools.tools.text_work import TextWork, qualities
from aligntools.words.vocabulary import split_words

if TYPE_CHECKING:
    from aligntools.ground.keywords import CheckingKeywords

#: What speaks against a pair, in the order in which it is told, and the fields of `PairCheck` that have it.
_PROBLEMS = {name: (field,) for name, (field, _) in SPANS.items()} | DIFFERENCES


class FoundSpan(NamedTuple):
    """Words of one side that were found: ``words[start:end]`` of that side."""

    #: first word, from 0
    start: int
    #: the word after the last
    end: int
    #: sum of the log-odds of having no counterpart (natural logarithms); words that are repeated, for repetitions
    score: float
    #: the words, with spaces between
    text: str


@dataclass(frozen=True)
class PairCheck:
    """What was found in a sentence pair.

    Attributes
    ----------
    line : int
        Which pair it is, from 1.
    score : float
        0 and more: log-odds (natural) of the best span that nothing accounts for, held against the other side's and the
        sentence's length, and what repetitions, numbers and placeholders add.
    below : float
        Share of the text's pairs with a lower score, 0 to 1.
    flagged : bool
        Whether the score is above ``flag_above``.
    source_unlinked, target_unlinked : float
        Mean over the words of the probability that they have no link, 0 to 1.
    left_out : list of FoundSpan
        Words of the source that nothing in the target accounts for.
    added : list of FoundSpan
        Words of the target that nothing in the source accounts for.
    repeated : list of FoundSpan
        Words of the target that repeat others, where the source repeats fewer.
    missing_numbers, added_numbers : list of str
        Numbers of the source alone and of the target alone, without marks between thousands.
    missing_placeholders, added_placeholders : list of str
        The same of placeholders and tags.
    """

    line: int
    score: float
    below: float
    flagged: bool
    source_unlinked: float
    target_unlinked: float
    left_out: list[FoundSpan]
    added: list[FoundSpan]
    repeated: list[FoundSpan]
    missing_numbers: list[str]
    added_numbers: list[str]
    missing_placeholders: list[str]
    added_placeholders: list[str]

    @property
    def finding(self) -> Finding:
        """What was found, as it is written and shown."""
        return Finding(self.line, self.score, self.flagged, *of_fields(self.as_dict()))

    @property
    def problems(self) -> list[str]:
        """What was found: ``left-out``, ``added``, ``repeated``, ``numbers``, ``placeholders``."""
        return [name for name, fields in _PROBLEMS.items() if any(getattr(self, field) for field in fields)]

    def as_dict(self) -> dict[str, Any]:
        """Return it as what JSON has: spans are objects with ``start``, ``end``, ``score`` and ``text``."""
        found = asdict(self)
        for name in ("left_out", "added", "repeated"):
            found[name] = [span._asdict() | {"score": round(span.score, 2)} for span in getattr(self, name)]
        for name in ("score", "below", "source_unlinked", "target_unlinked"):
            found[name] = round(found[name], 4)
        return found | {"problems": self.problems}


@dataclass(frozen=True, eq=False)
class Checked(Sequence[PairCheck]):
    """What was found in the pairs of a text, in their order.

    Attributes
    ----------
    pairs : list of PairCheck
    unlinked_share : float
        Mean over the words of both sides of the probability that they have no link, 0 to 1.
    """

    pairs: list[PairCheck]
    unlinked_share: float

    def __getitem__(self, index: Any) -> Any:
        return self.pairs[index]

    def __len__(self) -> int:
        return len(self.pairs)

    @property
    def worst(self) -> list[PairCheck]:
        """The pairs by falling score; those of one score in their order."""
        return sorted(self.pairs, key=lambda pair: -pair.score)

    @cached_property
    def flagged_share(self) -> float:
        """Share of the pairs that are flagged, 0 to 1."""
        return sum(pair.flagged for pair in self.pairs) / max(len(self.pairs), 1)

    def summary(self) -> str:
        """Return a line: pairs, flagged ones, unlinked words, how scores are distributed, how many of each problem."""
        scores = np.array([pair.score for pair in self.pairs] or [0.0])
        flagged = [pair for pair in self.pairs if pair.flagged]
        parts = [f"{len(self)} pairs", f"{len(flagged)} flagged ({100 * self.flagged_share:.2f} %)"]
        parts.append(f"{100 * self.unlinked_share:.2f} % of words unlinked")
        middle, ninety, highest = np.quantile(scores, [0.5, 0.9, 1.0]).tolist()
        parts.append(f"score median {middle:.1f}, 90 % {ninety:.1f}, highest {highest:.1f}")
        counts = {name: sum(name in pair.problems for pair in flagged) for name in _PROBLEMS}
        told = ", ".join(f"{count} {name}" for name, count in counts.items() if count)
        return "; ".join(parts) + (f"; flagged: {told}" if told else "")


class Checker:
    """What collects a text's links block by block, and then judges its pairs."""

    def __init__(self, model: Aligner, settings: CheckSettings) -> None:
        self._model, self._settings = model, settings.checked()
        self._shares = null_shares(model.model)
        self._begin()

    def again(self) -> "Checker":
        """Return one for another text, which does not sum up the model anew."""
        found = copy(self)
        found._begin()
        return found

    def _begin(self) -> None:
        self._types = [WordTypes(self._model.model, side, self._shares) for side in (0, 1)]
        self._words: list[tuple[list[str], list[str]]] = []
        self._raw: list[tuple[str, str]] = []
        self._alone: dict[int, Sequence[list[str]]] = {}  # pairs of which one side is blank
        self._numbers: tuple[list[int], list[int]] = ([], [])
        self._apart: tuple[list[Floats], list[Floats]] = ([], [])

    def add(self, block: Alignments, words: Sequence[Sequence[list[str]]], raw: Sequence[Sequence[str]]) -> None:
        """Take the next pairs, aligned as `qualities` does: words of both sides, and their raw text."""
        for apart, best in zip(self._apart, best_links(block.table, block.probabilities, block.lengths), strict=True):
            apart.append(np.clip(1 - best, 0, 1))
        for n, (pair, texts) in enumerate(zip(zip(*words, strict=True), zip(*raw, strict=True), strict=True)):
            sizes = block.lengths[:, n].tolist()
            if not all(sizes) and bool(pair[0]) != bool(pair[1]):
                self._alone[len(self._words)] = pair
            # other pairs that were left out, too long ones for instance, have no words here: nothing is said of them
            kept = (list(pair[0][: sizes[0]]), list(pair[1][: sizes[1]]))
            self._words.append(kept)
            self._raw.append((texts[0], texts[1]))
            for side in (0, 1):
                self._numbers[side].extend(self._types[side].numbers(kept[side]))

    def judged(self) -> Checked:
        """Return what was found in all pairs that were added."""
        sizes = np.array([[len(pair[side]) for pair in self._words] for side in (0, 1)], np.int64).reshape(2, -1)
        lengths = Lengths.of(sizes, self._model.model.length_ratio)
        apart, odds = [], []
        for side in (0, 1):
            whole, numbers = np.concatenate([np.zeros(0), *self._apart[side]]), np.array(self._numbers[side], np.int64)
            own = log_odds(whole, usual_rates(numbers, whole, self._types[side].classes))
            ends = np.cumsum(sizes[side])[:-1]
            apart.append(np.split(whole, ends))
            odds.append(np.split(own, ends))
        found: list[Judged] = []
        for n, words in enumerate(self._words):
            if n in self._alone:
                found.append(judge_alone(self._alone[n]))
            else:
                own_odds = odds[0][n], odds[1][n]
                found.append(judge(words, own_odds, lengths, self._raw[n]) if all(words) else Judged())
        scores = np.array([one.score for one in found])
        below = (np.searchsorted(np.sort(scores), scores) / max(len(scores), 1)).tolist()
        pairs = []
        for n, one in enumerate(found):
            alone, sides = self._alone.get(n), self._alone.get(n, self._words[n])
            shares: Any = [float(bool(side)) for side in sides]
            if alone is None:
                shares = [float(own[n].mean()) if len(own[n]) else 0.0 for own in apart]
            spans = [
                [FoundSpan(*span, " ".join(words[span.start : span.end])) for span in own]
                for own, words in zip((*one.spans, one.repeated), (*sides, sides[1]), strict=True)
            ]
            flagged = bool(one.score > self._settings.flag_above)
            rest: Any = [*spans, *map(list, one.numbers), *map(list, one.placeholders)]
            pairs.append(PairCheck(n + 1, float(one.score), below[n], flagged, *shares, *rest))
        total = sum(float(place.sum()) for side in apart for place in side)
        return Checked(pairs, total / max(sum(len(place) for side in apart for place in side), 1))


@taking(CheckSettings)
def check(
    sources: Sequence[Sentence],
    targets: Sequence[Sentence],
    settings: CheckSettings | None = None,
    *,
    model: Aligner | None = None,
    **options: "Unpack[CheckingKeywords]",
) -> Checked:
    """Check translations: which words nothing on the other side accounts for, what is repeated, which numbers differ.

    How often each word has no link is learned from these pairs, smoothed by what the model knows of it; a pair alone is
    judged by the model. Words that are surprising without a link make spans (Ruzzo and Tompa 1999).

    Parameters
    ----------
    sources, targets : sequences of str or of lists of str
        As many of each; target sentences are the translations.
    settings : CheckSettings or None
        The options below, whole.
    model : Aligner or None
        What is known of the languages; None trains on these pairs themselves, which takes some thousands of them.
    **options

    The keywords of `train_aligner` go to training, where there is no ``model``.

    Returns
    -------
    Checked
        A sequence of `PairCheck`, one for each pair.

    Raises
    ------
    DataError
        When there are not as many sentences of each.
    UsageProblem
        When an option is out of its range.

    Examples
    --------
    >>> import aligntools as at
    >>> model = at.train_aligner(at.read_bitext("data/samples/de-en.txt"))
    >>> found = at.check(
    ...     ["Der Zug fährt um acht Uhr ab ."],
    ...     ["The train leaves at eight o'clock at eight o'clock ."],
    ...     model=model,
    ... )
    >>> found[0].problems, [span.text for span in found[0].repeated]
    (['repeated'], ["at eight o'clock"])
    """
    given = Keywords("check", options)
    limits = given.take(CheckSettings, settings)
    model, reading, run = model_for(given, sources, targets, model)
    checker, at = Checker(model, limits), 0
    for block in qualities(model, sources, targets, reading=reading, run=run):
        here = slice(at, at + len(block))
        at += len(block)
        split = reading.split or model.model.split
        words = [
            [[word.decode("utf-8", "replace") for word in words_of(sentence, split)] for sentence in side[here]]
            for side in (sources, targets)
        ]
        raw = [[s if isinstance(s, str) else " ".join(s) for s in side[here]] for side in (sources, targets)]
        checker.add(block, words, raw)
    return checker.judged()


CheckFormat = Literal["tsv", "json"]

#: Tabs and carriage returns, which cannot stand within a field, as spaces.
_PLAIN = str.maketrans("\t\r", "  ")


def row(pair: PairCheck, source: str, target: str, form: CheckFormat) -> str:
    """Return the line of a pair."""
    found = pair.finding
    if form == "json":
        return json.dumps(pair.as_dict() | {"source": source, "target": target}, ensure_ascii=False)
    shares = (f"{pair.source_unlinked:.3f}", f"{pair.target_unlinked:.3f}")
    figures = (str(pair.line), f"{pair.score:.2f}", f"{pair.below:.4f}", "flagged" if pair.flagged else "passed")
    told = as_text(found.words, found.differences).replace("\t", " ")
    return "\t".join([*figures, *shares, told, *(text.translate(_PLAIN) for text in (source, target))])


def check_files(
    work: TextWork,
    settings: CheckSettings,
    output: str = "-",
    *,
    output_format: CheckFormat = "tsv",
    summary: bool = False,
    flagged: bool = False,
    in_order: bool = False,
) -> Checked:
    """Check all pairs of a text, by a saved model or by one that is trained on it, write what was found and return it.

    The text is kept in memory: the pairs have to be put in order, and what is usual is learned from all of them.
    """
    work.check()
    if summary and (flagged or in_order or output_format != "tsv"):
        raise UsageProblem("`summary` writes one line; leave out what is about the lines of pairs")
    tally, watch = AlignmentTally(), work.watch
    shown: tuple[list[str], list[str]] = ([], [])
    with work.opened() as text, watch.stage("checking"):
        model, blocks = text.aligned()
        checker = Checker(model, settings)
        for block in blocks:
            lines = text.raw.read(len(block))
            texts = [[line.decode("utf-8", "replace") for line in side] for side in lines]
            spaced = text.tokens.read(len(block)) if text.tokens else lines
            if text.reading.split == "unicode":
                spaced = (text.tokens or text.raw).spaced(spaced)
            words = [[split_words(line.decode("utf-8", "replace")) for line in side] for side in spaced]
            checker.add(block, words, texts)
            for side in (0, 1):
                shown[side].extend(texts[side])
            tally.add(block)
            watch.tell(f"checking: {tally.pairs} pairs")
    found = checker.judged()
    with writing(output) as out:
        if summary:
            out.write(found.summary().encode() + b"\n")
        else:
            for pair in found.pairs if in_order else found.worst:
                if pair.flagged or not flagged:
                    source, target = (side[pair.line - 1] for side in shown)
                    out.write(row(pair, source, target, output_format).encode("utf-8", "replace") + b"\n")
    watch.close()
    if unread := tally.skipped.summary():
        watch.say(f"not checked: {unread}")
    if not summary:
        watch.say(found.summary())
    return found
