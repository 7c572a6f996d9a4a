"""How much memory alignment and work in parts need, and how many link-matrix cells fit into the rest."""

import numpy as np

from aligntools.aligning.parts.words import MOST_WORDS
from aligntools.aligning.settings import PART_PAIRS, ResolvedSettings
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
    """Return how many cells of link matrices fit at a time into a number of bytes, or into the process's bound.

    ``largest`` cells of a link matrix are worked at whole. Raises ResourceError when next to nothing would be left.
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


#: Bytes that a process needs for a part or a shard, besides what does not grow with any text: for the smallest part,
#: and for each further pair, up to the default's number of pairs, where most parts end by their words.
LEAST, A_PAIR = 128 << 20, 1200
#: Parts that are chosen to keep a bound have at least so many pairs.
FEWEST = 1000
#: Bytes that a word of a view takes in the process that numbers them, which has up to twice `MOST_WORDS` of a side.
A_WORD = 125


def of_part(pairs: int) -> int:
    """Return the bytes that a process needs for parts of so many pairs, besides `memory.FIXED`."""
    return LEAST + A_PAIR * min(pairs, PART_PAIRS)


def of_numbering(vocabulary: int) -> int:
    """Return the bytes that the numbering of so many words of both sides takes, besides `memory.FIXED`."""
    return min(vocabulary, 4 * MOST_WORDS) * A_WORD


def largest_part(share: int) -> int:
    """Return the pairs of the largest parts that are worked in so many bytes of a process, 0 if there are none."""
    pairs = (share - memory.FIXED - LEAST) // A_PAIR
    return max(0, min(PART_PAIRS, pairs // FEWEST * FEWEST))


def chosen_part(bound: int | None) -> int:
    """Return the size of parts if none is given: the default, or the largest with which one process keeps the bound.

    It does not depend on the number of workers, so that the links do not either.
    """
    return PART_PAIRS if bound is None else max(largest_part(bound), FEWEST)


def check(max_memory: int | None, workers: int, pairs: int, vocabulary: int, begun: bool = False) -> None:
    """Refuse a bound that work in parts cannot keep.

    max_memory: Bytes, of all processes together; None: the bound in force.
    workers: Processes besides this one.
    vocabulary: Different words of the text, as estimated; 0 where it is not known.
    begun: A checkpoint was begun with parts of so many pairs, so that they cannot be smaller.
    Raises ResourceError: It says what would fit.
    """
    bound = memory.limit() if max_memory is None else max_memory
    if bound is None:
        return
    each, numbering = memory.FIXED + of_part(pairs), memory.FIXED + of_numbering(vocabulary)
    needed = max((workers + 1) * each, workers * memory.FIXED + numbering)
    if bound >= needed:
        return
    ways = []
    if numbering <= bound:
        if workers and (fit := min(bound // each - 1, (bound - numbering) // memory.FIXED)) >= 0:
            ways.append(f"`workers={fit}`" if fit else "no `workers`")
        smaller = largest_part(bound // (workers + 1))
        if smaller and workers * memory.FIXED + numbering <= bound:
            fixed = f"another `checkpoint`: this one was begun with parts of {pairs} pairs"
            ways.append(fixed if begun else f"`part_size={smaller}`")
    advice = " or ".join(ways) or "or a part of the text"
    raise memory.too_little(bound, needed, asked=max_memory is not None, advice=advice)
