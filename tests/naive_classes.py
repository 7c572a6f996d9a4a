"""The bigram model of classes by its definition: probabilities of each word, multiplied along the text."""

import math
from collections import Counter


def pairs(sentences):
    """Count words and those that follow them; 0 stands at both edges of a sentence that has words."""
    found = Counter()
    for words in sentences:
        if words:
            found.update(zip([0, *words], [*words, 0], strict=True))
    return found


def log_likelihood(counts, classes):
    """Return the sum of ln p(class | class before) p(word | class) over pairs of words, by relative frequencies."""
    together, first, second, words = Counter(), Counter(), Counter(), Counter()
    for (a, b), n in counts.items():
        together[classes[a], classes[b]] += n
        first[classes[a]] += n
        second[classes[b]] += n
        words[b] += n
    total = 0.0
    for (a, b), n in counts.items():
        g, h = classes[a], classes[b]
        total += n * math.log(together[g, h] / first[g] * words[b] / second[h])
    return total


def information(counts, classes):
    """Return the mutual information of the classes of neighbouring words."""
    together, first, second = Counter(), Counter(), Counter()
    for (a, b), n in counts.items():
        together[classes[a], classes[b]] += n
        first[classes[a]] += n
        second[classes[b]] += n
    total = sum(counts.values())
    return sum(n / total * math.log(n * total / (first[g] * second[h])) for (g, h), n in together.items())


def gains(counts, classes, word, among):
    """Return what each class for a word adds to the log-likelihood, over the class that it has."""
    now = log_likelihood(counts, classes)
    found = {}
    for g in among:
        moved = list(classes)
        moved[word] = g
        found[g] = log_likelihood(counts, moved) - now
    return found
