"""Options, each declared once: a field of a frozen dataclass with its default, range or choices, and what it is for.

From it come the checks, the option on the command line, keywords and documentation in Python, and a model's header.
"""

import inspect
import os
import re
import textwrap
import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from functools import partial
from typing import Any, Literal, Self, TypeVar, cast

from aligntools.ground.errors import UsageProblem, as_keyword, named
from aligntools.ground.ranges import Range, quoted, shown

#: By the class of settings: what a field was called, and what it is called now, ``not`` before one that says the
#: opposite, and with a value where the old name said it: ``decode=viterbi``.
FIELDS: dict[str, dict[str, str]] = {
    "AlignerSettings": {
        "model": "model_type",
        "joint": "agreement",
        "ibm_iterations": "ibm1_iterations",
        "model_iterations": "iterations",
    },
    "GrammarDecisions": {"given_tags": "keep_tags"},
    "Run": {"cluster_file": "cluster"},
    "GrammarFilter": {"span": "span_limit"},
    "TreeConstraints": {"any_root": "not single_root", "non_projective": "not projective"},
    "TransferSettings": {"head": "max_pairs", "weights": "transferred"},
    "ParserDecisions": {"any_root": "not single_root", "non_projective": "not projective"},
    "ImputationSettings": {"k": "n_sources"},
    "LatticeSettings": {"format": "input", "scores": "arc_scores", "weights": "arc_weights"},
    "TagDecisions": {"decoder": "decode", "viterbi": "decode=viterbi", "posterior": "decode=posterior"},
    "TranslationLists": {"k_best": "n_best"},
    "TuningSettings": {"nbest": "n_best"},
}
#: Names that only headers of files had.
HEADERS: dict[str, dict[str, str]] = {
    "LearningSettings": {"least": "min_count", "shortest": "min_length", "longest": "max_length", "most": "max_pairs"},
}


def former(kind: type, names: Mapping[str, dict[str, str]] = FIELDS) -> dict[str, str]:
    """Return what fields of a class of settings, and of those it is made from, were called."""
    found: dict[str, str] = {}
    for one in reversed(kind.__mro__):
        found |= names.get(one.__name__, {})
    return found


def modern(kind: type, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is said of a class of settings under old names, under today's."""
    known = former(kind) | former(kind, HEADERS)
    found: dict[str, Any] = {}
    for name, value in given.items():
        now, _, own = known.get(name, name).partition("=")
        opposite = now.startswith("not ")
        found[now.removeprefix("not ")] = own or (not value if opposite else value)
    return found


_KEY = "option"
_MARK = "**options"  # where a docstring's parameters have the declared ones put in

S = TypeVar("S", bound="Settings")
F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True)
class Option:
    """What is known of an option besides its name, type and default.

    help: What it does, in whole sentences that the command line and Python show alike.
    otherwise: What None, the default, stands for: ``by the size of the text``.
    group, metavar: The title above it in a command's help, and what stands for its value.
    excludes, needs: Other fields, or values of them (``decode=posterior``); ``a|b`` is one of the two.
    when: Its value that excludes and needs, where others do not.
    said: The message then, with options' values, ``{name}`` and ``{other}`` between braces.
    choices: Returns what it can be, where its type does not say it.
    """

    help: str
    allowed: Range | None = None
    otherwise: str = ""
    group: str = ""
    metavar: str = ""
    excludes: tuple[str, ...] = ()
    choices: Callable[[], tuple[str, ...]] | None = None
    needs: tuple[str, ...] = ()
    when: str = ""
    said: str = ""


def option(default: Any, help: str, **about: Any) -> Any:
    """Return a field that is an option; see `Option`."""
    return field(default=default, metadata={_KEY: Option(help, **about)})


#: Options of the groups that most settings have, by their titles in the help.
common_option, file_option, training_option, decision_option = (
    partial(option, group=title) for title in ("Common options", "Input and output", "Training", "Decisions")
)


def check_rules(name: str, option: Option, value: Any, known: Mapping[str, Any], given: Callable[[str], bool]) -> None:
    """Refuse an option beside what it excludes or without what it needs, as far as these are ``known``."""

    def holds(term: str) -> bool:
        of, _, wanted = term.partition("=")
        return of in known and (str(known[of]) == wanted if wanted else given(of))

    if option.when and str(value) != option.when:
        return
    shown = f"`{name}={option.when}`" if option.when else f"`{name}`"
    for other in filter(holds, option.excludes):
        said = option.said.format(**{**known, "name": name, "other": other})
        raise UsageProblem(said or f"{shown} and `{other}` exclude each other; choose one of them")
    for need in option.needs:
        ways = [way for way in need.split("|") if way.partition("=")[0] in known]
        if ways and not any(map(holds, ways)):
            said = option.said.format(**{**known, "name": name})
            wanted = " or ".join(f"`{way}`" for way in ways)
            raise UsageProblem(said or f"{shown} needs {wanted}; add that, or leave it out")


@dataclass(frozen=True)
class Declared:
    """An option with its field's name, default and type; ``others``: types of values that are not checked."""

    name: str
    default: Any
    kind: type
    several: bool
    optional: bool
    literals: tuple[str, ...]
    others: tuple[type, ...]
    option: Option

    @property
    def choices(self) -> tuple[str, ...]:
        """What it can be; empty where anything of its kind goes."""
        return self.option.choices() if self.option.choices else self.literals

    @property
    def described(self) -> str:
        """What it does, with what its default is, in sentences."""
        if self.default is None:
            return f"{self.option.help} None: {self.option.otherwise}." if self.option.otherwise else self.option.help
        return self.option.help

    @property
    def typed(self) -> str:
        """Its type, as documentation shows it."""
        if self.choices:
            name = "{" + ", ".join(repr(choice) for choice in self.choices) + "}"
        else:
            name = f"sequence of {self.kind.__name__}" if self.several else self.kind.__name__
        names = [name, *(other.__name__ for other in self.others), *(["None"] if self.optional else [])]
        return " or ".join(names)

    def check(self, value: Any) -> None:
        """Raise a `UsageProblem` for a value that it cannot have."""
        if (value is None and self.optional) or isinstance(value, self.others):
            return
        values = value if self.several and isinstance(value, (tuple, list)) else (value,)
        for one in values:
            if self.choices:
                if one not in self.choices:
                    raise UsageProblem(f"`{self.name}` is one of {', '.join(self.choices)}, not {shown(one)}")
            elif self.option.allowed is not None:
                self.option.allowed.check(f"`{self.name}`", one)
            elif self.kind is bool and not isinstance(one, bool):
                raise UsageProblem(f"`{self.name}` is True or False, not {quoted(one)}")


def _type_of(annotation: Any) -> tuple[type, bool, bool, tuple[str, ...], tuple[type, ...]]:
    """Return kind, whether there are several, whether None is among it, the choices and the other types."""
    members = [annotation]
    if typing.get_origin(annotation) in (typing.Union, types.UnionType):
        members = list(typing.get_args(annotation))
    kind, *others = (member for member in members if member is not type(None))
    several = typing.get_origin(kind) is tuple
    if several:
        kind = typing.get_args(kind)[0]
    choices = typing.get_args(kind) if typing.get_origin(kind) is Literal else ()
    kind = str if choices else kind if isinstance(kind, type) else object
    plain = tuple(typing.get_origin(other) or other for other in others)
    return kind, several, len(members) > 1 + len(others), choices, plain


_known: dict[type["Settings"], dict[str, Declared]] = {}


def declared(kind: type["Settings"]) -> dict[str, Declared]:
    """Return the options of a class of settings, by name, in their order; fields that are none are left out."""
    if kind not in _known:
        hints = typing.get_type_hints(kind)
        options = {f.name: f for f in fields(kind) if _KEY in f.metadata}
        _known[kind] = {n: Declared(n, f.default, *_type_of(hints[n]), f.metadata[_KEY]) for n, f in options.items()}
    return _known[kind]


def range_of(kind: type["Settings"], name: str) -> Range:
    """Return the numbers that an option may be."""
    allowed = declared(kind)[name].option.allowed
    if allowed is None:
        raise ValueError(f"{name} is not a number")
    return allowed


@dataclass(frozen=True)
class Settings:
    """A frozen dataclass whose fields are options, each with a default."""

    def checked(self) -> Self:
        """Return these settings.

        Raises
        ------
        UsageProblem
            When one is outside its range, is none of its choices, or excludes another; see `rules`.
        """
        known = declared(type(self))
        for name, one in known.items():
            one.check(getattr(self, name))
        given = {name for name, one in known.items() if getattr(self, name) != one.default}
        for name in (name for name in known if name in given):
            check_rules(name, known[name].option, getattr(self, name), vars(self), given.__contains__)
        self.rules()
        return self

    def rules(self) -> None:
        """Raise a `UsageProblem` where options do not go together; a class with such rules has them here."""

    def header(self) -> dict[str, Any]:
        """Return the settings as a model's header has them."""
        return asdict(self)

    @classmethod
    def names(cls) -> tuple[str, ...]:
        """Return the options' names."""
        return tuple(declared(cls))


class Keywords:
    """Keywords of a call, each of which belongs to one of several classes of settings."""

    def __init__(self, function: str, keywords: Mapping[str, Any]) -> None:
        self._function, self._left = function, dict(keywords)

    def take(self, kind: type[S], whole: S | str | None = None) -> S:
        """Return settings of a class: what was given whole (or its keyword), or the defaults, with its keywords."""
        if isinstance(whole, str):
            whole = cast("S | None", self._left.pop(whole, None))
        names = [*declared(kind), *former(kind)]
        own = modern(kind, {name: self._left.pop(name) for name in names if name in self._left})
        single = (type(None), str, tuple, os.PathLike)
        known = declared(kind)
        several = {n: tuple(v) for n, v in own.items() if known[n].several and not isinstance(v, single)}
        return replace(whole if whole is not None else kind(), **own | several).checked()

    def pop(self, name: str) -> Any:
        """Return a keyword that belongs to none of the classes; None where it was not given."""
        return self._left.pop(name, None)

    def only(self, kind: type[S], whole: S | str | None = None) -> S:
        """Return settings of the class that all keywords belong to, or are left for."""
        found = self.take(kind, whole)
        self.end()
        return found

    def end(self) -> None:
        """Raise a TypeError, as Python does, for a keyword that belongs to none."""
        for name in self._left:
            raise TypeError(f"{self._function}() got an unexpected keyword argument '{name}'")


def taking(*kinds: type[Settings]) -> Callable[[F], F]:
    """Return a decorator that puts the options of settings into a docstring for ``**options``, and into ``takes``."""

    def decorate(function: F) -> F:
        function.takes = kinds  # type: ignore[attr-defined]
        if function.__doc__:
            text, mark = inspect.cleandoc(function.__doc__), rf"^{re.escape(_MARK)}$"
            function.__doc__ = re.sub(mark, lambda _: parameters(*kinds), text, count=1, flags=re.MULTILINE)
        return function

    return decorate


def documented(kind: type[S]) -> type[S]:
    """Put the options of a class of settings into its docstring, as its attributes."""
    if kind.__doc__:
        about = inspect.cleandoc(kind.__doc__)
        kind.__doc__ = f"{about}\n\nAttributes\n----------\n{parameters(kind)}"
    return kind


def parameters(*kinds: type[Settings]) -> str:
    """Return the options of classes as a docstring has its parameters: name, type, default, what it does."""
    found = []
    for kind in kinds:
        for one in declared(kind).values():
            default = "" if one.default is None else f", default {one.default}"
            text = textwrap.fill(named(one.described, as_keyword), 110)
            found.append(f"{one.name} : {one.typed}{default}\n{textwrap.indent(text, '    ')}")
    return "\n".join(found)
