"""Prints how large the package is, and how many names a reader meets: ``python -m tests.counting``."""

import ast
import collections
import re
from pathlib import Path

from tests.places import ROOT
from tests.sources import MODULES, TREES, every_node

#: Names of modules that end as participles do and are nouns of the field.
NOUNS = (
    *(
        *("decoding", "drawing", "learning", "parsing", "resampling", "sampling", "scoring", "sorting", "tagging"),
        "training",
    ),
    "tuning",
)
PARTICIPLE = re.compile(rf"(?:^|_)(?!(?:{'|'.join(NOUNS)})$)[a-z]+(?:ing|ed)$")
SECTION = re.compile(r"^ *(?:Parameters|Attributes|Returns|Yields|Raises|Notes|References)\n *-{3,}$", re.MULTILINE)


def participles():
    """Return the modules that are named by a participle."""
    return {name for name in MODULES if PARTICIPLE.search(Path(name).stem)}


def shared_names():
    """Return the modules that have a public class, by the name of the class, of names that several modules have."""
    found = collections.defaultdict(list)
    for name, tree in MODULES.items():
        for node in every_node(tree):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                found[node.name].append(name)
    return {name: places for name, places in found.items() if len(places) > 1}


def lines(*folders, suffix=".py"):
    """Count the lines of the files below folders."""
    paths = [path for folder in folders for path in (ROOT / folder).rglob(f"*{suffix}")]
    return sum(len(path.read_text(encoding="utf-8").splitlines()) for path in paths)


def options():
    """Return the long options of each command that is listed."""
    from aligntools.cli import programs
    from aligntools.cli.main import COMMANDS

    found = {}
    for name in COMMANDS:
        command = programs.command(name)
        shown = [p for p in command.params if p.param_type_name == "option" and not p.hidden]
        found[name] = {o for p in shown for o in (*p.opts, *p.secondary_opts) if o.startswith("--")}
    return found


def counts():
    """Yield what is counted, with how many."""
    sizes = [len((ROOT / name).read_text(encoding="utf-8").splitlines()) for name in MODULES]
    nodes = [node for tree in MODULES.values() for node in every_node(tree)]
    classes = [node for node in nodes if isinstance(node, ast.ClassDef)]
    inner = {
        id(node)
        for tree in TREES.values()
        for function in every_node(tree)
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
        for node in ast.walk(function)
        if isinstance(node, ast.Import | ast.ImportFrom)
    }
    yield "lines of aligntools (Python)", sum(sizes)
    yield "files", len(sizes)
    yield "files under 60 lines", sum(size < 60 for size in sizes)
    yield "lines of sections in docstrings", sum(map(_of_sections, MODULES.values()))
    yield "classes", len(classes)
    yield "dataclasses", sum("dataclass" in ast.unparse(d) for node in classes for d in node.decorator_list)
    yield "functions", sum(isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) for node in nodes)
    yield "public class names used twice", len(shared_names())
    yield "modules named by a participle", len(participles())
    yield "imports in functions", len(inner)
    known = options()
    yield "commands", len(known)
    yield "options", sum(map(len, known.values()))
    yield "distinct options", len(set().union(*known.values()))
    yield "options of align", len(known["align"])
    yield "lines of tests", lines("tests")
    yield "lines of bench and studies", lines("bench", "studies")
    yield "lines of CHANGELOG", len((ROOT / "CHANGELOG.md").read_text(encoding="utf-8").splitlines())


def _of_sections(tree):
    described = ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef
    texts = [ast.get_docstring(node) or "" for node in every_node(tree) if isinstance(node, described)]
    return sum(len(text[found.start() :].splitlines()) for text in texts if (found := SECTION.search(text)))


if __name__ == "__main__":
    for what, many in counts():
        print(f"{many:7,}  {what}")
