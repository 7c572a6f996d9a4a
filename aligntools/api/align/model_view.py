"""What an alignment model learned, to look at."""

from typing import TYPE_CHECKING

from aligntools.aligning.describing import described
from aligntools.viewing.models import Columns, ModelView, Words

if TYPE_CHECKING:
    from aligntools.aligning.model import AlignmentModel


def model_view(model: "AlignmentModel", title: str, words: int, best: int) -> ModelView:
    """Return what a model learned: jumps, fertilities, translations of words."""
    found = described(model, words, best)
    charts = []
    if found["jumps"]:
        series = list(found["jumps"].items())
        n = len(series[0][1]) // 2
        names = [f"{k:+d}" if k else "0" for k in range(-n, n + 1)]
        names[0], names[-1] = f"≤{names[0]}", f"≥{names[-1]}"
        charts.append(Columns("Jumps", "words from the position of the word before", names, series))
    if found["fertility"]:
        series = [(f"{side} words", found["fertility"][name]) for name, side in
                  (("forward", "source"), ("reverse", "target")) if name in found["fertility"]]  # fmt: skip
        last = len(series[0][1]) - 1
        names = [f"{k}" if k < last else f"≥{k}" for k in range(last + 1)]
        charts.append(Columns("Fertilities", "words that are linked to a word", names, series))
    lists, notes = [], []
    for d, side in enumerate(found["sides"] if words else []):
        own, other = ("source words", "target words")[:: -1 if d else 1]
        lists.append(
            Words(own, f"{other[:-1]}", side["words"], side["translations"], side["counts"], side["fertility"], 1 - d)
        )
        if side["all"] > len(side["words"]):
            notes.append(f"The {len(side['words']):,} most frequent of {side['all']:,} {own}.")
    if found["view"]:
        notes.append(f"Words are cut to their first {found['view']} letters, as in the model's first view.")
    return ModelView(title, found["settings"], charts, words=lists, notes=notes)
