"""What can be chosen about teaching a start, with its defaults."""

from dataclasses import dataclass

from aligntools.ground.declarations import Settings, documented, option
from aligntools.ground.errors import UsageProblem
from aligntools.ground.ranges import SEED, counts

_TEACHING = "Teaching"

#: Students of one size have about so many pairs together, but there are at most MOST of them.
TOGETHER, MOST = 2000, 6
#: The largest student's share of its text.
LARGEST = 0.5
#: Size of large students, and their views: `align` uses fewer views for much text.
LARGE, LARGE_VIEWS = 5000, (5,)
#: Steps of stochastic gradient descent for a network, and limits of the passes that give them.
STEPS, FEWEST_PASSES, MOST_PASSES = 2000, 8, 64


@documented
@dataclass(frozen=True)
class TeachingSettings(Settings):
    """How a start is taught."""

    students: tuple[int, ...] = option(
        (150, 300, 1000, 5000, 20000),
        "Sizes of the students' texts, in pairs. Small sizes are drawn several times; sizes over half of a text"
        " are left out.",
        allowed=counts(10),
        group=_TEACHING,
    )
    lessons: int = option(
        200,
        "Pairs of each student's text that the network learns from; for large students as many pairs from"
        " elsewhere in the text, too.",
        allowed=counts(1, 100_000),
        group=_TEACHING,
    )
    networks: int = option(2, "Networks that are averaged.", allowed=counts(1, 100), group=_TEACHING)
    passes: int | None = option(
        None,
        "How often each network passes over the lessons.",
        allowed=counts(1, 1000),
        group=_TEACHING,
        otherwise="8 to 64, the more the fewer lessons there are",
    )
    seed: int = option(
        1, "Seed of everything random; the same seed gives the same bytes.", allowed=SEED, group="Text and resources"
    )

    def rules(self) -> None:
        """Refuse to teach without students."""
        if not self.students:
            raise UsageProblem("there are no students; give their sizes, for instance `students=300,1000`")

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
