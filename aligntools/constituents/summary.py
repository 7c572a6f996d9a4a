"""What a grammar of constituents learned, to look at."""

from typing import Any

import numpy as np

from aligntools.constituents.binarization import EMPTY, INTERMEDIATE
from aligntools.constituents.inducing.model import InducedGrammar
from aligntools.constituents.model import ConstituentModel
from aligntools.constituents.neural.model import NeuralGrammar
from aligntools.viewing.models import ModelView


def model_view(model: ConstituentModel, title: str, best: int) -> ModelView:
    """Return the most probable rules of symbols and words of tags; of several members, of the first.

    best: Rules and words of each symbol.
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
    settings: list[list[Any]] = [
        ["symbols", f"{len(names)}, of them {own.n_tags} tags"],
        ["substates", model.n_states],
        ["binary rules, unary rules", f"{len(own.binary)}, {len(own.unary)}"],
        ["known words", len(model.lexicon.words)],
        *([name, str(value)] for name, value in model.settings.items() if value is not None),
    ]
    tables = [
        {
            "caption": f"{caption}, the most probable {what}",
            "head": [name, "in training", "substates", what],
            "rows": rows,
            "words": True,
        }
        for rows, name, caption, what in ((symbols, "symbol", "Symbols", "rules"), (tags, "tag", "Tags", "words"))
    ]
    note = "Probabilities are those of the symbols without their substates."
    return ModelView(title, settings, tables=tables, notes=[note])


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


def induced_view(model: InducedGrammar | NeuralGrammar, title: str, best: int) -> ModelView:
    """Return what a grammar learned without trees: rules of symbols, and words of hidden tags."""
    known = model.vocabulary.words()[1:]
    hidden = isinstance(model, NeuralGrammar)
    under = [f"T{k}" for k in range(model.rules.n_tags)] if hidden else known
    names = [f"X{k}" for k in range(len(model.rules.roots))] + under
    rows = []
    for k, rules in enumerate(model.rules.rules):
        order = np.argsort(-rules, axis=None, kind="stable")[:best]
        pairs = zip(*np.unravel_index(order, rules.shape), strict=True)
        shown = ", ".join(f"{names[a]} {names[b]} {rules[a, b]:.3f}" for a, b in pairs)
        rows.append([names[k], f"{model.rules.roots[k]:.3f}", shown])
    head = ["symbol", "above a sentence", "rules"]
    tables = [{"caption": "Symbols, the most probable rules", "head": head, "rows": rows, "words": True}]
    notes = []
    if isinstance(model, NeuralGrammar):
        words = np.exp(model.prior_heads.words[:, 1:])
        order = np.argsort(-words, axis=1, kind="stable")[:, :best]
        of_tags = [[under[t], ", ".join(f"{known[w]} {words[t, w]:.3f}" for w in own)] for t, own in enumerate(order)]
        what = "tags" if model.needs_tags else "words"
        caption = f"Preterminals, the most probable {what}"
        tables.append({"caption": caption, "head": ["preterminal", what], "rows": of_tags, "words": True})
        if model.sizes.latent:
            notes.append("Probabilities are those of the latent vector 0, the mean of its prior.")
    settings = [[name, str(value)] for name, value in model.settings.items()]
    return ModelView(title, settings, tables=tables, notes=notes)
