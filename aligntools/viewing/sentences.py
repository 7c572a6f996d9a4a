"""Two documents side by side, in groups of sentences that belong together: those in doubt first, to be corrected."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from aligntools.formats.links.ladder import SentenceGroup, read_ladder
from aligntools.formats.opening import files
from aligntools.ground.errors import DataError, visible
from aligntools.viewing.base import View
from aligntools.viewing.page import as_json, page
from aligntools.viewing.terminal import rendered

_SPACES = " \t\r"


@dataclass(frozen=True, eq=False, repr=False)
class SentencesView(View):
    """Groups of sentences of two documents, in the order of the source. Each sentence is in one."""

    source: Sequence[str]
    target: Sequence[str]
    groups: Sequence[SentenceGroup]
    title: str = "Sentences"
    _items = "groups"

    def __len__(self) -> int:
        return len(self.groups)

    @cached_property
    def headline(self) -> str:
        """What there is to see, in a line."""
        paired = sum(bool(g.source and g.target) for g in self.groups)
        source = sum(len(g.source) for g in self.groups if not g.target)
        target = sum(len(g.target) for g in self.groups if not g.source)
        return f"{paired} groups; {source} source and {target} target sentences without a partner"

    def html(self) -> str:
        """Return the page."""
        sides = [[visible(line) for line in side] for side in (self.source, self.target)]
        groups = [[list(g.source), list(g.target), round(g.score, 4)] for g in self.groups]
        digest = hashlib.sha256(as_json([sides, groups]).encode()).hexdigest()[:16]
        data = {"sides": sides, "groups": groups, "name": f"sentences.{digest}"}
        return page(self.title, "sentences", data, headline=self.headline)

    def text(self, *, width: int = 80, color: bool = False, number: int | None = None) -> str:
        """Return each group with its sentences, in order; one alone by its number."""
        if number is not None:
            self._check(number, "group", "there are")
        parts = list[tuple[str, str]]()
        for k in range(len(self)) if number is None else [number - 1]:
            g = self.groups[k]
            parts.append((f"{k + 1}  {len(g.source)}-{len(g.target)}  {g.score:.2f}\n", "head"))
            for sign, lines, own in (("<", self.source, g.source), (">", self.target, g.target)):
                parts += [(f"  {sign} {lines[n].strip(_SPACES)}\n", "") for n in own]
        return rendered(parts, color)


def view_sentences(source: str, target: str, ladder: str, title: str | None = None) -> SentencesView:
    """Return the view of two documents, a sentence per line, and of a ladder's groups; other lines have no partner."""
    sides = [list(files.text_lines(path)) for path in (source, target)]
    groups = read_ladder(ladder)
    for k, (path, lines) in enumerate(zip((source, target), sides, strict=True)):
        own = [n for g in groups for n in (g.source, g.target)[k]]
        if max(own, default=-1) >= len(lines):
            problem = f"has line {max(own)} of {path}, counted from 0, which has {len(lines)} lines"
            raise DataError(ladder, None, problem)
        left = sorted(set(range(len(lines))).difference(own))
        alone = [(n,) for n in left if lines[n].strip(_SPACES)]
        groups += [SentenceGroup((), one, 0.0) if k else SentenceGroup(one, (), 0.0) for one in alone]
    return SentencesView(sides[0], sides[1], _in_order(groups), title or "Sentences")


def _in_order(groups: Sequence[SentenceGroup]) -> list[SentenceGroup]:
    """Return groups by source sentence; those of target sentences alone come before what has the next one."""
    found = sorted((g for g in groups if g.source), key=lambda g: g.source[0])
    place = {n: k for k, g in enumerate(found) for n in g.target}
    before: list[list[SentenceGroup]] = [[] for _ in range(len(found) + 1)]
    at = len(found)
    for g in sorted((g for g in groups if not g.source and g.target), key=lambda g: -g.target[0]):
        at = place.get(g.target[-1] + 1, at)
        place.update(dict.fromkeys(g.target, at))
        before[at].insert(0, g)
    return [one for k in range(len(found) + 1) for one in (*before[k], *found[k : k + 1])]
