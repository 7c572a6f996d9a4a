"""Which code made a figure: a hash of what measured it, for the names of what is kept between runs.

Of `bench` it takes the definitions that are reached from those that measure, so that the text of a table may change and
its figures stay; of the package whole modules, with all that they import. Commands are found by their names.
"""

import ast
import hashlib
from dataclasses import dataclass
from functools import cache

from bench.report import ROOT, code_hash

PACKAGE = "aligntools"
#: Programs that any command may stand behind.
_STAND_INS = "aligntools.cli.standins"


def of(*measured, commands=(), data=True):
    """Return the hash of the code that functions and classes of `bench` run.

    Parameters
    ----------
    measured : functions, classes, or full names of definitions
        What they name in their own module, and in others of `bench`, counts too.
    commands : sequence of str
        Commands of ``aligntools`` that are run, beside those whose names are in the definitions.
    data : bool
        Whether what comes with the program beside its modules counts.
    """
    names = [x if isinstance(x, str) else f"{x.__module__}.{x.__qualname__.split('.')[0]}" for x in measured]
    return _digest(tuple(tuple(name.rsplit(".", 1)) for name in names), tuple(commands), data)


def place(work, name, *measured):
    """Return a folder in the work folder for what definitions of `bench` make; it is there afterwards."""
    folder = work / f"{name}-{of(*measured)}"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@cache
def _digest(starts, commands, data):
    # once a run: what is edited meanwhile is not what runs
    texts, modules, named = reached(starts)
    named |= set(commands)
    if ("bench.measuring", "aligntools") in texts and not named:  # which commands it runs is not known here
        modules.add(PACKAGE)
    if named:
        from aligntools.cli.programs import module_of

        modules |= {"aligntools.cli.main", *map(module_of, named)}
    digest = hashlib.sha256(code_hash().encode() if PACKAGE in modules else b"")
    for name, text in sorted(texts.items()):
        digest.update(f"{name}\n{text}\n".encode())
    for path in sorted(p for p in files_of(modules) if data or p.suffix == ".py"):
        digest.update(path.relative_to(ROOT).as_posix().encode() + path.read_bytes())
    return digest.hexdigest()[:12]


def reached(starts):
    """Follow names from definitions of `bench`, given as (module, name).

    Returns
    -------
    texts : dict of (str, str) to str
        Source of the definitions, without comments and docstrings.
    modules : set of str
        Modules of the package; `PACKAGE` is all of it.
    commands : set of str
        Commands of the package that are named.
    """
    texts, modules, commands, left = {}, set(), set(), list(starts)
    while left:
        module, name = left.pop()
        own = _bench_module(module)
        if (module, name) in texts or module == __name__:  # a key is no figure
            continue
        if name not in own.definitions:  # imported there
            left += _targets(own.aliases.get(name, ""), None, modules)
            continue
        nodes = own.definitions[name]
        texts[module, name] = "\n".join(ast.unparse(node) for node in nodes)
        every = [node for top in nodes for node in ast.walk(top)]
        aliases = own.aliases | {k: v for node in every for k, v in _aliases(node).items()}
        parts = {id(n.value): n.attr for n in every if isinstance(n, ast.Attribute)}
        for node in (n for top in nodes for n in _from_outside(top, frozenset())):
            if node.id in own.definitions:
                left.append((module, node.id))
            elif node.id in aliases:
                left += _targets(aliases[node.id], parts.get(id(node)), modules)
        said = {n.value for n in every if isinstance(n, ast.Constant) and isinstance(n.value, str)}
        modules |= {PACKAGE} if _STAND_INS in said else set()
        commands |= said & _commands()
    return texts, modules, commands


def _from_outside(node, local):
    """Yield the names in a node that are not those of arguments and variables of a function around them."""
    if isinstance(node, ast.FunctionDef | ast.Lambda):
        names = {n.arg for n in ast.walk(node.args) if isinstance(n, ast.arg)}
        local |= names | {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    if isinstance(node, ast.Name) and node.id not in local:
        yield node
    for inner in ast.iter_child_nodes(node):
        yield from _from_outside(inner, local)


def _targets(dotted, attribute, modules):
    """Return the definitions of `bench` that a name stands for; add modules of the package."""
    if dotted == PACKAGE:
        modules.add(_homes().get(attribute, PACKAGE))
    elif dotted.startswith(f"{PACKAGE}."):
        modules.add(dotted)
    elif dotted.startswith("bench."):
        if _path(dotted) is None:
            return [tuple(dotted.rsplit(".", 1))]
        return [(dotted, name) for name in ([attribute] if attribute else _bench_module(dotted).definitions)]
    return []


def files_of(modules):
    """Return the files of modules of the package, of all that they import, and of data beside them."""
    found, left = {}, [name for name in modules if name != PACKAGE]
    while left:
        name = left.pop()
        path = None if name in found else _path(name)
        if path is not None:
            found[name] = path
            left += _imports(path)
        elif name not in found and "." in name:  # a name of a module
            parent = name.rpartition(".")[0]
            left += [parent] if parent not in found and parent != PACKAGE else []
    return {*found.values(), *(p for path in found.values() for p in path.parent.glob("*.safetensors"))}


@cache
def _imports(path):
    """Return what a module imports of the package, but for types alone."""
    nodes, left = [], [ast.parse(path.read_text(encoding="utf-8"))]
    while left:
        node = left.pop()
        if not (isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)):
            nodes.append(node)
            left += ast.iter_child_nodes(node)
    found = {x for node in nodes for x in _aliases(node).values()}
    return sorted(x for x in found if x.startswith(f"{PACKAGE}."))


@dataclass
class _Module:
    """A module of `bench`: nodes of what it defines, by name, and the full names of what it imports."""

    definitions: dict
    aliases: dict


@cache
def _bench_module(name):
    definitions, aliases = {}, {}
    for node in ast.parse(_path(name).read_text(encoding="utf-8")).body:
        aliases |= _aliases(node)
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names = [node.name]
        else:
            stored = [n for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
            names = [n.id for n in stored]
        for name_ in names:
            definitions.setdefault(name_, []).append(_without_docstrings(node))
    return _Module(definitions, aliases)


def _without_docstrings(node):
    for inner in ast.walk(node):
        if isinstance(inner, ast.FunctionDef | ast.ClassDef) and ast.get_docstring(inner) is not None:
            inner.body = inner.body[1:] or [ast.Pass()]
    return node


def _aliases(node):
    """Return the names that an import gives, with their full names."""
    if isinstance(node, ast.Import):
        return {a.asname or a.name.split(".")[0]: a.name if a.asname else a.name.split(".")[0] for a in node.names}
    if isinstance(node, ast.ImportFrom) and node.module:
        return {a.asname or a.name: f"{node.module}.{a.name}" for a in node.names}
    return {}


def _path(name):
    """Return the file of a module of this project, or None where the name is not a module's."""
    base = ROOT.joinpath(*name.split("."))
    return next((p for p in (base.with_suffix(".py"), base / "__init__.py") if p.is_file()), None)


@cache
def _homes():
    import aligntools

    return dict(aligntools._HOMES)


@cache
def _commands():
    from aligntools.cli.main import COMMANDS

    return frozenset(COMMANDS)
