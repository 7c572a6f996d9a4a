"""The package's code as text and as syntax trees, for tests of how it is laid out."""

import ast
import functools
from collections.abc import Mapping

from tests.places import ROOT

PACKAGE = ROOT / "aligntools"
FILES = sorted(PACKAGE.rglob("*.py"))
SCRIPTS = [p for p in sorted((ROOT / "bin").iterdir()) if p.is_file()]


class Trees(Mapping):
    """Syntax trees by the names of files, each parsed when it is asked for: whoever collects tests needs none."""

    def __init__(self, paths):
        self.names = [path.relative_to(ROOT).as_posix() for path in paths]

    def __getitem__(self, name):
        return parsed(name)

    def __iter__(self):
        return iter(self.names)

    def __len__(self):
        return len(self.names)


@functools.cache
def parsed(name):
    """Return the syntax tree of a file."""
    return ast.parse((ROOT / name).read_text(encoding="utf-8"))


TREES, MODULES = Trees([*FILES, *SCRIPTS]), Trees(FILES)


def package_of(name):
    """Return the subpackage a file is in, or its own name at the top."""
    return name.split("/")[1].removesuffix(".py")


@functools.cache
def every_node(tree):
    """Return the nodes of a tree, walked once."""
    return tuple(ast.walk(tree))


def _at_top(tree):
    """Yield the nodes that run when a module is imported."""
    left = [tree]
    while left:
        node = left.pop()
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            yield node
            left += reversed(list(ast.iter_child_nodes(node)))


@functools.cache
def imports(tree, top=False):
    """Return (module, names, line) of every import; with ``top`` of those that run on import alone."""
    found = []
    for node in _at_top(tree) if top else every_node(tree):
        if isinstance(node, ast.Import):
            found += [(alias.name, [], node.lineno) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            found.append((node.module, [a.name for a in node.names], node.lineno))
    return found


def modules_of(tree, top=False):
    """Yield the full names of the project's modules that are imported."""
    for module, names, line in imports(tree, top):
        if module.split(".")[0] != "aligntools":
            continue
        path = PACKAGE.parent / module.replace(".", "/")
        for name in names or [None]:
            is_module = name and ((path / f"{name}.py").is_file() or (path / name / "__init__.py").is_file())
            yield f"{module}.{name}" if is_module else module, line


def dotted(node):
    """Return ``a.b.c`` of an attribute chain, its head left out where it is no name."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        return f"{dotted(node.value)}.{node.attr}"
    return ""


def strings(tree):
    """Yield the string constants of a module that are no docstrings."""
    described = ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef
    docs = {
        id(n.body[0].value) for n in every_node(tree) if isinstance(n, described) and isinstance(n.body[0], ast.Expr)
    }
    for node in every_node(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docs:
            yield node
