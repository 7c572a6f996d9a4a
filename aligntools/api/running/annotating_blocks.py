"""Parts of texts that workers tag or parse."""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

from aligntools.api.given.annotated import Parsed
from aligntools.ground.parallel import Pool
from aligntools.store.block_maps import BlockMap
from aligntools.store.objects import Kept

#: What a command makes of a part: called with a tagger or parser, the part and a pool; can be pickled.
Annotate = Callable[[Any, Parsed, Pool], Any]


def parts_of(texts: Iterable[str], read: Callable[[str], Iterable[Parsed]]) -> Iterator[tuple[str, int, Parsed]]:
    """Yield the parts of several texts, each with its text's name and the sentences of this text before it."""
    for path in texts:
        before = 0
        for part in read(path):
            yield path, before, part
            before += len(part)


def annotated(
    parts: Iterable[tuple[str, int, Parsed]], model: Any, annotate: Annotate, pool: Pool, blocks: BlockMap | None
) -> Iterator[tuple[str, int, Any]]:
    """Yield what is made of each part, with the name and the number that came with it; by workers, if there are any."""
    if blocks is None:
        for path, before, part in parts:
            yield path, before, annotate(model, part, pool)
        return
    yield from blocks.run("annotating", partial(_annotated, blocks.keep(model), annotate), parts)


def _annotated(model: Kept, annotate: Annotate, given: tuple[str, int, Parsed], pool: Pool) -> tuple[str, int, Any]:
    """Do a part's job."""
    path, before, part = given
    return path, before, annotate(model.get(), part, pool)


def turned_note(words: int, model: str) -> str:
    """Say that words were in another of Unicode's normal forms than those of the model; nothing where none was."""
    if not words:
        return ""
    return (
        f"note: {words} words have their accents in another form than the {model}'s words (NFC and NFD); they were"
        " turned for it, and are written as they were"
    )
