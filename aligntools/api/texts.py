"""Text as the public functions take it: sentences in memory, or a file."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from aligntools.ground.errors import UsageProblem

#: A sentence: a line of words between spaces, or the list of its words.
Sentence: TypeAlias = str | Sequence[str]
#: One side of a text: sentences, or a file of lines (a `Path`).
Sentences: TypeAlias = Iterable[Sentence] | Path


def paths_of(sources: Sentences, targets: Sentences | None) -> dict[str, Any]:
    """Return a text's sides as the readers of files take them."""
    from aligntools.formats.memory_text import TextLines

    if isinstance(sources, str | bytes) or isinstance(targets, str | bytes):
        raise UsageProblem("a text is an iterable of sentences, or a pathlib.Path for a file; a str is one sentence")
    if targets is None:
        return {"joint": sources if isinstance(sources, Path) else TextLines(sources, "<text>")}
    sides = {"source": sources, "target": targets}
    return {k: v if isinstance(v, Path) else TextLines(v, f"<{k}>") for k, v in sides.items()}
