"""What a parser without trees learned, in numbers to look at."""

from typing import Any

import numpy as np

from aligntools.parsing.unsupervised.model import ValenceModel

#: Tags of a side that are shown.
SHOWN = 5


def described(model: ValenceModel) -> dict[str, Any]:
    """Return what the model learned.

    Returns ``settings``: rows of name and value. ``tags``: for each tag, the likeliest root first, its name, the
    probabilities of being the root and of having words on the left and on the right, in percent, and the tags that it
    chooses there.
    """
    names = [name.decode("utf-8", "replace") for name in model.vocabulary.encoded()][1:]
    known = model.parameters
    rows = []
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
    return {"settings": settings, "tags": rows}
