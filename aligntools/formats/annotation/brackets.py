"""Trees of constituents in brackets, as the Penn Treebank and CESS write them.

``(S (NP-SBJ (DT The) (NN dog)) (VP (VBZ barks)) (. .))``: a constituent has a label and constituents in it, a *leaf* a
tag and a word; CESS gives it a lemma, too. A tree is on one line or over several, in outer brackets without a label or
without them. Brackets in words, tags and labels are written as ``-LRB-`` and ``-RRB-``. Comments, markup and ids may
stand between trees.
"""

import functools
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from aligntools.formats.annotation.text_kinds import first_lines, refuse_for
from aligntools.formats.opening import files
from aligntools.ground.errors import DataError

#: Spaces, tabs and ends of lines separate; other white space is part of words, as everywhere.
_TOKEN = re.compile(r"[()]|[^() \t\r\n]+")
_ODD = re.compile(r"[() \t\r\n]|-[LR]RB-")
_SPACE = re.compile(r"[ \t\r\n]")
#: Tag of what is not there, in the Penn Treebank.
NONE = "-NONE-"
#: What is not there, in CESS.
_LEFT_OUT = "*0*"
#: Names of traces in treebanks of Penn, where no tag says what they are.
_TRACE = re.compile(r"\*-\d+|\*(?:T|U|ICH|EXP|PPA|RNR|NOT|\?|PRO|pro|OP|CL|con|exp|arb)\*(?:-\d+)?")
_INDEX = re.compile(r"(?<=.)[-=]\d+(?![^-=])")
#: Constituents within each other, at most.
DEEPEST = 5_000
#: Outside of trees: lines that are comments, tags of markup before a tree, and its id.
_COMMENT = re.compile(r"[ \t]*(?:#|;;|%%|\*x\*)")
_MARKUP = re.compile(r"[ \t]*(?:<[/!?A-Za-z][^<>()]*>[ \t\r\n]*)+")
_ID = re.compile(r"[ \t]*(?:[^ \t()]*\d[^ \t()]*|[^ \t()]+:)(?:[ \t]+(?=\()|[ \t\r\n]*$)")
_INDEXED = re.compile(r"(\d+)=.")
#: Beginnings of lines of other formats, and what messages call these.
_OTHERS = {
    re.compile(r"#(?:BOS|BOT|FORMAT)\b"): "Negra's export format",
    re.compile(r"<\?xml\b"): "XML",
    re.compile(r"\d+ \|\|\| \("): "lists of trees (`n_best`, `samples`)",
}


def clean(text: str) -> str:
    """Return a word, a tag or a label as trees have it: ``-LRB-`` is a bracket, and white space no-break spaces.

    >>> clean(":-RRB-"), clean("-LRB-"), clean("(")
    (':)', '(', '(')
    """
    if not _ODD.search(text):
        return text
    return escaped(text).replace("-LRB-", "(").replace("-RRB-", ")")


def escaped(text: str) -> str:
    """Return a word, a tag or a label as it is written in a tree.

    >>> escaped("dog(s)")
    'dog-LRB-s-RRB-'
    """
    if not _ODD.search(text):
        return text
    return _SPACE.sub("\xa0", text.replace("(", "-LRB-").replace(")", "-RRB-"))


@dataclass(slots=True, eq=False, repr=False)
class Tree:
    """A constituent, or a leaf.

    Words, tags and labels are kept as reading gives them back: ``-LRB-`` and ``-RRB-`` are brackets, and spaces within
    them are no-break spaces.

    Attributes
    ----------
    label : str
        Of a leaf, its tag, ``_`` for none; of an outer pair of brackets, nothing.
    children : list of Tree
        Of a leaf, and of an empty tree, none.
    word : str or None
        Of a leaf; None otherwise.
    lemma : str or None
        Of a leaf that has one.

    Raises
    ------
    ValueError
        When a word is empty.
    """

    label: str
    children: list["Tree"] = field(default_factory=list)
    word: str | None = None
    lemma: str | None = None

    def __post_init__(self) -> None:
        self.label = clean(self.label)
        if self.word is not None:
            if not self.word:
                raise ValueError("a leaf has an empty word")
            self.word, self.label = clean(self.word), self.label or "_"
            self.lemma = clean(self.lemma) if self.lemma else None

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tree):
            return NotImplemented
        pairs = [(self, other)]
        while pairs:
            a, b = pairs.pop()
            if (a.label, a.word, a.lemma, len(a.children)) != (b.label, b.word, b.lemma, len(b.children)):
                return False
            pairs += zip(a.children, b.children, strict=True)
        return True

    def __repr__(self) -> str:
        return f"<Tree {self}>"

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
                lemma = "" if tree.lemma is None else f" {escaped(tree.lemma)}"
                parts.append(f" ({escaped(tree.label)} {escaped(tree.word)}{lemma})")
            else:
                parts.append(f" ({escaped(tree.label)}")
                waiting += [None, *reversed(tree.children)]
        return "".join(parts)[1:]


def parse_trees(lines: Iterable[str], path: object) -> Iterator[tuple[int, Tree]]:
    """Yield the trees of a file, each with the number of its first line."""
    open_trees, own, began = list[tuple[Tree, int]](), list[str](), 0
    number = 0
    for number, line in enumerate(lines, 1):
        if not open_trees:
            refuse_others(line, path, number)
            line = outside(line)
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
                if token.startswith("</"):
                    continue
                what = "a closing bracket, but none is open" if token == ")" else f"'{token[:40]}' outside of brackets"
                raise DataError(path, number, f"{what}; a tree is (S (NP (DT the) ...) ...)")
            tree, _ = open_trees[-1]
            if token != ")":
                if tree.label or tree.children:
                    own.append(token)
                else:
                    tree.label = clean(token)
                continue
            if not own and not tree.children and tree.label:
                raise DataError(path, number, f"'({tree.label[:40]})' has no word; a leaf is (tag word)")
            if own and tree.children:
                _beside(path, number, own[0])
            if len(own) > 2:
                problem = f"'({tree.label[:40]} {own[0][:40]} ...' has {len(own)} words; a leaf is (tag word)"
                raise DataError(path, number, problem)
            if own:
                tree.word, tree.lemma = clean(own[0]), clean(own[1]) if len(own) == 2 else None
            own = []
            open_trees.pop()
            if open_trees:
                open_trees[-1][0].children.append(tree)
            else:
                _check_order(tree, path, began)
                yield began, tree
    if open_trees:
        at = open_trees[-1][1]
        raise DataError(path, at, f"a bracket is not closed; the tree that begins on line {began} has no end")


def refuse_others(line: str, path: object, number: int) -> None:
    """Refuse a line outside of trees that is plainly of another format."""
    for beginning, name in _OTHERS.items():
        if beginning.match(line):
            raise DataError(path, number, f"{name}, where trees in brackets are expected: (S (NP (DT the) ...) ...)")


def outside(line: str) -> str:
    """Return a line that begins outside of trees without comments, markup and an id."""
    if _COMMENT.match(line):
        return ""
    markup = _MARKUP.match(line)
    bare = line[markup.end() :] if markup else line
    if markup and not bare.startswith("("):
        return ""  # text between tags
    return bare[found.end() :] if (found := _ID.match(bare)) else bare


def _check_order(tree: Tree, path: object, number: int) -> None:
    """Refuse a tree whose words are numbered, since they are out of order: ``(VP (PPER 1=es) (VVFIN 0=regnet))``."""
    if not _INDEXED.match(next(tree.leaves(), tree).word or ""):
        return
    words = tree.words()
    found = [_INDEXED.match(word) for word in words]
    if len(words) > 1 and sorted(int(one[1]) for one in found if one) == list(range(len(words))):
        problem = f"'{words[0][:40]}' is a numbered word of a discontinuous tree; words have to stand in order, bare"
        raise DataError(path, number, problem)


def _beside(path: object, number: int, word: str) -> None:
    raise DataError(path, number, f"'{word[:40]}' stands beside constituents; a word has brackets of its own")


def read_trees(path: object) -> tuple[list[Tree], list[int]]:
    """Return the trees of a file and the numbers of their first lines; see `parse_trees`."""
    with files.reading(path) as file:
        seen, rows = first_lines(file)
        refuse_for(path, seen, "trees")
        found = list(trees_of_lines(rows, path))
    return [tree for _, tree in found], [line for line, _ in found]


def trees_of_lines(lines: Iterable[bytes], path: object) -> Iterator[tuple[int, Tree]]:
    """Yield the trees of a file's lines, each with the number of its first line."""
    text = (line.rstrip(b"\n").removesuffix(b"\r").decode("utf-8", "surrogateescape") for line in lines)
    return parse_trees(text, path)


def category(label: str) -> str:
    """Return a label without functions and indices: ``NP`` of ``NP-SBJ-1``, ``sn`` of ``sn-SUJ``.

    >>> [category(label) for label in ("NP-SBJ=2", "-NONE-", "S.F.C*-CD", "PRP$")]
    ['NP', '-NONE-', 'S.F.C*', 'PRP$']
    """
    if label.startswith("-"):
        return label
    return re.split(r"[-=]", label, maxsplit=1)[0] or label


def are_named(trees: Iterable[Tree]) -> bool:
    """Return whether traces of a treebank are known by their names (``*T*-1``): none is under ``-NONE-``."""
    return not any(leaf.label == NONE for tree in trees for leaf in tree.leaves())


def is_absent(leaf: Tree, named: bool = False) -> bool:
    """Return whether a leaf stands for what is not there: a trace, or a subject that is left out."""
    if leaf.label == NONE or leaf.word == _LEFT_OUT:
        return True
    return named and leaf.word is not None and _TRACE.fullmatch(leaf.word) is not None


def plain(tree: Tree, functions: bool = False, traces: bool = False, named: bool = False) -> Tree:
    """Return a tree without functions in labels, without what is not there, and without outer brackets.

    Constituents without words go, too, and the sentence's ``(ID ...)``; a tree that loses all is empty.
    functions, traces: Keep them. Where there are no traces, functions have no indices.
    named: Traces are known by their names, too; see `are_named`.
    """
    top, order = Tree("", [Tree("")]), list[Tree]()
    name: Callable[[str], str] = category
    if functions:  # indices tell constituents apart that belong together
        name = str if traces else functools.partial(_INDEX.sub, "")
    waiting = [(tree, top.children[0])]
    while waiting:
        old, new = waiting.pop()
        new.label, new.word, new.lemma = name(old.label), old.word, old.lemma
        order.append(new)
        for child in old.children:
            if traces or not (
                (child.word is not None and is_absent(child, named))
                or (old is tree and child.label == "ID" and child.word is not None and not old.label)
            ):
                new.children.append(Tree(""))
                waiting.append((child, new.children[-1]))
    if tree.word is not None and not traces and is_absent(tree, named):
        return Tree("")
    for new in reversed(order):
        new.children = [child for child in new.children if child.word is not None or child.children]
    found = top.children[0]
    while not found.label and len(found.children) == 1:
        found = found.children[0]
    return found if found.children or found.word is not None else Tree("")


def plain_trees(
    trees: Sequence[Tree], functions: bool = False, named: bool | None = None
) -> tuple[list[Tree], list[str]]:
    """Return the trees of a whole treebank as `plain` does, and notes: what was taken for traces, and for lemmas."""
    leaves = [leaf for tree in trees for leaf in tree.leaves()]
    if named is None:
        named = are_named(trees)
    notes = []
    taken = [leaf for leaf in leaves if is_absent(leaf, named) and not is_absent(leaf)]
    if taken:
        notes.append(f"{len(taken)} words were taken for traces, as no leaf has the tag {NONE} (the first: {taken[0]})")
    seconds = [leaf for leaf in leaves if leaf.lemma is not None]
    if seconds and 2 * len(seconds) < len(leaves):
        notes.append(
            f"{len(seconds)} leaves have a second word, which was taken for a lemma and left out"
            f" (the first: {seconds[0]})"
        )
    return [plain(tree, functions, named=named) for tree in trees], notes


def format_tree_lists(first: int, lists: Iterable[Iterable[Any]], scores: bool) -> bytes:
    """Format each sentence's trees with their ``log_probability`` and, if wanted, ``score``."""
    rows = (
        ([format_tree(one.tree), f"{one.log_probability:.6f}"] + [f"{one.score:.6f}"] * scores for one in own)
        for own in lists
    )
    return files.format_lists(first, rows)


def format_tree(tree: Tree) -> str:
    """Return a tree on a line, in outer brackets without a label unless it has some; ``(())`` of an empty one."""
    if tree.word is None and not tree.children:
        return "(())"
    return f"( {tree})" if tree.label else str(tree)


def format_trees(trees: Iterable[Tree]) -> str:
    """Return trees, one a line; see `format_tree`."""
    return "".join(format_tree(tree) + "\n" for tree in trees)


#: A file of trees in brackets, or trees, as objects or as text.
SomeTrees: TypeAlias = "str | os.PathLike[str] | Iterable[Tree | str]"


def trees_given(given: Any, what: str) -> tuple[list[Tree], list[int] | None]:
    """Return trees as they stand and, of a file, the numbers of their first lines."""
    if isinstance(given, str | os.PathLike):
        return read_trees(os.fspath(given))
    trees = list[Tree]()
    for number, item in enumerate(given, 1):
        if isinstance(item, Tree):
            trees.append(item)
        elif isinstance(item, str):
            found = [tree for _, tree in parse_trees([item], what)]
            if len(found) != 1:
                raise DataError(what, number, f"{len(found)} trees; give one at a time")
            trees += found
        else:
            raise DataError(what, number, "not a tree; give a Tree, or text in brackets")
    return trees, None
