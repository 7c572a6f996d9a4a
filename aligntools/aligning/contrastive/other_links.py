"""Other aligners' links, read in step with the text that they are of."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TypeAlias, Union

from aligntools.aligning.contrastive.settings import MOST_FILES
from aligntools.formats.links.given_links import GivenLinks, GivenLinksReader, concatenate_given, fitting, parse_given
from aligntools.formats.links.pharaoh import Links
from aligntools.formats.text.corpus import Bitext
from aligntools.ground.errors import DataError, UsageProblem
from aligntools.links.alignments import ManyAlignments, links_of

#: Links of each pair of a text: a file of Pharaoh text with or without probabilities, or alignments.
Evidence: TypeAlias = Union[str, Path, GivenLinks, ManyAlignments]  # noqa: UP007


def in_step(
    texts: "Iterable[Bitext | tuple[Bitext, list[GivenLinks]]]", evidence: Sequence[Evidence]
) -> "Iterator[tuple[Bitext, list[GivenLinks]]]":
    """Yield runs of a text, each with its links in every file of evidence, and then with those that came with it.

    Raises DataError when a file has other lines than the text, or anything but links of its words.
    """
    with ExitStack() as stack:
        sources: list[tuple[str, GivenLinksReader | GivenLinks]] = []
        for n, one in enumerate(evidence, 1):
            name = f"evidence {n}"
            if isinstance(one, str | Path):
                sources.append((name, file := GivenLinksReader(str(one))))
                stack.callback(file.close)
            else:
                sources.append((name, one if isinstance(one, GivenLinks) else _given(one, name)))
        lines = 0
        for given in texts:
            text, more = given if isinstance(given, tuple) else (given, [])
            begin, lines = lines, lines + len(text)
            lengths, found = (text.source.lengths(), text.target.lengths()), []
            for name, source in sources:
                if isinstance(source, GivenLinksReader):
                    found.append(source.read(*lengths))
                    continue
                if lines > len(source):
                    raise _of_another_text(source, name, "more")
                found.append(fitting(source[begin:lines], *lengths, path=name, line=begin + 1))
            yield text, [*found, *more]
        for name, source in sources:
            if isinstance(source, GivenLinksReader):
                source.end(lines)
            elif lines < len(source):
                raise _of_another_text(source, name, str(lines))


def _of_another_text(given: GivenLinks, name: str, lines: str) -> DataError:
    problem = f"alignments of {len(given)} sentence pairs; the text has {lines}; give one for each pair"
    return DataError(name, None, problem)


def _given(alignments: ManyAlignments, name: str) -> GivenLinks:
    """Return the links of alignments in memory; lines of text may have probabilities, as those of files."""
    if hasattr(alignments, "table") or isinstance(alignments, Links):
        return GivenLinks.of(links_of(alignments, name=name))
    rows = list(alignments)
    if not all(isinstance(row, str) for row in rows):
        return GivenLinks.of(links_of(rows, name=name))
    lines = [str(row).removesuffix("\n") for row in rows]
    for number, line in enumerate(lines, 1):
        if "\n" in line:
            raise DataError(name, number, "more than one line; give a string for each sentence pair")
    return parse_given("".join(f"{line}\n" for line in lines).encode(), path=name)


def read_evidence(text: Bitext, evidence: Sequence[Evidence]) -> list[GivenLinks]:
    """Return the links of a whole text, of each file."""
    found = [given for _, given in in_step([text], evidence)]
    return [concatenate_given(parts) for parts in zip(*found, strict=True)]


def check_count(evidence: Sequence[Evidence], tables: int | None = None) -> None:
    """Raise a UsageProblem unless files of evidence are not too many, and as many as weights were learned with."""
    if isinstance(evidence, str | Path):
        raise UsageProblem("evidence is a list, with one file or one list of alignments for each aligner")
    if len(evidence) > MOST_FILES:
        raise UsageProblem(f"{len(evidence)} files of evidence; {MOST_FILES} are the most")
    if tables is not None and len(evidence) != tables:
        many = "1 file" if tables == 1 else f"{tables} files"
        raise UsageProblem(
            f"these weights were learned with {many} of evidence, and {len(evidence)} are given;"
            " give as many, in the same order, or learn new weights"
        )
