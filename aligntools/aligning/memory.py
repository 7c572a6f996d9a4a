"""How much memory alignment needs, and how many link-matrix cells fit into the rest."""

import numpy as np

from aligntools.aligning.settings import ResolvedSettings
from aligntools.formats.text.corpus import Bitext
from aligntools.ground import memory
from aligntools.ground.memory import FIXED

#: Link-matrix cells worked at a time where memory is not bounded, and the fewest that make sense.
MOST_CELLS, FEWEST_CELLS = 24_000_000, 200_000
#: How many times as many cells a link matrix of pieces has as one of words, as measured.
_PIECES = 1.5


def needed_for_training(
    bitext: Bitext, settings: ResolvedSettings, reconstructs: bool = False, threads: int = 1
) -> tuple[int, int]:
    """Estimate the bytes that training holds besides the link matrices, and the cells of the largest of these.

    The text, its views, words and the table, and for each thread the working memory of a sentence pair.
    """
    tokens = len(bitext.source.tokens) + len(bitext.target.tokens)
    words = len(bitext.source_vocabulary) + len(bitext.target_vocabulary)
    pairs = bitext.source.lengths().astype(np.int64) * bitext.target.lengths()
    largest = np.sort(pairs)[-threads:]
    arrays = 6 if settings.model_type in ("ibm3", "ibm4") else 4
    work = int(largest.sum() * 4 * arrays * (_PIECES if settings.subwords else 1))
    return needed_for(tokens, words, int(pairs.sum()), settings, reconstructs) + work, int(largest.max(initial=0))


def needed_for(tokens: int, words: int, cells: int, settings: ResolvedSettings, reconstructs: bool = False) -> int:
    """Estimate the same from the words of both sides, the sizes of their vocabularies, and all link-matrix cells."""
    pairs = min(cells, tokens // 5 + 6 * min(tokens, 400_000))  # growth of co-occurring pairs, as measured
    views = len(settings.views) + 2 * bool(settings.subwords)  # pieces are more than words
    copies = 1 if views == 1 else 2
    a_pair = (14 if settings.agreement else 22) * views + (40 if reconstructs else 0)
    return tokens * (4 * copies + 2) + words * 400 * views + pairs * a_pair


def cells_within(max_memory: int | None, needed: int = 0, largest: int = 0) -> int:
    """Return how many link-matrix cells may be worked at a time.

    max_memory: Bytes; None is the bound of the process, if it has one.
    needed: Bytes that are needed besides.
    largest: Cells of the largest link matrix, which is worked at whole.
    Raises ResourceError when next to nothing would be left.
    """
    bound = memory.limit() if max_memory is None else max_memory
    if bound is None:
        return MOST_CELLS
    cells = int((bound - FIXED - needed) // 8)
    fewest = max(FEWEST_CELLS, largest)
    if cells < fewest:
        advice, asked = "a part of the text, shorter sentences, or `fast`, need less", max_memory is not None
        raise memory.too_little(bound, FIXED + needed + 8 * fewest, asked=asked, advice=advice)
    return min(MOST_CELLS, cells)
