"""Text for terminals: cells counted as they look, styles by name, plain text where there are no colors."""

from collections.abc import Iterable

from aligntools.ground.errors import harmless

#: What each style looks like, in rich's words. Signs say the same, for those who see no colors.
STYLES = {
    "head": "bold",
    "soft": "dim",
    "right": "blue",
    "wrong": "bold red",
    "missed": "yellow",
    "good": "green",
}


def cells(text: str) -> int:
    """Return how many columns a text takes: wide characters two, combining ones none, what is escaped its escapes."""
    from rich.cells import cell_len

    return cell_len(harmless(text))


def padded(text: str, width: int, right: bool = False) -> str:
    """Return a text with spaces up to a number of columns, after it or (``right``) before it."""
    room = " " * (width - cells(text))
    return room + text if right else text + room


def fitted(text: str, width: int) -> str:
    """Return a text cut to so many columns, with an ellipsis where something was cut."""
    from rich.cells import set_cell_size

    return text if cells(text) <= width else set_cell_size(harmless(text), width - 1) + "…"


def rendered(parts: Iterable[tuple[str, str]], color: bool) -> str:
    """Return ``(text, style)`` parts as one text, styles (of `STYLES`, or "") as ANSI escapes if asked for.

    What a text has that would do something to the terminal is shown as an escape.
    """
    parts = [(harmless(text), style) for text, style in parts]
    if not color:
        return "".join(text for text, _ in parts)
    from rich.color import ColorSystem
    from rich.style import Style

    known = {name: Style.parse(style) for name, style in STYLES.items()}
    return "".join(
        known[style].render(text, color_system=ColorSystem.STANDARD) if style else text for text, style in parts
    )
