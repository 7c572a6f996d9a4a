"""What is right and what is not: a run's ending judged against what is promised."""

import re
from dataclasses import dataclass
from pathlib import Path

#: Verdicts that keep the promise.
GOOD = ("done", "refused")
#: More memory than any of the small damaged files can need.
MEMORY = 1 << 30
#: What is wrong with a whole text, or with two that do not fit each other.
_WHOLE = re.compile(
    r": has no |(lines|sentences|sentences with words|sentence pairs|lines of links|trees), but "
    r"|must have the same number|there is no line "
    r"|sentence numbers run from |no pair is left|no sentence can be trained on|words in common"
    r"|use the grammar that they were learned with|: is empty; give"
    r"|lines where |it has no tags|give the translation as"
)


@dataclass(frozen=True)
class Verdict:
    """One word, and why."""

    word: str
    why: str = ""

    @property
    def good(self) -> bool:
        """Whether the promise was kept."""
        return self.word in GOOD


@dataclass
class Expected:
    """What is known of a case before it runs.

    Attributes
    ----------
    statuses : tuple of int
        Those that are allowed beside 0.
    names : tuple of str
        Of files one of which a complaint must name; empty for none.
    others : tuple of str
        Files beside which the damaged one is read: where they do not fit, a complaint may name a line of another.
    line : bool
        The complaint must name a line too, unless it is about the whole file.
    counts : dict of str to int
        Lines of each output of a run that ends well; ``""`` is standard output.
    rows : bool
        Lines of words are counted, as CoNLL has them, and no others.
    outputs : tuple of str
        Every file that may be there in the end.
    ignored : tuple of str
        Files that the harness put there.
    same : dict of str to bytes
        What outputs must be where the run ends well.
    numbers : bool
        No output may hold nan or inf.
    renamed : tuple of bytes
        What the run calls an input, and what the undamaged one calls it; both may be in what is written.
    unheard : bool
        Nobody can hear a complaint.
    own_words : bool
        A drop-in for another program, which complains in that program's words.
    """

    statuses: tuple[int, ...] = (1,)
    names: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    line: bool = False
    counts: dict | None = None
    rows: bool = False
    outputs: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()
    same: dict | None = None
    numbers: bool = True
    renamed: tuple[bytes, bytes] = (b"", b"")
    unheard: bool = False
    own_words: bool = False


def count_lines(data: bytes, rows: bool = False) -> int:
    """Count lines as the commands do, the last may lack its newline; or those that begin with a number and a tab."""
    if rows:
        return len(re.findall(rb"(?m)^(?:\xef\xbb\xbf)?\d+\t", data))
    return data.count(b"\n") + (data[-1:] not in (b"", b"\n"))


def judge(ending, folder: Path, expected: Expected) -> Verdict:
    """Judge a run that was made in a folder of its own."""
    said = ending.err.decode("utf-8", "replace")
    if ending.status is None:
        return Verdict("hang", f"{ending.seconds:.0f} s")
    if ending.status < 0:
        return Verdict("signal", f"{-ending.status}: {said[-200:]}")
    if "Traceback (most recent call last)" in said:
        return Verdict("traceback", said.strip().splitlines()[-1][:300])
    if ending.memory > MEMORY:
        return Verdict("memory", f"{ending.memory >> 20} MB")
    if "out of memory" in said:
        return Verdict("memory", "out of memory")
    left = sorted(p.name for p in _files(folder) if p.name not in expected.outputs + expected.ignored)
    left += sorted(f"temporary {p.name}" for p in _files(Path(f"{folder}.tmp")))
    if left:
        return Verdict("leftover", " ".join(left))
    if ending.status == 0:
        return _done(ending, said, folder, expected)
    return _refused(ending, said, folder, expected)


def _files(folder):
    return [p for p in folder.rglob("*") if not p.is_dir()] if folder.is_dir() else []


def _done(ending, said, folder, expected):
    held = {"": ending.out} | {
        name: (folder / name).read_bytes() for name in expected.outputs if (folder / name).is_file()
    }
    for name, count in (expected.counts or {}).items():
        found = count_lines(held.get(name, b""), expected.rows)
        if found != count:
            return Verdict("lines", f"{name or 'standard output'}: {found} lines for {count}")
    for name, data in (expected.same or {}).items():
        if not _alike(held.get(name, b""), data, expected.renamed):
            return Verdict("differs", name or "standard output")
    for line in said.splitlines():
        if re.search(r"Warning\b", line):
            return Verdict("noise", line[:300])
    for name, data in held.items() if expected.numbers else ():
        data = data.replace(b"||| -inf", b"")  # the score in lists of trees of one that was not searched
        if re.search(rb"(?i)(?<![\w-])(nan|-?inf)(?![\w-])", data) and b"\0" not in data:
            return Verdict("nan", name or "standard output")
    return Verdict("done")


def _alike(data, good, renamed):
    short = tuple(path.rpartition(b"/")[2] for path in renamed)  # `view` names files without their folders
    changed = data
    for names in (renamed, short):  # `plain2snt` says both
        changed = changed.replace(*names) if names[0] else changed
    if changed != data:  # a table's columns are as wide as the names in it
        return re.sub(rb"[\s-]+", b" ", changed) == re.sub(rb"[\s-]+", b" ", good)
    return data == good or _plain(data) == _plain(good)


def _plain(data):
    """Take away what lines keep that are copied whole: byte-order marks, carriage returns, the last line's end.

    And what a log says of time and memory, which no two runs share.
    """
    data = data.removeprefix(b"\xef\xbb\xbf").replace(b"\r\n", b"\n").rstrip(b"\n")
    return re.sub(rb'"(seconds|peak_mb)": [\d.e+-]+', rb'"\1": ', data)


def _refused(ending, said, folder, expected):
    said = re.sub(r"(?m)^note: --.* now(; .*)?\n", "", said)  # an old spelling, before the complaint
    lines = said.rstrip("\n").split("\n") if said else []
    if ending.status not in expected.statuses:
        return Verdict("status", f"{ending.status}: {said[-300:].strip()}")
    if expected.unheard:
        return Verdict("refused")
    if expected.own_words:
        return Verdict("refused") if lines else Verdict("message", "nothing said")
    errors = [line for line in lines if line.startswith(("error: ", "Error: "))]
    usage = ending.status == 2 and lines and lines[-1].startswith("Error: ")  # click's own form has a few lines more
    if len(errors) != 1 or (len(lines) != 1 and not usage):
        return Verdict("message", said[:300].strip() or "nothing said")
    if len(errors[0]) > 600:
        return Verdict("message", f"{len(errors[0])} characters: {errors[0][:200]}")
    if re.search(r"[\x00-\x08\x0b-\x1f\x7f]", errors[0]):
        return Verdict("message", f"control characters: {errors[0]!r:.200}")
    word = _naming(errors[0], expected)
    if word:
        return Verdict(word, errors[0])
    left = [name for name in expected.outputs if (folder / name).is_file()]
    if left:
        return Verdict("output", f"status {ending.status}, and there are {' '.join(left)}")
    return Verdict("refused")


def _naming(error, expected):
    """Return what is wrong with the place that a complaint names, if anything."""
    if not expected.names or "is for CoNLL-2009; other text has no columns" in error:  # an option, not the file
        return ""
    named = any(name in error for name in expected.names)
    placed = re.search(r":\d+\b", error) or _WHOLE.search(error)
    if not named and not (placed and any(name in error for name in expected.others)):
        return "unnamed"
    return "no line" if expected.line and not placed else ""
