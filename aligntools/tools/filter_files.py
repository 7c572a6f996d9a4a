"""Parallel text in files filtered: every pair judged by its alignment, and written to where it belongs."""

from collections import Counter
from collections.abc import Sequence

from aligntools.aligning.alignments import AlignmentTally
from aligntools.aligning.settings import FilterSettings
from aligntools.formats.text.exchange import UnitCopy
from aligntools.formats.text.raw_pairs import RawPairs
from aligntools.ground.errors import UsageProblem
from aligntools.pipeline import Sinks
from aligntools.tools.filters import PairQuality, judged
from aligntools.tools.text_work import TextWork

#: Tabs and carriage returns, which cannot stand within a field, as spaces.
_PLAIN = bytes.maketrans(b"\t\r", b"  ")
#: Files of `formats.text.exchange` whose units are written as they stand. A unit of XLIFF may not be without segments.
_WRITTEN_BACK = ("TMX", "table")


def filter_files(
    work: TextWork,
    limits: FilterSettings,
    output: str | None = None,
    *,
    everything: bool = False,
    rejected: str | None = None,
    source_output: str | None = None,
    target_output: str | None = None,
    scores: str | None = None,
) -> None:
    """Judge all pairs of a text, in order, by a saved model or by one that is trained on it, and write them.

    output: The pairs that pass, both sides on a line, or ``everything`` as rows, as ``rejected`` has the others. None:
        standard output, unless their sides are written.
    """
    work.check()
    sides = [source_output is not None, target_output is not None]
    if any(sides) and not all(sides):
        raise UsageProblem("give both `source_output` and `target_output`")
    if all(sides) and (everything or output is not None):
        raise UsageProblem(
            "pairs that pass are written to `output` or to `source_output` and `target_output`, not to both"
        )
    output = output or (None if source_output else "-")
    names = {"output": output, "rejected": rejected, "scores": scores, "source": source_output, "target": target_output}
    sinks = Sinks(exact=("output", "rejected"), **names)  # which may be copies

    def copied(raw: RawPairs) -> UnitCopy | None:
        """Return what has the units as they stand, where they are written so."""
        return raw.copy if raw.kind in _WRITTEN_BACK and output and not everything else None

    limits, tally, watch, reasons = limits.checked(), AlignmentTally(), work.watch, Counter[str]()
    with work.opened(copies=True) as text, sinks, watch.stage("filtering"):
        for block in text.aligned()[1]:
            lines = text.raw.read(len(block))
            source, target = ([line.decode("utf-8", "replace") for line in side] for side in lines)
            found = judged(limits, block, source, target)
            rows = _rows(found, lines, tally.pairs, everything, text.raw.format in (None, "tsv"))
            if (copy := copied(text.raw)) is not None:
                rows["output"] = copy.take([quality.kept for quality in found])
            elif text.raw.copy is not None and text.raw.kind:
                text.raw.copy.skip(len(found))
            sinks.write(rows, flush=False)
            reasons.update(quality.reason for quality in found)
            tally.add(block)
            watch.tell(f"filtering: {tally.pairs} pairs")
        if (copy := copied(text.raw)) is not None:
            sinks.write({"output": copy.rest()})  # what stands behind the last unit
    watch.close()
    if unread := tally.skipped.summary():
        watch.say(f"rejected unaligned: {unread}")
    why = ", ".join(f"{reasons[r]} {r}" for r in sorted(reasons) if r)
    rejected_pairs = reasons.total() - reasons[""]
    told = f"{reasons['']} of {reasons.total()} pairs kept, {rejected_pairs} rejected"
    watch.say(told + (f" ({why})" if why else ""))


def _rows(
    found: Sequence[PairQuality], sides: Sequence[Sequence[bytes]], before: int, everything: bool, tabbed: bool
) -> dict[str, bytes]:
    """Return the lines of pairs, after those ``before``, for each output; with a tab or bars between their sides."""
    rows: dict[str, list[bytes]] = {name: [] for name in ("output", "rejected", "scores", "source", "target")}
    for number, (quality, source, target) in enumerate(zip(found, *sides, strict=True), before + 1):
        reason = quality.reason.encode()
        figures = "\t".join(f"{x:.6g}" for x in quality[:-1]).encode()
        rows["scores"].append(figures + b"\t" + reason)
        plain = source.translate(_PLAIN), target.translate(_PLAIN)
        row = b"\t".join([b"%d" % number, reason or b"kept", b"%.4f" % quality.score, *plain])
        if everything:
            rows["output"].append(row)
        elif quality.kept:
            rows["output"].append(b"\t".join(plain) if tabbed else source + b" ||| " + target)
        if quality.kept:
            rows["source"].append(source)
            rows["target"].append(target)
        else:
            rows["rejected"].append(row)
    return {name: b"".join(line + b"\n" for line in lines) for name, lines in rows.items()}
