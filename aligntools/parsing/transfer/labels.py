"""Labels for parsers of target languages: what the source labeler says of the aligned edges, and learning from it."""

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from aligntools.ground.parallel import Pool
from aligntools.parsing import kernels_labels as kernels
from aligntools.parsing.features.space import EncodedSentences
from aligntools.parsing.labels import Edges, Labeler, Shares
from aligntools.parsing.learning.parts import InParts, KeptArray
from aligntools.parsing.learning.training import runs_of_edges
from aligntools.parsing.transfer.parts import TransferPairs, keep_pairs
from aligntools.store.stores import Kept, read_object, write_object
from aligntools.words.vocabulary import Vocabulary

#: Least probability of an edge, and of an edge with its label, to be learned from.
LEAST_EDGE, LEAST_LABEL = 0.05, 0.01
#: Weight of the target edge's tags against the aligned source edge, and what is added to each probability of both.
TARGET, LEAST = 0.7, 1e-6
#: Size of the steps of learning.
RATE = 0.03
#: Edges whose labels' probabilities are in memory at a time.
CHUNK = 200_000


def labeler_of(
    labelers: Sequence[Labeler | None],
    pairs: Sequence[TransferPairs],
    evidence: Sequence[np.ndarray | KeptArray],
    place: InParts | None,
) -> Labeler:
    """Return the target language's labeler: least cross-entropy with what source labelers say of likely edges.

    labelers: The source languages'; the pairs of those without teach no labels.
    pairs: Of each source language.
    evidence (sequence of float64 [target edges], or of int32 [target words]): Probabilities of edges, or heads.
    place: Where ``evidence`` is in files; the result is the same.
    """
    sides = [(by, own, given) for by, own, given in zip(labelers, pairs, evidence, strict=True) if by is not None]
    names = Vocabulary.from_bytes(list(dict.fromkeys(x for by, _, _ in sides for x in _names(by))))
    found = []
    for labeler, own, given in sides:
        if place is None:
            edges, shares = _learned_from(labeler, own, given)
        else:
            edges, shares = _from_parts(place, labeler, own, given)
        numbers = names.ids(_names(labeler)) - 1
        found.append((edges, Shares(shares.starts, numbers[shares.labels].astype(np.int32), shares.shares)))
    text = EncodedSentences.joined([own.own for _, own, _ in sides])
    edges, shares = _joined(found)
    return Labeler.fitted(text, edges, shares, names, rate=RATE)


def _names(labeler: Labeler) -> list[bytes]:
    """Return the labels that there are."""
    return [*labeler.labels.encoded()][1:]


def _joined(found: list[tuple[Edges, Shares]]) -> tuple[Edges, Shares]:
    """Return edges and shares of consecutive texts as those of all."""
    edges = [own for own, _ in found]
    before = np.cumsum([0, *map(len, edges)])
    starts = [np.zeros(1, np.int64), *(e.starts[1:] + n for e, n in zip(edges, before[:-1], strict=True))]
    ends = [
        np.concatenate([np.zeros(0, np.int32), *(getattr(e, end) for e in edges)]) for end in ("heads", "modifiers")
    ]
    return Edges(np.concatenate(starts), *ends), joined([shares for _, shares in found])


def _learned_from(labeler: Labeler, pairs: TransferPairs, evidence: Any) -> tuple[Edges, Shares]:
    """Return edges and the shares of their labels."""
    if evidence.dtype.kind == "f":
        edges, weights = probable_edges(pairs.own, evidence)
    else:
        edges, weights = Edges.of_trees(pairs.own.offsets, evidence), np.ones(len(evidence))
    return edges, shares_of(labeler, pairs, edges, weights)


def _from_parts(
    place: InParts, labeler: Labeler, pairs: TransferPairs, evidence: KeptArray | np.ndarray
) -> tuple[Edges, Shares]:
    """Do what `_learned_from` does by jobs."""
    store = place.store
    kept = Kept(store, *place.new_names("source-labeler", 1))
    write_object(store, kept.name, labeler)
    heads = None if isinstance(evidence, KeptArray) else evidence
    names = keep_pairs(place, pairs, heads, pairs.own)
    losses = evidence.names if isinstance(evidence, KeptArray) else names
    found = place.new_names("labels", len(names))
    place.run("labels", functools.partial(_learn_part, kept), list(zip(names, losses, found, strict=True)))
    parts = [read_object(store, name) for name in found]
    store.remove(kept.name, *names, *found)
    return _joined(parts)


def _learn_part(labeler: Kept, names: tuple[str, str, str], _pool: Pool) -> None:
    """Write the edges and shares of a part."""
    pairs, heads = read_object(labeler.store, names[0], shared=True)
    evidence = read_object(labeler.store, names[1], shared=True).expected if heads is None else heads
    write_object(labeler.store, names[2], _learned_from(labeler.get(), pairs, evidence))


def probable_edges(sentences: EncodedSentences, expected: np.ndarray) -> tuple[Edges, np.ndarray]:
    """Return the edges that have a probability of `LEAST_EDGE`, and their probabilities [shape=(edges,)].

    expected (float64 [edges]): Probabilities of all edges; see `inference`.
    """
    places = np.flatnonzero(expected >= LEAST_EDGE)
    sentence = np.searchsorted(sentences.edges, places, side="right") - 1
    modifiers, heads = np.divmod(places - sentences.edges[sentence], sentences.lengths[sentence] + 1)
    starts = np.searchsorted(places, sentences.edges)
    return Edges(starts, heads.astype(np.int32), (modifiers + 1).astype(np.int32)), expected[places]


def shares_of(labeler: Labeler, pairs: TransferPairs, edges: Edges, weights: np.ndarray) -> Shares:
    """Return what the source labeler says of the labels of target edges.

    labeler: Of the source language.
    edges: Of the target side.
    weights (float64 [edges]): What each of them counts.
    Returns what the labeler says of the target edge by tags alone; where both its ends are aligned (the root is, with
    the root), the geometric mean of that, `TARGET` times, and of what it says of the source edge. Of that, what counts
    less than `LEAST_LABEL` is left out.
    """
    parts = []
    for begin, end in runs_of_edges(edges.starts, CHUNK):
        a, b = edges.starts[[begin, end]]
        own = Edges(edges.starts[begin : end + 1] - a, edges.heads[a:b], edges.modifiers[a:b])
        parts.append(_sparse(_distributions(labeler, pairs.part(begin, end), own) * weights[a:b, None]))
    return joined(parts)


def _distributions(labeler: Labeler, pairs: TransferPairs, edges: Edges) -> np.ndarray:
    """Return the probabilities of the labels of target edges, float32 [edges, labels]."""
    sentence = np.repeat(np.arange(len(pairs.target)), np.diff(edges.starts))
    words = (pairs.target.offsets - pairs.target.offsets[0])[sentence]
    modifiers, heads = pairs.aligned[words + edges.modifiers - 1] + 1, edges.heads.copy()
    inner = heads > 0
    heads[inner] = pairs.aligned[words[inner] + heads[inner] - 1] + 1
    both = (modifiers > 0) & ((heads > 0) | ~inner) & (heads != modifiers)
    starts = np.concatenate([[0], np.cumsum(np.bincount(sentence[both], minlength=len(pairs.source)))])
    theirs = labeler.distributions(pairs.source, Edges(starts.astype(np.int64), heads[both], modifiers[both]))
    found = labeler.without_words().distributions(pairs.target, edges)
    means = found[both]
    kernels.blend(theirs, TARGET, LEAST, means)
    found[both] = means
    return found


def _sparse(dense: np.ndarray) -> Shares:
    """Return the labels that count something."""
    counts = np.count_nonzero(dense >= LEAST_LABEL, axis=1)
    rows, labels = np.nonzero(dense >= LEAST_LABEL)
    starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    return Shares(starts, labels.astype(np.int32), dense[rows, labels].astype(np.float32))


def joined(parts: list[Shares]) -> Shares:
    """Return the shares of consecutive edges as those of all."""
    ends = np.cumsum([0, *(len(part.labels) for part in parts)])
    starts = [np.zeros(1, np.int64), *(part.starts[1:] + end for part, end in zip(parts, ends[:-1], strict=True))]
    labels = np.concatenate([np.zeros(0, np.int32), *(part.labels for part in parts)])
    shares = np.concatenate([np.zeros(0, np.float32), *(part.shares for part in parts)])
    return Shares(np.concatenate(starts), labels, shares)
