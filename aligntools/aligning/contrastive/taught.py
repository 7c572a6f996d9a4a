"""What can be chosen about teaching a start, with its defaults."""

from dataclasses import dataclass
from typing import ClassVar

from aligntools.ground.errors import UsageProblem
from aligntools.ground.ranges import SEED, Range, check, counts

#: Students of one size have about so many pairs together, but there are no more than MOST of them.
TOGETHER, MOST = 2000, 6
#: The largest student's share of its text.
LARGEST = 0.5
#: Large students, and their views: align takes fewer views where there is much text.
LARGE, LARGE_VIEWS = 5000, (5,)
#: Steps of stochastic gradient descent that a network is to learn by, and how many passes there may be for that.
STEPS, FEWEST_PASSES, MOST_PASSES = 2000, 8, 64


@dataclass(frozen=True)
class TeachingSettings:
    """How a start is taught.

    Attributes
    ----------
    students : tuple of int
        Pairs of the students' texts.
    lessons : int
        Pairs of each student's text that it learns on; larger ones learn on as many of other places.
    networks : int
        How many are averaged.
    passes : int or None
        How often each passes over the lessons; None: see `enough`.
    seed : int
    """

    students: tuple[int, ...] = (150, 300, 1000, 5000, 20000)
    lessons: int = 200
    networks: int = 2
    passes: int | None = None
    seed: int = 1

    RANGES: ClassVar[dict[str, Range]] = {
        "lessons": counts(1, 100_000), "networks": counts(1, 100), "passes": counts(1, 1000), "seed": SEED,
    }  # fmt: skip
    SIZE: ClassVar[Range] = counts(10)

    def checked(self) -> "TeachingSettings":
        """Return the same settings.

        Raises
        ------
        UsageProblem
            When one is outside its range.
        """
        check(self)
        if not self.students:
            raise UsageProblem("there are no students; --students 300,1000")
        for size in self.students:
            self.SIZE.check("the size of a student", size)
        return self

    def enough(self, steps: float) -> int:
        """Return the passes over lessons of so many steps: as chosen, else about STEPS of them together."""
        if self.passes is not None:
            return self.passes
        return min(max(round(STEPS / max(steps, 1.0)), FEWEST_PASSES), MOST_PASSES)

    def drawn(self, pairs: int) -> list[tuple[int, int, tuple[int, ...] | None]]:
        """Return the students of a text of so many pairs: (size, number, views)."""
        found: list[tuple[int, int, tuple[int, ...] | None]] = []
        for size in self.students:
            if size <= LARGEST * pairs:
                found += [(size, n, None) for n in range(min(max(TOGETHER // size, 1), MOST))]
                if size >= LARGE:
                    found.append((size, MOST, LARGE_VIEWS))
        return found
