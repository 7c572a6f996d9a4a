"""Priors as eflomal's functions pass them on: counters and lists of Python objects."""

import logging
from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import zip_longest
from operator import itemgetter
from typing import IO, Any

from aligntools.formats.links.priors import row_of
from aligntools.ground.errors import DataError


class AlignedTextError(ValueError):
    """A line of aligned text that is wrong; ``which``: of source, target, forward or reverse links."""

    def __init__(self, which: int, line: int, problem: str):
        self.which, self.line, self.problem = which, line, problem
        super().__init__(f"{('source', 'target', 'forward links', 'reverse links')[which]}, line {line}: {problem}")


_log = logging.getLogger("aligntools")

#: Lexical, forward and reverse jumps, forward and reverse fertilities.
Counters = tuple[Counter[Any], Counter[Any], Counter[Any], Counter[Any], Counter[Any]]


def calculate_priors(
    src_sentences: Iterable[str],
    trg_sentences: Iterable[str],
    fwd_alignments: Iterable[str],
    rev_alignments: Iterable[str],
    reverse: bool = False,
) -> Counters:
    """Count words, jumps and fertilities over aligned text.

    src_sentences, trg_sentences, fwd_alignments, rev_alignments: As many lines of each; both alignments are
        source-target.
    reverse: Return what the opposite direction needs, as eflomal's repository has it (``--reverse-priors``).
    Returns lexical, forward jumps, reverse jumps, source fertilities, target fertilities: Of pairs of words, of
        distances, of words and how many links they have.
    Raises ValueError for a link outside its sentence, and where there are more lines of one than of another.
    """
    lexical: Counter[tuple[str, str]] = Counter()
    jumps: tuple[Counter[int], Counter[int]] = (Counter(), Counter())
    fertilities: tuple[Counter[Any], Counter[Any]] = (Counter(), Counter())
    rows = zip_longest(src_sentences, trg_sentences, fwd_alignments, rev_alignments)
    for number, row in enumerate(rows, 1):
        if None in row:
            raise AlignedTextError(row.index(None), number, "there is no such line, but the other files have it")
        words = row[0].split(), row[1].split()
        links = [_links(row[which], which, number, words) for which in (2, 3)]
        lexical.update((words[0][i], words[1][j]) for i, j in links[1 if reverse else 0])
        for way in (0, 1):
            given, observed = way, 1 - way
            last = previous = -1
            for link in sorted(links[way], key=itemgetter(observed)):
                if link[observed] != previous:
                    jumps[way][link[given] - last] += 1
                last, previous = link[given], link[observed]
            jumps[way][len(words[given]) - last] += 1
            linked = Counter(map(itemgetter(given), links[way]))
            fertilities[way].update((words[given][at], n) for at, n in linked.items())
    if reverse:
        return lexical, jumps[1], jumps[0], fertilities[1], fertilities[0]
    return lexical, jumps[0], jumps[1], fertilities[0], fertilities[1]


def _links(line: str, which: int, number: int, words: tuple[list[str], list[str]]) -> list[tuple[int, int]]:
    try:
        links = [(int(i), int(j)) for i, _, j in (link.partition("-") for link in line.split())]
    except ValueError:
        problem = f"'{line.strip()[:60]}' is not made of links such as 3-4"
        raise AlignedTextError(which, number, problem) from None
    for i, j in links:
        if not (0 <= i < len(words[0]) and 0 <= j < len(words[1])):
            sizes = f"{len(words[0])} source and {len(words[1])} target words"
            raise AlignedTextError(which, number, f"the link {i}-{j} is outside the sentence pair, of {sizes}")
    return links


def write_priors(
    priorsf: IO[str],
    priors_list: Mapping[tuple[str, str], float],
    hmmf_priors: Mapping[int, float],
    hmmr_priors: Mapping[int, float],
    ferf_priors: Mapping[tuple[str, int], float],
    ferr_priors: Mapping[tuple[str, int], float],
) -> None:
    """Write what `calculate_priors` returns to an open text file."""
    write = priorsf.write
    for (source, target), alpha in sorted(priors_list.items()):
        write(f"LEX\t{source}\t{target}\t{alpha:g}\n")
    for kind, fertilities in (("FERF", ferf_priors), ("FERR", ferr_priors)):
        for (word, links), alpha in sorted(fertilities.items()):
            write(f"{kind}\t{word}\t{links}\t{alpha:g}\n")
    for kind, jumps in (("HMMF", hmmf_priors), ("HMMR", hmmr_priors)):
        for jump, alpha in sorted(jumps.items()):
            write(f"{kind}\t{jump}\t{alpha:g}\n")


def read_priors(
    priors_file: Iterable[str],
) -> tuple[list[Any], dict[int, float], dict[int, float], list[Any], list[Any]]:
    """Read the lines of a priors file.

    Raises ValueError for the first line that is none of priors.
    """
    pairs: dict[str, list[Any]] = {"LEX": [], "FERF": [], "FERR": []}
    jumps: dict[str, dict[int, float]] = {"HMMF": {}, "HMMR": {}}
    for number, line in enumerate(priors_file, 1):
        row = line.removeprefix("\ufeff").rstrip("\n")
        try:
            kind, fields = row_of(row.encode("utf-8", "surrogatepass"), "priors", number)
        except DataError as error:
            raise ValueError(f"priors, line {number}: {error.problem}") from None
        *words, alpha = (field.decode("utf-8", "surrogatepass") for field in fields)
        if kind == "LEX":
            pairs[kind].append((*words, float(alpha)))
        elif kind in pairs:
            pairs[kind].append((words[0], int(words[1]), float(alpha)))
        else:
            jumps[kind][int(words[0])] = float(alpha)
    return pairs["LEX"], jumps["HMMF"], jumps["HMMR"], pairs["FERF"], pairs["FERR"]


def to_eflomal_priors_file(priors: tuple[Any, ...], src_index: Any, trg_index: Any, outfile: IO[str]) -> None:
    """Write priors in the form that the ``eflomal`` program reads, in the numbers of two `TextIndex`."""
    priors_list, hmmf_priors, hmmr_priors, ferf_priors, ferr_priors = priors

    def number(index: Any, word: str) -> int | None:
        return 0 if word == "<NULL>" else index[word]

    lexical: Counter[Any] = Counter()
    for source, target, alpha in priors_list:
        key = number(src_index, source), number(trg_index, target)
        if None not in key:
            lexical[key] += alpha
    fertilities: tuple[Counter[Any], Counter[Any]] = (Counter(), Counter())
    for counts, index, rows in ((fertilities[0], src_index, ferf_priors), (fertilities[1], trg_index, ferr_priors)):
        for word, links, alpha in rows:
            if (known := index[word]) is not None:
                counts[known, links] += alpha
    _log.info("%d (of %d) pairs of lexical priors used", len(lexical), len(priors_list))
    sizes = [len(src_index) + 1, len(trg_index) + 1, len(lexical), len(hmmf_priors), len(hmmr_priors)]
    outfile.write(" ".join(map(str, [*sizes, *map(len, fertilities)])) + "\n")
    for (source, target), alpha in sorted(lexical.items()):
        outfile.write(f"{source} {target} {alpha:g}\n")
    for jumps in (hmmf_priors, hmmr_priors):
        for jump, alpha in sorted(jumps.items()):
            outfile.write(f"{jump} {alpha:g}\n")
    for counts in fertilities:
        for (word, links), alpha in sorted(counts.items()):
            outfile.write(f"{word} {links} {alpha:g}\n")
    outfile.flush()
