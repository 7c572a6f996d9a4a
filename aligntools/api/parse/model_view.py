"""What a parser learned, to look at."""

from typing import TYPE_CHECKING

from aligntools.parsing.summary import described
from aligntools.parsing.unsupervised.model import ValenceModel
from aligntools.parsing.unsupervised.summary import described as described_valence
from aligntools.viewing.models import ModelView

if TYPE_CHECKING:
    from aligntools.parsing.parser import ParserModel


def model_view(model: "ParserModel | ValenceModel", title: str) -> ModelView:
    """Return what a parser learned: the weights of its templates, or what tags choose as heads."""
    if isinstance(model, ValenceModel):
        return _induced_parser(model, title)
    found = described(model)
    rows = [[name, f"{n:,}", *(f"{x:.3f}" for x in figures)] for name, n, *figures in found["templates"]]
    head = ["template", "weights", "mean size", "largest", "smallest"]
    caption = "Weights of each template: what it looks at on the head's side | on the modifier's"
    note = "w is the word, p its tag, x its first letters; p+1 is the next word's tag, [p] each tag in between."
    return ModelView(title, found["settings"], tables=[{"caption": caption, "head": head, "rows": rows}], notes=[note])


def _induced_parser(model: ValenceModel, title: str) -> ModelView:
    found = described_valence(model)
    head = ["tag", "root, %", "words left, %", "words right, %", "chosen on the left, %", "chosen on the right, %"]
    table = {"caption": "What each tag chooses as a head", "head": head, "rows": found["tags"], "words": True}
    return ModelView(title, found["settings"], tables=[table])
