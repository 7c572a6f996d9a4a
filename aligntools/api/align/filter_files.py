"""Parallel text in files filtered: every pair judged by its alignment, and written to where it belongs."""

from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING

from aligntools.aligning.settings import FilterSettings
from aligntools.api.align.alignments import AlignmentTally
from aligntools.api.align.filtering import Filter, PairQuality
from aligntools.api.align.text_work import TextWork
from aligntools.formats.opening.files import Output, writing
from aligntools.ground.errors import UsageProblem

if TYPE_CHECKING:
    from aligntools.formats.text.raw_pairs import RawPairs
    from aligntools.formats.text.unit_copies import UnitCopy

#: Tabs and carriage returns, which cannot stand within a field, as spaces.
_PLAIN = bytes.maketrans(b"\t\r", b"  ")
#: Files of `formats.text.exchange` whose units are written as they stand. A unit of XLIFF may not be without segments.
_WRITTEN_BACK = ("TMX", "table")


@dataclass(frozen=True)
class FilterFiles:
    """Files that are read and written besides the text; None for what is not.

    Attributes
    ----------
    output : str
        The pairs that pass, both sides on a line. None: standard output (``-``), unless their sides are written.
    everything : bool
        ``output`` has all pairs, as rows: line, reason, score, source and target with tabs between.
    rejected : str
        The other pairs, as such rows.
    source_output, target_output : str
        The sides of the pairs that pass.
    scores : str
        A line for every line of the text: score, coverage of source and target, ln p per word, copied part, reason.
    """

    output: str | None = None
    everything: bool = False
    rejected: str | None = None
    source_output: str | None = None
    target_output: str | None = None
    scores: str | None = None

    def check(self) -> None:
        """Refuse what does not go together."""
        sides = [self.source_output is not None, self.target_output is not None]
        if any(sides) and not all(sides):
            raise UsageProblem("give both `source_output` and `target_output`")
        if all(sides) and (self.everything or self.output is not None):
            raise UsageProblem(
                "pairs that pass are written to `output` or to `source_output` and `target_output`, not to both"
            )


class _Outputs:
    """The files, opened whole-or-nothing, and how many pairs went where."""

    def __init__(self, stack: ExitStack, files: FilterFiles) -> None:
        self.reasons: Counter[str] = Counter()
        self.count = 0
        self._everything = files.everything
        output = files.output or (None if files.source_output else "-")
        names = {"output": output, "rejected": files.rejected, "scores": files.scores}
        names |= {"source": files.source_output, "target": files.target_output}
        self._files: dict[str, Output] = {
            name: stack.enter_context(writing(path, exact=name in ("output", "rejected")))  # which may be copies
            for name, path in names.items()
            if path
        }

    def add(self, found: Sequence[PairQuality], sides: Sequence[Sequence[bytes]], raw: "RawPairs") -> None:
        """Write the next pairs, each by what was found; those that pass with a tab or bars between their sides.

        Those of TMX, or of a table whose first line names languages, are written as they stand.
        """
        tabbed, copy = raw.format in (None, "tsv"), self._copy(raw)
        rows: dict[str, list[bytes]] = {name: [] for name in self._files}

        def put(name: str, line: bytes) -> None:
            if name in rows:
                rows[name].append(line)

        for number, (quality, source, target) in enumerate(zip(found, *sides, strict=True), self.count + 1):
            self.reasons[quality.reason] += 1
            reason = quality.reason.encode()
            figures = "\t".join(f"{x:.6g}" for x in quality[:-1]).encode()
            put("scores", figures + b"\t" + reason)
            plain = source.translate(_PLAIN), target.translate(_PLAIN)
            row = b"\t".join([b"%d" % number, reason or b"kept", b"%.4f" % quality.score, *plain])
            if self._everything:
                put("output", row)
            if quality.kept:
                if not self._everything and copy is None:
                    put("output", b"\t".join(plain) if tabbed else source + b" ||| " + target)
                put("source", source)
                put("target", target)
            else:
                put("rejected", row)
        self.count += len(found)
        for name, lines in rows.items():
            self._files[name].write(b"".join(line + b"\n" for line in lines))
        if copy is not None:
            self._files["output"].write(copy.take([quality.kept for quality in found]))
        elif raw.copy is not None and raw.kind:
            raw.copy.skip(len(found))

    def end(self, raw: "RawPairs") -> None:
        """Write what stands behind the last unit of TMX."""
        if (copy := self._copy(raw)) is not None:
            self._files["output"].write(copy.rest())

    def _copy(self, raw: "RawPairs") -> "UnitCopy | None":
        """Return what has the units as they stand, where they are written so."""
        return raw.copy if raw.kind in _WRITTEN_BACK and "output" in self._files and not self._everything else None

    def summary(self) -> str:
        """Return how many pairs passed, and why others did not."""
        reasons = ", ".join(f"{self.reasons[r]} {r}" for r in sorted(self.reasons) if r)
        rejected = self.count - self.reasons[""]
        return f"{self.reasons['']} of {self.count} pairs kept, {rejected} rejected" + (
            f" ({reasons})" if reasons else ""
        )


@dataclass
class FilteredText:
    """A text in files whose pairs are judged, in order, by a saved model or by one that is trained on it.

    Attributes
    ----------
    work : TextWork
    files : FilterFiles
    limits : FilterSettings
    """

    work: TextWork
    files: FilterFiles
    limits: FilterSettings

    def filter(self) -> None:
        """Judge all pairs and write them.

        Raises
        ------
        UsageProblem
            When files and options do not go together.
        DataError
            When a file cannot be read or written.
        """
        self.work.check()
        self.files.check()
        judge, tally, watch = Filter(self.limits), AlignmentTally(), self.work.watch
        with self.work.opened(copies=True) as text, ExitStack() as stack:
            out = _Outputs(stack, self.files)
            with watch.stage("filtering"):
                for block in text.aligned()[1]:
                    sides = text.raw.read(len(block))
                    source, target = ([line.decode("utf-8", "replace") for line in side] for side in sides)
                    out.add(judge.judged(block, source, target), sides, text.raw)
                    tally.add(block)
                    watch.tell(f"filtering: {tally.pairs} pairs")
                out.end(text.raw)
        watch.close()
        if unread := tally.skipped.summary():
            watch.say(f"rejected unaligned: {unread}")
        watch.say(out.summary())
