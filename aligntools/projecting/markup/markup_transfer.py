"""Tags of a text carried over to its translation, from Python."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from aligntools.aligning.aligner import Aligner, check_loaded
from aligntools.aligning.alignment import train_aligner
from aligntools.aligning.settings import Decisions
from aligntools.formats.markup.segments import BrokenSegment, Segment, parse_segment
from aligntools.formats.markup.usfm import parse_usfm
from aligntools.formats.text.text_settings import Reading, Tokenizing
from aligntools.ground.declarations import Keywords, taking
from aligntools.ground.errors import DataError
from aligntools.ground.run import Run
from aligntools.projecting.markup.placement import SparseLinks
from aligntools.projecting.markup.transfer import CHARACTERS, prepare, transferred
from aligntools.projecting.markup.transfer import LEAST as LEAST
from aligntools.projecting.markup.transfer import MarkedText as MarkedText
from aligntools.projecting.markup.transfer import MarkupSettings as MarkupSettings
from aligntools.projecting.markup.transfer import PlacedTag as PlacedTag
from aligntools.projecting.markup.words import Finder, Known, WordFinder
from aligntools.words.tokenizers import tokenizers

if TYPE_CHECKING:
    from aligntools.ground.keywords import MarkupTransferKeywords


#: Segments, and characters of their translations, that are aligned together.
_BLOCK, _CHARACTERS = 500, 2_000_000
#: A segment, or what is wrong with it or with its translation; and its translation.
Pair = tuple[Segment | DataError, str]


class MarkupTransfer:
    """Carries tags of segments over to their translations, by the links that a model finds. It does not change.

    Parameters
    ----------
    model : Aligner
    settings : MarkupSettings or None
    tokenizing : Tokenizing or None
        Which tokenizer the model's text was tokenized with. Without one, words are found by Unicode, and joined where
        the model knows them joined.
    **options
        The options of these, one by one.

    Examples
    --------
    >>> import aligntools as at
    >>> model = at.train_aligner(at.read_bitext("data/samples/de-en.txt"))
    >>> transfer = at.MarkupTransfer(model)
    >>> transfer.transfer("Der <b>Zug</b> fährt um acht Uhr ab.", "The train leaves at eight o'clock.").text
    "The <b>train</b> leaves at eight o'clock."
    """

    @taking(MarkupSettings, Tokenizing)
    def __init__(
        self,
        model: Aligner,
        settings: MarkupSettings | None = None,
        *,
        tokenizing: Tokenizing | None = None,
        **options: "Unpack[MarkupTransferKeywords]",
    ) -> None:
        given = Keywords("MarkupTransfer", options)
        self.settings, how = given.take(MarkupSettings, settings), given.take(Tokenizing, tokenizing)
        given.end()
        check_loaded(model)
        self.model, self._finders = model, finders(how, model)
        direction = model.settings.direction
        #: One direction has each word's best link.
        self._decisions = Decisions(threshold=LEAST if direction == "both" else None).suiting(direction)

    def transfer(self, source: str, target: str) -> MarkedText:
        """Carry the tags of one segment over.

        Parameters
        ----------
        source : str
            With tags.
        target : str
            Its translation, without.

        Returns
        -------
        MarkedText

        Raises
        ------
        DataError
            When tags of the source are not well-formed, or the target has some.
        """
        pair = checked_pair(source, target, ("source", "target"), 1, self.settings.markup)
        (found,) = self.transfer_pairs([pair])
        return found

    def transfer_batch(
        self, sources: Iterable[str | Segment], targets: Iterable[str], *, threads: Any = 1
    ) -> Iterator[MarkedText]:
        """Carry the tags of segments over, one after the other: one `MarkedText` for each.

        Where tags of a source are not well-formed, or the target has some, the target comes back as it is; `problem`
        of its `MarkedText` says so.

        Parameters
        ----------
        sources : iterable of str or of Segment
        targets : iterable of str
            As many.
        threads : int or None

        Yields
        ------
        MarkedText

        Raises
        ------
        DataError
            When there are not as many of each.
        """
        yield from self.transfer_pairs(parsed_pairs(sources, targets, self.settings.markup), threads=threads)

    def transfer_pairs(
        self, pairs: Iterable[Pair], *, threads: Any = 1, max_memory: int | None = None
    ) -> Iterator[MarkedText]:
        """Do as `transfer_batch` does, with segments that are parsed already, and their translations."""
        run = Run(threads=threads, max_memory=max_memory)
        for block in blocks_of(pairs):
            segments = [source if isinstance(source, Segment) else Segment(target) for source, target in block]
            prepared = [prepare(one, pair[1], self._finders) for one, pair in zip(segments, block, strict=True)]
            wanted = [bool(one.marks) and one.same is None and not one.over_long for one in prepared]
            links = self._links([one.words for one, yes in zip(prepared, wanted, strict=True) if yes], run)
            for (source, _), one, yes in zip(block, prepared, wanted, strict=True):
                found = transferred(one, next(links) if yes else SparseLinks.of(np.zeros((0, 0))), self.settings)
                yield replace(found, problem=str(source)) if isinstance(source, DataError) else found

    def _links(self, pairs: Sequence[tuple[list[str], list[str]]], run: Run) -> Iterator[SparseLinks]:
        if not pairs:
            return
        sources, targets = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
        k = 0
        for block in self.model.decided_blocks(sources, targets, self._decisions, Reading(), run, directions=False):
            places = block.table.pairs
            for begin, end in zip(block.table.offsets[:-1].tolist(), block.table.offsets[1:].tolist(), strict=True):
                rows, columns = places[begin:end].T.astype(np.int64)
                order = np.argsort(rows, kind="stable")
                values = block.probabilities[begin:end].astype(np.float64)
                yield SparseLinks(rows[order], columns[order], values[order], (len(sources[k]), len(targets[k])))
                k += 1


def blocks_of(pairs: Iterable[Pair]) -> Iterator[list[Pair]]:
    """Yield segments that are aligned together."""
    block, size = list[Pair](), 0
    for pair in pairs:
        block.append(pair)
        size += len(pair[1])
        if size > _CHARACTERS or len(block) == _BLOCK:
            yield block
            block, size = [], 0
    if block:
        yield block


def finders(how: Tokenizing, model: Aligner | None = None) -> tuple[WordFinder, WordFinder]:
    """Return what finds the words of both sides, as a model knows them or as one will be trained."""
    known: list[Known | None] = [None, None]
    if model is not None:
        own = model.model
        known = [partial(_known, side, own.lowercase) for side in (own.source_vocabulary, own.target_vocabulary)]
    first, second = map(WordFinder, known, tokenizing_finders(how))
    return first, second


def tokenizing_finders(how: Tokenizing) -> Sequence[Finder | None]:
    """Return the tokenizers of both sides, where some are asked for."""
    return [one.spans for one in tokenizers(how.tokenize, how.tokenizer)] if how.tokenize else [None, None]


def _known(vocabulary: Any, lowercase: bool, words: Sequence[str]) -> Sequence[bool]:
    written = [(word.lower() if lowercase else word).encode("utf-8", "surrogatepass") for word in words]
    found: list[bool] = (vocabulary.ids(written) > 0).tolist()
    return found


def parsed_pairs(sources: Iterable[str | Segment], targets: Iterable[str], markup: str = "xml") -> Iterator[Pair]:
    """Yield segments and their translations; refuse more of the ones than of the others."""
    missing: Any = object()
    for number, (source, target) in enumerate(zip_longest(sources, targets, fillvalue=missing), 1):
        if source is missing or target is missing:
            which, other = ("source", "target") if source is missing else ("target", "source")
            raise DataError(which, None, f"{number - 1} segments, fewer than the {other} has; give one for each")
        yield pair_or_error(source, str(target), ("source", "target"), number, markup)


def pair_or_error(source: Any, target: str, names: tuple[object, object], line: int, markup: str) -> Pair:
    """Return a segment and its translation; in the segment's place what is wrong with either."""
    try:
        return checked_pair(source, target, names, line, markup)
    except DataError as error:
        return error, target


def checked_pair(
    source: Any, target: str, names: tuple[object, object], line: int, markup: str = "xml"
) -> tuple[Segment, str]:
    """Return a segment and its translation; refuse tags that are not well-formed, and those of a target."""
    found = parsed(target, names[1], line, markup, breaks=False)
    if found.marks:
        problem = f"has tags already, such as {found.marks[0].opening.strip()}; give the translation without tags"
        raise DataError(names[1], line, problem)
    if not isinstance(source, Segment):
        source = parsed(source, names[0], line, markup, breaks="//" not in target)
    return source, target


def parsed(line: str, name: object, number: int, markup: str = "xml", breaks: bool = True) -> Segment:
    """Return a segment that is a line of a file; ``breaks``: whether USFM's ``//`` is a mark."""
    try:
        return parse_usfm(line, breaks) if markup == "usfm" else parse_segment(line)
    except BrokenSegment as error:
        raise error.as_error(name, number) from None


@taking(MarkupSettings, Tokenizing)
def transfer_markup(
    sources: Sequence[str],
    targets: Sequence[str],
    model: Aligner | None = None,
    *,
    settings: MarkupSettings | None = None,
    tokenizing: Tokenizing | None = None,
    **options: "Unpack[MarkupTransferKeywords]",
) -> list[MarkedText]:
    """Carry tags of segments over to their translations, by word links.

    A tag stands around the words that its words are linked to. Tags nest; each stands once; nothing of the target's
    text changes. Where links leave a choice, the span is taken that is most probable by the links of the words in it
    and beside it, capitals, punctuation and length: a log-linear model learned from a website in nine languages.

    Parameters
    ----------
    sources : sequence of str
        Segments with tags of XML or HTML.
    targets : sequence of str
        Their translations, without tags.
    model : Aligner or None
        What is known of the languages; None trains on these segments themselves, which takes some hundreds of them.
    settings : MarkupSettings or None
    tokenizing : Tokenizing or None
    **options

    Returns
    -------
    list of MarkedText
        Where tags of a source are not well-formed, or a target has some, ``problem`` says so.

    Raises
    ------
    DataError
        When there are not as many of each.

    Examples
    --------
    >>> import aligntools as at
    >>> model = at.train_aligner(at.read_bitext("data/samples/de-en.txt"))
    >>> (found,) = at.transfer_markup(["Der <i>Zug</i> fährt ab."], ["The train leaves."], model)
    >>> found.text, found.tags[0].how
    ('The <i>train</i> leaves.', 'links')
    """
    given = Keywords("transfer_markup", options)
    chosen, how = given.take(MarkupSettings, settings), given.take(Tokenizing, tokenizing)
    given.end()
    pairs = list(parsed_pairs(sources, targets, chosen.markup))
    if model is None:
        model = trained(pairs, [], how)
    transfer = MarkupTransfer(model, chosen, tokenizing=how)
    return list(transfer.transfer_pairs(pairs))


def trained(pairs: Iterable[Pair], more: Iterable[tuple[str, str]], how: Tokenizing, **options: Any) -> Aligner:
    """Return an aligner trained on segments without tags and on more text; what is too long is passed over."""
    found = finders(how)
    words: tuple[list[list[str]], list[list[str]]] = [], []
    for source, target in pairs:
        if isinstance(source, Segment):
            for side, one in zip(words, prepare(source, target, found).words, strict=True):
                side.append(one)
    for texts in more:
        if max(map(len, texts)) <= CHARACTERS:
            for side, finder, text in zip(words, found, texts, strict=True):
                side.append(finder(text).words)
    return train_aligner(*words, **options)
