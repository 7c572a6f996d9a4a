"""Writes the options of every class of settings as keywords that type checkers know.

Those of kinds of evidence go into `aligntools.api.align.evidence_keywords`, all kinds together; those of translation
into `aligntools.api.given.translation_keywords`, the others into `aligntools.api.given.keywords`. Run ``python -m
tests.keywords`` after a change of a class; a test compares.
"""

import importlib
import typing
from collections.abc import Iterator
from typing import Any

from aligntools.aligning.evidence import AskedKind, asked_kinds
from aligntools.api.align import evidence_kinds as evidence_kinds  # makes them known
from aligntools.ground.declaring import Declared, Settings, declared
from tests.places import ROOT

API = ROOT / "aligntools" / "api"
OF_SETTINGS, OF_EVIDENCE = API / "given" / "keywords.py", API / "align" / "evidence_keywords.py"
OF_TRANSLATION = API / "given" / "translation_keywords.py"
#: Kinds of evidence, of which tests register others.
KINDS: tuple[AskedKind[Any], ...] = asked_kinds()


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


def _class(name: str, bases: list[str], about: str, own: list[tuple[str, str]]) -> str:
    """Return a class of keywords: names and types."""
    head = f"class {name}Keywords({', '.join([f'{base}Keywords' for base in bases] or ['TypedDict'])}, total=False):\n"
    return head + f'    """{about}"""\n' + ("\n" if own else "") + "".join(_row(*one) for one in own)


def _module(about: str, parts: list[str]) -> str:
    """Return a module's text, with the imports that its classes need."""
    body = "\n\n".join(parts)
    lines = [
        f'"""Options of {about} as keywords, for type checkers; ``python -m tests.keywords`` makes it of these."""\n\n',
        "import os\n" if "os." in body else "",
        "from collections.abc import Sequence\n" if "Sequence[" in body else "",
        f"from typing import {'Literal, ' if 'Literal[' in body else ''}TypedDict\n\n",
        "from aligntools.ground.parallel import Pool\n\n" if "Pool" in body else "",
    ]
    return "".join([*lines, "\n", body])


def of_settings(translation: bool = False) -> str:
    """Return the text of most classes' module, or of translation's.

    A class whose settings are also others' has its own keywords alone.
    """
    known = {kind: name for name, kind in classes().items()}
    parts: dict[type[Settings], str] = {}

    def write(kind: type[Settings]) -> None:
        bases = [base for base in kind.__bases__ if base in known]
        for base in bases:
            write(base)
        of_bases = {(n, written(one)) for base in bases for n, one in declared(base).items()}
        own = [(n, written(one)) for n, one in declared(kind).items() if (n, written(one)) not in of_bases]
        about = f"Those of `{kind.__name__}`."
        parts.setdefault(kind, _class(known[kind], [known[base] for base in bases], about, own))

    sources = [
        path.read_text(encoding="utf-8") for path in API.rglob("*.py") if path not in (OF_SETTINGS, OF_TRANSLATION)
    ]
    for kind, name in known.items():
        if kind.__module__.startswith("aligntools.translating.") != translation:
            continue
        if any(f"{name}Keywords" in source for source in sources):  # else no function takes them by name
            write(kind)
    return _module("translation" if translation else "the settings", [*parts.values()])


def of_evidence() -> str:
    """Return the text of the module of all kinds of evidence."""
    every = [(name, written(one), kind) for kind in KINDS for name, one in declared(kind.settings).items()]
    training = [(name, what) for name, what, _ in every]
    applying = [(name, what) for name, what, kind in every if name in kind.applying]
    return _module(
        "all kinds of evidence",
        [
            _class("Evidence", [], "Keywords of functions that train.", training),
            _class("AppliedEvidence", [], "Keywords of functions that load what was trained.", applying),
        ],
    )


#: The modules that are made, and what makes them.
MADE = {OF_SETTINGS: of_settings, OF_TRANSLATION: lambda: of_settings(True), OF_EVIDENCE: of_evidence}

if __name__ == "__main__":
    for path, text in MADE.items():
        path.write_text(text(), encoding="utf-8")
