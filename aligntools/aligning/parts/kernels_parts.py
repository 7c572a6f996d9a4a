"""Compiled: the rows that parts have found, summed by source word; sums of parts, scattered and gathered."""

import numpy as np

from aligntools.aligning.text.kernels_cooccurrence import sort_ids
from aligntools.ground.compiler import kernel


@kernel
def merge_rows(
    rows,
    begins,
    ends,
    v0,
    v1,
    ids,
    counts,
    source_mass,
    target_mass,
    total_mass,
    keep,
    dense,
    touched,
    place,
    row_ptr,
    distinct,
    out_ids,
    out_counts,
    places,
):
    """Sum the rows that parts have of source words ``v0..v1``; say where each of their entries is now.

    rows (int32 [n]): The source words of the parts' rows, ascending; those of one word in the order of the parts.
    begins, ends (int64 [n]): Where the rows lie in ``ids`` and ``counts``.
    ids, counts (int32 and float32 [n_entries]), source_mass (float64 [v1 - v0]), target_mass (float64
        [n_target_words]).
    keep (float): A pair seen less than this many times as often as if the words were independent is left out.
    dense (float32 [n_target_words], zero on entry and on exit); touched, place (int32 [n_target_words], scratch),
        row_ptr (int64 [v1 - v0 + 1], output).
    distinct (int64 [v1 - v0], output): How many target words any of the rows has.
    out_ids, out_counts (int32 and float32 [n_entries], output).
    places (int32 [n_entries], output): Where each entry of the parts is in the output, -1 where it is left out.
    Returns entries written.
    """
    stack = np.empty((64, 2), np.int64)
    n = 0
    q = 0
    for v in range(v0, v1):
        row_ptr[v - v0] = n
        first = q
        m = 0
        while q < rows.shape[0] and rows[q] == v:
            for x in range(begins[q], ends[q]):
                t = ids[x]
                if dense[t] == 0.0:
                    touched[m] = t
                    m += 1
                dense[t] += counts[x]
            q += 1
        distinct[v - v0] = m
        limit = keep * source_mass[v - v0] / max(total_mass, 1e-300)
        base = n
        for x in range(m):
            t = touched[x]
            place[t] = -1
            if dense[t] >= limit * target_mass[t]:
                out_ids[n] = t
                n += 1
        sort_ids(out_ids[base:n], stack)
        for x in range(base, n):
            out_counts[x] = dense[out_ids[x]]
            place[out_ids[x]] = x
        for r in range(first, q):
            for x in range(begins[r], ends[r]):
                places[x] = place[ids[x]]
        for x in range(m):
            dense[touched[x]] = 0.0
    row_ptr[v1 - v0] = n
    return n


@kernel
def add_at(places, values, sums):
    """Add ``values`` [n] to ``sums`` at ``places`` [n], in order."""
    for x in range(places.shape[0]):
        sums[places[x]] += values[x]
