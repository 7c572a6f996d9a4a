"""Links by a model that was adapted to new text, mixed with those by the model before it, which knows other text.

The model of the new text learned from few pairs, that before it knows words that other text has. How far each decides
on a sentence pair depends on the words of the pair that it knows, and on how much text it has seen.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from aligntools.aligning.alignments import Alignments
from aligntools.aligning.applying.applier import Posteriors, posteriors_of
from aligntools.aligning.applying.decisions import align_text, links_from
from aligntools.aligning.model import AlignmentModel
from aligntools.aligning.settings import Decisions
from aligntools.aligning.text.link_matrices import plan_chunks
from aligntools.formats.links.given_links import GivenLinks
from aligntools.formats.text.corpus import Bitext, Skipped, compacted, in_ids_of, parts_of
from aligntools.ground.parallel import Pool
from aligntools.words.vocabulary import Vocabulary

if TYPE_CHECKING:
    from aligntools.aligning.contrastive.candidate_links import CandidateLinks
    from aligntools.aligning.contrastive.weights import Weights

#: Powers of how many words models have seen, and of which share of a pair's words each knows, in the odds between them.
SEEN, KNOWN = 0.7, 15.0
#: Every model knows at least this share.
LEAST = 1e-3
#: Log-odds of a link that a network did not judge.
UNLIKELY = -6.0
#: Sentence pairs that are mixed at a time.
PAIRS = 1_000


#: An `aligner.Aligner`, whose module imports this one.
Adapted: TypeAlias = Any


def text_before(text: Bitext, before: AlignmentModel) -> Bitext:
    """Return a text in the ids of another model."""
    sides, vocabularies = [], []
    for side, vocabulary in ((text.source, text.source_vocabulary), (text.target, text.target_vocabulary)):
        used, tokens = compacted(side.tokens)  # of all the words a line has few
        sides.append(replace(side, tokens=(tokens + 1).astype(np.int32)))
        vocabularies.append(Vocabulary.from_words([vocabulary.word(word) for word in used.tolist()]))
    own = Bitext(sides[0], sides[1], vocabularies[0], vocabularies[1], Skipped())
    return in_ids_of(own, before.source_vocabulary, before.target_vocabulary, before.lowercase)


def shares(model: AlignmentModel, text: Bitext, older: Bitext) -> np.ndarray:
    """Return how far the model before decides on each pair, float64 [pairs], 0 to 1.

    text, older: The text in the model's ids, and in those of the model before.
    """
    before = model.before
    assert before is not None
    known = [_known_share(one, each) for one, each in ((model, text), (before, older))]
    odds = (words_of(before) / max(model.words, 1)) ** SEEN * (known[1] / known[0]) ** KNOWN
    found: np.ndarray = odds / (1.0 + odds)
    return found


def words_of(model: AlignmentModel) -> float:
    """Return how many words a model and those before it have seen; of one that was not adapted, twice its links."""
    if model.before is not None:
        return model.words + words_of(model.before)
    counts = model.views[0].counts
    return 1.0 + float(sum(one.sum(dtype=np.float64) for one in counts)) * 2 / len(counts)


def _known_share(model: AlignmentModel, text: Bitext) -> np.ndarray:
    """Return the share of each pair's words that a model or one before it knows, float64 [pairs]."""
    sides = zip((text.source, text.target), _known(model, text), strict=True)
    sums = [np.concatenate([[0], np.cumsum(known)])[side.offsets] for side, known in sides]
    known = np.diff(sums[0]) + np.diff(sums[1])
    words = np.maximum(text.source.lengths() + text.target.lengths(), 1)
    share: np.ndarray = np.maximum(known / words, LEAST)
    return share


def _known(model: AlignmentModel, text: Bitext) -> list[np.ndarray]:
    found = [side.tokens < size for side, size in zip((text.source, text.target), model.sizes, strict=True)]
    if model.before is not None:
        older = _known(model.before, text_before(text, model.before))
        found = [one | other for one, other in zip(found, older, strict=True)]
    return found


def whole(text: Bitext, runs: Iterable[Posteriors]) -> Posteriors:
    """Join copies of the posteriors of all runs of a text that is not empty."""
    forward, reverse, logs = [], [], []
    for one in runs:
        n = int(one.cell_offsets[-1])
        forward.append(one.forward[:n].copy())
        reverse.append(one.reverse[:n].copy())
        logs.append(one.log_likelihood)
    (chunk,) = plan_chunks(text.source.lengths(), text.target.lengths(), 1 << 62)
    return posteriors_of(text, chunk, np.concatenate(forward), np.concatenate(reverse), np.concatenate(logs, axis=1))


def mixed(own: Posteriors, before: Posteriors, share: np.ndarray) -> Posteriors:
    """Return posteriors of which the model before has a share (float64 [pairs]); likelihoods are the newer model's."""
    each = np.repeat(share, np.diff(own.cell_offsets)).astype(np.float32)
    forward, reverse = (a + each * (b - a) for a, b in ((own.forward, before.forward), (own.reverse, before.reverse)))
    return replace(own, forward=forward, reverse=reverse)


def align_by_both(
    aligner: Adapted, text: Bitext, settings: "Decisions", pool: Pool, directions: bool = False
) -> Iterator[Alignments]:
    """Yield what `align_text` does, by an aligner whose model was adapted."""
    for part in parts_of(text, PAIRS):
        own, paths = aligner.own_applier, None
        if settings.decode == "viterbi":
            paths = [whole(part, own.posteriors(part, pool, True))]
        yield from align_text(own, part, settings, pool, directions, [_posteriors(aligner, part, pool)], paths)


def _posteriors(aligner: Adapted, text: Bitext, pool: Pool) -> Posteriors:
    own = whole(text, aligner.own_applier.posteriors(text, pool))
    if aligner.before is None:
        return own
    older = text_before(text, aligner.before.model)
    return mixed(own, _posteriors(aligner.before, older, pool), shares(aligner.model, text, older))


def judged_by_both(
    aligner: Adapted,
    text: Bitext,
    given: "Mapping[str, GivenLinks]",
    settings: "Decisions",
    pool: Pool,
    directions: bool = False,
) -> Iterator[Alignments]:
    """Yield what `contrastive.tasks.align` does, by an aligner whose model was adapted.

    given: Links of the text's words, by the kind of evidence that they are of.
    """
    from aligntools.aligning.contrastive import tasks

    begin, weights = 0, aligner.weights
    assert weights is not None
    for part in parts_of(text, PAIRS):
        end = begin + len(part)
        here = {name: one[begin:end] for name, one in given.items()}
        posteriors, candidates = _judged(aligner, part, here, settings.threshold, pool)
        found = tasks.chosen_links(candidates, *_both_columns(weights), weights, settings, pool)
        applier, paths = aligner.finder(pool).applier, None
        if directions and settings.decode == "viterbi":
            paths = whole(part, applier.posteriors(part, pool, True))
        yield links_from(settings, pool, directions, posteriors, **applier.deciding, paths=paths, found=found)
        begin = end


def _judged(
    aligner: Adapted, text: Bitext, given: "Mapping[str, GivenLinks]", threshold: float | None, pool: Pool
) -> "tuple[Posteriors, CandidateLinks]":
    """Return posteriors, and candidates with log-odds and a bias in two columns; see `_both_columns`."""
    from aligntools.aligning.contrastive import kernels_features as kf
    from aligntools.aligning.contrastive import tasks
    from aligntools.aligning.contrastive.candidate_links import concatenate
    from aligntools.aligning.contrastive.search import link_odds
    from aligntools.aligning.contrastive.weights import scale

    weights = aligner.weights
    assert weights is not None
    judge = tasks.Judge(aligner.finder(pool), weights, [given[name] for name in weights.knowers], threshold)
    found = []

    def runs() -> Iterator[Posteriors]:
        for posteriors, candidates in judge.find(text):
            found.append(candidates)
            yield posteriors

    own, candidates = whole(text, runs()), concatenate(found)
    values = np.where(judge.active, judge.values, 0.0)
    odds = link_odds(candidates, values)
    bias = candidates.local.astype(np.float64) @ values / scale(values, judge.active) - odds  # what else they count
    if aligner.before is None:
        return own, _with_odds(candidates, candidates.keys(), odds, bias)
    older = text_before(text, aligner.before.model)
    posteriors, others = _judged(aligner.before, older, given, threshold, pool)
    share = shares(aligner.model, text, older)
    keys = candidates.keys(), others.keys()
    every = np.unique(np.concatenate(keys))
    each = share[every >> 32]
    whole_odds, whole_bias = np.zeros(len(every)), np.zeros(len(every))
    for part, own_keys, one, more in (
        (1.0 - each, keys[0], odds, bias),
        (each, keys[1], others.local[:, kf.TREES], others.local[:, kf.LINKS]),
    ):
        full = np.full(len(every), UNLIKELY), np.zeros(len(every))
        at = np.searchsorted(every, own_keys)
        full[0][at], full[1][at] = one, more
        whole_odds += part * full[0]
        whole_bias += part * full[1]
    return mixed(own, posteriors, share), _with_odds(candidates, every, whole_odds, whole_bias)


def _with_odds(candidates: "CandidateLinks", keys: np.ndarray, odds: np.ndarray, bias: np.ndarray) -> "CandidateLinks":
    """Return candidates of the same sentences in the cells that keys name."""
    from aligntools.aligning.contrastive import kernels_features as kf
    from aligntools.aligning.contrastive.candidate_links import bare_candidates

    starts = np.searchsorted(keys, np.arange(len(candidates) + 1) << 32)
    rows, columns = ((keys >> 16) & 0xFFFF).astype(np.int32), (keys & 0xFFFF).astype(np.int32)
    found = bare_candidates(candidates.s_offsets, candidates.t_offsets, starts, rows, columns)
    found.local[:, kf.TREES], found.local[:, kf.LINKS] = odds, bias
    return found


def _both_columns(weights: "Weights") -> tuple[np.ndarray, np.ndarray]:
    """Return weights and which are active: the log-odds and the bias as they are, and how links go together."""
    from aligntools.aligning.contrastive import kernels_features as kf
    from aligntools.aligning.contrastive.features import ALL
    from aligntools.aligning.contrastive.weights import scale

    shape = np.array([one.group == "non-local" for one in ALL])
    values = np.where(shape & weights.active[: len(ALL)], weights.values[: len(ALL)], 0.0)
    values /= scale(weights.values, weights.active)
    values[[kf.TREES, kf.LINKS]] = 1.0
    return values, values != 0
