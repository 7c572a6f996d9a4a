"""What a grammar of constituents learned, to look at."""

from typing import TYPE_CHECKING

import numpy as np

from aligntools.constituents.describing import described
from aligntools.viewing.models import ModelView

if TYPE_CHECKING:
    from aligntools.constituents.inducing.model import InducedGrammar
    from aligntools.constituents.model import ConstituentModel


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


def induced_view(model: "InducedGrammar", title: str, best: int) -> ModelView:
    """Return what a grammar learned from tags: the rules of its symbols."""
    names = [f"X{k}" for k in range(len(model.rules.roots))] + model.vocabulary.words()[1:]
    rows = []
    for k, rules in enumerate(model.rules.rules):
        order = np.argsort(-rules, axis=None, kind="stable")[:best]
        pairs = zip(*np.unravel_index(order, rules.shape), strict=True)
        shown = ", ".join(f"{names[a]} {names[b]} {rules[a, b]:.3f}" for a, b in pairs)
        rows.append([names[k], f"{model.rules.roots[k]:.3f}", shown])
    head = ["symbol", "above a sentence", "rules"]
    table = {"caption": "Symbols, the most probable rules", "head": head, "rows": rows, "words": True}
    return ModelView(title, [[name, str(value)] for name, value in model.settings.items()], tables=[table])
