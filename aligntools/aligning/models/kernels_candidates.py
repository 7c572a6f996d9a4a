"""Compiled: the positions that the sampler of `kernels_fertility` may link a word to, by the HMM's posteriors."""

import numpy as np

from aligntools.aligning.models.kernels_link_counts import CANDIDATES
from aligntools.aligning.text.kernels_cooccurrence import find_entry
from aligntools.ground.compiler import kernel


@kernel(part=True)
def insert_candidate(c, m, n, positions, masses):
    """Insert a position by its posterior among a word's ``n`` candidates; return how many there are now."""
    x = n if n < CANDIDATES else n - 1
    while x > 0 and masses[x - 1] < m:
        if x < CANDIDATES:
            masses[x] = masses[x - 1]
            positions[x] = positions[x - 1]
        x -= 1
    masses[x] = m
    positions[x] = c
    return min(n + 1, CANDIDATES)


@kernel(owning=False)
def candidates_block(k0, k1, pairs, posteriors, ptr, ids, forward, least, sure, sampled):
    """List each observed word's candidate positions, most probable first, and start the sampler's state.

    posteriors (float32 [cells]): This direction's, in ``I x J`` matrices.
    ptr, ids: The table's pairs of words.
    forward (bool): Whether the target side is observed (else the source side).
    least (float): Positions of a lower posterior are no candidates; nor are pairs that the table does not have.
    sure (float): A word with one candidate of a higher posterior is not sampled.
    sampled (Sampled, output): The state is the most probable of the candidates and NULL.
    """
    s_tokens, t_tokens = pairs.s_tokens, pairs.t_tokens
    o_offsets = pairs.t_offsets if forward else pairs.s_offsets
    c_offsets = pairs.s_offsets if forward else pairs.t_offsets
    for k in range(k0, k1):
        sb, tb = pairs.s_offsets[k], pairs.t_offsets[k]
        n_j = pairs.t_offsets[k + 1] - tb
        b = pairs.cell_offsets[k - pairs.base]
        n_con = c_offsets[k + 1] - c_offsets[k]
        for o in range(o_offsets[k + 1] - o_offsets[k]):
            at = o_offsets[k] - o_offsets[pairs.base] + o
            positions, entries, masses = sampled.positions[at], sampled.entries[at], sampled.masses[at]
            n = 0
            total = np.float32(0.0)
            for c in range(n_con):
                m = posteriors[b + c * n_j + o] if forward else posteriors[b + o * n_j + c]
                total += m
                if not (m < least or (n == CANDIDATES and m <= masses[n - 1])):
                    n = insert_candidate(c, m, n, positions, masses)
            kept = 0
            for x in range(n):
                c = positions[x]
                i, j = (c, o) if forward else (o, c)
                entry = find_entry(ptr, ids, s_tokens[sb + i], t_tokens[tb + j])
                if entry < 0 and x == 0:  # the model cannot weigh its best candidate: leave it to the HMM
                    kept = -n
                    entries[:n] = -1
                    break
                if entry >= 0:
                    positions[kept] = c
                    masses[kept] = masses[x]
                    entries[kept] = entry
                    kept += 1
            if kept == 1 and masses[0] > sure:
                kept = -1
            sampled.sizes[at] = kept
            sampled.state[at] = -1
            if kept != 0 and masses[0] >= np.float32(1.0) - total:
                sampled.state[at] = positions[0]
