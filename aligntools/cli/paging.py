"""Text for the terminal: in colors and through a pager where it is one, plain elsewhere."""

import os
import shutil
import sys
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from aligntools.api.views.viewing import View


def write(shown: "View", number: int | None = None, **how: Any) -> None:
    """Write a view's text, all of it or one item, to standard output; `how` is for its ``text``."""
    out = sys.stdout
    terminal = out.isatty()
    width = shutil.get_terminal_size().columns if terminal else 80
    color = terminal and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    text = shown.stream_text(width=width, color=color, number=number, **how)
    if terminal and number is None:
        os.environ.setdefault("LESS", "FRX")  # as git does: stay where it fits on a screen, colors
        click.echo_via_pager(text, color=color)
    else:
        for piece in text:
            out.buffer.write(piece.encode("utf-8", "surrogateescape"))
