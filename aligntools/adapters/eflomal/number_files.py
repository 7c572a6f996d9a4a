"""Texts and priors in numbers, as the ``eflomal`` program takes them."""

from typing import TYPE_CHECKING, Any

from aligntools.formats.opening import files
from aligntools.formats.text.numbered_sentences import read_numbered
from aligntools.ground.errors import DataError

if TYPE_CHECKING:
    from aligntools.formats.links.priors import Priors
    from aligntools.formats.text.corpus import Bitext


def read_numbered_bitext(source: str, target: str) -> "tuple[Bitext, bool]":
    """Read two files that `write_text` wrote; tell also whether both have their words.

    Raises DataError when one is no such file, or they do not have the same number of sentences.
    """
    from aligntools.adapters.eflomal.text import MAX_LENGTH
    from aligntools.formats.text.corpus import paired

    left, left_words, left_spelled = read_numbered(source)
    right, right_words, right_spelled = read_numbered(target)
    if len(left) != len(right):
        raise DataError(source, 1, f"{len(left)} sentences, and {target} has {len(right)}")
    bitext = paired(left, right, left_words, right_words, MAX_LENGTH)
    return bitext, left_spelled and right_spelled


def read_numbered_priors(path: str, bitext: "Bitext") -> "Priors":
    """Read priors in the word ids of a text.

    Raises DataError when they are not of this text, or a line is none of priors.
    """
    from aligntools.formats.links.priors import priors_of

    names = [["<NULL>", *vocabulary.words()[1:]] for vocabulary in (bitext.source_vocabulary, bitext.target_vocabulary)]
    lines = files.lines(path)
    header = next(lines, b"").split()
    if len(header) != 7 or not all(field.isdigit() for field in header):
        raise DataError(path, 1, "seven numbers are expected: words of both sides, and how many priors of each kind")
    sizes = [int(field) for field in header]
    for size, words, side in zip(sizes, names, ("source", "target"), strict=False):
        if size != len(words):
            raise DataError(
                path, 1, f"{size} {side} words, and the text has {len(words)}: these are priors of another text"
            )
    line = 1
    tables: list[list[tuple[Any, ...]]] = []
    for n, columns in zip(sizes[2:], ((0, 1), (None,), (None,), (0, None), (1, None)), strict=True):
        rows: list[tuple[Any, ...]] = []
        for _ in range(n):
            line += 1
            fields = next(lines, b"").split()
            try:
                numbers = [int(field) for field in fields[:-1]]
                if (
                    len(numbers) != len(columns)
                    or min([x for x, side in zip(numbers, columns, strict=True) if side is not None], default=0) < 0
                ):
                    raise ValueError
                row = [x if side is None else names[side][x] for x, side in zip(numbers, columns, strict=True)]
                rows.append((*row, float(fields[-1])))
            except (ValueError, IndexError):
                shown = b" ".join(fields)[:40].decode("utf-8", "replace")
                raise DataError(path, line, f"'{shown}' is not {len(columns)} numbers and a count") from None
        tables.append(rows)
    lexical, forward_jumps, reverse_jumps, source_fertilities, target_fertilities = tables
    return priors_of(lexical, source_fertilities, target_fertilities, forward_jumps, reverse_jumps)
