"""Alignment files combined, converted, checked, shown and compared, in constant memory."""

from collections.abc import Sequence
from contextlib import closing
from typing import TYPE_CHECKING, TypeAlias, Unpack

from aligntools.aligning.links.operations import OPERATIONS as OPERATIONS
from aligntools.aligning.links.operations import MismatchedLines as MismatchedLines
from aligntools.aligning.links.settings import CombiningSettings as CombiningSettings
from aligntools.ground.declaring import Given, taking
from aligntools.ground.errors import UsageProblem

if TYPE_CHECKING:
    from aligntools.aligning.links.operations import LinkTally
    from aligntools.ground.keywords import CombiningKeywords

#: Source and target text.
_Texts: TypeAlias = tuple[str, str] | None


@taking(CombiningSettings)
def combine_files(
    operation: str,
    paths: Sequence[str],
    output: str = "-",
    settings: CombiningSettings | None = None,
    *,
    check: _Texts = None,
    to_words: _Texts = None,
    to_pieces: _Texts = None,
    words: _Texts = None,
    in_place: bool = False,
    **options: "Unpack[CombiningKeywords]",
) -> "LinkTally":
    """Combine, convert, check, draw or compare alignment files of any length, in constant memory.

    What the command ``symmetrize`` does.

    Parameters
    ----------
    operation : str
        One of `OPERATIONS`: a method of `symmetrize`, or ``convert``, ``invert``, ``display``, ``fmeasure``.
    paths : sequence of str
        One file or two, by the operation; ``-`` is standard input, twice ``-`` its alternate lines.
    output : str
        A file; ``-`` is standard output.
    settings : CombiningSettings or None
        The options below, whole.
    check : (str, str) or None
        Source and target text that every link must lie within.
    to_words, to_pieces : (str, str) or None
        Source and target text in pieces: links between these become links between words, or the other way round.
    words : (str, str) or None
        The same text in words. Then letters say which pieces a word has, else the pieces' marks.
    in_place : bool
        The first file is replaced by the result once that is whole; there is no ``output`` then.
    **options

    Returns
    -------
    LinkTally
        Sentence pairs and links that were read and written.

    Raises
    ------
    UsageProblem
        When these do not go together, or the output is a file that is read.
    DataError
        For a line that cannot be read, a link out of range, or files that do not have the same number of lines.
    """
    from aligntools.aligning.links.operations import combine
    from aligntools.aligning.links.piece_texts import PieceTexts
    from aligntools.formats.opening import named_files
    from aligntools.words.white_space import split_as

    given = Given("combine_files", options)
    how = given.take(CombiningSettings, settings)
    given.end()
    texts_read = {"paths": paths, "check": check, "to_words": to_words, "to_pieces": to_pieces, "words": words}
    _check(operation, texts_read, how)
    if in_place:
        output = _replaced(operation, paths, output, how)
    else:
        read = [named_files.Named(name, path) for name, found in texts_read.items() for path in found or ()]
        named_files.check(read, [named_files.Named("output", output)])
    if check is not None:
        check = split_as(check[0], how.split), split_as(check[1], how.split)
    if to_words is None and to_pieces is None:
        return combine(operation, paths, output, how, check)
    source, target = to_words or to_pieces or ("", "")
    split_words = None if words is None else (split_as(words[0], how.split), split_as(words[1], how.split))
    pieces = PieceTexts(split_as(source, how.split), split_as(target, how.split), words=split_words, scheme=how.scheme)
    with closing(pieces) as texts:
        through = texts.to_words if to_words else texts.to_pieces
        tally = combine(operation, paths, output, how, check, through)
        texts.check_end()
    return tally


def _check(name: str, texts: dict[str, Sequence[str] | None], how: CombiningSettings) -> None:
    """Refuse what does not go together."""
    if name not in OPERATIONS:
        raise UsageProblem(f"no operation '{name}'; there are {', '.join(OPERATIONS)}")
    operation, pieces = OPERATIONS[name], texts["to_words"] or texts["to_pieces"]
    if not pieces and (texts["words"] or how.scheme != "auto"):
        raise UsageProblem("`words` and `scheme` go with `to_words` or `to_pieces`")
    if how.flavor != CombiningSettings.flavor and operation.operands == 1:
        raise UsageProblem(f"`flavor` is about methods that combine two files, not {name}")
    if how.order and operation.yields != "links":
        raise UsageProblem(f"`order` is about links, and {name} writes none")
    if how.split not in (None, "spaces") and not (texts["check"] or pieces):
        raise UsageProblem("`split` is about the texts of `check`, `to_words` or `to_pieces`")
    if texts["to_words"] and texts["to_pieces"]:
        raise UsageProblem("links become links between words or between pieces, not both")
    if pieces and how.to == "giza":
        raise UsageProblem("`to=giza` has the words of `check` in it; change units and format one after the other")
    if pieces and operation.yields == "summary":
        raise UsageProblem(f"{name} writes no links")
    named = [path for found in (pieces, texts["words"]) for path in found or ()]
    if "-" in named and [*named, *(texts["paths"] or ()), *(texts["check"] or ())].count("-") > 1:
        raise UsageProblem("only one of the files can be standard input")


def _replaced(name: str, paths: Sequence[str], output: str, how: CombiningSettings) -> str:
    """Return the file that the result replaces."""
    plain = (how.format, how.to) == ("pharaoh", "pharaoh") and OPERATIONS[name].yields == "links"
    if output != "-" or not plain or not paths or paths[0] == "-":
        raise UsageProblem(
            "`in_place` replaces the first file, of links, by links: no `output`, `format=giza`, `to=giza` or standard"
            " input"
        )
    return paths[0]
