"""Options under titles in a command's help."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import click

from aligntools.cli import kinds
from aligntools.cli.flags import EXPERT
from aligntools.ground.declarations import Option

#: What decorators of click take and return.
FC = TypeVar("FC", bound=Callable[..., Any] | click.Command)


def option(
    *flags: str,
    needs: tuple[str, ...] = (),
    excludes: tuple[str, ...] = (),
    when: str = "",
    said: str = "",
    **about: Any,
) -> Callable[[FC], FC]:
    """Return click's option with what it needs and excludes; see `declarations.Option`. Of fields `--set` gives it."""
    plain = max(flags, key=len).partition("/")[0].lstrip("-").replace("-", "_")
    if next((flag for flag in flags if flag[0] != "-"), plain) in EXPERT:
        about = {"hidden": True, "cls": kinds.Field} | about

    def decorate(function: FC) -> FC:
        found: Any = click.option(*flags, **about)(function)
        found.__click_params__[-1].rules = [Option("", needs=needs, excludes=excludes, when=when, said=said)]
        result: FC = found
        return result

    return decorate


def file(*flags: str, **about: Any) -> Callable[[FC], FC]:
    """Return an option that names a file; parameters are as for `option`."""
    return option(*flags, **{"metavar": "FILE"} | about)


def written(*flags: str, **about: Any) -> Callable[[FC], FC]:
    """Return an option that names a file to be written; parameters are as for `option`."""
    return file(*flags, **{"type": kinds.WRITTEN} | about)


def choice(*flags: str, choices: Sequence[str], **about: Any) -> Callable[[FC], FC]:
    """Return an option that takes one of several values, by default the first; parameters are as for `option`."""
    return option(*flags, type=click.Choice(choices), default=choices[0], show_default=True, **about)


def group(
    title: str,
    *options: Callable[[Any], Any],
    needs: tuple[str, ...] = (),
    excludes: tuple[str, ...] = (),
    said: str = "",
) -> Callable[[FC], FC]:
    """Return one decorator for options under a title in the help, in this order; all have these rules."""

    def decorate(function: FC) -> FC:
        decorated: Any = function
        before = len(getattr(function, "__click_params__", ()))
        for option in reversed(options):
            decorated = option(decorated)
        for parameter in decorated.__click_params__[before:]:
            if title and not hasattr(parameter, "group"):
                parameter.group = title
            if needs or excludes:
                ruled = getattr(parameter, "rules", [])
                parameter.rules = [*ruled, Option("", needs=needs, excludes=excludes, said=said)]
        result: FC = decorated
        return result

    return decorate
