"""The files of a text that is aligned: words, raw lines or pieces, and what links are written between."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from aligntools.formats.inputs.sentences import text_path
from aligntools.formats.text.text_settings import PieceReading, Reading, Tokenizing
from aligntools.ground.declarations import documented, option
from aligntools.ground.errors import UsageProblem
from aligntools.links.settings import LinkWriting as LinkWriting
from aligntools.words.white_space import split_as

if TYPE_CHECKING:
    from aligntools.aligning.outputs import AlignmentSinks

#: A text as functions take it: its sides, or a file with both and None.
TextSides = tuple[Any, Any]


@documented
@dataclass(frozen=True)
class PiecedText(PieceReading):
    """What a text in pieces is taken for, and how its pieces are marked."""

    to_words: bool = option(
        False,
        "The text itself is in pieces: write links between words.",
        excludes=("joint_pieces", "source_pieces", "target_pieces", "tokenize"),
    )


@dataclass(frozen=True)
class TextFiles:
    """Files; ``-`` is standard input, and a star in a name of the text stands for several.

    source, target, joint_file: The text: two sides, or one file with both.
    source_pieces, target_pieces, joint_pieces: The same text cut into pieces: links are written between these.
    """

    source: str | None = None
    target: str | None = None
    joint_file: str | None = None
    source_pieces: str | None = None
    target_pieces: str | None = None
    joint_pieces: str | None = None
    pieces: PiecedText = PiecedText()
    tokenizing: Tokenizing = Tokenizing()  # noqa: RUF009

    @property
    def text(self) -> tuple[str | None, ...]:
        """The files of the text."""
        return (self.source, self.target) if self.joint_file is None else (self.joint_file,)

    def paths(self, split: str | None) -> TextSides:
        """Return the text as functions take it."""
        if self.joint_file is not None:
            return text_path(self.joint_file, split), None
        assert self.source is not None and self.target is not None  # noqa: PT018
        return text_path(self.source, split), text_path(self.target, split)

    def check(self) -> None:
        """Refuse a text that is not given in one of the two ways, and a tokenizer that is not there."""
        self.check_text()
        self.tokenizing.checked()

    def check_text(self) -> None:
        """Refuse a text that is not given in one of the two ways."""
        both = self.source is not None and self.target is not None
        one = self.source is not None or self.target is not None
        if one == (self.joint_file is not None) or one != both:
            raise UsageProblem("give the text as `source` and `target`, or as one file, `joint_file`")

    @contextmanager
    def opened(
        self, outputs: "AlignmentSinks", reading: Reading, applied: bool, service: bool
    ) -> "Iterator[TextSides]":
        """Yield the text as functions take it; the outputs get what stands between alignments and what is written.

        applied: Whether a saved model is applied, so that lines are written while they are read.
        service: Whether each line is answered before the next is read.
        """
        with_text, with_words = outputs.writing.output_format == "tsv", "word_pairs" in outputs.paths
        languages = self.tokenizing.tokenize
        files = {"source": self.source_pieces, "target": self.target_pieces, "joint": self.joint_pieces}
        pieces = {name: split_as(path, reading.split) for name, path in files.items()}
        cut = any(path is not None for path in files.values())
        if not (cut or with_text or with_words or self.pieces.to_words or languages):
            yield self.paths(reading.split)
            return
        from aligntools.aligning.link_units import Reshaping
        from aligntools.formats.text.raw_pairs import RawPairs

        raw, tokens = raw_text(self, reading, applied)
        outputs.shape = Reshaping(
            raw,
            RawPairs(**pieces) if cut else None,
            tokens=tokens,
            to_words=self.pieces.to_words,
            scheme=self.pieces.scheme,
            with_text=with_text,
            with_words=with_words,
            strict=reading.strict,
            service=service,
        )
        with closing(outputs.shape):
            inputs = (tokens or raw).inputs
            source, target = (text_path(one, reading.split) if type(one) is str else one for one in inputs)
            yield source, target


def raw_text(files: TextFiles, reading: Reading, applied: bool, copies: bool = False) -> tuple[Any, Any]:
    """Return a text's lines as they stand, read a second time, and its tokens where it is tokenized, else None.

    With ``copies`` the units of TMX and the like can be written as they stand; see `raw_pairs.RawPairs`.
    """
    from aligntools.formats.text.raw_pairs import RawPairs, TokenizedPairs

    kept = "memory" if applied else "disk"
    sides = [split_as(path, reading.split) for path in (files.source, files.target, files.joint_file)]
    form: Any = {"input_format": reading.input_format, "languages": reading.languages}
    raw = RawPairs(*sides[:2], joint=sides[2], keep=kept, copies=copies, **form)
    how = files.tokenizing
    return raw, TokenizedPairs(raw, how.tokenize, kept, how.tokenizer or "moses") if how.tokenize else None
