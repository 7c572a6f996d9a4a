"""Small random grammars and language models, as the enumeration has them and as the decoder takes them."""

import math
from dataclasses import replace

import numpy as np

from aligntools.formats.translation.grammar import GrammarRules
from aligntools.translating.lm import language_model as language_models
from aligntools.words.vocabulary import Vocabulary
from tests.naive_translating import Rule

SOURCE, TARGET = ["a", "b", "c", "d"], ["A", "B", "C", "D", "a"]
NAMES = ["forward", "backward"]


def random_rules(rng, count=14):
    """Return distinct rules: phrases and rules with one or two gaps, over the words above."""
    rules = {}
    for _ in range(count):
        source = [SOURCE[k] for k in rng.integers(0, 3, rng.integers(1, 3))]
        gaps = int(rng.integers(0, 3))
        for _gap in range(gaps):
            source.insert(int(rng.integers(0, len(source) + 1)), "X")
        places = iter((-1, -2))
        source = tuple(next(places) if s == "X" else s for s in source)
        target = [TARGET[k] for k in rng.integers(0, 4, rng.integers(1, 4))]
        for g in range(gaps):
            target.insert(int(rng.integers(0, len(target) + 1)), -1 - g)
        rules[source, tuple(target)] = {name: float(np.float32(-rng.random() * 3)) for name in NAMES}
    rules = [Rule(source, target, features) for (source, target), features in rules.items()]
    rules.sort(key=lambda rule: [str(s) for s in rule.source])
    return rules


def as_grammar(rules, sparse=None):
    """Return what the decoder takes for these rules; ``sparse`` is a dict of names to values for each rule."""
    source_vocabulary, target_vocabulary = Vocabulary.from_words(SOURCE), Vocabulary.from_words(TARGET)

    def side(symbols, vocabulary):
        offsets = np.cumsum([0] + [len(s) for s in symbols]).astype(np.int64)
        flat = [s if isinstance(s, int) else vocabulary.id(s) for one in symbols for s in one]
        return offsets, np.array(flat, np.int32)

    source_offsets, source = side([r.source for r in rules], source_vocabulary)
    target_offsets, target = side([r.target for r in rules], target_vocabulary)
    grammar = GrammarRules(
        source_vocabulary, target_vocabulary, source_offsets, source, target_offsets, target,
        np.array([[r.features[n] for n in NAMES] for r in rules], np.float32).reshape(-1, len(NAMES)), NAMES,
    )  # fmt: skip
    if sparse is None:
        return grammar
    names = sorted({n for one in sparse for n in one})
    return replace(
        grammar,
        sparse_names=names,
        sparse_offsets=np.cumsum([0] + [len(one) for one in sparse]).astype(np.int64),
        sparse_ids=np.array([names.index(n) for one in sparse for n in one], np.int32),
        sparse_values=np.array([v for one in sparse for v in one.values()], np.float32),
    )


def random_lm(rng, order, words=("A", "B", "C", "a")):
    """Return a model as a dict: n-grams of random text with random scores, every prefix there."""
    found = {("<unk>",): None, ("<s>",): None, ("</s>",): None} | {(w,): None for w in words}
    for _ in range(6):
        text = ["<s>", *(words[k] for k in rng.integers(0, len(words), rng.integers(1, 6))), "</s>"]
        for begin in range(len(text)):
            for end in range(begin + 1, min(begin + order, len(text)) + 1):
                found[tuple(text[begin:end])] = None
    lm = {}
    for gram in found:
        score = -99.0 if gram == ("<s>",) else -float(rng.random() * 3)
        backoff = 0.0 if len(gram) == order or gram[-1] == "</s>" else float(rng.normal() * 0.5)
        lm[gram] = (float(f"{score:.5f}") * math.log(10), float(f"{backoff:.5f}") * math.log(10))
    return lm


def as_lm(lm, order, path):
    """Return the same model in memory, by way of an ARPA file."""
    lines = ["\\data\\"]
    by_order = [[g for g in lm if len(g) == k] for k in range(1, order + 1)]
    lines += [f"ngram {k}={len(grams)}" for k, grams in enumerate(by_order, 1)]
    for k, grams in enumerate(by_order, 1):
        lines += ["", f"\\{k}-grams:"]
        for gram in grams:
            score, backoff = (value / math.log(10) for value in lm[gram])
            lines.append(f"{score:.5f}\t{' '.join(gram)}" + (f"\t{backoff:.5f}" if k < order else ""))
    path.write_text("\n".join([*lines, "", "\\end\\", ""]))
    return language_models.load(path)


def random_weights(rng, names):
    return {name: float(rng.normal() * 0.5 + (0.7 if name in ("lm", *NAMES) else 0.0)) for name in names}


def encode(system, lines):
    """Number lines of text (str) for a system."""
    words = [line.split() for line in lines]
    offsets = np.cumsum([0] + [len(w) for w in words])
    return system.encode([w.encode() for line in words for w in line], offsets)


def decode(system, sentences, translations):
    """Return translations as lists of words (str)."""
    names = system.names(sentences)
    return [
        tuple(w.decode() for w in names(translations.tokens[a:b]))
        for a, b in zip(translations.offsets[:-1], translations.offsets[1:], strict=True)
    ]
