"""Tables with shades and bars, for pages and terminals."""

from collections.abc import Sequence
from typing import Any

from aligntools.viewing.terminal import cells, padded, rendered

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
    rows = []
    for r, (name, row) in enumerate(zip(names, shares, strict=True)):
        shaded = [
            (texts[r][c] if texts else f"{100 * p:.0f}" if p >= 0.005 else "", min(9, int(10 * p**0.5)))
            for c, p in enumerate(row)
        ]
        rows.append((name, shaded))
    return {"caption": caption, "head": list(columns), "rows": rows}


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
