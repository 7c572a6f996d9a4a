"""What a parser learned, in numbers to look at: how its weights lie over the templates of its features."""

from typing import Any

import numpy as np

from aligntools.parsing.parser import ParserModel


def described(model: ParserModel) -> dict[str, Any]:
    """Return what the model learned.

    Returns ``settings``: rows of name and value. ``templates``: for each a row of its text, weights that are not 0,
    their mean absolute value, the largest and the smallest. Features are numbers, not text: see `FeatureSpace`.
    """
    rows = []
    for template, (begin, end) in zip(model.space.templates, model.space.regions.tolist(), strict=True):
        weights = model.weights[begin:end]
        some = weights[weights != 0]
        figures = [float(np.abs(some).mean()), float(some.max()), float(some.min())] if len(some) else [0.0] * 3
        rows.append([template, len(some), *figures])
    trees = model.constraints
    settings = [
        ["weights that are not 0", int(np.count_nonzero(model.weights))],
        ["trees", ("projective" if trees.projective else "all") + (", one root" if trees.single_root else "")],
        ["labels", "yes" if model.labeler is not None else "no"],
        [
            "words, tags, first letters",
            ", ".join(str(len(getattr(model.vocabularies, name)) - 1) for name in ("words", "tags", "prefixes")),
        ],
    ]
    return {"settings": settings, "templates": sorted(rows, key=lambda row: -row[1] * row[2])}
