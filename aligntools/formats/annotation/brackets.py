"""Trees of constituents in brackets, as the Penn Treebank and CESS write them.

``(S (NP-SBJ (DT The) (NN dog)) (VP (VBZ barks)) (. .))``: a constituent has a label and constituents in it, a *leaf* a
tag and a word; CESS gives it a lemma, too. A tree is on one line or over several, in outer brackets without a label or
without them. Brackets that are words stand as ``-LRB-`` and ``-RRB-``.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from aligntools.formats.opening import files
from aligntools.ground.errors import DataError

#: Spaces, tabs and ends of lines separate; other white space is part of words, as everywhere.
_TOKEN = re.compile(r"[()]|[^() \t\r\n]+")
#: How words that are brackets are written.
_ESCAPES = {"(": "-LRB-", ")": "-RRB-"}
#: The words that are written so.
BRACKETS = {written: word for word, written in _ESCAPES.items()}
#: Tag of what is not there, in the Penn Treebank; in CESS the word is in asterisks.
NONE = "-NONE-"
_ABSENT = re.compile(r"\*[^*\s]*\*")
#: Constituents within each other, at most.
DEEPEST = 5_000


@dataclass(slots=True)
class Tree:
    """A constituent, or a leaf.

    Attributes
    ----------
    label : str
        Of a leaf, its tag; of an outer pair of brackets, nothing.
    children : list of Tree
        Of a leaf, and of an empty tree, none.
    word : str or None
        Of a leaf; None otherwise.
    lemma : str or None
        Of a leaf that has one.
    """

    label: str
    children: list["Tree"] = field(default_factory=list)
    word: str | None = None
    lemma: str | None = None

    def leaves(self) -> Iterator["Tree"]:
        """Yield the leaves, from the left."""
        waiting = [self]
        while waiting:
            tree = waiting.pop()
            if tree.word is not None:
                yield tree
            waiting += reversed(tree.children)

    def words(self) -> list[str]:
        """Return the words."""
        return [leaf.word or "" for leaf in self.leaves()]

    def tags(self) -> list[str]:
        """Return the tags of the words."""
        return [leaf.label for leaf in self.leaves()]

    def spans(self) -> Iterator[tuple[str, int, int]]:
        """Yield the label, the first word and the one after the last of each constituent that has words, from above."""
        order, waiting = list[Tree](), [self]
        while waiting:
            tree = waiting.pop()
            order.append(tree)
            waiting += reversed(tree.children)
        sizes: dict[int, int] = {}
        for tree in reversed(order):
            sizes[id(tree)] = sum(sizes[id(child)] for child in tree.children) if tree.word is None else 1
        ends = {id(self): 0}
        for tree in order:
            begin = ends[id(tree)]
            if tree.word is None and sizes[id(tree)]:
                yield tree.label, begin, begin + sizes[id(tree)]
            for child in tree.children:
                ends[id(child)] = begin
                begin += sizes[id(child)]

    def __str__(self) -> str:
        parts, waiting = list[str](), list[Tree | None]([self])
        while waiting:
            tree = waiting.pop()
            if tree is None:
                parts.append(")")
            elif tree.word is not None:
                lemma = "" if tree.lemma is None else f" {_escaped(tree.lemma)}"
                parts.append(f" ({tree.label} {_escaped(tree.word)}{lemma})")
            else:
                parts.append(f" ({tree.label}")
                waiting += [None, *reversed(tree.children)]
        return "".join(parts)[1:]


def _escaped(word: str) -> str:
    return _ESCAPES.get(word) or word.replace("(", "-LRB-").replace(")", "-RRB-").replace(" ", "\xa0")


def parse_trees(lines: Iterable[str], path: object) -> Iterator[tuple[int, Tree]]:
    """Yield the trees of a file, each with the number of its first line.

    Raises
    ------
    DataError
        When brackets are not balanced, a constituent has no words or words and constituents, or a leaf more than a word
        and its lemma.
    """
    open_trees, own, began = list[tuple[Tree, int]](), list[str](), 0
    number = 0
    for number, line in enumerate(lines, 1):
        for token in _TOKEN.findall(line):
            if token == "(":
                if own:
                    _beside(path, number, own[0])
                if not open_trees:
                    began = number
                if len(open_trees) == DEEPEST:
                    raise DataError(path, number, f"{DEEPEST} brackets are open; is one not closed?")
                open_trees.append((Tree(""), number))
                continue
            if not open_trees:
                what = "a closing bracket, but none is open" if token == ")" else f"'{token[:40]}' outside of brackets"
                raise DataError(path, number, f"{what}; a tree is (S (NP (DT the) ...) ...)")
            tree, _ = open_trees[-1]
            if token != ")":
                if tree.label or tree.children:
                    own.append(token)
                else:
                    tree.label = token
                continue
            _close(tree, own, path, number)
            own = []
            open_trees.pop()
            if open_trees:
                parent = open_trees[-1][0]
                parent.children.append(tree)
            else:
                yield began, tree
    if open_trees:
        at = open_trees[-1][1]
        raise DataError(path, at, f"a bracket is not closed; the tree that begins on line {began} has no end")


def _close(tree: Tree, own: list[str], path: object, number: int) -> None:
    """Take what stands in the brackets of a tree, besides trees."""
    if not own:
        if not tree.children and tree.label:
            raise DataError(path, number, f"'({tree.label[:40]})' has no word; a leaf is (tag word)")
        return
    if tree.children:
        _beside(path, number, own[0])
    if len(own) > 2:
        problem = f"'({tree.label[:40]} {own[0][:40]} ...' has {len(own)} words; a leaf is (tag word)"
        raise DataError(path, number, problem)
    tree.word = BRACKETS.get(own[0], own[0])
    tree.lemma = BRACKETS.get(own[1], own[1]) if len(own) == 2 else None


def _beside(path: object, number: int, word: str) -> None:
    raise DataError(path, number, f"'{word[:40]}' stands beside constituents; a word has brackets of its own")


def read_trees(path: object) -> tuple[list[Tree], list[int]]:
    """Return the trees of a file and the numbers of their first lines; see `parse_trees`."""
    trees, lines = list[Tree](), list[int]()
    for line, tree in parse_trees(files.text_lines(path), path):
        trees.append(tree)
        lines.append(line)
    return trees, lines


def category(label: str) -> str:
    """Return a label without functions and indices: ``NP`` of ``NP-SBJ-1``, ``sn`` of ``sn-SUJ``.

    >>> [category(label) for label in ("NP-SBJ=2", "-LRB-", "S.F.C*-CD", "PRP$")]
    ['NP', '-LRB-', 'S.F.C*', 'PRP$']
    """
    if label.startswith("-"):
        return label
    return re.split(r"[-=]", label, maxsplit=1)[0] or label


def is_absent(leaf: Tree) -> bool:
    """Tell whether a leaf stands for what is not there: a trace, or a subject that is left out."""
    return leaf.label == NONE or (leaf.word is not None and _ABSENT.fullmatch(leaf.word) is not None)


def plain(tree: Tree, functions: bool = False, traces: bool = False) -> Tree:
    """Return a tree without functions in labels, without what is not there, and without outer brackets.

    Constituents that are left without words go, too. A tree that loses all of them is empty: it has no label.

    Parameters
    ----------
    tree : Tree
    functions, traces : bool
        Keep them.
    """
    top = Tree("")
    order, waiting = list[tuple[Tree, Tree]](), [(tree, top)]
    while waiting:
        old, parent = waiting.pop()
        new = Tree(old.label if functions else category(old.label), [], old.word, old.lemma)
        order.append((new, parent))
        if old.word is not None and not traces and is_absent(old):
            new.word, new.label = None, ""
        parent.children.append(new)
        waiting += [(child, new) for child in reversed(old.children)]
    for new, parent in reversed(order):
        if new.word is None and not new.children:
            parent.children.remove(new)
    found = top.children[0] if top.children else Tree("")
    while not found.label and len(found.children) == 1 and found.word is None:
        found = found.children[0]
    return found


class Scored(Protocol):
    """A tree with its log-probability and its score."""

    @property
    def tree(self) -> Tree:
        """The tree."""

    @property
    def log_probability(self) -> float:
        """Its natural logarithm, given the words."""

    @property
    def score(self) -> float:
        """What trees of a list are ordered by."""


def format_tree_lists(first: int, lists: Iterable[Sequence[Scored]], scores: bool) -> str:
    """Format lists of trees, ``sentence ||| tree ||| log-probability ||| score``, a tree a line.

    Parameters
    ----------
    first : int
        Number of the first sentence.
    lists : iterable of lists
        The trees of each sentence.
    scores : bool
        Write the last field.
    """
    lines = []
    for number, own in enumerate(lists, first):
        for one, tree in zip(own, format_trees(one.tree for one in own).split("\n"), strict=False):
            more = f" ||| {one.score:.6f}" if scores else ""
            lines.append(f"{number} ||| {tree} ||| {one.log_probability:.6f}{more}\n")
    return "".join(lines)


def format_trees(trees: Iterable[Tree]) -> str:
    """Return trees, one a line, in outer brackets without a label unless they have some; ``(())`` of an empty one."""
    lines = []
    for tree in trees:
        if tree.word is None and not tree.children:
            lines.append("(())")
        else:
            lines.append(str(tree) if not tree.label else f"( {tree})")
    return "".join(line + "\n" for line in lines)
