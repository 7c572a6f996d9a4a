"""Translation by enumeration: every derivation of a sentence under a small grammar. Imports nothing it checks.

A rule is ``(source, target, features)``: tuples of words (str) and -1, -2 for nonterminals, and a dict of log values.
A language model is a dict from tuples of words to ``(log probability, backoff)``, with an order.
"""

import math
from collections import namedtuple

Rule = namedtuple("Rule", "source target features")
#: ``feats``: totals of local features; ``rules``: rule numbers used, sorted.
Derivation = namedtuple("Derivation", "words feats rules")


def backoff_score(lm, context, word):
    """ARPA's rule: the longest n-gram that is there, and the backoffs of the contexts that had to be left."""
    if (*context, word) in lm:
        return lm[(*context, word)][0]
    if not context:
        return lm[("<unk>",)][0]
    return lm.get(tuple(context), (0, 0.0))[1] + backoff_score(lm, context[1:], word)


def known(lm, word):
    return word if (word,) in lm else "<unk>"


def lm_score(lm, order, words):
    """Log probability of a sentence with its end."""
    history, total = ["<s>"], 0.0
    for word in [*words, "</s>"]:
        word = known(lm, word)
        total += backoff_score(lm, tuple(history[max(0, len(history) - order + 1) :]) if order > 1 else (), word)
        history.append(word)
    return total


def matches(source, words, begin, end):
    """Yield the spans of the nonterminals, in source order, for every way that a source side covers words."""
    if not source:
        if begin == end:
            yield ()
        return
    first, rest = source[0], source[1:]
    if isinstance(first, str):
        if begin < end and words[begin] == first:
            yield from matches(rest, words, begin + 1, end)
        return
    for middle in range(begin + 1, end + 1):
        for spans in matches(rest, words, middle, end):
            yield ((begin, middle), *spans)


def add(*dicts):
    total = {}
    for d in dicts:
        for k, v in d.items():
            total[k] = total.get(k, 0.0) + v
    return total


class Enumeration:
    """All derivations of ``words`` (list of str), glue and unknown words included."""

    def __init__(self, rules, words, span_limit):
        self.rules, self.words, self.limit = rules, words, span_limit
        self._x = {}

    def local(self, number, rule):
        n_words = sum(isinstance(s, str) for s in rule.target)
        arity = sum(not isinstance(s, str) for s in rule.source)
        return add(rule.features, {"word-penalty": n_words, f"arity-{arity}": 1})

    def x(self, begin, end):
        """Return all derivations of X over a span."""
        if (begin, end) in self._x:
            return self._x[begin, end]
        found = []
        if end - begin <= self.limit:
            for number, rule in enumerate(self.rules):
                if len(rule.source) == 1 and rule.source[0] == -1:
                    continue
                for spans in matches(rule.source, self.words, begin, end):
                    found += self.apply(number, rule, [self.x(*span) for span in spans])
        word = self.words[begin]
        if end == begin + 1 and not any(rule.source == (word,) for rule in self.rules):
            found.append(Derivation((word,), {"unknown": 1, "word-penalty": 1}, (-1,)))
        self._x[begin, end] = found
        return found

    def apply(self, number, rule, parts):
        local = self.local(number, rule)
        ways = [()]
        for part in parts:
            ways = [(*way, one) for way in ways for one in part]
        for way in ways:
            words = []
            for symbol in rule.target:
                words += [symbol] if isinstance(symbol, str) else list(way[-symbol - 1].words)
            rules = tuple(sorted([number, *(r for d in way for r in d.rules)]))
            yield Derivation(tuple(words), add(local, *(d.feats for d in way)), rules)

    def s(self, end):
        """Return all derivations of S over the first ``end`` words."""
        found = [Derivation(d.words, add(d.feats, {"glue-unary": 1}), d.rules) for d in self.x(0, end)]
        for middle in range(1, end):
            found += [
                Derivation(
                    a.words + b.words, add(a.feats, b.feats, {"glue-binary": 1}), tuple(sorted(a.rules + b.rules))
                )
                for a in self.s(middle)
                for b in self.x(middle, end)
            ]
        return found

    def derivations(self, lm=None, order=1):
        """Return all derivations of the sentence, the language model's features added."""
        whole = self.s(len(self.words))
        if lm is None:
            return whole
        return [
            Derivation(
                d.words,
                add(d.feats, {"lm": lm_score(lm, order, d.words)},
                    {"lm-unknown": sum((w,) not in lm for w in d.words)}),
                d.rules,
            )
            for d in whole
        ]  # fmt: skip


def score(derivation, weights):
    return sum(weights.get(name, 0.0) * value for name, value in derivation.feats.items())


def best(derivations, weights):
    """Return the highest score and the set of strings that have it."""
    top = max(score(d, weights) for d in derivations)
    return top, {d.words for d in derivations if math.isclose(score(d, weights), top, rel_tol=1e-6, abs_tol=1e-5)}
