"""Writes `aligntools.api.given.keywords`: the options of every class of settings as keywords that type checkers know.

``python -m tests.keywords`` after a change of a class; a test compares.
"""

import importlib
import typing
from collections.abc import Iterator
from pathlib import Path

from aligntools.ground.declaring import Declared, Settings, declared

ROOT = Path(__file__).parent.parent
PLACE = ROOT / "aligntools" / "api" / "given" / "keywords.py"


def classes() -> dict[str, type[Settings]]:
    """Return every class of settings of the package, by the beginning of its keywords' name."""
    for path in sorted((ROOT / "aligntools").rglob("*.py")):
        if "@documented" in path.read_text(encoding="utf-8"):
            importlib.import_module(".".join(path.relative_to(ROOT).with_suffix("").parts))
    found = {kind.__name__.removesuffix("Settings"): kind for kind in _below(Settings)}
    return {name: found[name] for name in sorted(found)}


def _below(kind: type[Settings]) -> Iterator[type[Settings]]:
    for one in kind.__subclasses__():
        own = "__dataclass_fields__" in vars(one)  # else another's fields, with narrower types
        if one.__module__.startswith("aligntools.") and own:
            yield one
            yield from _below(one)


_HEAD = '''"""Options of the settings as keywords, for type checkers; ``python -m tests.keywords`` makes it of these."""

import os
from collections.abc import Sequence
from typing import Literal, TypedDict

from aligntools.ground.parallel import Pool
'''


def written(one: Declared) -> str:
    """Return an option's type as code has it."""
    kind = f"Literal[{', '.join(map(repr, one.choices))}]".replace("'", '"') if one.choices else one.kind.__name__
    names = [f"Sequence[{kind}]" if one.several else kind]
    for other in one.others:
        origin = typing.get_origin(other) or other
        names.append("os.PathLike[str]" if origin.__name__ == "PathLike" else other.__name__)
    return " | ".join([*names, *(["None"] if one.optional else [])])


def _row(name: str, kind: str) -> str:
    """Return a keyword's line, or its lines as the formatter has them."""
    row = f"    {name}: {kind}\n"
    if len(row) <= 121:
        return row
    inner = row[row.index("[") + 1 : row.rindex("]")]
    lines = [inner] if len(inner) <= 112 else [f"{choice}," for choice in inner.split(", ")]
    return row.replace(inner, "".join(f"\n        {line}" for line in lines) + "\n    ")


def keywords() -> str:
    """Return the module's text; a class whose settings are also others' has its own keywords alone."""
    known = {kind: name for name, kind in classes().items()}
    parts, done = [_HEAD], set()

    def write(kind: type[Settings]) -> None:
        if kind in done:
            return
        done.add(kind)
        bases = [base for base in kind.__bases__ if base in known]
        for base in bases:
            write(base)
        of_bases = {(n, written(one)) for base in bases for n, one in declared(base).items()}
        own = [(n, written(one)) for n, one in declared(kind).items()]
        rows = "".join(_row(*one) for one in own if one not in of_bases)
        names = ", ".join([f"{known[base]}Keywords" for base in bases] or ["TypedDict"])
        about = f'    """Those of `{kind.__name__}`."""\n'
        parts.append(f"\n\nclass {known[kind]}Keywords({names}, total=False):\n{about}" + (f"\n{rows}" if rows else ""))

    sources = [
        path.read_text(encoding="utf-8") for path in (ROOT / "aligntools" / "api").rglob("*.py") if path != PLACE
    ]
    for kind, name in known.items():
        if any(f"{name}Keywords" in source for source in sources):  # else no function takes them by name
            write(kind)
    return "".join(parts)


if __name__ == "__main__":
    PLACE.write_text(keywords(), encoding="utf-8")
