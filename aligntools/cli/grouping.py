"""Options under titles in a command's help."""

from collections.abc import Callable
from typing import Any, TypeVar

import click

#: What decorators of click take and return.
FC = TypeVar("FC", bound=Callable[..., Any] | click.Command)


def group(title: str, *options: Callable[[Any], Any]) -> Callable[[FC], FC]:
    """Return one decorator for several options, which come in this order under this title in the help.

    >>> @click.command(cls=Command)
    ... @group("Common options", click.option("--fast", is_flag=True, help="Do less."))
    ... def command(fast): ...
    """

    def decorate(function: FC) -> FC:
        decorated: Any = function
        before = len(getattr(function, "__click_params__", ()))
        for option in reversed(options):
            decorated = option(decorated)
        for parameter in decorated.__click_params__[before:]:
            if not hasattr(parameter, "group"):
                parameter.group = title
        result: FC = decorated
        return result

    return decorate
