"""What a grammar of constituents learned, in numbers to look at."""

from typing import Any

import numpy as np

from aligntools.constituents.binarization import EMPTY, INTERMEDIATE
from aligntools.constituents.model import ConstituentModel


def described(model: ConstituentModel, best: int) -> dict[str, Any]:
    """Return what the model learned.

    best: Rules and words of each symbol.
    Returns ``settings``: rows of name and value. ``symbols``: for each label of the treebank a row of its name, how
    often it occurs, its substates, and its most probable rules. ``tags``: the same with words, those that are most
    probable. Of several members that is what the first has.
    """
    own = model.grammar
    frequent = np.add.reduceat(model.frequencies, own.first[:-1])
    plain = own.projected(model.frequencies, np.arange(len(own.symbols)), own.symbols, own.n_tags)
    names = [name.replace(EMPTY, "(no label)") for name in own.symbols]
    rules: dict[int, list[tuple[float, str]]] = {}
    for row, weight in zip(plain.binary.tolist(), plain.binary_weights.tolist(), strict=True):
        rules.setdefault(row[0], []).append((weight, f"{names[row[1]]} {names[row[2]]}"))
    for row, weight in zip(plain.unary.tolist(), plain.unary_weights.tolist(), strict=True):
        rules.setdefault(row[0], []).append((weight, names[row[1]]))

    def top(found: list[tuple[float, str]]) -> str:
        return ", ".join(
            f"{name} {weight:.3f}" for weight, name in sorted(found, key=lambda one: (-one[0], one[1]))[:best]
        )

    order = np.argsort(-frequent, kind="stable").tolist()
    symbols = [
        [names[k], f"{frequent[k]:.0f}", int(own.substates[k]), top(rules.get(k, []))]
        for k in order
        if k >= own.n_tags and not names[k].startswith(INTERMEDIATE)
    ]
    words = _words(model)
    tags = [
        [names[k], f"{frequent[k]:.0f}", int(own.substates[k]), top(words.get(k, []))] for k in order if k < own.n_tags
    ]
    settings = [
        ["symbols", f"{len(names)}, of them {own.n_tags} tags"],
        ["substates", model.n_states],
        ["binary rules, unary rules", f"{len(own.binary)}, {len(own.unary)}"],
        ["known words", len(model.lexicon.words)],
        *([name, str(value)] for name, value in model.settings.items() if value is not None),
    ]
    return {"settings": settings, "symbols": symbols, "tags": tags}


def _words(model: ConstituentModel) -> dict[int, list[tuple[float, str]]]:
    """Return the words of each tag with their share of it."""
    lexicon = model.lexicon
    names = sorted(lexicon.words, key=lexicon.words.__getitem__)
    sums = np.add.reduceat(lexicon.pair_counts, lexicon.pairs_at[:-1]) if len(lexicon.pairs) else np.zeros(0)
    totals = np.bincount(lexicon.pairs[:, 1], sums, model.grammar.n_tags)
    found: dict[int, list[tuple[float, str]]] = {}
    for (word, tag), count in zip(lexicon.pairs.tolist(), sums.tolist(), strict=True):
        found.setdefault(tag, []).append((count / max(totals[tag], 1e-300), names[word]))
    return found
