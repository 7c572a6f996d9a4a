"""Trees of constituents to look at: what is wrong in them beside gold trees, and where the errors are."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from aligntools.formats.annotation.brackets import Tree
from aligntools.ground.errors import UsageProblem, visible
from aligntools.metrics.base import percent
from aligntools.metrics.brackets import Bracketing, BracketScore
from aligntools.viewing.base import View
from aligntools.viewing.constituent_drawing import Drawing, Node, as_svg, draw, nodes_of
from aligntools.viewing.page import page
from aligntools.viewing.terminal import counted, rendered

#: Rows of a table of the summary, at most.
_ROWS = 30
#: Styles of text and signs of kinds of constituents.
_STYLES = {"right": "", "plain": "", "label": "missed", "wrong": "wrong"}


@dataclass(frozen=True)
class SentenceBrackets:
    """A sentence's tree as it is shown, and the gold tree beside it if there is one.

    nodes, gold: Their kinds say what is right, wrong and missed.
    instead: Gold labels of the constituents that have a wrong label, by their places in ``nodes``.
    """

    words: list[str]
    tags: list[str]
    gold_tags: list[str] | None
    nodes: list[Node]
    gold: list[Node] | None
    instead: dict[int, str]

    @property
    def wrong(self) -> int:
        """Constituents that the gold tree does not have, those with another label there included."""
        return sum(node.kind in ("wrong", "label") for node in self.nodes)

    @property
    def missed(self) -> int:
        """Constituents of the gold tree that the tree does not have."""
        return sum(node.kind == "missed" for node in self.gold or ())


@dataclass(frozen=True, eq=False, repr=False)
class ConstituentsView(View):
    """Trees of constituents, alone or beside gold trees of the same words.

    score: Of the trees against the gold; made here if it is not given.
    """

    trees: Sequence[Tree]
    gold: Sequence[Tree] | None = None
    title: str = "Trees"
    score: BracketScore | None = None

    def __post_init__(self) -> None:
        if self.gold is not None and self.score is None:
            object.__setattr__(self, "score", Bracketing().score(self.gold, self.trees))

    def __repr__(self) -> str:
        return f"<ConstituentsView of {len(self.trees)} sentences>"

    def __len__(self) -> int:
        return len(self.trees)

    def sentence(self, number: int) -> SentenceBrackets:
        """Return one sentence, by its number from 1 on.

        Raises UsageProblem when there is no such sentence.
        """
        if not 1 <= number <= len(self):
            raise UsageProblem(f"there is no sentence {number}; the text has {len(self)}")
        tree = self.trees[number - 1]
        if self.gold is None:
            return SentenceBrackets(_shown(tree.words()), _shown(tree.tags()), None, _nodes(tree), None, {})
        gold = self.gold[number - 1]
        gold_tags = gold.tags()
        own_tags = tree.tags() if tree.children or tree.word is not None else ["_"] * len(gold_tags)
        nodes, gold_nodes = _nodes(tree), _nodes(gold)
        instead = _marked(nodes, gold_nodes, gold_tags, self._metric)
        return SentenceBrackets(_shown(gold.words()), _shown(own_tags), _shown(gold_tags), nodes, gold_nodes, instead)

    @property
    def _metric(self) -> Bracketing:
        assert self.score is not None
        metric = self.score.metric
        assert isinstance(metric, Bracketing)
        return metric

    @cached_property
    def _sentences(self) -> list[SentenceBrackets]:
        return [self.sentence(number) for number in range(1, len(self) + 1)]

    def order(self) -> list[int]:
        """Return the numbers of the sentences, those with most errors first."""
        errors = [s.wrong + s.missed for s in self._sentences]
        return sorted(range(1, len(self) + 1), key=lambda number: -errors[number - 1])

    @property
    def headline(self) -> str:
        """What there is to see, in a line."""
        sentences = counted(len(self), "sentence")
        if self.score is None:
            return f"{sentences}, {counted(sum(len(s.words) for s in self._sentences), 'word')}"
        s = self.score
        wrong, missed = (sum(getattr(one, name) for one in self._sentences) for name in ("wrong", "missed"))
        return (
            f"F1 {percent(s.f1)} %, exact {percent(s.exact)} %: {counted(wrong, 'wrong constituent')},"
            f" {missed} missed, in {sentences}"
        )

    def tables(self) -> list[dict[str, Any]]:
        """Return where the errors are: tables by label and by length, and of wrong labels."""
        if self.score is None:
            return []
        tables = []
        for kind, caption in (("label", "By label"), ("length", "By length of the sentence")):
            rows = [
                [visible(name) or "any", gold, parsed, right, percent(2 * right / (gold + parsed))]
                for name, gold, parsed, right in self.score.groups(kind)
            ]
            tables.append({"caption": caption, "head": [kind, "gold", "parsed", "right", "F1%"], "rows": rows[:_ROWS]})
        found = Counter((gold, s.nodes[k].label) for s in self._sentences for k, gold in s.instead.items())
        ordered = sorted(found.items(), key=lambda item: (-item[1], item[0]))
        confused = [[*pair, n] for pair, n in ordered[:_ROWS]]
        return [*tables, {"caption": "Wrong labels", "head": ["gold", "instead", "constituents"], "rows": confused}]

    def html(self) -> str:
        """Return the page."""
        labels: dict[str, int] = {}
        rows = []
        for s in self._sentences:
            picture = self._drawn(s)
            own = dict.fromkeys(node.label for side in (s.nodes, s.gold or ()) for node in side if node.level)
            rows.append(
                [
                    [round(picture.width), round(picture.height)],
                    [list(line) for line in picture.lines],
                    [[kind, round(x, 1), round(y, 1), text] for kind, x, y, text in picture.labels],
                    [[round(x, 1), round(y, 1), word, tag] for x, y, word, tag in picture.words],
                    sorted(labels.setdefault(label, len(labels)) for label in own),
                    s.wrong,
                    s.missed,
                    _rows(s),
                ]
            )
        compared = self.gold is not None
        data = {"compared": compared, "labels": list(labels), "sentences": rows}
        return page(self.title, "constituents", data, headline=self.headline, tables=self.tables(), compared=compared)

    def _drawn(self, s: SentenceBrackets) -> Drawing:
        tags = s.tags
        if s.gold_tags is not None:
            tags = [a if a == b else f"◇ {a}, gold {b}" for a, b in zip(s.tags, s.gold_tags, strict=True)]
        return draw(s.words, tags, s.nodes, s.gold)

    def svg(self, number: int | None = None, **how: object) -> str:
        """Return a sentence's tree as SVG; without a number, that of the sentence with most errors."""
        if number is None:
            number = self.order()[0] if len(self) else 1
        s = self.sentence(number)
        return as_svg(self._drawn(s), f"Tree of: {' '.join(s.words)}")

    def text(self, *, width: int = 80, color: bool = False, number: int | None = None) -> str:
        """Return the trees as text: the sentences with most errors first, all in order without gold, or one."""
        parts = [] if number else [(f"{self.headline}\n\n", "head")]
        for each in [number] if number else self.order():
            parts += self._parts(each)
        return rendered(parts[:-1], color)

    def _parts(self, number: int) -> list[tuple[str, str]]:
        """Return a sentence as pieces of text and their styles."""
        s = self.sentence(number)
        about = f"  {counted(s.wrong, 'wrong constituent')}, {s.missed} missed" if s.gold is not None else ""
        parts = [(f"sentence {number}{about}\n", "head")]
        last = _last_parts(s.nodes)
        stems: list[str] = []
        for k, node in enumerate(s.nodes):
            if node.parent < 0:
                stems.append("")
                stem, branch = "", ""
            else:
                stem = stems[node.parent]
                branch = "╰─ " if last[node.parent] == k else "├─ "
                stems.append(stem + ("   " if branch[0] == "╰" else "│  "))
            parts.append((stem + branch, "soft"))
            if node.leaf:
                tag = s.tags[node.begin]
                other = s.gold_tags is not None and s.gold_tags[node.begin] != tag
                parts.append((f"{tag} {s.words[node.begin]}", ""))
                parts += [(f"  ◇ tag is {(s.gold_tags or [])[node.begin]}", "missed")] if other else []
            else:
                parts.append((node.label or ("(no label)" if node.level else "(no tree)"), _STYLES[node.kind]))
                if node.kind == "wrong":
                    parts.append(("  ✗ not in the gold", "wrong"))
                elif node.kind == "label":
                    parts.append((f"  ◇ label is {s.instead[k]}", "missed"))
            parts.append(("\n", ""))
        for node in s.gold or ():
            if node.kind == "missed":
                words = " ".join(s.words[node.begin : node.end])
                parts.append((f"○ missed: {node.label}  {words}\n", "missed"))
        return [*parts, ("\n", "")]


def _shown(values: list[str]) -> list[str]:
    return list(map(visible, values))


def _nodes(tree: Tree) -> list[Node]:
    nodes = nodes_of(tree)
    for node in nodes:
        node.label = visible(node.label)
    return nodes


def _last_parts(nodes: list[Node]) -> list[int]:
    """Return the last part of each node; -1 of one without."""
    last = [-1] * len(nodes)
    for k, node in enumerate(nodes):
        if node.parent >= 0:
            last[node.parent] = k
    return last


def _marked(nodes: list[Node], gold: list[Node], gold_tags: Sequence[str], metric: Bracketing) -> dict[int, str]:
    """Set the kinds of nodes as the metric counts them; return the gold labels of those that have another there."""
    before = metric.counted_before(gold_tags)
    keys, known = (
        [metric.bracket(n.label, n.begin, n.end, before) if n.level else None for n in side] for side in (nodes, gold)
    )
    left = Counter(key for key in known if key is not None)
    for node, key in zip(nodes, keys, strict=True):
        if key is not None:
            node.kind = "right" if left[key] > 0 else "wrong"
            left[key] -= node.kind == "right"
    others: dict[tuple[int, int], list[str]] = {}
    for node, key in zip(reversed(gold), reversed(known), strict=True):
        if key is not None:
            node.kind = "right"
            if left[key] > 0:
                left[key] -= 1
                node.kind = "missed"
                others.setdefault(key[1:], []).append(node.label)
    instead = {}
    for k, (node, key) in enumerate(zip(nodes, keys, strict=True)):
        if key is not None and node.kind == "wrong" and others.get(key[1:]):
            node.kind, instead[k] = "label", others[key[1:]].pop()
    return instead


def _rows(s: SentenceBrackets) -> list[list[str]]:
    """Return what is wrong, as rows: words, what is wrong, label and gold label."""
    rows = []
    for k, node in enumerate(s.nodes):
        words = " ".join(s.words[node.begin : node.end])
        if node.kind == "label":
            rows.append([words, "◇ label", node.label, s.instead[k]])
        elif node.kind == "wrong":
            rows.append([words, "✗ wrong", node.label, "none"])
    instead = Counter((s.nodes[k].begin, s.nodes[k].end, label) for k, label in s.instead.items())
    for node in s.gold or ():
        key = node.begin, node.end, node.label
        if node.kind == "missed" and instead[key]:
            instead[key] -= 1
        elif node.kind == "missed":
            rows.append([" ".join(s.words[node.begin : node.end]), "○ missed", "none", node.label])
    return rows
