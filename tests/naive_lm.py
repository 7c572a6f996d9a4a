"""Language models with dictionaries, straight from the formulas; slow, and with nothing of what it checks."""

from collections import Counter, defaultdict
from fractions import Fraction

BEGIN, END, UNKNOWN = "<s>", "</s>", "<unk>"


class KneserNey:
    """Interpolated modified Kneser-Ney over sentences of words (Chen & Goodman 1998)."""

    def __init__(self, sentences, order, thresholds=(0,), fallback=(0.5, 1.0, 1.5)):
        self.order = order
        self.thresholds = [*thresholds, *[thresholds[-1]] * order][:order]
        self.counts = [Counter() for _ in range(order + 1)]  # by order, how often
        for sentence in sentences:
            if not sentence:
                continue
            text = (BEGIN, *sentence, END)
            for n in range(1, order + 1):
                for k in range(len(text) - n + 1):
                    self.counts[n][text[k : k + n]] += 1
        del self.counts[1][(BEGIN,)]
        self.adjusted = [None] + [self._adjusted(n) for n in range(1, order + 1)]
        self.fell_back = []
        self.discounts = [None] + [self._discounts(n, fallback) for n in range(1, order + 1)]
        self.continuations = [None] + [defaultdict(list) for _ in range(order)]
        for n in range(1, order + 1):
            for gram, a in self.adjusted[n].items():
                self.continuations[n][gram[:-1]].append((gram, a))
        self.words = {w for (w,) in self.counts[1]} | {UNKNOWN}

    def _adjusted(self, n):
        if n == self.order:
            return dict(self.counts[n])
        longer = Counter(gram[1:] for gram in self.counts[n + 1])
        return {gram: c if gram[0] == BEGIN else longer[gram] for gram, c in self.counts[n].items()}

    def _discounts(self, n, fallback):
        n1, n2, n3, n4 = (sum(a == c for a in self.adjusted[n].values()) for c in (1, 2, 3, 4))
        if n1 and n2 and n3:
            y = Fraction(n1, n1 + 2 * n2)
            found = (1 - 2 * y * n2 / n1, 2 - 3 * y * n3 / n2, 3 - 4 * y * n4 / n3)
            if all(0 < d <= j for j, d in enumerate(found, 1)):
                return tuple(map(float, found))
        self.fell_back.append(n)
        return fallback

    def _discount(self, n, a):
        return self.discounts[n][min(a, 3) - 1]

    def kept(self, gram):
        return self.counts[len(gram)][gram] > self.thresholds[len(gram) - 1]

    def gamma(self, context):
        """Return the backoff weight of a context that has been seen."""
        n = len(context) + 1
        total = sum(a for _, a in self.continuations[n][context])
        left = sum(self._discount(n, a) if self.kept(g) else a for g, a in self.continuations[n][context])
        return left / total

    def probability(self, word, context=()):
        """Return p(word | context), the context's last words counting."""
        context = tuple(context)[max(len(context) - self.order + 1, 0) :]
        n = len(context) + 1
        seen = self.continuations[n].get(context)
        if not seen:
            return self.probability(word, context[1:])
        gram, total = (*context, word), sum(a for _, a in seen)
        a = self.adjusted[n].get(gram, 0)
        own = (a - self._discount(n, a)) / total if a and self.kept(gram) else 0.0
        shorter = self.probability(word, context[1:]) if context else 1 / len(self.words)
        return own + self.gamma(context) * shorter


def backed_off(entries, context, word, order):
    """Return the logarithm that an ARPA file gives a word: ``entries`` has (probability, backoff) by n-gram."""
    context = tuple(context)[max(len(context) - order + 1, 0) :]
    if (*context, word) in entries:
        return entries[(*context, word)][0]
    weight = entries[context][1] if context in entries else 0.0
    return weight + backed_off(entries, context[1:], word, order)
