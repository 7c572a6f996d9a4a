"""Text for terminals: cells, styles, tables with shades and bars; plain text where there are no colors."""

from collections.abc import Iterable, Sequence
from typing import Any

from aligntools.ground.errors import harmless, visible

#: What each style looks like, in rich's words. Signs say the same, for those who see no colors.
STYLES = {"head": "bold", "soft": "dim", "right": "blue", "wrong": "bold red", "missed": "yellow", "good": "green"}


def shown(values: Sequence[str]) -> list[str]:
    """Return texts as `errors.visible` has them."""
    return list(map(visible, values))


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
    """Return ``(text, style)`` parts as a text that is harmless to a terminal, styles as ANSI escapes in color."""
    parts = [(harmless(text), style) for text, style in parts]
    if not color:
        return "".join(text for text, _ in parts)
    from rich.color import ColorSystem
    from rich.style import Style

    known = {name: Style.parse(style) for name, style in STYLES.items()}
    return "".join(
        known[style].render(text, color_system=ColorSystem.STANDARD) if style else text for text, style in parts
    )


_EIGHTHS = " ▏▎▍▌▋▊▉█"


def counted(n: int, what: str) -> str:
    """Return a number of things in words.

    >>> counted(1, "error"), counted(2, "error")
    ('1 error', '2 errors')
    """
    return f"{n} {what}" if n == 1 else f"{n} {what}s"


def bar(share: float, width: int = 20) -> str:
    """Return a bar of block characters for a share of 1, as long as so many characters.

    >>> bar(0.5, 4)
    '██  '
    """
    eighths = round(8 * width * min(max(share, 0.0), 1.0))
    text = "█" * (eighths // 8) + (_EIGHTHS[eighths % 8] if eighths % 8 else "")
    return text.ljust(width)


def heat(
    caption: str,
    names: Sequence[str],
    columns: Sequence[str],
    shares: Sequence[Sequence[float]],
    texts: Sequence[Sequence[str]] | None = None,
) -> dict[str, Any]:
    """Return a table whose cells have a shade, 0 to 9, beside what stands in them (by default the share in percent)."""
    texts = texts or [[f"{100 * p:.0f}" if p >= 0.005 else "" for p in row] for row in shares]
    shades = [[min(9, int(10 * p**0.5)) for p in row] for row in shares]
    shaded = [list(zip(*row, strict=True)) for row in zip(texts, shades, strict=True)]
    return {"caption": caption, "head": list(columns), "rows": list(zip(names, shaded, strict=True))}


def text_table(
    head: Sequence[str], rows: Sequence[Sequence[object]], title: str = "", color: bool = False, right: bool = True
) -> str:
    """Return a table as text, the first column to the left and (``right``) the others to the right."""
    texts = [[str(cell) for cell in row] for row in rows]
    widths = [max(map(cells, column)) for column in zip(head, *texts, strict=True)]
    parts = [(f"{title}\n", "head")] if title else []
    for k, row in enumerate([list(head), *texts] if any(head) else texts):
        line = "  ".join(padded(cell, widths[c], right and c > 0) for c, cell in enumerate(row)).rstrip()
        parts.append((f"{line}\n", "soft" if any(head) and not k else ""))
    return rendered(parts, color)
