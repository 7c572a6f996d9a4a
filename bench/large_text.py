"""A large text made of a small one: copied with noise, its vocabulary growing as that of real text does.

The text comes first as it is, so that its gold links are those of the first lines. Each copy after it has its pairs in
another order, some words dropped, swapped or replaced by others of about the same frequency, and a share of the words,
rare ones rather than frequent ones, under names of its own: the same new name wherever the word occurs in the copy, on
both sides where the word is the same on both, so that translations stay what they are. How many get one follows
Heaps' law, with the exponent of the small text.
"""

import dataclasses
import json
import time
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from bench import code, measuring, report, texts

#: Share of words dropped, replaced and swapped.
RATES = (0.01, 0.005, 0.01)
#: Every so many of the pairs is counted to find the exponent.
STRIDES = (32, 16, 8, 4, 2, 1)
BLOCK = 1 << 24  # bytes
_VOWELS, _CONSONANTS = "aeiou", "bdfgklmnprstvz"


def run(o):
    if not o.data:
        raise SystemExit("large_text needs text: --data DIR")
    base = base_text(o.data, o.set, o.work, o.first)
    made = make(base, o.pairs, o.work, o.seed, o.output)
    return "\n\n".join([describe(base, made), report.circumstances()])


@dataclasses.dataclass(frozen=True)
class Made:
    """A made text.

    Attributes
    ----------
    path : Path
        Joint file; the first pairs are those of the text it was made of.
    n_pairs : int
    growth : list of (pairs, source words, their types, target words, their types)
    exponents : two of (of the text copied, of the whole)
        Heaps' exponent of each side.
    seconds : float
    """

    path: Path
    n_pairs: int
    growth: list
    exponents: list
    seconds: float


def base_text(data, name, work, first=None):
    """Return a text, or its first pairs, with its gold links."""
    whole = texts.text(data, name, work)
    if not first or first >= whole.n_pairs:
        return whole
    return dataclasses.replace(texts.beginning(whole, first, work), gold=whole.gold, n_gold=whole.n_gold)


def make(base, n_pairs, work, seed=1, path=None) -> Made:
    """Write a text of so many pairs, where it is not there already; memory does not depend on how many."""
    path = path or texts.folder(work) / f"{base.name}.made-{n_pairs}-{seed}.joint.zst"
    facts = path.with_name(path.name + ".json")
    key = [base.name, base.n_pairs, n_pairs, seed, code.of(_write)]
    if path.exists() and facts.exists():
        known = json.loads(facts.read_text())
        if known.pop("key") == key:
            return Made(path, **known)
    began = time.perf_counter()
    unfinished = path.with_name(path.name + ".part")
    with _writing(unfinished, path.suffix) as write:
        growth, exponents = _write(base, n_pairs, seed, write)
    unfinished.rename(path)
    found = {"n_pairs": n_pairs, "growth": growth, "exponents": exponents, "seconds": time.perf_counter() - began}
    facts.write_text(json.dumps({"key": key, **found}))
    return Made(path, **found)


@contextmanager
def _writing(path, suffix):
    """Open a file, compressed where its name will end so; yield what writes bytes."""
    with open(path, "wb") as file:
        if suffix != ".zst":
            yield file.write
            return
        import zstandard

        with zstandard.ZstdCompressor(level=1).stream_writer(file, closefd=False) as packed:
            yield packed.write


class _Side:
    """A side of the text that is copied, and what is known of its words."""

    def __init__(self, side, vocabulary):
        from bench import kernels_large_text as kernels

        self.tokens, self.offsets = side.tokens, side.offsets
        n = len(vocabulary)
        self.counts = np.bincount(self.tokens, minlength=n)
        ranked = 1 + np.argsort(-self.counts[1:], kind="stable").astype(np.int32)
        ranks = np.zeros(n, np.int32)
        ranks[ranked] = np.arange(n - 1, dtype=np.int32)
        hashes, kinds = np.zeros(n, np.uint64), np.zeros(n, np.uint8)
        kernels.hash_words(vocabulary.blob, vocabulary.starts, hashes)
        kernels.kinds_of(vocabulary.blob, vocabulary.starts, kinds)
        self.words = kernels.Words(vocabulary.blob, vocabulary.starts, ranks, ranked, hashes, kinds)
        self.longest = int(np.diff(vocabulary.starts).max())
        self.types = int((self.counts[1:] > 0).sum())
        self.exponent = _heaps(*_sampled(side))
        self.seen = (self.counts > 0).astype(np.uint8)

    def copy(self, number):
        """Return what a copy does to this side."""
        from bench import kernels_large_text as kernels

        new = self.types * ((number + 1) ** self.exponent - number**self.exponent)
        letters, digits = (np.frombuffer(s.encode(), np.uint8) for s in (_name(number), str(number)))
        renamed = self._probable(new)
        return kernels.Copy(renamed, letters, digits, self.seen, np.zeros(len(self.seen), np.uint8))

    def _probable(self, new):
        """Return with what probability each word is renamed: by its rarity, so many in all."""
        free = self.words.kinds > 0
        inverse = np.where(free & (self.counts > 0), 1 / np.maximum(self.counts, 1), 0)
        low, high = 0.0, float(self.counts.max())
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (middle, high) if np.minimum(1, middle * inverse).sum() < new else (low, middle)
        return np.minimum(1, high * inverse).astype(np.float32)


def _sampled(side):
    """Return the words and types of the whole and of every so many of its sentences: their order does not matter."""
    sentences = np.repeat(np.arange(len(side)), side.lengths())
    found = []
    for stride in STRIDES:
        chosen = side.tokens[sentences % stride == 0]
        found.append((len(chosen), len(np.unique(chosen))))
    return zip(*found, strict=True)


def _heaps(tokens, types):
    """Return the exponent of Heaps' law, by least squares on logarithms."""
    return float(np.polyfit(np.log(np.asarray(tokens, float)), np.log(np.asarray(types, float)), 1)[0])


def _name(number):
    """Return letters that stand for a number, and can be spoken."""
    text = ""
    while number:
        number, syllable = divmod(number, len(_VOWELS) * len(_CONSONANTS))
        text += _CONSONANTS[syllable // len(_VOWELS)] + _VOWELS[syllable % len(_VOWELS)]
    return text


def _mixed(*numbers):
    """Return a random key of some numbers."""
    return np.random.SeedSequence(numbers).generate_state(2, np.uint64)


def _write(base, n_pairs, seed, write):
    """Write the text as it is, then copies; return how the vocabulary grew, and Heaps' exponents."""
    from aligntools.formats.text.bitext import read_bitext
    from bench import kernels_large_text as kernels

    with open(base.joint, "rb") as file:
        left = min(n_pairs, base.n_pairs)
        for line in file:
            if not left:
                break
            write(line)
            left -= 1
    bitext = read_bitext(joint=str(base.joint))
    sides = _Side(bitext.source, bitext.source_vocabulary), _Side(bitext.target, bitext.target_vocabulary)
    n = len(bitext)
    if n != base.n_pairs or n_pairs < n:
        raise SystemExit(f"{base.name} has {n} pairs; a text of {n_pairs} cannot be made of it")
    names = max(len(_name(n_pairs // max(1, n - base.n_gold) + 2)), 12)
    longest = max(side.longest for side in sides) + names + 1
    most = max(side.offsets[1:][i] - side.offsets[i] for side in sides for i in [np.diff(side.offsets).argmax()])
    out = np.empty(BLOCK + 16 + 2 * int(most) * longest, np.uint8)
    kept, done = np.zeros(int(most) + 1, np.int32), np.array([len(s.tokens) for s in sides], np.int64)
    types = [side.types for side in sides]
    lengths = [np.diff(side.offsets) for side in sides]
    usable = base.n_gold + np.flatnonzero((np.minimum(*lengths) > 0)[base.n_gold :])
    growth, written, number = [(n, int(done[0]), types[0], int(done[1]), types[1])], n, 0
    while written < n_pairs:
        number += 1
        rng = np.random.default_rng([seed, number])
        order = rng.permutation(usable)[: n_pairs - written]
        copies = [side.copy(number) for side in sides]
        at = 0
        while at < len(order):
            at, size = kernels.write_pairs(
                at, order, _mixed(seed, number), *((s.tokens, s.offsets) for s in sides), *(s.words for s in sides),
                *copies, np.array(RATES), longest, kept, out, done,
            )  # fmt: skip
            write(memoryview(out)[:size])
        written += len(order)
        types = [n + int(copy.seen_renamed.sum()) for n, copy in zip(types, copies, strict=True)]
        growth.append((written, int(done[0]), types[0], int(done[1]), types[1]))
        measuring.note(f"{base.name}: {written:,} of {n_pairs:,} pairs")
    exponents = [(sides[k].exponent, _heaps(*zip(*[g[1 + 2 * k : 3 + 2 * k] for g in growth], strict=True)))
                 if len(growth) > 1 else (sides[k].exponent, sides[k].exponent) for k in range(2)]  # fmt: skip
    return growth, exponents


def describe(base, made):
    """Return Markdown: how the vocabulary grew."""
    rows, last = [], 0
    for pairs, s_words, s_types, t_words, t_types in made.growth:
        if pairs >= 2 * last or pairs == made.n_pairs:
            rows.append(
                [f"{pairs:,}", f"{s_words / 1e6:,.1f}", f"{s_types:,}", f"{t_words / 1e6:,.1f}", f"{t_types:,}"]
            )
            last = pairs
    (s, s_all), (t, t_all) = made.exponents
    speed = f"{made.n_pairs / made.seconds / 1e3:,.0f} thousand pairs a second, {made.path.stat().st_size / 1e9:.2f} GB"
    return "\n\n".join(
        [
            f"{base.name}, {base.n_pairs:,} pairs, copied to {made.n_pairs:,} with noise ({RATES[0]:.1%} of the words"
            f" dropped, {RATES[1]:.1%} replaced, {RATES[2]:.1%} swapped) and with rare words renamed, each copy its own"
            f" ({speed} of {made.path.suffix[1:]}).",
            report.table(["pairs", "source words", "different", "target words", "different"], rows),
            "Words and different words in millions.",
            f"Heaps' exponent: source {s:.3f} in the text that was copied (by samples of its sentences), {s_all:.3f} in"
            f" the whole; target {t:.3f} and {t_all:.3f}.",
        ]
    )
