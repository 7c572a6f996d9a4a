"""How much memory work in parts takes, and how much disk."""

from aligntools.ground import memory

#: Bytes that a process needs for a part or a shard, beside what does not grow with any text.
A_PART = 320 << 20
#: Bytes of memory that a word of a view takes in the process that numbers them.
A_WORD = 250


def check_bound(max_memory: int | None, workers: int) -> None:
    """Refuse a bound that the processes cannot keep, before any work.

    Parameters
    ----------
    max_memory : int or None
        Bytes, of all processes together.
    workers : int
        Processes beside this one, which leaves the parts to them; 0: it works itself.

    Raises
    ------
    ResourceError
    """
    bound = memory.limit() if max_memory is None else max_memory
    if bound is None:
        return
    needed = (workers + 1) * (memory.FIXED + A_PART)
    if bound < needed:
        advice = "fewer --workers, or a smaller --part-size" if workers else "a smaller --part-size"
        raise memory.too_little(bound, needed, asked=max_memory is not None, advice=advice)
