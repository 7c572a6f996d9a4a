"""Alignments as GIZA++ and MGIZA write them: ``*.A3.final`` files, three lines a sentence pair."""

import re
from collections.abc import Iterator, Sequence

from aligntools.formats.links.pharaoh import Links
from aligntools.formats.opening import files
from aligntools.ground.errors import DataError
from aligntools.words.vocabulary import split_words
from aligntools.words.white_space import is_blank

_A3_HEADER = re.compile(rb"# Sentence pair \((\d{1,9})\) source length (\d{1,9}) target length (\d{1,9}) ")
_A3_WORD = re.compile(rb" \(\{ ((?:\d{1,9} )*)\}\)")
#: A file of n pairs may have numbers up to this times n, and this more: parts of a large run have large numbers.
_SPARSE = 1000


def read_giza_a3(path: str, *, sentences: int | None = None) -> tuple[Links, int]:
    """Read GIZA++'s or MGIZA's Viterbi alignments (``*.A3.final``).

    Pairs are put in the order of their numbers, so that the parts of a parallel run may simply be joined.

    path: Of any compression; ``-`` is standard input.
    sentences: How many there should be; None takes the highest number found.
    Returns links: ``i`` is the position in the sentence that generates (the file's third line, without NULL), ``j``
        that in the generated one (the second line). Each ``j`` has at most one ``i``.
    Returns missing: Pairs that the file does not have (MGIZA loses some); they have no links.
    Raises DataError when the file is cut short, a line is not what GIZA++ writes, a number comes twice, a position
    comes twice or is past its sentence, or a number is far past what the file can have.
    """
    found: dict[int, list[tuple[int, int]]] = {}
    for line, (number, source_length, target_length), (_, _, words) in giza_records(path):
        if number in found:
            raise DataError(path, line, f"sentence pair {number} comes twice")
        lists = _A3_WORD.findall(words)
        if len(lists) != source_length + 1:
            raise DataError(path, line + 2, f"{len(lists)} words where NULL and {source_length} words are expected")
        links = [(i, int(j) - 1) for i, js in enumerate(lists[1:]) for j in js.split()]
        targets = [j for _, j in links]
        if len(set(targets)) < len(targets):
            raise DataError(path, line + 2, "a target position comes twice")
        if targets and not 0 <= min(targets) <= max(targets) < target_length:
            raise DataError(path, line + 2, f"a position outside 1 to {target_length}, the target length")
        found[number] = links
    highest = max(found, default=0)
    if sentences is not None and highest > sentences:
        raise DataError(path, None, f"has a sentence pair {highest} where {sentences} are expected")
    if sentences is None and highest > _SPARSE * (len(found) + _SPARSE):
        raise DataError(path, None, f"has a sentence pair {highest} and only {len(found)} pairs; a number is wrong")
    total = highest if sentences is None else sentences
    return Links.from_lists(found.get(number, ()) for number in range(1, total + 1)), total - len(found)


def giza_records(path: str) -> Iterator[tuple[int, tuple[int, int, int], tuple[bytes, bytes, bytes]]]:
    """Yield the sentence pairs of an ``*.A3.final`` file, in the order in which they stand there.

    Yields line: That of the pair's first line.
    Yields header: The pair's number, and how many words generate and are generated.
    Yields lines: Its lines without their ends.
    Raises DataError when the file ends within a pair, or a pair does not begin as GIZA++ writes it.
    """
    rows = enumerate(files.lines(path), 1)
    for line, header in rows:
        if is_blank(header):
            continue
        match = _A3_HEADER.match(header)
        target, words = (next(rows, (0, None))[1] for _ in range(2))
        if match is None:
            raise DataError(path, line, "'# Sentence pair (N) source length ...' of GIZA++ is expected here")
        if target is None or words is None:
            raise DataError(path, line, "the file ends within a sentence pair")
        number, source_length, target_length = map(int, match.groups())
        yield line, (number, source_length, target_length), (header, target, words)


def format_giza_a3(
    links: Links,
    sources: bytes,
    targets: bytes,
    *,
    path: object = "-",
    line: int = 1,
    scores: Sequence[float] | None = None,
) -> bytes:
    """Write links as ``*.A3.final``, three lines for each sentence pair.

    links: At most one for each target word.
    sources, targets: As many lines of text: what generates, and what is generated.
    path, line: For errors: the file that the links are of, and the number of the first line.
    scores: What is written as each alignment's probability; None writes 1.
    Raises DataError when a target word has several links.
    """
    written = []
    texts = (text.split(b"\n") for text in (sources, targets))
    for number, (pairs, source, target) in enumerate(zip(links.tolists(), *texts, strict=False), line):
        source_words, target_words = (split_words(side.removesuffix(b"\r")) for side in (source, target))
        places: list[list[int]] = [[] for _ in range(len(source_words) + 1)]
        free = set(range(len(target_words)))
        for i, j in pairs:
            if j not in free:
                problem = f"target word {j} has several links, and GIZA++'s form has one (give a single direction)"
                raise DataError(path, number, problem)
            free.remove(j)
            places[i + 1].append(j + 1)
        places[0] = [j + 1 for j in sorted(free)]
        lists = [b"({ %s})" % b"".join(b"%d " % j for j in sorted(js)) for js in places]
        lengths = len(source_words), len(target_words)
        written += [
            b"# Sentence pair (%d) source length %d target length %d alignment score : %s"
            % (number, *lengths, b"1" if scores is None else b"%.6g" % scores[number - line]),
            b" ".join([*target_words, b""]),
            b" ".join(b"%s %s" % pair for pair in zip([b"NULL", *source_words], lists, strict=True)) + b" ",
        ]
    return b"".join(row + b"\n" for row in written)
