"""Derivations to look at: the rules that made a translation, and hypotheses compared with the reference."""

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any

from aligntools.formats.translation.derivations import DerivedSentence
from aligntools.ground.errors import UsageProblem
from aligntools.viewing.base import View
from aligntools.viewing.derivation_svg import derivation_svg
from aligntools.viewing.page import page
from aligntools.viewing.shown import visible
from aligntools.viewing.terminal import rendered


@dataclass(frozen=True, eq=False, repr=False)
class DerivationsView(View):
    """Sentences with derivations of their translations.

    references: A translation of each sentence.
    """

    sentences: Sequence[DerivedSentence]
    references: Sequence[tuple[str, ...]] | None = None
    title: str = "Derivations"

    def __repr__(self) -> str:
        return f"<DerivationsView of {len(self.sentences)} sentences>"

    def __len__(self) -> int:
        return len(self.sentences)

    def _sentence(self, number: int) -> DerivedSentence:
        if not 1 <= number <= len(self):
            raise UsageProblem(f"there is no sentence {number}; there are {len(self)}")
        return self.sentences[number - 1]

    def html(self) -> str:
        """Return the page."""
        names: dict[str, int] = {}
        rows: list[list[Any]] = []
        for k, sentence in enumerate(self.sentences):
            derivations = []
            for d in sentence.derivations:
                rules = [
                    [
                        use.left == "X",
                        _shown(use.source),
                        _shown(use.target),
                        *use.span,
                        list(use.tails),
                        round(use.score, 4),
                        [
                            x
                            for name, value in use.features.items()
                            for x in (names.setdefault(visible(name), len(names)), round(value, 4))
                        ],
                    ]
                    for use in d.rules
                ]
                derivations.append([round(d.score, 4), _shown(d.words), rules])
            reference = None if self.references is None else _shown(self.references[k])
            rows.append([_shown(sentence.source), reference, derivations])
        compared = self.references is not None
        data = {"features": list(names), "sentences": rows, "compared": compared}
        return page(self.title, "derivations", data, compared=compared)

    def svg(self, number: int | None = None, **how: object) -> str:
        """Return the best derivation of a sentence as SVG; by default of the first."""
        sentence = self._sentence(number or 1)
        if not sentence.derivations:
            raise UsageProblem(f"sentence {number or 1} has no derivation")
        return derivation_svg(sentence.source, sentence.derivations[0], f"Derivation of: {' '.join(sentence.source)}")

    def text(self, *, width: int = 80, color: bool = False, number: int | None = None) -> str:
        """Return sentences as text: hypotheses, the reference, and the rules of the best hypothesis."""
        parts: list[tuple[str, str]] = []
        for each in [number] if number else range(1, len(self) + 1):
            parts += self._parts(each)
        return rendered(parts[:-1], color)

    def _parts(self, number: int) -> list[tuple[str, str]]:
        sentence = self._sentence(number)
        parts = [(f"sentence {number}", "head"), (f"  {visible(' '.join(sentence.source))}\n", "")]
        reference = None if self.references is None else _shown(self.references[number - 1])
        if reference is not None:
            best = _shown(sentence.derivations[0].words) if sentence.derivations else []
            parts += [("reference".rjust(10), "soft"), ("  ", ""), *_marked(reference, best, "-", "missed"), ("\n", "")]
        for d in sentence.derivations:
            parts.append((f"{d.score:10.4f}  ", "soft"))
            parts += [*_marked(_shown(d.words), reference, "+", "wrong"), ("\n", "")]
        if sentence.derivations:
            parts += _rules(sentence.derivations[0])
        return [*parts, ("\n", "")]


def _shown(words: Sequence[str]) -> list[str]:
    return list(map(visible, words))


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
        source, target = (" ".join(_shown(side)) for side in (use.source, use.target))
        begin, end = use.span
        parts += [
            (f"  {'  ' * depth}", ""),
            (f"{use.left} {begin}-{end}", "right"),
            (f"  {source} ||| {target}", "" if use.left == "X" else "soft"),
            (f"  {use.score:.4f}\n", "soft"),
        ]
        stack += [(tail, depth + (use.left == "X")) for tail in reversed(use.tails)]
    return parts
