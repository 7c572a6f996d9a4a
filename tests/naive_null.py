"""NULL's words by their definition, from the posteriors of every token of a text."""

from collections import Counter


def null_words(tokens, smoothing, size):
    """Return p(word | NULL) of the words 0..size - 1.

    ``tokens`` are (word, probability that it is linked to NULL), None where nothing was counted, of the whole text.
    """
    texts, counted, unlinked = Counter(), Counter(), Counter()
    for word, p in tokens:
        texts[word] += 1
        if p is not None:
            counted[word] += 1
            unlinked[word] += p
    share = sum(unlinked.values()) / sum(counted.values())
    mass = []
    for word in range(size):
        own = share
        if counted[word] + smoothing > 0:
            own = (unlinked[word] + smoothing * share) / (counted[word] + smoothing)
        mass.append((texts[word] or 0.5) * own)
    return [m / sum(mass) for m in mass]
