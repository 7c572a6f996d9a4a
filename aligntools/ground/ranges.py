"""Which numbers a setting may be. Each has one range, written next to its default; the API and the commands check it.

No number is infinite or NaN, and whole numbers fit the 64 bits that compiled code has for them.
"""

import numbers
import re
from dataclasses import dataclass
from typing import Any

from aligntools.ground.errors import UsageProblem

#: Bounds of numbers that have no natural one: counts, amounts, seeds.
MOST, MUCH, LARGEST_SEED = 2**31 - 1, 1e9, 2**63 - 1


@dataclass(frozen=True)
class Range:
    """The numbers that a setting may be; ``above``, ``below``: without ``low``, ``high`` itself."""

    low: float
    high: float
    whole: bool = False
    above: bool = False
    below: bool = False

    def __contains__(self, value: object) -> bool:
        kind = numbers.Integral if self.whole else numbers.Real
        if not isinstance(value, kind) or isinstance(value, bool):
            return False
        number: Any = value
        # NaN is in no order with anything
        over = number > self.low if self.above else number >= self.low
        return bool(over and (number < self.high if self.below else number <= self.high))

    def __str__(self) -> str:
        low, high = (str(x) if self.whole else f"{x:g}" for x in (self.low, self.high))
        what = "a whole number" if self.whole else "a number"
        end = " and below" if self.below else ", at most" if self.above else " to"
        return f"{what} {'above' if self.above else 'from'} {low}{end} {high}"

    @property
    def short(self) -> str:
        """The bounds that are not there for technical reasons alone, as in ``1<=x<=200``; may be empty."""
        low, high = f"{self.low:g}{'<' if self.above else '<='}x", f"x{'<' if self.below else '<='}{self.high:g}"
        if self.high in (MOST, MUCH, LARGEST_SEED):
            return f"x{'>' if self.above else '>='}{self.low:g}"
        return low + high[1:]

    def check(self, name: str, value: object) -> None:
        """Raise a `UsageProblem` for what is not in the range."""
        if value not in self:
            raise UsageProblem(f"{name} must be {self}, not {quoted(value)}")


def shown(value: object) -> str:
    """Return a value for a message, cut where it is long; of bytes the text in UTF-8."""
    try:
        text = value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
    except (ValueError, RecursionError):  # an integer of thousands of digits, a list of lists of lists
        text = "something longer"
    return text if len(text) <= 40 else f"{text[:37]}..."


def quoted(value: object) -> str:
    """Return a value for a message, text in quotes: ``'2'`` is no number."""
    return f"'{shown(value)}'" if isinstance(value, str) else shown(value)


def counts(low: int = 0, high: int = MOST) -> Range:
    """Return a range of whole numbers."""
    return Range(low, high, whole=True)


def amounts(low: float = 0, high: float = MUCH, *, above: bool = False, below: bool = False) -> Range:
    """Return a range of real numbers."""
    return Range(low, high, above=above, below=below)


PROBABILITY, SEED, THREADS = amounts(0, 1), counts(0, LARGEST_SEED), counts(1, 4096)
#: Processes.
WORKERS = counts(1, 1024)
#: Samples for intervals and tests, and bytes of memory.
BOOTSTRAP, MEMORY = counts(0, 10**6), counts(2**16, 2**60)


def size_of(text: str) -> int:
    """Return an amount of memory such as ``800M`` or ``4G`` in bytes."""
    found = re.fullmatch(r"(.*?)([KMGT]?)B?", text.strip(), re.IGNORECASE | re.DOTALL)
    try:
        size = float(found[1] if found else "") * 2 ** (10 * " KMGT".index((found[2] if found else "").upper() or " "))
    except ValueError:
        raise UsageProblem(f"'{shown(text)}' is not a size; write for instance 800M or 4G") from None
    if not MEMORY.low <= size <= MEMORY.high:  # also NaN
        raise UsageProblem(f"'{shown(text)}' is not a size from 64K to 1048576T")
    return int(size)
