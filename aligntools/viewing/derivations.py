"""Derivations to look at: the rules that made a translation, and hypotheses compared with the reference."""

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any

from aligntools.formats.translation.derivations import Derivation, DerivedSentence, RuleUse
from aligntools.ground.errors import UsageProblem, visible
from aligntools.viewing import drawing
from aligntools.viewing.base import SentencesInOrder
from aligntools.viewing.drawing import element, text_width
from aligntools.viewing.page import page
from aligntools.viewing.terminal import shown

# Derivations as SVG: boxes of rules over the source words that they cover, each below the rule that it is put into


_ROW, _BOX, _WORDS, _EDGE, _GAP = 50.0, 42.0, 30.0, 8.0, 3.0
_SIZE, _SMALL = 13, 11
_GAPS = {"[X,1]": "①", "[X,2]": "②"}
_STYLE = (
    "@media (prefers-color-scheme: dark) { .derivation .target, .derivation .word { fill: #e6e8ea }"
    " .derivation .source { fill: #9aa3ab } .derivation rect { fill: #1f3449; stroke: #79b8f3 }"
    " .derivation .joined { fill: #24292e; stroke: #9aa3ab } }"
)


@dataclass(frozen=True)
class Box:
    """A rule as it is drawn: its row from 0 on, what it covers, and its two sides."""

    row: int
    use: RuleUse
    target: str
    source: str

    @property
    def joined(self) -> bool:
        """Whether this is not a rule of the grammar but what the decoder joined."""
        return self.use.left != "X"


def boxes(derivation: Derivation) -> list[Box]:
    """Return the boxes of a derivation; what the decoder joins from left to right is one box, the translation."""
    if not derivation.rules:
        return []
    found, stack = [], [(0, 1)]
    top = derivation.rules[0]
    if top.left != "X":
        found.append(Box(0, top, visible(" ".join(derivation.words)), ""))
    while stack:
        number, row = stack.pop()
        use = derivation.rules[number]
        if use.left == "X":
            target, source = (
                " ".join(_GAPS.get(w, w) if use.tails else w for w in s) for s in (use.target, use.source)
            )
            found.append(Box(row, use, visible(target) or "∅", visible(source)))
            row += 1
        stack += [(tail, row) for tail in use.tails]
    return found


def derivation_svg(source: Sequence[str], derivation: Derivation, title: str = "Derivation") -> str:
    """Return a picture of a derivation: the translation, the rules below each other, the source words at the bottom."""
    found = boxes(derivation)
    widths = [text_width(visible(word), _SIZE) + 14 for word in source]  # so broad that what is in the boxes fits
    for box in sorted(found, key=lambda box: box.use.span[1] - box.use.span[0]):
        needed = max(text_width(box.target, _SIZE), text_width(box.source, _SMALL)) + 14 + _GAP
        drawing.widen(widths, *box.use.span, needed)
    edges = [_EDGE]
    for width in widths:
        edges.append(edges[-1] + width)
    bottom = _EDGE + _ROW * (1 + max((box.row for box in found), default=0))
    root = drawing.picture(edges[-1] + _EDGE, bottom + _WORDS, title, _STYLE)
    group = element(root, "g", class_="derivation", font_family=drawing.FONT, text_anchor="middle")
    for box in found:
        begin, end = box.use.span
        x, y, width = edges[begin] + _GAP / 2, _EDGE + box.row * _ROW, edges[end] - edges[begin] - _GAP
        own = element(group, "g")
        element(own, "title", f"{box.use.left} → {box.source or '…'} ||| {box.target}: {box.use.score:.4g}")
        fill, stroke = ("#f2f3f4", "#5b6268") if box.joined else ("#dbe8f5", "#1b5e9e")
        place: dict[str, Any] = {"x": x, "y": y, "width": max(width, 1.0), "height": _BOX, "rx": 5}
        element(own, "rect", class_="joined" if box.joined else None, **place, fill=fill, stroke=stroke)
        y += 26 if box.joined else 18
        element(own, "text", box.target, class_="target", x=x + width / 2, y=y, font_size=_SIZE, fill="#1c1f22")
        element(own, "text", box.source, class_="source", x=x + width / 2, y=y + 17, font_size=_SMALL, fill="#5b6268")
    for k, word in enumerate(source):
        middle = (edges[k] + edges[k + 1]) / 2
        element(group, "text", visible(word), class_="word", x=middle, y=bottom + 16, font_size=_SIZE, fill="#1c1f22")
    return drawing.written(root)


@dataclass(frozen=True, eq=False, repr=False)
class DerivationsView(SentencesInOrder):
    """Sentences with derivations of their translations, and perhaps a reference for each."""

    sentences: Sequence[DerivedSentence]
    references: Sequence[tuple[str, ...]] | None = None
    title: str = "Derivations"

    def __len__(self) -> int:
        return len(self.sentences)

    def _sentence(self, number: int) -> DerivedSentence:
        self._check(number, has="there are")
        return self.sentences[number - 1]

    def html(self) -> str:
        """Return the page."""
        names: dict[str, int] = {}
        rows: list[list[Any]] = []
        for k, sentence in enumerate(self.sentences):
            derivations = []
            for d in sentence.derivations:
                rules = []
                for use in d.rules:
                    features: list[float] = []
                    for name, value in use.features.items():
                        features += [names.setdefault(visible(name), len(names)), round(value, 4)]
                    sides = shown(use.source), shown(use.target)
                    about = list(use.tails), round(use.score, 4), features
                    rules.append([use.left == "X", *sides, *use.span, *about])
                derivations.append([round(d.score, 4), shown(d.words), rules])
            reference = None if self.references is None else shown(self.references[k])
            rows.append([shown(sentence.source), reference, derivations])
        compared = self.references is not None
        data = {"features": list(names), "sentences": rows, "compared": compared}
        return page(self.title, "derivations", data, compared=compared)

    def _picture(self, number: int) -> str:
        sentence = self._sentence(number)
        if not sentence.derivations:
            raise UsageProblem(f"sentence {number} has no derivation")
        return derivation_svg(sentence.source, sentence.derivations[0], f"Derivation of: {' '.join(sentence.source)}")

    def _parts(self, number: int) -> list[tuple[str, str]]:
        sentence = self._sentence(number)
        parts = [(f"sentence {number}", "head"), (f"  {visible(' '.join(sentence.source))}\n", "")]
        reference = None if self.references is None else shown(self.references[number - 1])
        if reference is not None:
            best = shown(sentence.derivations[0].words) if sentence.derivations else []
            parts += [("reference".rjust(10), "soft"), ("  ", ""), *_marked(reference, best, "-", "missed"), ("\n", "")]
        for d in sentence.derivations:
            parts.append((f"{d.score:10.4f}  ", "soft"))
            parts += [*_marked(shown(d.words), reference, "+", "wrong"), ("\n", "")]
        if sentence.derivations:
            parts += _rules(sentence.derivations[0])
        return [*parts, ("\n", "")]


def _marked(words: list[str], others: list[str] | None, sign: str, style: str) -> list[tuple[str, str]]:
    """Return words with a sign and a style for those that the others do not have, in the same order."""
    same = set(range(len(words)))
    if others is not None:
        blocks = SequenceMatcher(None, words, others, autojunk=False).get_matching_blocks()
        same = {k for block in blocks for k in range(block.a, block.a + block.size)}
    parts = []
    for k, word in enumerate(words):
        parts += [(" " if k else "", ""), (word, "") if k in same else (f"{sign}{word}", style)]
    return parts


def _rules(derivation: Any) -> list[tuple[str, str]]:
    """Return a derivation's rules as lines, each indented below the one that it is put into."""
    parts, stack = [], [(0, 0)] if derivation.rules else []
    while stack:
        number, depth = stack.pop()
        use = derivation.rules[number]
        source, target = (" ".join(shown(side)) for side in (use.source, use.target))
        begin, end = use.span
        parts += [
            (f"  {'  ' * depth}", ""),
            (f"{use.left} {begin}-{end}", "right"),
            (f"  {source} ||| {target}", "" if use.left == "X" else "soft"),
            (f"  {use.score:.4f}\n", "soft"),
        ]
        stack += [(tail, depth + (use.left == "X")) for tail in reversed(use.tails)]
    return parts
