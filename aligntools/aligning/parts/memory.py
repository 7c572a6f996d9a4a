"""How much memory work in parts takes, and how large parts may be; the plan and the run both ask here."""

from aligntools.aligning.parts.words import MOST_WORDS
from aligntools.aligning.settings import PART_PAIRS
from aligntools.ground import memory
from aligntools.ground.errors import ResourceError

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
    pairs: Of a part.
    vocabulary: Different words of the text, as estimated; 0 where it is not known.
    begun: A checkpoint was begun with parts of so many pairs, so that they cannot be smaller.
    Raises ResourceError: It says what would fit.
    """
    bound = memory.limit() if max_memory is None else max_memory
    if bound is None:
        return
    each, numbering = memory.FIXED + of_part(pairs), memory.FIXED + of_numbering(vocabulary)
    needed = max((workers + 1) * each, workers * memory.FIXED + numbering)
    if bound < needed:
        fixed = f"another `checkpoint`: this one was begun with parts of {pairs} pairs" if begun else ""
        raise _too_little(bound, needed, max_memory is not None, workers, each, numbering, fixed)


def _too_little(
    bound: int, needed: int, asked: bool, workers: int, each: int, numbering: int, fixed: str
) -> ResourceError:
    ways = []
    if numbering <= bound:
        if workers and (fit := min(bound // each - 1, (bound - numbering) // memory.FIXED)) >= 0:
            ways.append(f"`workers={fit}`" if fit else "no `workers`")
        smaller = largest_part(bound // (workers + 1))
        if smaller and workers * memory.FIXED + numbering <= bound:
            ways.append(fixed or f"`part_size={smaller}`")
    return memory.too_little(bound, needed, asked=asked, advice=" or ".join(ways) or "or a part of the text")
