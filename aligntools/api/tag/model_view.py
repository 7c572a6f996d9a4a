"""What a tagger learned, to look at."""

from typing import TYPE_CHECKING

from aligntools.tagging.summary import described
from aligntools.viewing.models import ModelView, WordList

if TYPE_CHECKING:
    from aligntools.tagging.tagger import TaggerModel


def model_view(model: "TaggerModel", title: str, words: int, best: int) -> ModelView:
    """Return what a tagger learned: words of tags, tags that follow each other, tags of words."""
    found = described(model, words, best)
    prior = list(zip(found["tags"], found["prior"], strict=True))
    order = sorted(range(len(prior)), key=lambda k: -prior[k][1])
    rows = [
        [found["tags"][k], f"{100 * found['prior'][k]:.1f}", " ".join(word for word, _ in found["typical"][k])]
        for k in order
    ]
    table = {
        "caption": "Words that a tag emits most readily",
        "head": ["tag", "share, %", "words"],
        "rows": rows,
        "words": True,
    }
    names = found["transition_tags"]
    matrix = ("Tags that follow each other: the next tag's probability in percent", names, names, found["transitions"])
    lists, notes = [], []
    if words:
        known = found["words"]
        lists = [WordList("known words", "tag", [word for word, _ in known], [pairs for _, pairs in known])]
        if len(known) < len(model.words):
            notes.append(f"{len(known):,} of {len(model.words):,} known words.")
    return ModelView(title, found["settings"], tables=[table], words=lists, matrix=matrix, notes=notes)
