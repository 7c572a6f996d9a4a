"""The good command lines: which files each reads, of which kind, and what it writes."""

import os
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from aligntools.cli import standins

#: Kinds of files without a text's lines.
BINARY = ("model",)
#: Kinds of which a complaint need not name a line: not read line by line.
LINELESS = ("model", "weights", "log", "dix", "html")


#: What --moses-dir leaves in the folder that it names.
MOSES = ("aligned.grow-diag-final-and", "lex.e2f", "lex.f2e")
#: What --giza-dir leaves there, and the programs in GIZA++'s place beside each other.
GIZA = (
    *(f"{side}.{end}" for side in ("source", "target") for end in ("vcb", "vcb.classes")),
    *("source_target.snt", "target_source.snt"),
    *(
        f"{name}.{end}"
        for name in ("forward", "reverse", "giza")
        for end in (
            *(f"{table}.final" for table in ("A3", "t3", "n3", "a3", "d3", "d4", "D4", "p0_3")),
            *("A3.final.part000", "gizacfg", "source.classes", "target.classes"),
        )
    ),
)


@dataclass(frozen=True)
class Word:
    """One word of a command line.

    Attributes
    ----------
    role : str
        ``input``, ``output`` or nothing.
    text : str
        The word, or the file's name in the place.
    kind : str
        Of an input.
    lines : bool
        The output has as many lines as the input, where both are marked.
    stream : str
        ``stdin`` or ``stdout`` for a file that is no argument.
    field : str
        What ``--set`` has before the file: ``direct_model=``.
    """

    role: str
    text: str
    kind: str = ""
    lines: bool = False
    stream: str = ""
    field: str = ""


@dataclass(frozen=True)
class Line:
    """A command line.

    Attributes
    ----------
    number : int
        Counted from 1.
    command : str
        The first word; those of ``aligntools.cli.standins`` are no subcommands.
    words : tuple of Word
        The others.
    small : bool
        It belongs to the small part.
    """

    number: int
    command: str
    words: tuple[Word, ...]
    small: bool = False

    def __str__(self):
        shown = {"input": "<", "output": ">"}
        words = [f"{w.stream} {shown.get(w.role, '')}{w.text}".strip() for w in self.words]
        return " ".join([self.command, *words])

    @property
    def inputs(self) -> list[Word]:
        """Every file that is read, once for each time it is named."""
        return [w for w in self.words if w.role == "input"]

    @property
    def outputs(self) -> list[Word]:
        """Every file that is written."""
        return [w for w in self.words if w.role == "output"]

    @property
    def unnamed(self) -> tuple[str, ...]:
        """Files that it may write without naming them: what --moses-dir or --giza-dir leaves in its folder."""
        texts = {self.command, *(word.text for word in self.words)}
        of_moses, of_giza = "--moses-dir" in texts, not texts.isdisjoint(("--giza-dir", "mgiza", "GIZA++"))
        return MOSES * of_moses + GIZA * of_giza

    def arguments(self, place: Path, replaced: Mapping[int, str] | None = None) -> list[str]:
        """Return the arguments: inputs in the place, some (by their number) replaced; outputs by name alone."""
        found, number = [], -1
        for word in self.words:
            number += word.role == "input"
            if word.stream:
                continue
            if word.role == "input":
                found.append(word.field + ((replaced or {}).get(number) or str(place / word.text)))
            else:
                found.append(word.text)
        return [*found, *_threads(self.command)]

    def standard_input(self, place: Path, replaced: Mapping[int, str] | None = None) -> str:
        """Return the file that standard input is, or nothing."""
        for number, word in enumerate(self.inputs):
            if word.stream:
                return (replaced or {}).get(number) or str(place / word.text)
        return os.devnull


def _threads(command):
    """Return what keeps a command to one thread, where it has several."""
    alone = (
        "symmetrize",
        "eval-",
        "view",
        "conll",
        "project",
        "lexicon",
        "filter-grammar",
        "drop-ins",
        *standins.PROGRAMS,
    )
    return [] if command.startswith(alone) and command != "eval-lm" else ["--threads", "1"]


def _word(text, stream=""):
    field, sign, file = text.partition("=<")
    if sign and field.isidentifier():
        return replace(_word("<" + file, stream), field=field + "=")
    if text[:1] not in "<>" or len(text) < 2:
        return Word("", text)
    role = "input" if text[0] == "<" else "output"
    rest = text[1:].removeprefix("=")
    kind, _, name = rest.rpartition(":")
    return Word(role, name, kind, len(rest) + 1 < len(text), stream)


def parse(text: str, number: int = 0) -> Line:
    """Read a line of ``lines.txt``."""
    command, *rest = shlex.split(text.removeprefix("* "))
    words, stream = [], ""
    for word in rest:
        if word in ("stdin", "stdout"):
            stream = word
            continue
        words.append(_word(word, stream))
        stream = ""
    return Line(number, command, tuple(words), text.startswith("* "))


def read(name: str = "lines.txt") -> list[Line]:
    """Return every line of a file beside this module."""
    texts = Path(__file__).with_name(name).read_text(encoding="utf-8").splitlines()
    return [parse(text, k) for k, text in enumerate((t for t in texts if t and not t.startswith("#")), 1)]
