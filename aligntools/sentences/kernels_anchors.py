"""Compiled: which sentences of the other side have rare words in common with one, by a lexicon."""

import numpy as np

from aligntools.ground.compiler import kernel


@kernel(owning=False)
def votes(s, s_offsets, ptr, ids, ratios, least, start, sentence, rare, centre, reach, score, touched, best, margin):
    """Find the target sentence that most words of each source sentence speak for.

    A pair of words in both votes with ln p(t|s) / p(t), once for each place of the source word.

    s, s_offsets: The source side, as in `formats.text.corpus.Side`.
    ptr, ids, ratios: p(t|s) / p(t), by source word; only ratios above ``least`` count.
    start, sentence (int64 [target words + 1], int32): The sentences that a target word is in.
    centre, reach (int64 [source sentences]): How far from which target sentence others are looked at.
    rare: Words in more of these are not.
    score (float64 [target sentences], scratch): Zeros. touched (int32 [target sentences], scratch).
    best (int64 [source sentences], output), margin (float64 [..], output): How much more speaks for it than for the
        next; 0 where nothing does.
    """
    n = len(s_offsets) - 1
    for i in range(n):
        count = 0
        first_near, last_near = centre[i] - reach[i], centre[i] + reach[i]
        for k in range(s_offsets[i], s_offsets[i + 1]):
            for e in range(ptr[s[k]], ptr[s[k] + 1]):
                t = ids[e]
                if ratios[e] <= least:
                    continue
                begin = start[t] + np.searchsorted(sentence[start[t] : start[t + 1]], first_near)
                end = start[t] + np.searchsorted(sentence[start[t] : start[t + 1]], last_near + 1)
                if end - begin > rare:
                    continue
                vote = np.log(ratios[e])
                for p in range(begin, end):
                    j = sentence[p]
                    if score[j] == 0.0:
                        touched[count] = j
                        count += 1
                    score[j] += vote
        first, second, place = 0.0, 0.0, 0
        for c in range(count):
            j = touched[c]
            if score[j] > first or (score[j] == first and j < place):
                second = first
                first, place = score[j], j
            elif score[j] > second:
                second = score[j]
            score[j] = 0.0
        best[i], margin[i] = place, first - second
