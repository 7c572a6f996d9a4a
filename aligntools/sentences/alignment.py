"""Two documents aligned: rounds of anchors, band, path and lexicon; then sections that stand elsewhere."""

import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeAlias

import numpy as np

from aligntools.ground.parallel import Pool
from aligntools.sentences import band as bands
from aligntools.sentences import lexicon as lexicons
from aligntools.sentences import vectors
from aligntools.sentences.lexicon import GroupLexicon, WordEntries
from aligntools.sentences.model import WITH_VECTORS, WITHOUT, Model, SentenceSides, best_path
from aligntools.sentences.text import Text

_log = logging.getLogger("aligntools")
#: Rounds of learning a lexicon from the groups and finding groups by it.
ROUNDS = 3
#: Vectors whose anchors are believed so far or more count in full, below proportionally.
TRUSTED = 0.3
#: A section that stands elsewhere has so many anchors at least, one after the other within this distance, and scores so
#: much better than its sentences do alone.
FEWEST, STEP, SURE = 3, 8, 12.0
#: Groups that are less probable are given up for such a section, and it goes so far beyond its anchors at most.
DOUBTED, BEYOND = 0.5, 100
#: Odds of a group are taken to one by this: evidence is weighed for the best groups, which makes it too sure of them.
#: Chosen for the likelihood of what is right on the documents of `bench/sentences.py`.
SURER = 1.5
#: Nodes of a band where nothing but lengths is known.
_NODES_OF_LENGTHS = 12_000_000


#: Groups, the probability of each and whether it is part of a section that stands elsewhere; see `align`.
Groups: TypeAlias = tuple[np.ndarray, np.ndarray, np.ndarray]
#: Vectors of sentences, their anchors (int64 [anchors, 2]), and how far these are believed.
_Near: TypeAlias = tuple[SentenceSides, np.ndarray, float]


def _paired(groups: np.ndarray) -> np.ndarray:
    """Return whether groups have both sides (bool [groups])."""
    return np.asarray((groups[:, 1] > groups[:, 0]) & (groups[:, 3] > groups[:, 2]))


def align(
    source: Text,
    target: Text,
    *,
    kinds: np.ndarray,
    encoded: Sequence[tuple[np.ndarray, np.ndarray]] | None = None,
    known: Sequence[WordEntries] = (),
    places: np.ndarray | None = None,
    moved: bool = True,
    pool: Pool,
    report: Callable[[str], None] = lambda text: None,
) -> tuple[Groups, float]:
    """Return the groups of two documents, and how far these look like translations of each other, 0 to 1.

    kinds: See `model.kinds_of`; encoded: vectors of both sides (`vectors.encode`); known: pairs of words known
        beforehand.
    places (int64 [places, 2]): Sentences that are pairs, and in no group with others by their costs.
    Returns groups (int64 [groups, 4]: first and last + 1 source sentence, first and last + 1 target sentence; by
        source sentence, each sentence in one), chances (float64 [groups]), moved (bool [groups]).
    """
    n, m = len(source), len(target)
    start = [lexicons.look_alikes(source, target), *known]
    near = None
    if encoded is not None:
        (x, y), words = zip(*encoded, strict=True)
        near = _neighbours(x, y, (source, target), pool)
        if near is not None:
            start.append(vectors.near_words(source, target, words, pool))
    entries = lexicons.joined(start, len(target.words))
    lexicon = lexicons.learn(source, target, np.empty((0, 4), np.int64), np.empty(0), entries)
    model = Model(source, target, kinds, WITHOUT)
    if near is not None:
        sides, _, trust = near
        model = replace(model, constants=WITH_VECTORS, sides=sides, trust=trust)
    groups, chances, anchors, belief = None, np.empty(0), np.empty((0, 2), np.int64), 0.0
    for number in range(ROUNDS):
        anchors, chain, belief = _anchors(source, target, lexicon, near)
        report(f"round {number + 1}: {len(chain)} anchors")
        unknown = groups is None and len(chain) < 3 and near is None
        if unknown:  # by lengths alone, in a wide band
            model = replace(model, lexicon=None)
            band = bands.around(chain[:0], n, m, _NODES_OF_LENGTHS)
        else:
            model = replace(model, lexicon=lexicon)
            if groups is not None and len(chain) < max(3, min(n, m) // 20):  # few: around the path found before
                chain = groups[_paired(groups)][:, [0, 2]]
            band = bands.around(chain, n, m)
        if places is not None and len(places):
            band = bands.forced(band, places, m)
        before = groups
        groups, chances, _ = best_path(model, band)
        if before is not None and not unknown and np.array_equal(before, groups):
            break
        if number + 1 < ROUNDS:
            lexicon = lexicons.learn(source, target, groups, chances, entries)
    assert groups is not None
    elsewhere = np.zeros(len(groups), bool)
    if moved and not (places is not None and len(places)):
        groups, chances, elsewhere = _with_moved(model, (groups, chances, elsewhere), anchors)
    odds = np.log(np.maximum(chances, 1e-9)) - np.log(np.maximum(1.0 - chances, 1e-9))
    return (groups, 1.0 / (1.0 + np.exp(-odds / SURER)), elsewhere), belief


def _neighbours(x: np.ndarray, y: np.ndarray, texts: Sequence[Text], pool: Pool) -> _Near | None:
    """Return what vectors of sentences (float32 [sentences, width]) say; None where they are not believed."""
    best, margin, usual = vectors.nearest(x, y, pool)
    back, back_margin, back_usual = vectors.nearest(y, x, pool)
    anchors = bands.mutual(best, back, (margin > 0) & x.any(1), (back_margin > 0) & y.any(1))
    trust = bands.belief(anchors, bands.chain(anchors))
    if trust <= 0:
        return None
    worth = [np.sqrt(np.maximum(text.side.lengths(), 1)) for text in texts]
    worth = [own / own.mean() if len(own) else own for own in worth]
    weighted = [own * by[:, None].astype(np.float32) for own, by in zip((x, y), worth, strict=True)]
    return (weighted, [usual, back_usual], worth), anchors, min(1.0, trust / TRUSTED)


def _anchors(
    source: Text, target: Text, lexicon: GroupLexicon, near: _Near | None
) -> tuple[np.ndarray, np.ndarray, float]:
    """Return the anchors of words and of vectors, their chain, and how far it is believed."""
    found = bands.lexical_anchors(source, target, lexicon)
    belief = bands.belief(found, bands.chain(found))
    if near is not None:
        _, anchors, trust = near
        belief = max(belief, trust)
        twice = np.concatenate([anchors, found])  # where both have a sentence, vectors have the word
        twice = twice[np.unique(twice[:, 0], return_index=True)[1]]
        found = twice[np.sort(np.unique(twice[:, 1], return_index=True)[1])]
    kept = bands.supported(found, max(len(source), len(target)))
    return kept, bands.chain(kept), belief


def _with_moved(model: Model, found: Groups, anchors: np.ndarray) -> Groups:
    """Return the groups with sections that stand elsewhere: anchors among sentences that are alone, in a row."""
    g, g_chances, _ = found
    loose = ~_paired(g) | (g_chances < DOUBTED)
    free = [np.zeros(len(text), bool) for text in (model.source, model.target)]
    for row in g[loose]:
        free[0][row[0] : row[1]] = True
        free[1][row[2] : row[3]] = True
    sections = []
    for block in _blocks(_free(anchors, free)):
        block = _free(block, free)
        if len(block) < FEWEST:
            continue
        rows, columns = (_widened(free[side], block[0, side], block[-1, side]) for side in (0, 1))
        part = model.part(rows, columns)
        n, m = len(part.source), len(part.target)
        own, chances, total = best_path(part, bands.around(bands.chain(block - [rows.start, columns.start]), n, m))
        own += np.array((rows.start, rows.start, columns.start, columns.start))
        both = _paired(own)
        both &= [free[0][a:b].all() and free[1][c:d].all() for a, b, c, d in own.tolist()]  # others are between anchors
        if both.sum() >= FEWEST and total >= SURE:
            sections.append((own[both], chances[both]))
            for row in own[both]:
                free[0][row[0] : row[1]] = False
                free[1][row[2] : row[3]] = False
    if not sections:
        return found
    more, chances = (np.concatenate(parts) for parts in zip(*sections, strict=True))
    left, left_chances, before = list[np.ndarray](), list[float](), list[int]()
    for row, chance, is_loose in zip(g, g_chances.tolist(), loose.tolist(), strict=True):
        own = row[None]
        if is_loose and not (free[0][row[0] : row[1]].all() and free[1][row[2] : row[3]].all()):
            own = np.array(
                [(k, k + 1, row[2], row[2]) for k in range(row[0], row[1]) if free[0][k]]
                + [(row[0], row[0], k, k + 1) for k in range(row[2], row[3]) if free[1][k]],
                np.int64,
            ).reshape(-1, 4)
            chance = 1.0 - chance if row[1] > row[0] and row[3] > row[2] else chance
        left.extend(own)
        left_chances += [chance] * len(own)
        before += [int(row[0])] * len(own)
    groups = np.concatenate([np.array(left, np.int64).reshape(-1, 4), more])
    sources = np.concatenate([np.array(before, np.int64), more[:, 0]])  # the source sentences that they stood at
    alone = groups[:, 0] == groups[:, 1]  # target sentences alone stay behind what they stood behind
    order = np.lexsort((groups[:, 2], ~alone, sources))
    moved = np.arange(len(groups)) >= len(left)
    return groups[order], np.concatenate([left_chances, chances])[order], moved[order]


def _free(anchors: np.ndarray, free: Sequence[np.ndarray]) -> np.ndarray:
    """Return the anchors both of whose sentences are free."""
    return anchors[free[0][anchors[:, 0]] & free[1][anchors[:, 1]]] if len(anchors) else anchors


def _blocks(anchors: np.ndarray) -> list[np.ndarray]:
    """Return runs of at least FEWEST anchors without a jump, the longest first."""
    blocks: list[np.ndarray] = []
    while len(anchors) >= FEWEST:
        taken = [0]
        for n in range(1, len(anchors)):
            step = anchors[n] - anchors[taken[-1]]
            if 0 < step[0] <= STEP and 0 < step[1] <= STEP:
                taken.append(n)
        if len(taken) >= FEWEST:
            blocks.append(anchors[taken])
        anchors = np.delete(anchors, taken, 0)
    return sorted(blocks, key=len, reverse=True)


def _widened(free: np.ndarray, first: int, last: int) -> slice:
    """Return the sentences around ``first..last`` that are free, not too many on either side."""
    begin, end = int(first), int(last) + 1
    while begin > 0 and free[begin - 1] and first - begin < BEYOND:
        begin -= 1
    while end < len(free) and free[end] and end - last <= BEYOND:
        end += 1
    return slice(begin, end)
