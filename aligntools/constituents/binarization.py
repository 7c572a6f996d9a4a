"""Trees with two children at most, and back: markovization.

A constituent with more than two children becomes a chain of *intermediate* constituents to the right, each named by the
constituent and by the last siblings to its left: ``(NP DT JJ NN)`` is ``(NP DT (@NP|DT JJ NN))``. How many siblings
are kept is the order of horizontal markovization; with all of them the rules of the tree and those of its binary form
have the same probabilities. With vertical markovization a constituent's label also has those of the constituents above
it: ``NP^S``.

Klein & Manning (2003), "Accurate unlexicalized parsing", section 2.
"""

import itertools
import re

from aligntools.formats.annotation.brackets import Tree

#: Begins the label of an intermediate constituent.
INTERMEDIATE = "@"
#: Before the label of a constituent above, and before the siblings of an intermediate constituent.
ABOVE, BESIDE = "^", "|"
_MARKS = re.compile(r"^@|[\\^]")
_LABEL = re.compile(r"(?:\\.|[^\\^])*")
#: What a label is written as in a symbol where it is empty, and marks that are part of labels.
EMPTY, _ESCAPED = r"\e", re.compile(r"\\(?:e|(.))")


def binarize(tree: Tree, horizontal: int | None = 2, vertical: int = 1) -> Tree:
    r"""Return a tree in which constituents have one child or two; its leaves and their tags are those of ``tree``.

    tree: Without outer brackets. It is not changed.
    horizontal: How many siblings an intermediate label has; None for all.
    vertical: How many labels a constituent's label has, its own and those above it: 1 is the label itself.

    A label that begins with ``@`` or has ``^`` or ``\`` in it is written with ``\`` before these, and an empty one as
    ``\e``. ``restore(binarize(tree, h, v)) == tree`` for every tree, h and v.

    >>> from aligntools.formats.annotation.brackets import Tree
    >>> tree = Tree("NP", [Tree("DT", [], "the"), Tree("JJ", [], "old"), Tree("JJ", [], "red"), Tree("NN", [], "barn")])
    >>> print(binarize(tree, horizontal=1))
    (NP (DT the) (@NP|DT (JJ old) (@NP|JJ (JJ red) (NN barn))))
    """
    top = Tree("")
    waiting: list[tuple[Tree, Tree, tuple[str, ...]]] = [(tree, top, ())]
    while waiting:
        old, parent, above = waiting.pop()
        own = _escaped(old.label)
        if old.word is not None:
            parent.children.append(Tree(own, [], old.word, old.lemma))
            continue
        label = ABOVE.join((own, *above))
        lineage = (own, *above)[: vertical - 1]
        new = Tree(label)
        parent.children.append(new)
        names = [_escaped(child.label) for child in old.children]
        spine = [new]
        for done in range(1, len(names) - 1):
            first = 0 if horizontal is None else max(0, done - horizontal)
            kept = "-".join(names[first:done])
            spine.append(Tree(f"{INTERMEDIATE}{label}{BESIDE}{kept}" if kept else INTERMEDIATE + label))
        # the children of one constituent come in their order, and the next one of its chain after them
        places = [spine[min(place, len(spine) - 1)] for place in range(len(names))]
        waiting += [(child, at, lineage) for child, at in zip(reversed(old.children), reversed(places), strict=True)]
        for left, right in itertools.pairwise(spine):
            left.children = [right]
    return _ordered(top.children[0])


def _ordered(tree: Tree) -> Tree:
    """Put the intermediate constituents, which were there before their siblings, behind them."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        children = node.children
        if len(children) == 2 and children[0].word is None and children[0].label.startswith(INTERMEDIATE):
            children.reverse()
        waiting += children
    return tree


def restore(tree: Tree) -> Tree:
    """Return the tree that `binarize` made a binary one of, without intermediate labels and those above.

    >>> from aligntools.formats.annotation.brackets import Tree
    >>> inner = Tree("@NP^S|DT", [Tree("JJ", [], "red"), Tree("NN", [], "barn")])
    >>> print(restore(Tree("NP^S", [Tree("DT", [], "the"), inner])))
    (NP (DT the) (JJ red) (NN barn))
    """
    top = Tree("")
    waiting = [(tree, top)]
    while waiting:
        old, parent = waiting.pop()
        if old.word is not None:
            new = Tree(_ESCAPED.sub(r"\1", old.label), [], old.word, old.lemma)
        elif old.label.startswith(INTERMEDIATE):
            waiting += [(child, parent) for child in reversed(old.children)]
            continue
        else:
            new = Tree(base_label(old.label))
            waiting += [(child, new) for child in reversed(old.children)]
        parent.children.append(new)
    return top.children[0]


def base_label(label: str) -> str:
    r"""Return the label in the treebank of a constituent of a binary tree that is not an intermediate one.

    >>> base_label("NP^S"), base_label(r"\@x\^y^S")
    ('NP', '@x^y')
    """
    found = _LABEL.match(label)
    return _ESCAPED.sub(r"\1", found[0] if found else "")


def without_repeats(tree: Tree) -> Tree:
    """Return a tree whose chains of single children have no label twice.

    A chain with a label twice is a way back to where it was, which no best tree goes. What stands between the two is
    left out with the second. Grammars learn from such trees.

    >>> from aligntools.formats.annotation.brackets import Tree
    >>> leaf = Tree("NN", [], "rain")
    >>> print(without_repeats(Tree("NP", [Tree("NP", [leaf])])))
    (NP (NN rain))
    """
    top = Tree("")
    waiting = [(tree, top)]
    while waiting:
        old, parent = waiting.pop()
        node, last = old, old
        while len(node.children) == 1 and node.word is None:
            node = node.children[0]
            if node.label == old.label and node.word is None:
                last = node
        new = Tree(old.label, [], old.word, old.lemma)
        parent.children.append(new)
        waiting += [(child, new) for child in reversed(last.children)]
    return top.children[0]


def _escaped(label: str) -> str:
    return _MARKS.sub(lambda found: "\\" + found[0], label) or EMPTY
