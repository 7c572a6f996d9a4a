"""Lines of parallel text as fast_align takes them."""

import re

from aligntools.ground.errors import DataError
from aligntools.words.vocabulary import split_words


def sides_of(line: bytes, path: str, number: int) -> tuple[list[bytes], list[bytes]]:
    """Return the words of both sides of a line, parted by the first ``|||`` or tab.

    Raises
    ------
    DataError
        When one of them is blank; with the file and the line's number.
    """
    source, *rest = re.split(rb"\t|(?<![^ \t])\|\|\|(?![^ \t])", line, maxsplit=1)
    words, others = split_words(source), split_words(b"".join(rest))
    if not words or not others:
        side = "source" if not words else "target"
        raise DataError(path, number, f"the {side} side is blank (remove the pair)")
    return words, others
