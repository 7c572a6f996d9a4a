"""What `check` found in sentence pairs, as its rows and its JSON have it."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from aligntools.formats.opening import files
from aligntools.formats.opening.json_text import parse_json
from aligntools.ground.errors import DataError

#: Kinds of spans, by the names that rows have, with their fields in JSON and the side that they are on.
SPANS = {"left-out": ("left_out", 0), "added": ("added", 1), "repeated": ("repeated", 1)}
#: What differs between the sides, with the field of what the source alone has and that of the target.
DIFFERENCES = {
    "numbers": ("missing_numbers", "added_numbers"),
    "placeholders": ("missing_placeholders", "added_placeholders"),
}
_PART = re.compile(rf"({'|'.join(SPANS)}|{'|'.join(DIFFERENCES)})(?:\[([0-9]{{1,9}}):([0-9]{{1,9}})\])? ")
_ADVICE = "give what it writes: rows with tabs, or `output_format=json`"


@dataclass(frozen=True)
class FoundWords:
    """Words of one side that were found.

    start, end: The first word and the one after the last, from 0, of the words that were checked.
    """

    kind: str
    start: int
    end: int
    text: str

    @property
    def side(self) -> int:
        """0 for the source, 1 for the target."""
        return SPANS[self.kind][1]

    def within(self, words: Sequence[str]) -> tuple[int, int] | None:
        """Return which words of a sentence have it, the first and the one after the last; None where it is not there.

        The sentence may be cut otherwise than the one that was checked: raw text has fewer words than tokens.
        """
        wanted = "".join(self.text.split(" "))
        if words and "".join(words[self.start : self.end]) == wanted:
            return self.start, self.end
        whole, begins = "".join(words), [0]
        for word in words:
            begins.append(begins[-1] + len(word))
        found, at = None, whole.find(wanted) if wanted else -1
        while at >= 0:
            first = next(k for k in range(len(words)) if begins[k + 1] > at)
            if found is not None and first > self.start:  # a sentence has no more words than tokens before it
                break
            last = next(k for k in range(first, len(words)) if begins[k + 1] >= at + len(wanted))
            found = first, last + 1
            at = whole.find(wanted, at + 1)
        return found


@dataclass(frozen=True)
class Finding:
    """What was found in a pair.

    differences: Such as ``numbers -10 +12``: what the source alone has and what the target alone has.
    """

    line: int
    score: float
    flagged: bool
    words: tuple[FoundWords, ...] = ()
    differences: tuple[str, ...] = ()


def difference(name: str, missing: Sequence[str], added: Sequence[str]) -> str:
    """Return in words what the sides have alone: nothing where that is nothing."""
    return " ".join([name, *(f"-{one}" for one in missing), *(f"+{one}" for one in added)]) if missing or added else ""


def as_text(words: Sequence[FoundWords], differences: Sequence[str]) -> str:
    """Return what was found, in a field of a row."""
    return "; ".join([*(f"{one.kind}[{one.start}:{one.end}] {one.text}" for one in words), *filter(None, differences)])


def of_fields(about: dict[str, Any]) -> tuple[tuple[FoundWords, ...], tuple[str, ...]]:
    """Return the words and the differences of an object such as JSON has."""
    words = [
        FoundWords(kind, int(one["start"]), int(one["end"]), str(one["text"]))
        for kind, (field, _) in SPANS.items()
        for one in about[field]
    ]
    told = [difference(name, *(list(map(str, about[field])) for field in both)) for name, both in DIFFERENCES.items()]
    return tuple(words), tuple(filter(None, told))


def read_findings(path: object) -> list[Finding]:
    """Read what `check` wrote, in any order of the pairs; pairs may be left out."""
    found: dict[int, Finding] = {}
    with files.reading(path) as file:
        lines = file.read().decode("utf-8", "replace").removesuffix("\n").split("\n")
        for number, line in enumerate(lines if lines != [""] else [], 1):
            try:
                if line.startswith("{"):
                    about = parse_json(line)
                    known = int(about["line"]), float(about["score"]), bool(about["flagged"])
                    one = Finding(*known, *of_fields(about))
                else:
                    pair, score, _, flagged, _, _, told, *_ = line.split("\t")
                    parts = list(_parts(told))
                    words = tuple(FoundWords(name, *place, text) for name, place, text in parts if place is not None)
                    others = tuple(f"{name} {text}" for name, place, text in parts if place is None)
                    one = Finding(int(pair), float(score), {"flagged": True, "passed": False}[flagged], words, others)
                if one.line < 1 or not 0 <= one.score < 1e9 or any(not 0 <= x.start < x.end for x in one.words):
                    raise ValueError(line)
            except (ValueError, KeyError, TypeError, AttributeError):
                raise DataError(path, number, f"is no line of `check()`; {_ADVICE}") from None
            if one.line in found:
                raise DataError(path, number, f"pair {one.line} is there twice")
            found[one.line] = one
    return list(found.values())


def _parts(told: str) -> Iterator[tuple[str, tuple[int, int] | None, str]]:
    """Yield the names of what was found, where it is, and the words: as many as the place says."""
    while told:
        found = _PART.match(told)
        if found is None or (found[1] in SPANS) != (found[2] is not None):
            raise ValueError(told)
        rest = told[found.end() :]
        if found[2]:
            start, end = int(found[2]), int(found[3])
            words = rest.split(" ", max(end - start, 0))
            text, told = " ".join(words[: end - start]), " ".join(words[end - start :])
            yield found[1], (start, end), text.removesuffix(";") if told else text
        else:
            text, _, told = rest.partition("; placeholders ")
            told = f"placeholders {told}" if told else ""
            yield found[1], None, text
