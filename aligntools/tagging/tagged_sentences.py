"""What a tagger returns: sentences with a tag for each word."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Unpack, overload

import numpy as np
import numpy.typing as npt

from aligntools.formats.annotation.conll import Conll, column_place, format_conll, parse_conll
from aligntools.formats.annotation.conll_layouts import COLUMNS
from aligntools.formats.annotation.conll_tokens import expanded, is_range
from aligntools.formats.annotation.tagged_text import format_tagged
from aligntools.formats.inputs.annotation import OfText, Parsed, decoded, encoded
from aligntools.ground.declarations import Keywords, taking
from aligntools.ground.errors import UsageProblem
from aligntools.tagging.settings import TagWriting
from aligntools.tagging.state_splits import JOIN, Splitter
from aligntools.viewing.models import ShownAsTags

if TYPE_CHECKING:
    from aligntools.ground.keywords import TagWritingKeywords


#: Columns of CoNLL that say together what a word's tag is.
_log = logging.getLogger("aligntools")
_OF_TAGS = {COLUMNS[name] for name in ("upos", "xpos", "feats")}


@dataclass(frozen=True, eq=False)
class TaggedSentence(ShownAsTags, Sequence[tuple[str, str]]):
    """A sentence with its tags; as a sequence, its pairs of word and tag.

    Attributes
    ----------
    tokens, tags : tuple of str
        The words, and a tag for each.
    probabilities : float64 [words]
        The posterior probability of each tag.
    """

    tokens: tuple[str, ...]
    tags: tuple[str, ...]
    probabilities: npt.NDArray[np.float64]
    _of_one = True

    def __len__(self) -> int:
        return len(self.tokens)

    @overload
    def __getitem__(self, index: int) -> tuple[str, str]: ...
    @overload
    def __getitem__(self, index: slice) -> list[tuple[str, str]]: ...
    def __getitem__(self, index: int | slice) -> tuple[str, str] | list[tuple[str, str]]:
        """Return a pair of word and tag, or some of them."""
        if isinstance(index, slice):
            return list(zip(self.tokens[index], self.tags[index], strict=True))
        return self.tokens[index], self.tags[index]

    def __str__(self) -> str:
        return " ".join(f"{word}_{tag}".replace(" ", "\N{NO-BREAK SPACE}") for word, tag in self)


@dataclass(frozen=True, eq=False)
class TaggedSentences(ShownAsTags, OfText[TaggedSentence]):
    """Consecutive sentences with their tags, in a few arrays; an item is a `TaggedSentence`.

    ids (int32 [words]): Indexes of ``tagset``.
    turned: Words that are in another of Unicode's normal forms than the tagger's, and were turned for it.
    splitter: What `split` goes by, of a tagger that was trained on surface tokens; not part of the public interface.
    """

    source: Parsed
    tagset: tuple[str, ...]
    ids: npt.NDArray[np.int32]
    probabilities: npt.NDArray[np.float64]
    column: str | int = "upos"
    turned: int = 0
    splitter: Splitter | None = None

    @cached_property
    def tags(self) -> list[bytes]:
        """The tag of each word, in UTF-8."""
        names = [name.encode("utf-8", "surrogateescape") for name in self.tagset]
        return [names[n] for n in self.ids.tolist()]

    def _item(self, number: int, begin: int, end: int) -> TaggedSentence:
        tags = tuple(self.tagset[n] for n in self.ids[begin:end].tolist())
        return TaggedSentence(tuple(map(decoded, self._words[begin:end])), tags, self.probabilities[begin:end])

    def split(self) -> "TaggedSentences":
        """Return the text with tokens that stand for several words split, *au* into *à le*, as CoNLL with ranges.

        A token with the tags of several words that cannot be split keeps the first of them.

        Raises UsageProblem when the tagger was not trained on surface tokens, or the source is CoNLL with ranges or
        trees.
        """
        if self.splitter is None:
            raise UsageProblem("the tagger does not know what tokens to split; train it with `tokens=surface`")
        conll = self.source
        if not isinstance(conll, Conll):
            lines = format_conll(self._words, conll.offsets).split(b"\n")[:-1]
            conll = parse_conll("", [line + b"\n" for line in lines])
        elif set(conll.column(COLUMNS["head"])) - {b"_"} or any(map(is_range, conll.lines)):
            raise UsageProblem("tokens are split in plain and raw text; this CoNLL has trees or ranges of its own")
        whole = [parts if all(parts := tag.split(JOIN)) else [tag] for tag in self.tags]
        pieces = [
            self.splitter.split(word, tag) if len(parts) > 1 else None
            for word, tag, parts in zip(self._words, self.tags, whole, strict=True)
        ]
        kept = [parts if words else parts[:1] for parts, words in zip(whole, pieces, strict=True)]
        names = {name: k for k, name in enumerate(dict.fromkeys(tag for parts in kept for tag in parts))}
        ids = np.array([names[tag] for parts in kept for tag in parts], np.int32)
        probabilities = np.repeat(self.probabilities, list(map(len, kept)))
        tagset = tuple(name.decode("utf-8", "surrogateescape") for name in names)
        text = expanded(conll, pieces)
        return TaggedSentences(text, tagset, ids, probabilities, self.column, self.turned)

    @taking(TagWriting)
    def format(self, writing: TagWriting | None = None, **options: "Unpack[TagWritingKeywords]") -> bytes:
        """Return the text with its tags, in UTF-8.

        In CoNLL, what else is known of a word's tag is not the tagger's, and is emptied: UPOS, XPOS and FEATS.

        Parameters
        ----------
        writing : TagWriting or None
            The options below, whole.
        **options

        Raises
        ------
        UsageProblem
            When there is no such column, or a tag has the separator in it.
        """
        given = Keywords("format", options)
        how = given.take(TagWriting, writing)
        given.end()
        conll = isinstance(self.source, Conll)
        if how.to == "same" and (unused := how.unused(conll)):
            kind = "CoNLL is" if conll else "word_TAG lines are"
            _log.warning("`%s` changes nothing: %s written", unused, kind, extra={"once": f"{unused} {kind}"})
        if how.to == "tagged" or (how.to == "same" and not conll):
            return format_tagged(self._words, self.source.offsets, self.tags, encoded(how.separator))
        place = column_place(self.column if how.column is None else how.column)
        if isinstance(self.source, Conll):
            if not {*map(column_place, how.keep)} <= _OF_TAGS:
                raise UsageProblem("`keep` is for upos, xpos and feats; other columns stay anyway")
            kept = {place, *map(column_place, how.keep)}
            emptied = (_OF_TAGS if place in _OF_TAGS else set()) - kept
            columns: dict[int, Sequence[bytes]] = {n: [b"_"] * len(self.tags) for n in sorted(emptied)}
            return self.source.format({place: self.tags} | columns)
        return format_conll(self._words, self.source.offsets, {place: self.tags})
