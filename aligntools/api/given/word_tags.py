"""Tags of the words of a text, from a file of their own."""

import os
from collections.abc import Sequence
from itertools import pairwise

from aligntools.formats.annotation import tagged
from aligntools.ground.errors import DataError


def word_tags(path: str | os.PathLike[str], lengths: Sequence[int], left_out: bool = False) -> list[list[str]]:
    """Return a tag for each word of a side; blank sentences need not be in the file.

    path: Tagged text or CoNLL, as `score_tags` takes it.
    lengths: Words of each sentence.
    left_out: Sentences without words may have tags: of those that were left out when the text was read.
    Raises DataError when it cannot be read, or does not have a tag for each word.
    """
    path = os.fspath(path)
    tokens = tagged.read_tags(path)
    tags = [tag.decode("utf-8", "replace") for tag in tokens.tags or ()]
    rows = [tags[a:b] for a, b in pairwise(tokens.offsets.tolist())]
    filled = [n for n, length in enumerate(lengths) if length]
    places = range(len(lengths)) if len(rows) == len(lengths) else filled
    if len(rows) != len(places):
        raise DataError(path, None, f"{len(rows)} sentences, but the text has {len(lengths)}")
    found: list[list[str]] = [[] for _ in lengths]
    for place, row, line in zip(places, rows, tokens.lines.tolist(), strict=True):
        if left_out and not lengths[place]:
            continue
        if len(row) != lengths[place]:
            problem = f"{len(row)} tags, but the sentence, line {place + 1} of the text, has {lengths[place]} words"
            raise DataError(path, line, problem)
        found[place] = row
    return found
