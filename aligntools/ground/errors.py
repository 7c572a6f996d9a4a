"""Everything that can be wrong with a user's input, as one hierarchy; ``cli`` turns it into exit codes.

Messages name options by their fields, between backquotes, a value behind ``=``, and functions with their parentheses:
`` `threshold` ``, `` `symmetrize=joint` ``, `` `Aligner.save()` ``. Python shows them as keywords and functions, the
command line as its own options and commands (`named`). Logged messages do so too; Python leaves them as they are.
"""

import re
from collections.abc import Callable
from typing import Any

#: Controls but for tabs and ends of lines; marks, embeddings, overrides, isolates of direction; separators.
_ACTING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u206f]")
_NAMED = re.compile(r"`(?:([a-z][a-z0-9_]*)(?:=([^`\n]*))?|([A-Za-z][A-Za-z0-9_.]*\(\)))`")
_BARE = re.compile(r"-?\d[\d.e+-]*|True|False|None")  # values that Python has no quotes around


def named(message: str, shown: Callable[[str, str | None], str]) -> str:
    """Return a message with its fields and functions as ``shown(name, value or None)`` has them."""
    return _NAMED.sub(lambda found: shown(found[1] or found[3], found[2]), message)


def as_keyword(name: str, value: str | None) -> str:
    """Return a field or a function as Python has it: ``threshold``, ``symmetrize="joint"``, ``Aligner.save()``."""
    if value is None:
        return name
    return f"{name}={value}" if _BARE.fullmatch(value) else f'{name}="{value}"'


class AligntoolsError(Exception):
    """Base class: one line for the user, ``exit_code`` for the shell."""

    exit_code = 1

    @property
    def message(self) -> str:
        """The line, with its fields between backquotes; see `named`."""
        return super().__str__()

    def __str__(self) -> str:
        return named(self.message, as_keyword)

    def __reduce__(self) -> Any:
        """Arrive from another process as it was raised there, whatever a subclass asks of its callers."""
        return Exception.__new__, (type(self), *self.args), self.__dict__


class UsageProblem(AligntoolsError):
    """The options contradict each other or cannot be met."""

    exit_code = 2


class DataError(AligntoolsError):
    """A file's contents are wrong.

    Parameters
    ----------
    path : str
        The file as the user named it; ``-`` is shown as ``<stdin>``.
    line : int or None
        1-based line number, where one is known.
    problem : str
        What was found, and what to do about it.
    """

    def __init__(self, path: object, line: int | None, problem: str) -> None:
        self.path, self.line, self.problem = str(path), line, problem
        shown = "<stdin>" if self.path == "-" else self.path
        super().__init__(f"{shown}:{line}: {problem}" if line is not None else f"{shown}: {problem}")


class ModelError(DataError):
    """A model file is damaged, of another kind, or of another version."""


class ResourceError(AligntoolsError):
    """The work does not fit in the memory or on the disk that it was given."""


class ClusterError(AligntoolsError):
    """A cluster cannot be reached, is lost, or its workers are not fit for the work."""


#: Bytes of names of files that Python could not decode, and how a quoted name has them.
_BYTES, _QUOTED = re.compile("[\udc80-\udcff]+"), re.compile(r"(?:\\udc[89a-f][0-9a-f])+")


def readable(text: str, errors: str = "backslashreplace") -> str:
    r"""Return a text whose bytes that Python could not decode (in names of files) are UTF-8, else ``\xNN``."""
    return _BYTES.sub(lambda found: bytes(ord(c) - 0xDC00 for c in found[0]).decode("utf-8", errors), text)


def unquoted(text: str) -> str:
    r"""Return a text as `readable` does, in which such bytes were written as ``\udcNN``."""
    return readable(_QUOTED.sub(lambda found: found[0].encode().decode("unicode_escape"), text))


def harmless(text: str) -> str:
    r"""Return a text that does nothing to a terminal: controls, and what turns the direction of text, as escapes.

    Letters of any script stay, the right-to-left ones too, and ends of lines.

    >>> harmless("a\u202eb")
    'a\\u202eb'
    """
    return text if text.isascii() and text.isprintable() else _ACTING.sub(lambda c: ascii(c[0])[1:-1], text)


def one_line(text: str) -> str:
    """Return a message as a line that does nothing to a terminal: what files hold may be quoted in it."""
    line = unquoted(" ".join(text.splitlines()))
    return line if line.isprintable() else "".join(c if c.isprintable() else ascii(c)[1:-1] for c in line)


#: The control characters, tabs and ends of lines too, and the signs that Unicode has for them.
_PICTURES = {code: chr(0x2400 + code) for code in range(32)} | {0x7F: "\u2421"}
#: C1 controls, halves of surrogate pairs, which stand for bytes that are not UTF-8, and what is not a character.
_REPLACED = re.compile("[\x80-\x9f\ud800-\udfff\ufffe\uffff]")


def visible(text: str | bytes) -> str:
    r"""Return text with a sign in the place of each control character and of each byte that is not UTF-8.

    What is returned can be put into UTF-8, HTML and XML 1.0, and does nothing to a terminal but to be shown.

    >>> visible("a\x00b\x1b[31m")
    'a␀b␛[31m'
    """
    text = text.decode("utf-8", "replace") if isinstance(text, bytes) else text
    if text.isascii() and text.isprintable():
        return text
    return _REPLACED.sub("\ufffd", readable(text, "surrogateescape").translate(_PICTURES))
