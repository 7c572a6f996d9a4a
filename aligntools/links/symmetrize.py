"""Symmetrization: one set of links from two directions (Och & Ney 2003; Koehn, Och & Marcu 2003)."""

from collections.abc import Iterable

import numpy as np

from aligntools.formats.links.pharaoh import Links
from aligntools.ground.errors import UsageProblem

_LINKS = 1 << 15  # from here on the compiler is worth its start

#: Each method's growth and last step: neighbours that a point has (8, 4, 0; -1 starts from the union), and
#: 0 for no last step, 1 for points with a free word, 2 for points with two free words.
METHODS = {
    "intersect": (0, 0),
    "union": (-1, 0),
    "grow": (4, 0),
    "grow-diag": (8, 0),
    "grow-diag-final": (8, 1),
    "grow-diag-final-and": (8, 2),
}
FLAVORS = ("atools", "symal")

_SIDES = ((-1, 0), (0, -1), (1, 0), (0, 1))
_CORNERS = ((-1, -1), (-1, 1), (1, -1), (1, 1))


def symmetrize(
    forward: Links, reverse: Links, method: str, flavor: str = "atools", compiled: bool | None = None
) -> Links:
    """Combine the alignments of two directions.

    All growing methods start from the intersection and add points of the union that have a neighbour inside
    and a word that is still free on one side or both. The last step, if any, goes through the points of
    ``forward`` and then those of ``reverse`` and adds those with a free word (``final``) or two
    (``final-and``). What is added counts at once. The two widespread programs differ in the order in which
    they look:

    - ``atools`` goes through the points *outside*, sorted by ``(i, j)``, and asks whether a neighbour is
      inside; again and again until nothing changes. The last step is sorted in the same way.
    - ``symal`` goes through the points *inside*, sorted by ``(j, i)``, and looks around each: the four sides
      (``j - 1``, ``i - 1``, ``j + 1``, ``i + 1``), then the corners. A point that is added further on in the
      order is met in the same pass, one further back in the next. The last step is sorted by ``(j, i)``.
      What symal calls the inverse alignment is ``forward`` here: each target word has at most one link, as
      in fast_align without ``-r``.

    forward, reverse: The same sentences, links as source-target in both.
    method: One of `METHODS`, which are those of `aligntools.links.settings.Heuristic`.
    flavor: One of `FLAVORS`. Union and intersection do not depend on it.
    compiled: Use compiled code; None decides by size.
    Raises UsageProblem when method or flavor are unknown. Raises ValueError when there are not equally many sentences.

    Follows ``atools.cc`` of fast_align and ``symal.cpp`` of Moses in what they do; memory is proportional to
    a sentence's links.
    """
    if method not in METHODS:
        raise UsageProblem(f"no method '{method}'; there are {', '.join(METHODS)}")
    if flavor not in FLAVORS:
        raise UsageProblem(f"no flavor '{flavor}'; there are {', '.join(FLAVORS)}")
    if len(forward) != len(reverse):
        raise ValueError(f"{len(forward)} sentences one way and {len(reverse)} the other")
    return grow(forward, reverse, *METHODS[method], flavor == "symal", compiled)


def grow(forward: Links, reverse: Links, slots: int, final: int, symal: bool, compiled: bool | None = None) -> Links:
    """Combine two directions by growth and last step, numbered as in `METHODS`; see `symmetrize`."""
    size = len(forward.pairs) + len(reverse.pairs)
    if compiled or (compiled is None and size >= _LINKS):
        from aligntools.links import kernels_symmetrize

        pairs, offsets = np.empty((size, 2), np.int32), np.empty(len(forward) + 1, np.int64)
        both = forward.pairs, forward.offsets, reverse.pairs, reverse.offsets
        total = kernels_symmetrize.symmetrize_links(*both, slots, final, symal, pairs, offsets)
        return Links(pairs[:total].copy(), offsets)
    sides = zip(forward.tolists(), reverse.tolists(), strict=True)
    return Links.from_lists(_sentence(set(f), set(r), slots, final, symal) for f, r in sides)


def _sentence(
    forward: set[tuple[int, int]], reverse: set[tuple[int, int]], slots: int, final: int, symal: bool
) -> Iterable[tuple[int, int]]:
    """Symmetrize one sentence in plain Python; see `symmetrize` and `METHODS`."""
    union = sorted(forward | reverse, key=lambda point: point[::-1] if symal else point)
    if slots < 0:
        return union
    inside = forward & reverse
    sources, targets = {i for i, _ in inside}, {j for _, j in inside}

    def add(i: int, j: int) -> None:
        inside.add((i, j))
        sources.add(i)
        targets.add(j)

    candidates = set(union) if symal else set()
    around = [(i, j) for j, i in (_SIDES + _CORNERS)[:slots]] if symal else (_SIDES + _CORNERS)[:slots]
    changed = slots > 0
    while changed:
        before = len(inside)
        for i, j in union:
            if not symal:
                unlinked = i not in sources or j not in targets
                if unlinked and any((i + di, j + dj) in inside for di, dj in around):
                    add(i, j)
            elif (i, j) in inside:
                for di, dj in around:
                    near = i + di, j + dj
                    if near in candidates and (near[0] not in sources or near[1] not in targets):
                        add(*near)
        changed = len(inside) > before
    for direction in (forward, reverse) if final else ():
        for i, j in union:
            free = (i not in sources) + (j not in targets)
            if free >= final and (i, j) in direction and (i, j) not in inside:
                add(i, j)
    return inside
