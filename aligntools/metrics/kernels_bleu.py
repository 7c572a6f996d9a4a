"""Compiled counting of the n-grams that a translation shares with its references."""

from aligntools.ground.compiler import kernel


@kernel(fast=False)
def count_matches(words, offsets, references, reference_offsets, begin, end, scratch, statistics):
    """Count for sentences ``begin..end`` what BLEU is computed from.

    Every position gets the number of the translation's n-gram that ends there: the first place where the translation
    has the same one. Two n-grams are the same if their last words are and the (n - 1)-grams before those.

    words, offsets (int32 [sentences + 1]): The translations.
    references, reference_offsets (int32 [n * sentences + 1]): The references, a sentence's ``n`` behind each other.
    scratch (int32 [6, words]): Room for the longest sentence with all its references.
    statistics (int64 [sentences, 10]): Filled with matches of order 1 to 4, n-grams of order 1 to 4, length, and the
        length of the closest reference, of two that are equally close the shorter.
    """
    every = (reference_offsets.size - 1) // max(offsets.size - 1, 1)
    text, number, longer = scratch[0], scratch[1], scratch[2]
    counts, current, best = scratch[3], scratch[4], scratch[5]
    for n in range(begin, end):
        length = offsets[n + 1] - offsets[n]
        for k in range(length):
            text[k] = words[offsets[n] + k]
        size = length
        closest = reference_offsets[n * every + 1] - reference_offsets[n * every]
        for r in range(n * every, (n + 1) * every):
            its = reference_offsets[r + 1] - reference_offsets[r]
            for k in range(its):
                text[size + k] = references[reference_offsets[r] + k]
            size += its
            farther = abs(its - length) - abs(closest - length)
            if farther < 0 or (farther == 0 and its < closest):
                closest = its
        for order in range(1, 5):
            for i in range(length):
                counts[i] = 0
                current[i] = 0
                best[i] = 0
            for i in range(order - 1, length):
                j = order - 1
                while j < i and (text[j] != text[i] or (order > 1 and number[j - 1] != number[i - 1])):
                    j += 1
                longer[i] = j
                counts[j] += 1
            start = length
            for r in range(n * every, (n + 1) * every):
                stop = start + reference_offsets[r + 1] - reference_offsets[r]
                for i in range(start + order - 1, stop):
                    longer[i] = -1
                    if order > 1 and number[i - 1] < 0:
                        continue
                    for j in range(order - 1, length):
                        if text[j] == text[i] and (order == 1 or number[j - 1] == number[i - 1]):
                            longer[i] = j
                            current[j] += 1
                            break
                for j in range(length):
                    best[j] = max(best[j], current[j])
                    current[j] = 0
                start = stop
            matches = 0
            for j in range(length):
                matches += min(counts[j], best[j])
            statistics[n, order - 1] = matches
            statistics[n, order + 3] = max(length - order + 1, 0)
            for i in range(size):
                number[i] = longer[i]
        statistics[n, 8], statistics[n, 9] = length, closest
