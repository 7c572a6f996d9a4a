"""Training to look at: curves of one run or several, their time and memory by stage."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Any, TypeAlias

from aligntools.viewing.base import View
from aligntools.viewing.page import page
from aligntools.viewing.terminal import text_table

#: What counts the steps of a training, the first that a step has, and what it is called.
_COUNTERS = ("iteration", "step", "pass", "round")
#: Figures with curves, in order, and what their axes are called. Others that steps have follow.
_CURVES = {
    "log_likelihood": ("Log-likelihood", "natural logarithm"),
    "reconstruction": ("Reconstruction", "ln P(x|x)"),
    "objective": ("Objective", "objective"),
    "perplexity": ("Perplexity", "perplexity"),
    "aer": ("AER on the gold links", "%"),
    "tension": ("Tension to the diagonal", "tension"),
}
#: Fields that tell curves apart besides the counter, and fields that are not drawn.
_KEYS = ("view", "member", "split", "restart")
_BOOK = {*_COUNTERS, *_KEYS, "stage", "seconds", "peak_mb", "pairs", "states"}


#: The name of a training, and its steps, as `viewing.annotation` reads them.
LoggedTraining: TypeAlias = tuple[str, list[dict[str, Any]]]
#: A line: what it is called, to which run it belongs, and its points.
Curve: TypeAlias = tuple[str, int, list[tuple[float, float]]]


@dataclass(frozen=True, eq=False, repr=False)
class TrainingView(View):
    """One training, or several compared."""

    runs: Sequence[LoggedTraining]
    title: str = "Training"

    def __repr__(self) -> str:
        return f"<TrainingView of {len(self.runs)} runs>"

    def __len__(self) -> int:
        return len(self.charts)

    @property
    def _names(self) -> list[str]:
        return [name for name, _ in self.runs]

    @cached_property
    def charts(self) -> list[tuple[str, str]]:
        """Each chart's title and the figure that it shows; time and memory come last."""
        names = dict.fromkeys(name for _, steps in self.runs for step in steps for name in step if name not in _BOOK)
        known = [name for name in _CURVES if name in names and self._varies(name)]
        others = [name for name in names if name not in _CURVES and self._varies(name)]
        found = [(_CURVES.get(name, (name.replace("_", " ").capitalize(), ""))[0], name) for name in known + others]
        if any("seconds" in step for _, steps in self.runs for step in steps):
            found.append(("Time by stage", "seconds"))
        if any("peak_mb" in step for _, steps in self.runs for step in steps):
            found.append(("Peak memory", "peak_mb"))
        return found

    def _varies(self, name: str) -> bool:
        lines = [points for *_, points in self.curves(name)]
        return len({y for points in lines for _, y in points}) > 1 and any(len(points) > 1 for points in lines)

    def curves(self, name: str) -> list[Curve]:
        """Return the lines of a figure. Of several runs, those of their first view."""
        found = [self._lines(steps, name) for _, steps in self.runs]
        if len(self.runs) > 1:
            first = [next(iter(lines), (None,))[:-1] for lines in found]
            found = [
                {key: points for key, points in lines.items() if key[:-1] == kept}
                for lines, kept in zip(found, first, strict=True)
            ]
        several = len({key[:-1] for lines in found for key in lines}) > 1
        result = []
        for number, ((run, _), lines) in enumerate(zip(self.runs, found, strict=True)):
            for key, points in lines.items():
                words = [run] if len(self.runs) > 1 else []
                for part in key[:-1] if several else ():
                    kind, value = part if isinstance(part, tuple) else ("", part)
                    if kind == "view" and not isinstance(value, str):
                        value = f"first {value} letters" if value else "whole words"
                    words.append(f"{kind} {value}" if kind not in ("", "view") else str(value))
                words += [("forward", "reverse")[key[-1]] if key[-1] < 2 else str(key[-1])] if key[-1] >= 0 else []
                result.append((", ".join(words) or name, number, points))
        return result

    @staticmethod
    def _lines(steps: Sequence[dict[str, Any]], name: str) -> dict[tuple[Any, ...], list[tuple[float, float]]]:
        """Return the points of a figure by what tells lines apart; last the direction, -1 where there is one line."""
        lines: dict[tuple[Any, ...], list[tuple[float, float]]] = {}
        for n, step in enumerate(steps, 1):
            if name not in step:
                continue
            values = step[name] if isinstance(step[name], list) else [step[name]]
            x = next((step[c] for c in _COUNTERS if c in step), n)
            own = tuple((k, step[k]) for k in _KEYS if k in step)
            # a step goes on where those of the stage before ended, as an iteration does, of whatever model
            goes_on = "iteration" in step or step["stage"] in ("mre", "em", "vb", "train", "learning")
            own = own if goes_on else (step["stage"], *own)
            for d, value in enumerate(values):
                y = 100.0 * value if name == "aer" else float(value)
                lines.setdefault((*own, d if len(values) > 1 else -1), []).append((float(x), y))
        return lines

    def stages(self) -> list[tuple[str, list[float]]]:
        """Return the stages in their order, and for each run the seconds that each took."""
        names = dict.fromkeys(step["stage"] for _, steps in self.runs for step in steps)
        sums = {name: [0.0] * len(self.runs) for name in names}
        for k, (_, steps) in enumerate(self.runs):
            for step in steps:
                sums[step["stage"]][k] += float(step.get("seconds", 0.0))
        return list(sums.items())

    def summary(self) -> tuple[list[str], list[list[str]]]:
        """Return a table: for each run its steps, time, memory, and the last value of each figure."""
        figures = [(title, name) for title, name in self.charts if name not in ("seconds", "peak_mb")]
        head = ["run", "steps", "seconds", "peak MB", *(f"{title}, last" for title, _ in figures)]
        rows = []
        for k, (run, steps) in enumerate(self.runs):
            seconds = sum(float(step.get("seconds", 0)) for step in steps)
            peak = max((step["peak_mb"] for step in steps if "peak_mb" in step), default=None)
            row = [run, str(len(steps)), f"{seconds:.2f}", "" if peak is None else f"{peak:.0f}"]
            for _, name in figures:
                own = [points[-1][1] for _, of, points in self.curves(name) if of == k]
                row.append(", ".join(f"{y:.6g}" for y in own[:2]))
            rows.append(row)
        return head, rows

    def chart(self, number: int, inline: bool = False) -> str:
        """Return a chart as SVG, by its number from 1 on."""
        from aligntools.viewing import plots

        title, name = self.charts[number - 1]
        if name == "seconds":
            return plots.stacked_svg(title, "seconds", self._names, self.stages(), inline)
        if name == "peak_mb":
            series = []
            for k, (run, steps) in enumerate(self.runs):
                seconds = accumulate(float(step.get("seconds", 0.0)) for step in steps)
                both = zip(seconds, steps, strict=True)
                points = [(x, float(step["peak_mb"])) for x, step in both if "peak_mb" in step]
                series.append(plots.Series(run, [x for x, _ in points], [y for _, y in points], k, k))
            return plots.lines_svg(title, "seconds since the start", "MB", series, inline, 0.0)
        curves, seen = self.curves(name), [0] * len(self.runs)
        series = []
        for label, number, points in curves:
            x, y = zip(*points, strict=True)
            k = seen[number]
            seen[number] += 1
            colors = (number, k) if len(self.runs) > 1 else (k // 2, k)
            series.append(plots.Series(label, x, y, *colors))
        counter = next(
            (c for c in _COUNTERS if any(c in s and name in s for _, steps in self.runs for s in steps)), "step"
        )
        return plots.lines_svg(title, counter, _CURVES.get(name, ("", name))[1], series, inline)

    def html(self) -> str:
        """Return the page."""
        charts = [(title, self.chart(k, inline=True)) for k, (title, _) in enumerate(self.charts, 1)]
        head, rows = self.summary()
        stages = [[name, *(f"{x:.2f}" for x in values)] for name, values in self.stages()]
        context: dict[str, Any] = {"charts": charts, "head": head, "rows": rows, "stages": stages}
        return page(self.title, "training", None, **context, names=self._names)

    def svg(self, number: int | None = None, **how: object) -> str:
        """Return one of the charts as SVG, by its number from 1 on; by default the first."""
        return self.chart(self._chart(number, [title for title, _ in self.charts]))

    def text(self, *, width: int = 80, color: bool = False, number: int | None = None) -> str:
        """Return it as text: a table of the runs, the figures of each step, and the time of each stage."""
        if number is None:
            head, rows = self.summary()
            flipped = [[name, *(row[k] for row in rows)] for k, name in enumerate(head)][1:]
            parts = [text_table(["", *self._names], flipped, self.title, color)]
        else:
            parts = []
        shown = self.charts if number is None else self.charts[number - 1 : number]
        for title, name in shown:
            if name == "seconds":
                rows = [[stage, *(f"{x:.2f}" for x in values)] for stage, values in self.stages()]
                parts.append(text_table(["stage", *self._names], rows, title, color))
            elif name != "peak_mb":
                curves = self.curves(name)
                values = [dict(points) for *_, points in curves]
                places = sorted({x for y in values for x in y})
                rows = [[f"{x:g}", *(f"{y[x]:.6g}" if x in y else "" for y in values)] for x in places]
                parts.append(text_table(["", *(label for label, *_ in curves)], rows, title, color))
        return "\n".join(parts)
