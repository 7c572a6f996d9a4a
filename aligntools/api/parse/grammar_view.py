"""What a grammar of constituents learned, to look at."""

from typing import TYPE_CHECKING

import numpy as np

from aligntools.constituents.summary import described
from aligntools.viewing.models import ModelView

if TYPE_CHECKING:
    from aligntools.constituents.inducing.model import InducedGrammar
    from aligntools.constituents.model import ConstituentModel
    from aligntools.constituents.neural.model import NeuralGrammar


def model_view(model: "ConstituentModel", title: str, best: int) -> ModelView:
    """Return what a grammar learned: the rules of its symbols and the words of its tags."""
    found = described(model, best)
    tables = [
        {
            "caption": f"{caption}, the most probable {what}",
            "head": [name, "in training", "substates", what],
            "rows": found[key],
            "words": True,
        }
        for key, name, caption, what in (
            ("symbols", "symbol", "Symbols", "rules"),
            ("tags", "tag", "Tags", "words"),
        )
    ]
    note = "Probabilities are those of the symbols without their substates."
    return ModelView(title, found["settings"], tables=tables, notes=[note])


def induced_view(model: "InducedGrammar | NeuralGrammar", title: str, best: int) -> ModelView:
    """Return what a grammar learned without trees: rules of symbols, and words of hidden tags."""
    from aligntools.constituents.neural.model import NeuralGrammar

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
