"""What ``contrastive-align`` says of other aligners' links: what each file is worth, and whether it helps."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from aligntools.api.align.contrastive import ContrastiveAligner
    from aligntools.cli.reporting import Reporter

#: A file that agrees with the base model less than this is probably of other lines ...
DOUBTFUL = 0.25
#: ... or has its sides exchanged, if it then agrees so many times as well.
FAR_MORE = 2.0


def tell(paths: Sequence[str], aligner: "ContrastiveAligner", reporter: "Reporter") -> None:
    """Say what is believed of each file, and warn of those that do not help."""
    for path, found in zip(paths, aligner.evidence, strict=True):
        figures = f"{found.links} links, {_percent(found.agreement)} agreement with the base model"
        figures += f", estimated precision {_percent(found.precision)}, recall {_percent(found.recall)}"
        figures += f", weight {found.weight:.3g}" + ("" if found.aer is None else f", AER % {100 * found.aer:.2f}")
        reporter.say(f"evidence {path}: {figures}")
        if found.exchanged > FAR_MORE * found.agreement and found.exchanged > DOUBTFUL:
            reporter.say(
                f"warning: with source and target exchanged {path} would agree with the base model on"
                f" {_percent(found.exchanged)}; is it of the other direction?"
            )
        elif found.agreement < DOUBTFUL:
            reporter.say(f"warning: {path} hardly agrees with the base model; is it of these lines, counted from 0?")
    if aligner.evidence:
        _compare(paths, aligner, reporter)


def _compare(paths: Sequence[str], aligner: "ContrastiveAligner", reporter: "Reporter") -> None:
    """Warn where the combined links have more errors on gold links than what they were made of."""
    report = aligner.report
    if report is None:  # no gold links
        return
    ours, how = report.validated, "cross-validated"
    if ours is None:
        ours, how = report.fitted, "fitted"
    known = [(report.base, "the base model alone")]
    for path, found in zip(paths, aligner.evidence, strict=True):
        if found.aer is not None:  # it is known where there are gold links
            known.append((found.aer, f"{path} alone"))
    if report.without is not None:
        reporter.say(f"without evidence: cross-validated AER % {100 * report.without:.2f}")
        known.append((report.without, "weights learned without evidence"))
    best, name = min(known)
    if ours >= best:
        reporter.say(
            f"warning: combined links are not better than those of {name}:"
            f" AER % {100 * ours:.2f} {how}, {100 * best:.2f} there"
        )


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"
