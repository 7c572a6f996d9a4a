"""Sentence pairs judged by their alignment: which are translations of each other, and which are noise."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple, Unpack

import numpy as np

from aligntools.aligning.aligner import Aligner, check_loaded
from aligntools.aligning.alignment import train_aligner
from aligntools.aligning.alignments import Alignments, AlignmentTally
from aligntools.aligning.settings import AlignerSettings, FilterSettings, PriorWeights
from aligntools.formats.inputs.sentences import Sentence
from aligntools.formats.links.pharaoh import Links
from aligntools.formats.text.exchange import UnitCopy
from aligntools.formats.text.raw_pairs import RawPairs
from aligntools.formats.text.text_settings import Reading
from aligntools.ground.declarations import Keywords, taking
from aligntools.ground.errors import UsageProblem
from aligntools.ground.run import Run
from aligntools.pipeline import Sinks
from aligntools.tools.text_work import TextWork, qualities
from aligntools.words.vocabulary import split_words

if TYPE_CHECKING:
    from aligntools.ground.keywords import FilteringKeywords

#: Log-probability per word that lowers a score by a factor of e.
SCALE = 8.0


def best_links(links: Links, probabilities: np.ndarray, lengths: np.ndarray) -> Iterator[np.ndarray]:
    """Yield by side the probability of each word's best link; links' probabilities, int64 [2, pairs] lengths."""
    sentence = links.sentences()
    for side in (0, 1):
        begins = np.concatenate([[0], np.cumsum(lengths[side])])
        best = np.zeros(int(begins[-1]))
        np.maximum.at(best, begins[sentence] + links.pairs[:, side], probabilities)
        yield best


def coverage(links: Links, probabilities: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """Return how far sentences are linked: the mean over the words of `best_links`, 0 without words, [2, pairs]."""
    found = np.zeros((2, len(links)))
    for side, best in enumerate(best_links(links, probabilities, lengths)):
        sums, ends = np.concatenate([[0.0], np.cumsum(best)]), np.cumsum(lengths[side])
        found[side] = (sums[ends] - sums[ends - lengths[side]]) / np.maximum(lengths[side], 1)
    return found


def scores(covered: np.ndarray, per_word: np.ndarray) -> np.ndarray:
    """Return a score of each pair, 0 to 1: the lower coverage times the lower probability per word, which is damped.

    covered, per_word [2, pairs]: See `coverage`; ln p of target and source given the other; NaN where there is none.
    """
    worse = np.nan_to_num(np.fmin(per_word[0], per_word[1]), nan=0.0)
    return np.asarray(covered.min(axis=0) * np.exp(np.minimum(worse, 0.0) / SCALE))


def copied(source: Sequence[str], target: Sequence[str]) -> float:
    """Return the share of the longer sentence's words that the other has too; words without letters are left out."""
    words = [[word for word in map(str.lower, side) if any(c.isalpha() for c in word)] for side in (source, target)]
    longer = max(map(len, words))
    return (Counter(words[0]) & Counter(words[1])).total() / longer if longer else 0.0


class PairQuality(NamedTuple):
    """How well a sentence pair fits together, and whether it passes a filter."""

    #: 0 to 1: the lower of the two coverages, times the lower log-probability per word, damped
    score: float
    #: how far the source words are linked: the mean of their best links' probabilities
    source_coverage: float
    #: the same of the target words
    target_coverage: float
    #: the lower of the two log-probabilities per word
    log_probability: float
    #: which part of the longer sentence's words stands in the other as it is
    copied: float
    #: why it does not pass: ``unaligned``, ``score``, ``coverage``, ``probability``, ``copied``; empty if it does
    reason: str

    @property
    def kept(self) -> bool:
        """Whether it passes."""
        return not self.reason


def judged(
    limits: FilterSettings, block: Alignments, sources: Sequence[str], targets: Sequence[str]
) -> list[PairQuality]:
    """Return the quality of each pair of a block that was aligned by `qualities`, and why it fails."""
    covered = coverage(block.table, block.probabilities, block.lengths)
    per_word = block.scores[:, 2:].T
    figures = np.stack([scores(covered, per_word), *covered, np.fmin(*per_word)]).T.tolist()
    least, found = limits.min_probability, []
    for row, n, source, target in zip(figures, block.lengths[0].tolist(), sources, targets, strict=True):
        same = copied(split_words(source), split_words(target)) if n else 0.0
        score, first, second, probability = row
        reasons = {
            "unaligned": not n,
            "copied": same > limits.max_copied,
            "score": score < limits.min_score,
            "coverage": min(first, second) < limits.min_coverage,
            "probability": least is not None and probability < least,
        }
        reason = next((reason for reason, there in reasons.items() if there), "")
        found.append(PairQuality(score, first, second, probability, same, reason))
    return found


@taking(FilterSettings)
def filter_pairs(
    sources: Sequence[Sentence],
    targets: Sequence[Sentence],
    limits: FilterSettings | None = None,
    *,
    model: Aligner | None = None,
    **options: "Unpack[FilteringKeywords]",
) -> list[PairQuality]:
    """Judge sentence pairs by how well their words align: one `PairQuality` for each pair.

    Parameters
    ----------
    sources, targets : sequences of str or of lists of str
        As many of each.
    model : Aligner or None
        What is known of the languages; None trains on these pairs themselves, which takes some thousands of them.
    limits : FilterSettings or None
        The limits below, whole.
    **options

    The keywords of `train_aligner` go to training, where there is no ``model``.

    Returns
    -------
    list of PairQuality

    Raises
    ------
    DataError
        When there are not as many sentences of each.
    UsageProblem
        When a limit is out of its range.

    Examples
    --------
    >>> import aligntools as at
    >>> text = at.read_bitext("data/samples/de-en.txt")
    >>> model = at.train_aligner(text)
    >>> good = "Der Zug fährt um acht Uhr ab .", "The train leaves at eight o'clock ."
    >>> bad = "Der Zug fährt um acht Uhr ab .", "Yesterday I bought a new bicycle ."
    >>> [pair.kept for pair in at.filter_pairs(*zip(good, bad), model=model)]
    [True, False]
    """
    given = Keywords("filter_pairs", options)
    limits = given.take(FilterSettings, limits).checked()
    model, _, run = model_for(given, sources, targets, model)
    lines = [[s if isinstance(s, str) else " ".join(s) for s in side] for side in (sources, targets)]
    found: list[PairQuality] = []
    for block in qualities(model, *lines, run=run):
        here = slice(len(found), len(found) + len(block))
        found += judged(limits, block, lines[0][here], lines[1][here])
    return found


def model_for(
    given: Keywords, sources: Sequence[Sentence], targets: Sequence[Sentence], model: Aligner | None
) -> tuple[Aligner, Reading, Run]:
    """Return a model, which is trained on pairs where there is none, and how they are read; end the options."""
    settings, weights = given.take(AlignerSettings), given.take(PriorWeights)
    reading, run = given.take(Reading), given.take(Run)
    given.end()
    check_loaded(model)
    if model is None:
        model = train_aligner(sources, targets, settings, weights=weights, reading=reading, run=run)
    return model, reading, run


#: Tabs and carriage returns, which cannot stand within a field, as spaces.
_PLAIN = bytes.maketrans(b"\t\r", b"  ")
#: Files of `formats.text.exchange` whose units are written as they stand. A unit of XLIFF may not be without segments.
_WRITTEN_BACK = ("TMX", "table")


def filter_files(
    work: TextWork,
    limits: FilterSettings,
    output: str | None = None,
    *,
    everything: bool = False,
    rejected: str | None = None,
    source_output: str | None = None,
    target_output: str | None = None,
    scores: str | None = None,
) -> None:
    """Judge all pairs of a text, in order, by a saved model or by one that is trained on it, and write them.

    output: The pairs that pass, both sides on a line, or ``everything`` as rows, as ``rejected`` has the others. None:
        standard output, unless their sides are written.
    """
    work.check()
    sides = [source_output is not None, target_output is not None]
    if any(sides) and not all(sides):
        raise UsageProblem("give both `source_output` and `target_output`")
    if all(sides) and (everything or output is not None):
        raise UsageProblem(
            "pairs that pass are written to `output` or to `source_output` and `target_output`, not to both"
        )
    output = output or (None if source_output else "-")
    names = {"output": output, "rejected": rejected, "scores": scores, "source": source_output, "target": target_output}
    sinks = Sinks(exact=("output", "rejected"), **names)  # which may be copies

    def copied(raw: RawPairs) -> UnitCopy | None:
        """Return what has the units as they stand, where they are written so."""
        return raw.copy if raw.kind in _WRITTEN_BACK and output and not everything else None

    limits, tally, watch, reasons = limits.checked(), AlignmentTally(), work.watch, Counter[str]()
    with work.opened(copies=True) as text, sinks, watch.stage("filtering"):
        for block in text.aligned()[1]:
            lines = text.raw.read(len(block))
            source, target = ([line.decode("utf-8", "replace") for line in side] for side in lines)
            found = judged(limits, block, source, target)
            rows = _rows(found, lines, tally.pairs, everything, text.raw.format in (None, "tsv"))
            if (copy := copied(text.raw)) is not None:
                rows["output"] = copy.take([quality.kept for quality in found])
            elif text.raw.copy is not None and text.raw.kind:
                text.raw.copy.skip(len(found))
            sinks.write(rows, flush=False)
            reasons.update(quality.reason for quality in found)
            tally.add(block)
            watch.tell(f"filtering: {tally.pairs} pairs")
        if (copy := copied(text.raw)) is not None:
            sinks.write({"output": copy.rest()})  # what stands behind the last unit
    watch.close()
    if unread := tally.skipped.summary():
        watch.say(f"rejected unaligned: {unread}")
    why = ", ".join(f"{reasons[r]} {r}" for r in sorted(reasons) if r)
    rejected_pairs = reasons.total() - reasons[""]
    told = f"{reasons['']} of {reasons.total()} pairs kept, {rejected_pairs} rejected"
    watch.say(told + (f" ({why})" if why else ""))


def _rows(
    found: Sequence[PairQuality], sides: Sequence[Sequence[bytes]], before: int, everything: bool, tabbed: bool
) -> dict[str, bytes]:
    """Return the lines of pairs, after those ``before``, for each output; with a tab or bars between their sides."""
    rows: dict[str, list[bytes]] = {name: [] for name in ("output", "rejected", "scores", "source", "target")}
    for number, (quality, source, target) in enumerate(zip(found, *sides, strict=True), before + 1):
        reason = quality.reason.encode()
        figures = "\t".join(f"{x:.6g}" for x in quality[:-1]).encode()
        rows["scores"].append(figures + b"\t" + reason)
        plain = source.translate(_PLAIN), target.translate(_PLAIN)
        row = b"\t".join([b"%d" % number, reason or b"kept", b"%.4f" % quality.score, *plain])
        if everything:
            rows["output"].append(row)
        elif quality.kept:
            rows["output"].append(b"\t".join(plain) if tabbed else source + b" ||| " + target)
        if quality.kept:
            rows["source"].append(source)
            rows["target"].append(target)
        else:
            rows["rejected"].append(row)
    return {name: b"".join(line + b"\n" for line in lines) for name, lines in rows.items()}
