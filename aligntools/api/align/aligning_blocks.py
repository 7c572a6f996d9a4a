"""Blocks of a text that workers align with a saved or trained aligner."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from aligntools.api.align.alignments import Alignments
from aligntools.formats.text.corpus import Bitext, Side, Skipped
from aligntools.ground.parallel import Pool
from aligntools.store.block_maps import BlockMap
from aligntools.store.objects import Kept
from aligntools.words.vocabulary import ExtendedVocabulary, Vocabulary

if TYPE_CHECKING:
    from aligntools.aligning.model import AlignmentModel

#: Sentence pairs of a worker's job.
JOB = 2_500


def aligned_by(
    blocks: BlockMap,
    aligner: Any,
    align: Callable[..., Iterator[Alignments]],
    texts: Iterable[Bitext | tuple[Bitext, Any]],
) -> Iterator[Alignments]:
    """Yield what workers make of the parts of a text.

    aligner: What aligns, with its ``model``; it can be pickled.
    align: Called with it, a part and a pool, and with what goes with the part.
    texts: In the ids of the model; with what goes with each part.
    """
    job = partial(_aligned, blocks.keep(aligner), align)
    for found in blocks.run("aligning", job, map(_Sent.of, texts)):
        yield from found


@dataclass(frozen=True)
class _Sent:
    """A text without the words of the model, which the workers have: with those alone that it does not know."""

    source: Side
    target: Side
    source_words: list[str]
    target_words: list[str]
    skipped: Skipped
    more: tuple[Any, ...]

    @classmethod
    def of(cls, given: Bitext | tuple[Bitext, Any]) -> "_Sent":
        """Take a text in a model's ids."""
        text, *more = given if isinstance(given, tuple) else (given,)
        source, target = text.source_vocabulary, text.target_vocabulary
        return cls(text.source, text.target, _unknown(source), _unknown(target), text.skipped, tuple(more))

    def text(self, model: "AlignmentModel") -> Bitext:
        """Return the text."""
        extended: Any = ExtendedVocabulary
        source = extended(model.source_vocabulary, self.source_words)
        target = extended(model.target_vocabulary, self.target_words)
        return Bitext(self.source, self.target, source, target, self.skipped)


def _unknown(vocabulary: Vocabulary | ExtendedVocabulary) -> list[str]:
    return list(vocabulary.extra) if isinstance(vocabulary, ExtendedVocabulary) else []


def _aligned(aligner: Kept, align: Callable[..., Iterator[Alignments]], sent: _Sent, pool: Pool) -> list[Alignments]:
    """Do a part's job."""
    used = aligner.get()
    return list(align(used, sent.text(used.model), pool, *sent.more))
