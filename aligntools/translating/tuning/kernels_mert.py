"""The upper envelopes that Och's line search walks along."""

import numpy as np

from aligntools.ground.compiler import kernel


@kernel(fast=False)
def envelopes(offsets, intercepts, slopes, begin, end, points, candidates, counts):
    """Find which candidate of each sentence scores best at each point of a line.

    offsets (int64 [sentences + 1]): Candidates of each sentence.
    intercepts, slopes (float64 [candidates]): A candidate scores ``intercept + t * slope``.
    points (float64 [candidates]): Out, from the sentence's offset on: where the envelope's pieces begin, ascending; the
        first is -inf.
    candidates (int64 [candidates]): Out: the candidate of each piece.
    counts (int64 [sentences]): Out: pieces.
    """
    for s in range(begin, end):
        first, last = offsets[s], offsets[s + 1]
        order = np.argsort(slopes[first:last], kind="mergesort")
        count = 0
        for i in range(last - first):
            c = first + order[i]
            point = -np.inf
            drop = False
            while count > 0:
                other = candidates[first + count - 1]
                if slopes[other] == slopes[c]:
                    if intercepts[c] <= intercepts[other]:
                        drop = True
                        break
                    count -= 1
                    continue
                point = (intercepts[other] - intercepts[c]) / (slopes[c] - slopes[other])
                if point > points[first + count - 1]:
                    break
                count -= 1
                point = -np.inf
            if drop:
                continue
            points[first + count], candidates[first + count] = point, c
            count += 1
        counts[s] = count
