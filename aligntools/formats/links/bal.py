"""Both directions' alignments as Moses' symal reads them: three lines a sentence pair, made by ``giza2bal.pl``.

``1``, then ``N e1 .. eN # b1 .. bN`` and ``M f1 .. fM # a1 .. aM``, with ``a`` and ``b`` the position of the other
side's word from 1 on, 0 for none.
"""

from aligntools.formats.links.pharaoh import Links
from aligntools.ground.errors import DataError


def parse_bal(data: bytes, *, path: object = "-", line: int = 1) -> tuple[Links, Links]:
    """Read whole sentence pairs.

    data: Whole lines, three for each pair.
    path, line: For errors: the file, and the number of the first line.
    Returns direct, inverse: Links ``(f, e)``: of ``a``, at most one for each f, and of ``b``, at most one for each e.
    Raises DataError when the lines are not three for each pair or one is not of this form.
    """
    rows = data.split(b"\n")
    if not rows[-1]:
        rows.pop()
    if len(rows) % 3:
        raise DataError(path, line + len(rows) - 1, "the file ends within a sentence pair (three lines each)")
    direct, inverse = [], []
    for k in range(0, len(rows), 3):
        if not rows[k].strip().isdigit():
            raise DataError(path, line + k, f"'{_shown(rows[k])}' is not the count that a sentence pair begins with")
        b, a = _positions(rows[k + 1], path, line + k + 1), _positions(rows[k + 2], path, line + k + 2)
        for at, positions, others in ((k + 1, b, a), (k + 2, a, b)):
            if positions and not 0 <= min(positions) <= max(positions) <= len(others):
                problem = f"a position outside 0 to {len(others)}, the words of the other side"
                raise DataError(path, line + at, problem)
        direct.append([(f, e - 1) for f, e in enumerate(a) if e])
        inverse.append([(f - 1, e) for e, f in enumerate(b) if f])
    return Links.from_lists(direct), Links.from_lists(inverse)


def _positions(row: bytes, path: object, line: int) -> list[int]:
    """Return the positions behind the words of a line."""
    fields = row.split()
    words = int(fields[0]) if fields and _is_number(fields[0]) else -1
    numbers = fields[words + 2 :]
    if words < 0 or len(numbers) != words or fields[words + 1] != b"#" or not all(map(_is_number, numbers)):
        raise DataError(path, line, f"'{_shown(row)}' is not N words, '#' and N positions (as giza2bal.pl writes them)")
    return list(map(int, numbers))


def _is_number(field: bytes) -> bool:
    return field.isdigit() and len(field) < 10


def _shown(row: bytes) -> str:
    return row[:60].decode("utf-8", "replace")


def format_union(direct: Links, inverse: Links) -> bytes:
    """Write the union of two directions in symal's order: the direct links, then what is in the inverse ones alone."""
    lines = []
    for first, second in zip(direct.tolists(), inverse.tolists(), strict=True):
        seen = set(first)
        rest = sorted((pair for pair in second if pair not in seen), key=lambda pair: pair[1])
        lines.append(" ".join([f"{i}-{j}" for i, j in [*first, *rest]]) + "\n")
    return "".join(lines).encode()
