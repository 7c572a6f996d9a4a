"""What a parser learned, to look at: the weights of its templates, or what tags choose as heads."""

from typing import Any

import numpy as np

from aligntools.parsing.parser import ParserModel
from aligntools.parsing.unsupervised.model import ValenceModel
from aligntools.viewing.models import ModelView

#: Tags of a side that are shown.
SHOWN = 5


def model_view(model: ParserModel | ValenceModel, title: str) -> ModelView:
    """Return what a parser learned."""
    if isinstance(model, ValenceModel):
        return _valence_view(model, title)
    rows: list[Any] = []
    for template, (begin, end) in zip(model.space.templates, model.space.regions.tolist(), strict=True):
        weights = model.weights[begin:end]
        some = weights[weights != 0]
        figures = [float(np.abs(some).mean()), float(some.max()), float(some.min())] if len(some) else [0.0] * 3
        rows.append((template, len(some), *figures))
    trees = model.constraints
    settings: list[list[Any]] = [
        ["weights that are not 0", int(np.count_nonzero(model.weights))],
        ["trees", ("projective" if trees.projective else "all") + (", one root" if trees.single_root else "")],
        ["labels", "yes" if model.labeler is not None else "no"],
        [
            "words, tags, first letters",
            ", ".join(str(len(getattr(model.vocabularies, name)) - 1) for name in ("words", "tags", "prefixes")),
        ],
    ]
    found = [
        [name, f"{n:,}", *(f"{x:.3f}" for x in figures)]
        for name, n, *figures in sorted(rows, key=lambda row: -row[1] * row[2])
    ]
    head = ["template", "weights", "mean size", "largest", "smallest"]
    caption = "Weights of each template: what it looks at on the head's side | on the modifier's"
    note = "w is the word, p its tag, x its first letters; p+1 is the next word's tag, [p] each tag in between."
    return ModelView(title, settings, tables=[{"caption": caption, "head": head, "rows": found}], notes=[note])


def _valence_view(model: ValenceModel, title: str) -> ModelView:
    """Return for each tag, the likeliest root first, its probabilities and the tags that it chooses on both sides."""
    names = [name.decode("utf-8", "replace") for name in model.vocabulary.encoded()][1:]
    known = model.parameters
    rows: list[Any] = []
    for k in np.argsort(-known.root, kind="stable").tolist():
        sides = []
        for side in (0, 1):
            order = np.argsort(-known.choose[k, side], kind="stable")[:SHOWN].tolist()
            sides.append(" ".join(f"{names[a]} {100 * known.choose[k, side, a]:.0f}" for a in order))
        shares = [known.root[k], known.decide[k, 0, 0, 1], known.decide[k, 1, 0, 1]]
        rows.append([names[k], *(f"{100 * x:.1f}" for x in shares), *sides])
    settings: list[list[Any]] = [
        ["model", "dependency model with valence, learned without trees"],
        ["tags", len(names)],
        *([name, str(value)] for name, value in model.settings.items()),
    ]
    head = ["tag", "root, %", "words left, %", "words right, %", "chosen on the left, %", "chosen on the right, %"]
    table = {"caption": "What each tag chooses as a head", "head": head, "rows": rows, "words": True}
    return ModelView(title, settings, tables=[table])
