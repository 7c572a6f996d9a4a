"""Options of the command line, made from the settings that declare them."""

from collections.abc import Callable, Iterable, Mapping
from inspect import signature
from typing import Any, TypeAlias, TypeVar, get_args

import click
from click.core import ParameterSource

from aligntools.cli import kinds
from aligntools.cli.flags import as_flag, flag, on_command_line
from aligntools.cli.kinds import Decorator
from aligntools.ground.declarations import Declared, Settings, declared
from aligntools.ground.errors import UsageProblem

S = TypeVar("S", bound=Settings)
K = TypeVar("K")


def option(kind: type[Settings], name: str, *flags: str, **instead: Any) -> Decorator:
    """Return click's option for a field of settings.

    *flags: Short flags besides the long one.
    **instead: What this command has otherwise than the declaration: ``default``, ``help``, ``choices`` (or a callable
        that returns them); ``otherwise`` says in the help what None, the default then, stands for.
    """
    one = declared(kind)[name]
    if otherwise := instead.pop("otherwise", ""):
        instead = {"default": None, "help": f"{one.option.help}  [default: {otherwise}]"} | instead
    about = {"default": one.default, "help": one.option.help} | instead
    choices = about.pop("choices", one.option.choices or one.literals)
    if about["default"] is None and one.option.otherwise and "help" not in instead:
        about["help"] += f"  [default: {one.option.otherwise}]"
    about["help"] = on_command_line(about["help"])
    long = flag(name)
    if one.kind is bool:
        switch = about["default"] is False and not one.optional
        long = long if switch else f"{long}/{flag('no_' + name)}"
        about |= {"is_flag": True} if switch else {}
        about.setdefault("show_default", not switch and about["default"] is not None)
    elif one.option.metavar.startswith("["):  # it may stand by itself
        about |= {"is_flag": False, "flag_value": True, "type": kinds.Place("dir"), "metavar": "[DIR]"}
        if any(other is bool for other in one.others):
            about |= {"cls": kinds.Refusable, "refused": flag("no_" + name)}
    else:
        number = "N" if one.option.allowed is not None and one.option.allowed.whole else "X"
        metavar = one.option.metavar or (None if choices else f"{number},{number}.." if one.several else number)
        about = {"type": _type(one, choices), "metavar": metavar} | about
        about |= {"nargs": 2} if one.option.metavar == "FILE FILE" else {}
        about |= {"multiple": True} if one.several and one.option.metavar == "FILE" else {}
        about.setdefault("show_default", about["default"] not in (None, ()))
    ruled: dict[str, Any] = {}
    if not one.option.said:  # those are about values, which `Settings.checked` looks at
        ruled = {"needs": one.option.needs, "excludes": one.option.excludes, "when": one.option.when}
    return kinds.option(long, *flags, name, **ruled | about)


Choices: TypeAlias = tuple[str, ...] | Callable[[], tuple[str, ...]]


def _type(one: Declared, choices: Choices) -> "click.ParamType[Any]":
    if callable(choices):
        return kinds.Registered(choices)
    if choices:
        return click.Choice(choices)
    if one.option.metavar.startswith("upos|"):
        return kinds.Column()
    if one.option.metavar in ("FILE", "FILE FILE", "DIR"):
        return kinds.Place("dir" if one.option.metavar == "DIR" else "file")
    if one.option.metavar == "SIZE":
        return kinds.Size()
    if one.option.allowed is None:
        return click.STRING
    if one.several:
        return kinds.Numbers(one.option.allowed)
    return kinds.Number(one.option.allowed)


def group(kind: type[Settings], *names: str, without: Iterable[str] = (), title: str = "", **rules: Any) -> Decorator:
    """Return one decorator for fields of settings, all that have a title by default, under their titles in the help.

    title: In the place of the fields' own; rules: what all of them need and exclude.
    """
    known = declared(kind)
    chosen = [name for name in names or known if (names or known[name].option.group) and name not in without]

    def decorate(function: Any) -> Any:
        for name in reversed(chosen):
            function = kinds.group(title or known[name].option.group, option(kind, name), **rules)(function)
        return function

    return decorate


def given() -> set[str]:
    """Return the names of the options that the command line itself gave."""
    context = click.get_current_context()
    return {n for n in context.params if context.get_parameter_source(n) is ParameterSource.COMMANDLINE}


def refuse(names: Iterable[str], what: str, options: Mapping[str, Any] | None = None) -> None:
    """Refuse options that the command line gave; with their values, flags are named as given: ``--no-labels``."""
    for name in sorted(given() & set(names)):
        value = str(options[name]) if options and isinstance(options[name], bool) else None
        raise UsageProblem(f"{as_flag(name, value)} does not go with {what}")


def settings(kind: type[S], options: Mapping[str, Any], **instead: Any) -> S:
    """Return checked settings made of a command's options.

    Fields without an option here, or with one that is None only here by default, keep their defaults.
    """
    known = declared(kind)
    own = {name: value for name, value in options.items() if name in known}
    return kind(**{n: v for n, v in own.items() if v is not None or known[n].optional} | instead).checked()


def call(function: Callable[..., K], o: Mapping[str, Any], **more: Any) -> K:
    """Call a function with a command's options, each by its name, and classes of settings made of them."""
    found = dict(more)
    for name, wanted in signature(function).parameters.items():
        kinds = (wanted.annotation, *get_args(wanted.annotation))
        kind = next((one for one in kinds if isinstance(one, type) and issubclass(one, Settings)), None)
        if name not in more and (kind or name in o):
            found[name] = settings(kind, o) if kind else o[name]
    return function(**found)


def chosen(kind: type[Settings], options: Mapping[str, Any]) -> dict[str, Any]:
    """Return those fields of settings that the command line itself gave."""
    return {name: options[name] for name in declared(kind) if name in options and name in given()}
