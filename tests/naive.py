"""The slow, obvious version of what the package computes fast. Imports nothing that it checks."""

# ---------------------------------------------------------------------------------------------------------
# Symmetrization: one sentence, sets of (source, target); a matrix of 0 and 1 is scanned as the programs do
# ---------------------------------------------------------------------------------------------------------


def symmetrize(forward, reverse, method, flavor="atools"):
    """Return the sorted list of links of one sentence."""
    forward, reverse = set(forward), set(reverse)
    if method == "union":
        return sorted(forward | reverse)
    if method == "intersect":
        return sorted(forward & reverse)
    diagonal, last = {
        "grow": (False, None),
        "grow-diag": (True, None),
        "grow-diag-final": (True, "either"),
        "grow-diag-final-and": (True, "both"),
    }[method]
    grown = {"atools": _grow_atools, "symal": _grow_symal}[flavor](forward, reverse, diagonal)
    for direction in (forward, reverse):
        by_target = flavor == "symal"
        for i, j in sorted(direction, key=lambda p: (p[1], p[0]) if by_target else p):
            free_i, free_j = _free(grown, i, j)
            if (last == "either" and (free_i or free_j)) or (last == "both" and free_i and free_j):
                grown.add((i, j))
    return sorted(grown)


def _free(links, i, j):
    return all(a != i for a, _ in links), all(b != j for _, b in links)


def _grow_atools(forward, reverse, diagonal):
    size = 1 + max([x for link in forward | reverse for x in link], default=0)
    result = forward & reverse
    while True:
        added = False
        for i in range(size):
            for j in range(size):
                if (i, j) in result or (i, j) not in forward | reverse:
                    continue
                touches = any(
                    max(abs(a - i), abs(b - j)) == 1 if diagonal else abs(a - i) + abs(b - j) == 1
                    for a, b in result
                )
                if touches and any(_free(result, i, j)):
                    result.add((i, j))
                    added = True
        if not added:
            return result


def _grow_symal(forward, reverse, diagonal):
    # In symal's own terms: e is the target, f the source, and a set of (e, f) is walked while it grows.
    steps = [(-1, 0), (0, -1), (1, 0), (0, 1)]
    if diagonal:
        steps += [(-1, -1), (-1, 1), (1, -1), (1, 1)]
    result = forward & reverse
    added = True
    while added:
        added = False
        at = (-1, -1)
        while later := [(j, i) for i, j in result if (j, i) > at]:
            at = min(later)
            for de, df in steps:
                e, f = at[0] + de, at[1] + df
                if (f, e) in forward | reverse and any(_free(result, f, e)):
                    result.add((f, e))
                    added = True
    return result
