"""Parallel text in parts that an aligner works on: here, by workers, or a pair that is answered before the next."""

from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from aligntools.aligning.alignments import Alignments
from aligntools.formats.text.corpus import Bitext, Side, Skipped
from aligntools.ground.parallel import Pool
from aligntools.ground.run import Run
from aligntools.pipeline import Part, Tally, map_parts
from aligntools.words.vocabulary import ExtendedVocabulary, Vocabulary

if TYPE_CHECKING:
    from aligntools.aligning.model import AlignmentModel
    from aligntools.formats.links.given_links import GivenLinks

#: Sentence pairs of a worker's job.
JOB = 2_500


class PairRequest(NamedTuple):
    """A pair that is answered before the next is read; it has a blank answer where that fails."""

    line: int
    text: Bitext
    given: int
    problem: str = ""

    @property
    def blank(self) -> "tuple[Bitext, list[GivenLinks]]":
        """As many pairs without words, and no links."""
        from aligntools.formats.links.given_links import GivenLinks
        from aligntools.formats.links.pharaoh import Links

        text, offsets = self.text, np.zeros(len(self.text) + 1, np.int64)
        none, links = Side(np.empty(0, np.int32), offsets), Links(np.empty((0, 2), np.int32), offsets)
        blank = Bitext(none, none, text.source_vocabulary, text.target_vocabulary, text.skipped)
        return blank, [GivenLinks.of(links)] * self.given


@dataclass(frozen=True)
class SentText:
    """A text without the words of the model, which the workers have: with those alone that it does not know."""

    source: Side
    target: Side
    source_words: list[str]
    target_words: list[str]
    skipped: Skipped

    @classmethod
    def of(cls, text: Bitext) -> "SentText":
        """Take a text in a model's ids."""
        source, target = _unknown(text.source_vocabulary), _unknown(text.target_vocabulary)
        return cls(text.source, text.target, source, target, text.skipped)

    def text(self, model: "AlignmentModel") -> Bitext:
        """Return the text."""
        extended: Any = ExtendedVocabulary
        source = extended(model.source_vocabulary, self.source_words)
        target = extended(model.target_vocabulary, self.target_words)
        return Bitext(self.source, self.target, source, target, self.skipped)


def _unknown(vocabulary: Vocabulary | ExtendedVocabulary) -> list[str]:
    return list(vocabulary.extra) if isinstance(vocabulary, ExtendedVocabulary) else []


def align_parts(
    align: Callable[[Any, Part, Pool], Iterable[Alignments]],
    aligner: Any,
    texts: "Iterable[tuple[Bitext, list[GivenLinks]]]",
    run: Run,
    pool: Pool,
    requests: tuple[Tally, str] | None = None,
) -> Generator[Alignments, None, None]:
    """Yield the alignments of the runs of a text, in order.

    align: Makes them of a part; see `map_parts`.
    texts: In the ids of the model, with the links that were given of each.
    requests: Counts blank answers to single pairs, with the name of their text.
    """
    tally, path = requests or (Tally(), "")
    parts = _parts(texts, path, run.asked, requests is not None)
    with closing(map_parts(align, aligner, parts, run, pool, tally)) as done:
        for found in done:
            yield from found


def _parts(texts: "Iterable[tuple[Bitext, list[GivenLinks]]]", path: str, sent: bool, requests: bool) -> Iterator[Part]:
    first = 0
    for text, given in texts:
        request = PairRequest(first + 1, text, len(given)) if requests else None
        yield Part(path, first, first, (SentText.of(text) if sent else text, given), request)
        first += len(text)


def text_of(part: Part, model: "AlignmentModel") -> "tuple[Bitext, list[GivenLinks]]":
    """Return the text of a part, in the model's ids, with the links that were given of it."""
    text, given = part.text
    return (text.text(model) if isinstance(text, SentText) else text), given
