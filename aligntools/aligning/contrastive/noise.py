"""Corrupted copies of sentence pairs (negative examples): noise, as section 3 of Liu & Sun (2015) has it."""

import dataclasses
from collections.abc import Sequence

import numpy as np

from aligntools.aligning.contrastive.settings import noise_shares
from aligntools.formats.text.corpus import Bitext


def pick(bitext: Bitext, sentences: np.ndarray) -> Bitext:
    """Return the text of some sentences (int [n]) alone, in that order; vocabularies are shared."""
    sides = {}
    for name in ("source", "target"):
        side = getattr(bitext, name)
        lengths = side.lengths()[sentences]
        offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        places = np.repeat(side.offsets[:-1][sentences] - offsets[:-1], lengths) + np.arange(offsets[-1])
        sides[name] = dataclasses.replace(side, tokens=side.tokens[places], offsets=offsets)
    return dataclasses.replace(bitext, **sides)


def noisy(bitext: Bitext, kind: str, seed: int, numbers: Sequence[int] | np.ndarray | None = None) -> Bitext:
    """Return a text with every sentence pair corrupted.

    kind: One of `settings.NOISE`, or several with shares, as `settings.noise_shares` takes them: each pair is corrupted
        in one of these ways, drawn at random, on both sides. A new word is drawn from the words of the vocabulary, each
        as likely as the next, as the authors' program does. The last word of a side is never left out.
    numbers (int [sentences] or None): Numbers of the sentence pairs in the whole text, so that each is corrupted alike
        in whatever part it comes; None: from 0 on.
    Returns as many sentences. A side of one word that is shuffled, or whose word would be left out, stays as it is.
    """
    numbers = np.arange(len(bitext)) if numbers is None else numbers
    kinds = _kinds(kind, seed, numbers)
    sides = {}
    for number, name in enumerate(("source", "target")):
        side, vocabulary = getattr(bitext, name), getattr(bitext, f"{name}_vocabulary")
        rows = [side.tokens[a:b] for a, b in zip(side.offsets[:-1], side.offsets[1:], strict=True)]
        rows = [
            _corrupt(row, one, len(vocabulary), np.random.default_rng([seed, int(n), number]))
            for row, one, n in zip(rows, kinds, numbers, strict=True)
        ]
        offsets = np.concatenate([[0], np.cumsum([len(row) for row in rows])]).astype(np.int64)
        tokens = np.concatenate([np.empty(0, np.int32), *rows]).astype(np.int32)
        sides[name] = dataclasses.replace(side, tokens=tokens, offsets=offsets)
    return dataclasses.replace(bitext, **sides)


def _kinds(text: str, seed: int, numbers: Sequence[int] | np.ndarray) -> list[str]:
    """Return how each sentence pair is corrupted."""
    shares = noise_shares(text)
    kinds, bounds = list(shares), np.cumsum(list(shares.values()))[:-1]
    if len(kinds) == 1:
        return kinds * len(numbers)
    drawn = (np.random.default_rng([seed, int(n), 2]).random() for n in numbers)
    return [kinds[int(np.searchsorted(bounds, x, side="right"))] for x in drawn]


def _corrupt(row: np.ndarray, kind: str, words: int, rng: np.random.Generator) -> np.ndarray:
    n = len(row)
    if n == 0:
        return row
    if kind == "shuffle":
        return row[rng.permutation(n)]
    if kind == "delete":
        return np.delete(row, rng.integers(n)) if n > 1 else row
    word = np.int32(rng.integers(1, words)) if words > 1 else row[0]
    if kind == "insert":
        return np.insert(row, rng.integers(n + 1), word)
    if kind == "replace":
        row = row.copy()
        row[rng.integers(n)] = word
        return row
    raise ValueError(f"no such noise: {kind}")


def has_changed(observed: Bitext, corrupted: Bitext) -> np.ndarray:
    """Return which sentence pairs differ from their noisy copies, bool [sentences].

    Pairs with one word on each side, or only equal words, do not change by shuffling; nothing is learned from them.
    """
    changed = np.zeros(len(observed), bool)
    for name in ("source", "target"):
        a, b = getattr(observed, name), getattr(corrupted, name)
        same = a.lengths() == b.lengths()
        changed |= ~same
        for k in np.flatnonzero(same):
            x, y = a.tokens[a.offsets[k] : a.offsets[k + 1]], b.tokens[b.offsets[k] : b.offsets[k + 1]]
            changed[k] |= not np.array_equal(x, y)
    return changed
