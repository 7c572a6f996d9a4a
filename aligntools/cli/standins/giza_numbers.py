"""Stands in for GIZA++'s plain2snt and snt2cooc, which write text in numbers: their arguments, files and messages."""

import sys
from collections import Counter
from collections.abc import Sequence

import numpy as np

from aligntools.cli.kinds import Named, placed
from aligntools.cli.standins import Wrong, program
from aligntools.formats.opening import files
from aligntools.formats.text.bitext import read_side
from aligntools.formats.text.corpus import Side
from aligntools.formats.text.giza_trainings import FIRST, format_cooc, format_snt, format_vcb, read_snt
from aligntools.ground.errors import DataError, harmless


def number_texts(
    texts: Sequence[tuple[str, str]], weights: Sequence[float], vcb: Sequence[str], snt: Sequence[str]
) -> list[tuple[str, int, str, int]]:
    """Write vocabularies and sentence pairs of texts, as plain2snt does; return the pairs with a blank side, left out.

    weights: How often the pairs of each text count, else 1; vcb, snt: of vocabularies, and of pairs in both directions.
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


_PLAIN2SNT = """\
plain2snt txt1 txt2 [txt3 txt4 -weight w -vcb1 output1.vcb -vcb2 output2.vcb -snt1 output1_output2.snt -snt2\
 output2_output1.snt]
 Converts plain text into GIZA++ snt-format.
"""
_ENDS = (".tok", ".txt")


def _base(name: str) -> str:
    """Return a name behind its last slash; as it is where that is nothing."""
    return name[name.rfind("/") + 1 :] or name


@program("plain2snt")
def plain2snt(args: list[str]) -> int:
    """Write a text's vocabularies and sentence pairs in numbers."""
    weights: list[float] = []
    names: dict[str, str] = {}
    texts: list[str] = []
    rest = iter(args)
    for argument in rest:
        if argument in ("-weight", "-snt1", "-snt2", "-vcb1", "-vcb2"):
            value = next(rest, None)
            if value is None:
                raise Wrong(f"{argument} takes a value\n{_PLAIN2SNT}".rstrip("\n"))
            if argument == "-weight":
                try:
                    weights.append(float(value))
                except ValueError:
                    raise Wrong(f"-weight '{value}' is not a number") from None
            else:
                names[argument] = value
        else:
            texts.append(argument)
    if len(texts) % 2 or not texts:
        raise Wrong(_PLAIN2SNT.rstrip("\n"))
    first, second = texts[:2]
    if any(first.endswith(end) and second.endswith(end) and min(len(first), len(second)) > 4 for end in _ENDS):
        first, second = first[:-4], second[:-4]
        sys.stderr.write(harmless(f"w1:{first} w2:{second}\n"))
    sys.stdout.write(harmless(f"{first} -> {_base(first)}\n{second} -> {_base(second)}\n"))
    made = {
        "-snt1": f"{first}_{_base(second)}.snt",
        "-snt2": f"{second}_{_base(first)}.snt",
        "-vcb1": f"{first}.vcb",
        "-vcb2": f"{second}.vcb",
    } | names
    with placed([Named("", text) for text in texts], [Named(flag, path) for flag, path in made.items()]):
        vcb, snt = ((made[f"-{kind}1"], made[f"-{kind}2"]) for kind in ("vcb", "snt"))
        left_out = number_texts(list(zip(texts[::2], texts[1::2], strict=True)), weights, vcb, snt)
    for source, a, target, b in left_out:
        about = f"(source: {source} {a} target: {target} {b})"
        sys.stderr.write(harmless(f"WARNING: filtered out empty sentence {about}.\n"))
    return 0


_SNT2COOC = "Usage: snt2cooc output vcb1 vcb2 snt12 \nConverts GIZA++ snt-format into plain text.\n"


@program("snt2cooc")
def snt2cooc(args: list[str]) -> int:
    """Write which words occur together in a file of sentence pairs."""
    if len(args) not in (4, 5):
        raise Wrong(_SNT2COOC.rstrip("\n"))
    if args[4:] not in ([], ["-counts"]):
        raise Wrong(f"ERROR: wrong option {args[4]}")
    output, source, target, snt = args[:4]
    inputs = [Named("vcb1", source), Named("vcb2", target), Named("snt12", snt)]
    with placed(inputs, [Named("output", output)]):
        from aligntools.ground.parallel import available_cores

        write_cooccurrences(snt, output, bool(args[4:]), available_cores())
    sys.stderr.write("END.\n")
    return 0
