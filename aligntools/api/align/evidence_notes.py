"""What is said of other aligners' links: what each file is worth, and whether it helps."""

from collections.abc import Iterator, Sequence

from aligntools.api.align.contrastive import ContrastiveAligner

#: A file that agrees with the base model less than this is probably of other lines ...
DOUBTFUL = 0.25
#: ... or has its sides exchanged, if it then agrees so many times as well.
FAR_MORE = 2.0


def lines(paths: Sequence[str], aligner: ContrastiveAligner) -> Iterator[str]:
    """Yield what is believed of each file, and warnings of those that do not help."""
    for path, found in zip(paths, aligner.evidence, strict=True):
        figures = f"{found.links} links, {_percent(found.agreement)} agreement with the base model"
        figures += f", estimated precision {_percent(found.precision)}, recall {_percent(found.recall)}"
        figures += f", weight {found.weight:.3g}" + ("" if found.aer is None else f", AER % {100 * found.aer:.2f}")
        yield f"evidence {path}: {figures}"
        if found.exchanged > FAR_MORE * found.agreement and found.exchanged > DOUBTFUL:
            yield (
                f"warning: with source and target exchanged {path} would agree with the base model on"
                f" {_percent(found.exchanged)}; is it of the other direction?"
            )
        elif found.agreement < DOUBTFUL:
            yield f"warning: {path} hardly agrees with the base model; is it of these lines, counted from 0?"
    if aligner.report is not None and aligner.evidence:
        yield from _compared(paths, aligner)


def _compared(paths: Sequence[str], aligner: ContrastiveAligner) -> Iterator[str]:
    """Yield a warning where the combined links have more errors on gold links than what they were made of."""
    report = aligner.report
    assert report is not None
    ours, how = report.validated, "cross-validated"
    if ours is None:
        ours, how = report.fitted, "fitted"
    known = [(report.base, "the base model alone")]
    known += [(f.aer, f"{path} alone") for path, f in zip(paths, aligner.evidence, strict=True) if f.aer is not None]
    if report.without is not None:
        yield f"without evidence: cross-validated AER % {100 * report.without:.2f}"
        known.append((report.without, "weights learned without evidence"))
    best, name = min(known)
    if ours >= best:
        yield (
            f"warning: combined links are not better than those of {name}:"
            f" AER % {100 * ours:.2f} {how}, {100 * best:.2f} there"
        )


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"
