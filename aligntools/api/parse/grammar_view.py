"""What a grammar of constituents learned, to look at."""

from typing import TYPE_CHECKING

from aligntools.constituents.describing import described
from aligntools.viewing.models import ModelView

if TYPE_CHECKING:
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
