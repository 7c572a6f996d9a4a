"""What ``translate`` writes of the parts of a text, made here or in workers."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial

from aligntools.api.translate.translation import Translator
from aligntools.ground.parallel import Pool
from aligntools.store.block_maps import BlockMap
from aligntools.store.objects import Kept
from aligntools.translating.text import Lines


@dataclass(frozen=True)
class Written:
    """What is written of a part.

    Attributes
    ----------
    sentences : int
    lines : bytes
        Translations, or lists of candidates.
    scores : list of float
        Of the translations; none with lists.
    hypergraphs, derivations : bytes
    """

    sentences: int
    lines: bytes
    scores: list[float]
    hypergraphs: bytes
    derivations: bytes = b""


@dataclass(frozen=True)
class TranslationOutput:
    """What is wanted of each sentence.

    Attributes
    ----------
    n_best : int or None
        The best translations, so many, in place of one.
    samples : int or None
        So many samples.
    gamma, seed : float, int
        Of the samples.
    hypergraphs : bool
        Packed derivations too.
    derivations : bool
        The best derivation too, or those of the ``n_best``.
    """

    n_best: int | None = None
    samples: int | None = None
    gamma: float = 1.0
    seed: int = 1
    hypergraphs: bool = False
    derivations: bool = False

    def of(self, translator: Translator, part: Lines, first: int) -> Written:
        """Return what is written of a part whose first sentence has this number."""
        from aligntools.formats.translation.derivations import format_sentences
        from aligntools.formats.translation.nbest import format_nbest

        lists = self.n_best or self.samples
        lines, scores = b"", []
        if not lists:
            found = list(translator.translate_batch(part))
            lines = b"".join(str(one).encode("utf-8", "surrogateescape") + b"\n" for one in found)
            scores = [one.score for one in found]
        wanted = lists or self.hypergraphs or self.derivations
        forests = next(translator.hypergraphs(part, first=first)) if wanted else None
        if forests is not None and self.n_best:
            lines = format_nbest(first, forests.n_best(self.n_best))
        elif forests is not None and self.samples:
            lines = format_nbest(first, forests.samples(self.samples, gamma=self.gamma, seed=self.seed))
        packed = b"".join(forests.lines()) if forests is not None and self.hypergraphs else b""
        trees = b""
        if forests is not None and self.derivations:
            trees = b"".join(format_sentences(forests.derivations(self.n_best or 1)))
        return Written(len(part), lines, scores, packed, trees)


def written(translator: Translator, wanted: TranslationOutput, parts: Iterable[Lines]) -> Iterator[Written]:
    """Yield what is written of each part of a text."""
    return (wanted.of(translator, part, first) for first, part in _numbered(parts))


def written_by(
    blocks: BlockMap, translator: Kept, wanted: TranslationOutput, parts: Iterable[Lines]
) -> Iterator[Written]:
    """Yield what `written` does, made by workers; the translator is one that ``blocks`` keeps."""
    return blocks.run("translating", partial(_written, translator, wanted), _numbered(parts))


def _numbered(parts: Iterable[Lines]) -> Iterator[tuple[int, Lines]]:
    """Yield parts with the number of their first sentence."""
    first = 0
    for part in parts:
        yield first, part
        first += len(part)


def _written(translator: Kept, wanted: TranslationOutput, part: tuple[int, Lines], pool: Pool) -> Written:
    """Do a part's job."""
    first, lines = part
    return wanted.of(translator.get().with_threads(pool), lines, first)
