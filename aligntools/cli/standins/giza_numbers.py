"""Text in GIZA++'s numbers: what its plain2snt and snt2cooc write."""

from collections import Counter
from collections.abc import Sequence

import numpy as np

from aligntools.formats.opening import files
from aligntools.formats.text.bitext import read_side
from aligntools.formats.text.corpus import Side
from aligntools.formats.text.giza_trainings import FIRST, format_cooc, format_snt, format_vcb, read_snt
from aligntools.ground.errors import DataError


def number_texts(
    texts: Sequence[tuple[str, str]], weights: Sequence[float], vcb: Sequence[str], snt: Sequence[str]
) -> list[tuple[str, int, str, int]]:
    """Write vocabularies and sentence pairs of texts, as plain2snt does; return the pairs with a blank side, left out.

    weights: How often the pairs of each text count; 1 where there are fewer.
    vcb, snt: The files of vocabularies, and of sentence pairs in both directions.
    """
    counts: tuple[Counter[bytes], Counter[bytes]] = (Counter(), Counter())
    blocks: tuple[list[bytes], list[bytes]] = ([], [])
    left_out: list[tuple[str, int, str, int]] = []
    for k, names in enumerate(texts):
        sides = [_numbered(name, of) for name, of in zip(names, counts, strict=True)]
        if len(sides[0]) != len(sides[1]):
            problem = f"{len(sides[0])} lines, but {names[1]} has {len(sides[1])}"
            raise DataError(names[0], None, f"{problem}; they must have the same number of lines")
        lengths = np.stack([side.lengths() for side in sides])
        full = lengths.min(0) > 0
        left_out += [(names[0], a, names[1], b) for a, b in lengths[:, ~full].T.tolist()]
        kept = [_kept(side, full) for side in sides]
        used = [weights[k] if k < len(weights) else 1.0] * int(full.sum())
        blocks[0].extend(format_snt(kept[0], kept[1], used))
        blocks[1].extend(format_snt(kept[1], kept[0], used))
    for name, block in zip(snt, blocks, strict=True):
        with files.writing(name) as file:
            for part in block:
                file.write(part)
    for name, of in zip(vcb, counts, strict=True):
        with files.writing(name) as file:
            file.write(format_vcb(of.keys(), of.values()))
    return left_out


def _numbered(path: str, counts: "Counter[bytes]") -> Side:
    """Read a side with the numbers that its words have, and count them."""
    side, vocabulary = read_side(path, lowercase=False, strict=False)
    words = list(vocabulary.encoded())[1:]
    uses = np.bincount(side.tokens, minlength=len(words) + 1)[1:].tolist()
    for word, n in zip(words, uses, strict=True):
        counts[word] += n
    places = {word: number for number, word in enumerate(counts, FIRST)}
    new = np.array([0, *(places[word] for word in words)], np.int32)
    return Side(new[side.tokens], side.offsets)


def _kept(side: Side, keep: np.ndarray) -> Side:
    lengths = side.lengths()
    offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths[keep])])
    return Side(side.tokens[np.repeat(keep, lengths)], offsets)


def write_cooccurrences(snt: str, out: str, counted: bool = False, threads: int = 1) -> None:
    """Write which words occur together in a file of sentence pairs, as snt2cooc does."""
    from aligntools.aligning.text.cooccurrence import build_table
    from aligntools.ground.parallel import Pool

    source, target, _ = read_snt(snt)
    n_source, n_target = (int(side.tokens.max(initial=0)) + 1 for side in (source, target))
    with Pool(threads) as pool:
        table, _ = build_table(source, target, n_source, n_target, pool)
    null = np.flatnonzero(np.bincount(target.tokens, minlength=n_target)).astype(np.int32)
    words = np.concatenate([null, table.ids[table.ptr[1] :]])
    starts = np.concatenate([np.zeros(1, np.int64), table.ptr[1:] - table.ptr[1] + len(null)])
    counts = _together(source, target, starts, words) if counted else None
    with files.writing(out) as file:
        for part in format_cooc(starts, words, counts):
            file.write(part)


def _together(source: Side, target: Side, starts: np.ndarray, words: np.ndarray) -> np.ndarray:
    """Count how often words occur together, int64 [pairs]."""
    size = int(words.max(initial=0)) + 1
    keys = np.repeat(np.arange(len(starts) - 1), np.diff(starts)) * size + words
    counts = np.zeros(len(keys), np.int64)
    for n in range(len(source)):
        given = np.concatenate([np.zeros(1, np.int32), source.tokens[source.offsets[n] : source.offsets[n + 1]]])
        found = target.tokens[target.offsets[n] : target.offsets[n + 1]]
        np.add.at(counts, np.searchsorted(keys, (given.astype(np.int64)[:, None] * size + found).ravel()), 1)
    return counts
