"""Scores of one or several systems side by side: the table, the JSON, intervals and paired tests of all metrics."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from aligntools.ground.errors import UsageProblem
from aligntools.ground.ranges import BOOTSTRAP, SEED
from aligntools.ground.resampling import Difference
from aligntools.metrics.base import Score, Signature, aligned, percent

_EXCHANGES = 1000  # made in the paired test where no samples are asked for


@dataclass(frozen=True, eq=False)
class ScoreReport:
    """Scores by one metric on the same sentences. ``str()`` gives the table.

    intervals: 95 % intervals of the headline figure; an item is None where the figure does not apply. Empty unless
        asked for.
    differences: Each score minus the first, which itself has None. Empty unless asked for.
    """

    names: tuple[str, ...]
    scores: tuple[Score, ...]
    intervals: tuple[tuple[float, float] | None, ...]
    differences: tuple[Difference | None, ...]
    signature: Signature  # One for all: where they differ, every value

    def text(self, *, verbose: bool = False, by: Sequence[str] = ()) -> str:
        """Return the table, the differences, and the signature."""
        first, parts = self.scores[0], tuple(by)
        rows = []
        for k, (name, score) in enumerate(zip(self.names, self.scores, strict=True)):
            cells = list(score.cells(verbose).items())
            if self.intervals:
                bounds = self.intervals[k]
                cells.insert(1, ("95% interval", "-" if bounds is None else "-".join(map(percent, bounds))))
            rows.append({first.SYSTEM: name, **dict(cells)})
        lines = aligned([list(rows[0]), *(list(row.values()) for row in rows)])
        for name, difference in zip(self.names[1:], self.differences[1:], strict=False):
            if difference is not None:
                low, high = (f"{100 * x:+.2f}" for x in difference.interval)
                lines.append(
                    f"{name} minus {self.names[0]}: {first.TITLE} {100 * difference.value:+.2f}"
                    f" (95% {low} to {high}), p = {difference.p_value:.4f}"
                )
        for name, score in zip(self.names, self.scores, strict=True):
            lines += score.breakdown_lines(name, parts)
        gold = first.gold_line(parts)
        lines += [gold] if gold else []
        if verbose and first.LEGEND:
            lines.append(first.LEGEND)
        lines.append(f"signature: {self.signature}")
        return "\n".join(lines) + "\n"

    def json(self, *, by: Sequence[str] = ()) -> str:
        """Return everything as JSON, figures as fractions; parameters are those of `text`."""
        results = []
        headline = self.scores[0].HEADLINE
        for k, (name, score) in enumerate(zip(self.names, self.scores, strict=True)):
            result = {score.SYSTEM: name, **score.as_dict()}
            if self.intervals:
                result[f"{headline}_interval"] = self.intervals[k]
            if k and self.differences and (d := self.differences[k]) is not None:
                result["difference"] = {headline: d.value, "interval": d.interval, "p_value": d.p_value}
            results.append(result | score.breakdown(tuple(by)))
        shown = {
            "signature": str(self.signature),
            "settings": dict(self.signature.settings),
            **self.scores[0].gold_as_dict(),
            "results": results,
        }
        return json.dumps(shown, indent=2, ensure_ascii=False) + "\n"

    def details(self) -> str:
        """Return a line for each system with the counts behind its figures."""
        return "".join(f"{name}: {s.details()}\n" for name, s in zip(self.names, self.scores, strict=True))

    def __str__(self) -> str:
        return self.text().removesuffix("\n")


def compare_scores(
    scores: Sequence[Score],
    names: Sequence[str] | None = None,
    *,
    paired: bool = True,
    bootstrap: int = 1000,
    seed: int = 1,
) -> ScoreReport:
    """Put scores of several systems side by side, with intervals and tests against the first.

    Intervals come from drawing sentences with replacement; a difference is tested by how often exchanging the two
    systems' outputs at random, sentence by sentence, gives as large a one.

    Parameters
    ----------
    scores : sequence of Score
        By one metric, of the same sentences; the first is what the others are compared with.
    names : sequence of str, optional
        What the systems are called; numbers by default.
    paired : bool
        Test the differences.
    bootstrap : int
        Samples for the intervals; 0 for none.
    seed : int
        Seed of everything random.

    Returns
    -------
    Report
        ``intervals``, ``differences`` (``value``, ``interval``, ``p_value``) and ``signature``; ``str()`` is a table,
        ``json()`` all of it.

    Raises
    ------
    UsageProblem
        When scores cannot be compared.

    Notes
    -----
    Efron & Tibshirani (1993), "An introduction to the bootstrap"; Riezler & Maxwell (2005), "On some pitfalls in
    automatic evaluation and significance testing for MT".

    Examples
    --------
    >>> import aligntools as at
    >>> gold = ["0-0 1-1", "0-0", "0-1 1-0"]
    >>> scores = [at.aer(gold, links) for links in (["0-0", "0-0", "0-0"], gold)]
    >>> report = at.compare_scores(scores, ["one", "other"], bootstrap=100)
    >>> round(report.differences[1].value, 2)
    -0.5
    >>> print(str(report).splitlines()[2])
    other       0.00     0.00-0.00     100.00  100.00  100.00      5    5    5
    """
    BOOTSTRAP.check("bootstrap", bootstrap)
    SEED.check("seed", seed)
    if not scores:
        raise UsageProblem("there is no score to show")
    names = tuple(str(k) for k in range(1, len(scores) + 1)) if names is None else tuple(names)
    if len(names) != len(scores):
        raise UsageProblem(f"{len(names)} names for {len(scores)} scores")
    first = scores[0]
    if any(type(s) is not type(first) or s.counts.shape != first.counts.shape for s in scores):
        raise UsageProblem("only scores by one metric of the same sentences can be compared")
    intervals = tuple(score.interval(bootstrap, seed) for score in scores) if bootstrap else ()
    differences: tuple[Difference | None, ...] = ()
    if paired:
        tests = (score.minus(first, bootstrap or _EXCHANGES, seed) for score in scores[1:])
        differences = (None, *tests)
    how = {"bootstrap": bootstrap, "seed": seed} if bootstrap or paired else {}
    signature = _common([score.signature for score in scores]).extended(**how)
    return ScoreReport(names, tuple(scores), intervals, differences, signature)


def _common(signatures: list[Signature]) -> Signature:
    """Return one signature for several; a setting in which they differ has every value."""
    merged = {}
    for name in dict.fromkeys(name for signature in signatures for name in signature.settings):
        values = list(dict.fromkeys(s.settings[name] for s in signatures if name in s.settings))
        merged[name] = values[0] if len(values) == 1 else ",".join(map(str, values))
    return Signature(merged)
