"""Writes `aligntools.api.align.keywords`: the options of every class of settings as keywords that type checkers know.

``python -m tests.keywords`` after a change of a class; a test compares.
"""

import typing
from pathlib import Path

from aligntools.aligning.contrastive.settings import ContrastiveSettings
from aligntools.aligning.contrastive.taught import TeachingSettings
from aligntools.aligning.settings import (
    AlignerSettings,
    Decisions,
    FilterSettings,
    PartSettings,
    PriorWeights,
    ReconstructionSettings,
)
from aligntools.encoding.settings import EncoderSettings
from aligntools.formats.text.reading import Loading, Reading, Splitting
from aligntools.ground.declaring import Declared, Settings, declared
from aligntools.ground.running import Run
from aligntools.translating.settings import LanguageModelSettings

PLACE = Path(__file__).parent.parent / "aligntools" / "api" / "align" / "keywords.py"
#: Classes whose options public functions take as keywords.
CLASSES: dict[str, type[Settings]] = {
    "Aligner": AlignerSettings,
    "Contrastive": ContrastiveSettings,
    "Decisions": Decisions,
    "Encoder": EncoderSettings,
    "Filter": FilterSettings,
    "LanguageModel": LanguageModelSettings,
    "Loading": Loading,
    "Part": PartSettings,
    "PriorWeights": PriorWeights,
    "Reading": Reading,
    "Reconstruction": ReconstructionSettings,
    "Run": Run,
    "Splitting": Splitting,
    "Teach": TeachingSettings,
}
_HEAD = '''"""Options of the settings as keywords, for type checkers; ``python -m tests.keywords`` makes it of these."""

import os
from collections.abc import Sequence
from typing import Literal, TypedDict

from aligntools.ground.parallel import Pool
'''


def written(one: Declared) -> str:
    """Return an option's type as code has it."""
    kind = f"Literal[{', '.join(map(repr, one.choices))}]".replace("'", '"') if one.choices else one.kind.__name__
    names = [f"Sequence[{kind}]" if one.several else kind]
    for other in one.others:
        origin = typing.get_origin(other) or other
        names.append("os.PathLike[str]" if origin.__name__ == "PathLike" else other.__name__)
    return " | ".join([*names, *(["None"] if one.optional else [])])


def _row(name: str, kind: str) -> str:
    row = f"    {name}: {kind}\n"
    return row if len(row) <= 120 else row.replace("Literal[", "Literal[\n        ").replace("]\n", "\n    ]\n")


def keywords() -> str:
    """Return the module's text."""
    parts = [_HEAD]
    for name, kind in CLASSES.items():
        rows = "".join(_row(n, written(one)) for n, one in declared(kind).items())
        parts.append(
            f'\n\nclass {name}Keywords(TypedDict, total=False):\n    """Those of `{kind.__name__}`."""\n\n{rows}'
        )
    return "".join(parts)


if __name__ == "__main__":
    PLACE.write_text(keywords(), encoding="utf-8")
