"""Options of all kinds of evidence as keywords, for type checkers; ``python -m tests.keywords`` makes it of these."""

import os
from collections.abc import Sequence
from typing import TypedDict


class EvidenceKeywords(TypedDict, total=False):
    """Keywords of functions that train."""

    encoder: str | bool | os.PathLike[str] | None
    encoder_layer: int | None
    encoder_pairs: int | None
    word_encoder: bool
    vectors: Sequence[str] | None
    dictionary: Sequence[str]


class AppliedEvidenceKeywords(TypedDict, total=False):
    """Keywords of functions that load what was trained."""

    encoder: str | bool | os.PathLike[str] | None
