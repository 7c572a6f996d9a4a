"""What an alignment model learned, to look at."""

from typing import TYPE_CHECKING

from aligntools.aligning.describing import described
from aligntools.viewing.models import Columns, ModelView, Words

if TYPE_CHECKING:
    from aligntools.aligning.model import AlignmentModel


def model_view(model: "AlignmentModel", title: str, words: int, best: int) -> ModelView:
    """Return what a model learned: what it shows of itself, translations of words."""
    found = described(model, words, best)
    lists, notes = [], []
    for d, side in enumerate(found["sides"] if words else []):
        own, other = ("source words", "target words")[:: -1 if d else 1]
        lists.append(
            Words(own, f"{other[:-1]}", side["words"], side["translations"], side["counts"], side["shares"], 1 - d)
        )
        if side["all"] > len(side["words"]):
            notes.append(f"The {len(side['words']):,} most frequent of {side['all']:,} {own}.")
    if found["view"]:
        notes.append(f"Words are cut to their first {found['view']} letters, as in the model's first view.")
    return ModelView(title, found["settings"], [Columns(*chart) for chart in found["charts"]], words=lists, notes=notes)
