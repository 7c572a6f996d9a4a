"""The lengths of the sentences of a text that links are checked against."""

from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from aligntools.api.given.texts import Split
from aligntools.formats.links import pharaoh
from aligntools.formats.text.memory_text import TextLines
from aligntools.ground.errors import DataError
from aligntools.words.white_space import WhiteSpace, as_spaces, has_others


def lengths_of(
    text: Any, name: str, side: str, n: int, the_gold: str, split: Split, white: WhiteSpace
) -> np.ndarray | None:
    """Return the number of words of the first ``n`` sentences of a text, if there is one."""
    if text is None:
        return None
    if isinstance(text, str | Path):
        with closing(pharaoh.LineReader(name)) as reader:
            data = reader.read(n)
    else:
        data = b"".join(islice(TextLines(text, side, split), n))
    if split == "unicode":
        data = as_spaces(data)
    elif isinstance(text, str | Path) and has_others(data):
        white.count(data)
    lengths = pharaoh.count_words(data)
    if len(lengths) < n:
        raise DataError(name, None, f"{len(lengths)} lines, but {the_gold} has {n} sentence pairs")
    return lengths
