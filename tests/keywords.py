"""Writes the keywords of functions that take settings, for type checkers: the stub `aligntools.ground.keywords`.

Nothing imports the stub when it runs. A class of it has the fields of a class of settings; or those of all classes that
a function takes, by its `taking`. Run ``python -m tests.keywords`` after a change of either; a test compares.
"""

import ast
import importlib
import typing
from collections.abc import Iterator
from typing import Any

from aligntools.aligning import evidence_kinds as evidence_kinds  # makes them known
from aligntools.aligning.evidence import SourceKind, source_kinds
from aligntools.ground.declarations import Declared, Settings, declared
from tests.places import ROOT
from tests.sources import MODULES, dotted

STUB = ROOT / "aligntools" / "ground" / "keywords.pyi"
DEFAULTS = ROOT / "tests/data/defaults.txt"
#: Kinds of evidence, of which tests register others.
KINDS: tuple[SourceKind[Any], ...] = source_kinds()
#: Functions that pass keywords on, which their `taking` does not say.
PASSED_ON = {
    "CheckingKeywords": ["Check", "Aligner", "PriorWeights", "Reading", "Run", "Evidence"],
    "FilteringKeywords": ["Filter", "Aligner", "PriorWeights", "Reading", "Run", "Evidence"],
    "SearchingKeywords": ["Reading", "Run"],
    "TranslatorKeywords": ["Decoder", "Splitting"],
}
#: Keywords that are no fields of settings.
MORE = {
    "ApplyingKeywords": {name: f"at.{name.title()} | None" for name in ("decisions", "reading", "run")},
    "SearchingKeywords": {"reading": "at.Reading | None", "run": "at.Run | None"},
    "TuneKeywords": {
        "imputation": "at.ImputationSettings | None",
        "decoding": "at.DecoderSettings | None",
        "reverse_grammar": "at.Grammar | str | os.PathLike[str] | None",
        "reverse_lm": "at.LanguageModel | str | os.PathLike[str] | None",
        "reverse_weights": "at.TranslationWeights | Mapping[str, float] | str | os.PathLike[str] | None",
    },
}


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


def taken() -> dict[str, list[str]]:
    """Return the classes that functions name in ``Unpack``, each with the settings that are taken."""
    found: dict[str, list[str]] = {}
    for tree in MODULES.values():
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef) and node.args.kwarg and node.args.kwarg.annotation:
                shown = ast.unparse(node.args.kwarg.annotation).strip("'")
                if shown.startswith("Unpack[") and not shown.startswith("Unpack[_"):
                    by = [d for d in node.decorator_list if isinstance(d, ast.Call) and dotted(d.func) == "taking"]
                    kinds = [ast.unparse(kind) for decorator in by for kind in decorator.args]
                    names = [kind.removesuffix("Settings").replace("*SETTINGS", "Evidence") for kind in kinds]
                    found.setdefault(shown[7:-1], []).extend(name for name in names if name not in found[shown[7:-1]])
    return found | PASSED_ON


def stub() -> str:
    """Return the stub's text."""
    known = classes()
    kinds: dict[str, dict[str, str]] = {
        name: {n: written(one) for n, one in declared(kind).items()} for name, kind in known.items()
    }
    every = [
        (name, written(one), name in kind.applying) for kind in KINDS for name, one in declared(kind.settings).items()
    ]
    kinds["Evidence"] = {name: kind for name, kind, _ in every}
    kinds["AppliedEvidence"] = {name: kind for name, kind, applied in every if applied}
    used = taken()
    joined = {name: bases for name, bases in used.items() if name.removesuffix("Keywords") not in kinds}
    plain = {name for name in kinds if f"{name}Keywords" in used or any(name in bases for bases in joined.values())}
    parts = [_class(name, [], kinds[name]) for name in kinds if name in plain]
    parts += [_class(name.removesuffix("Keywords"), joined[name], MORE.get(name, {})) for name in sorted(joined)]
    about = "Keywords of functions that take settings, for type checkers; ``python -m tests.keywords`` makes it."
    imports = "import os\nfrom collections.abc import Mapping, Sequence\nfrom typing import Literal, TypedDict\n"
    return (
        f'"""{about}"""\n\n{imports}\nimport aligntools as at\nfrom aligntools.ground.parallel import Pool\n\n'
        + "\n".join(parts)
    )


def _class(name: str, bases: list[str], own: dict[str, str]) -> str:
    """Return a class of keywords: names and types."""
    head = f"class {name}Keywords({', '.join([f'{base}Keywords' for base in bases] or ['TypedDict'])}, total=False):"
    return head + ("\n" + "".join(f"    {n}: {kind}\n" for n, kind in own.items()) if own else " ...\n")


def defaults() -> str:
    """Return a line for each class of settings: the default of each option."""
    rows = [
        [kind.__name__, *(f"{n}={one.default!r}" for n, one in declared(kind).items())] for kind in classes().values()
    ]
    return "".join(" ".join(row) + "\n" for row in sorted(rows))


if __name__ == "__main__":
    STUB.write_text(stub(), encoding="utf-8")
    DEFAULTS.write_text(defaults(), encoding="utf-8")
