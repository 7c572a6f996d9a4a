"""Parallel text in files filtered: every pair judged by its alignment, and written to where it belongs."""

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from aligntools.aligning.settings import AlignerSettings, FilterSettings
from aligntools.api.align.aligner import Aligner
from aligntools.api.align.alignment import read_bitext, train_aligner
from aligntools.api.align.alignments import Alignments, Tally
from aligntools.api.align.files import loaded
from aligntools.api.align.filtering import Filter, PairQuality, qualities
from aligntools.api.align.text_files import TextFiles, raw_text
from aligntools.api.running.threads import pool_of
from aligntools.api.running.watching import Watch
from aligntools.formats.opening.files import Output, writing
from aligntools.formats.text.reading import Reading
from aligntools.ground.errors import UsageProblem
from aligntools.ground.running import Run

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
    model : str
        A saved model that judges.
    save_model : str
        Where the model is saved that is trained in the place of one.
    """

    output: str | None = None
    everything: bool = False
    rejected: str | None = None
    source_output: str | None = None
    target_output: str | None = None
    scores: str | None = None
    model: str | None = None
    save_model: str | None = None

    def check(self, training: AlignerSettings, reading: Reading) -> None:
        """Refuse what does not go together."""
        of_training = {
            "case_sensitive": reading.case_sensitive,
            "fast": training.fast,
            "save_model": self.save_model is not None,
            "seed": training.seed != AlignerSettings.seed,
        }
        if self.model and any(of_training.values()):
            name = next(name for name, given in of_training.items() if given)
            raise UsageProblem(f"`{name}` is for a new model; `model` applies a saved one")
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
            name: stack.enter_context(writing(path)) for name, path in names.items() if path
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
    text : TextFiles
    files : FilterFiles
    limits : FilterSettings
    training : AlignerSettings
    reading : Reading
    run : Run
    watch : Watch
    verify : bool
        Check a saved model's checksum.
    """

    text: TextFiles
    files: FilterFiles
    limits: FilterSettings
    training: AlignerSettings
    reading: Reading
    run: Run
    watch: Watch
    verify: bool = True

    def filter(self) -> None:
        """Judge all pairs and write them.

        Raises
        ------
        UsageProblem
            When files and options do not go together.
        DataError
            When a file cannot be read or written.
        """
        self.text.check()
        self.files.check(self.training, self.reading)
        judge, tally = Filter(self.limits), Tally()
        with pool_of(self.run.threads) as pool, ExitStack() as stack:
            model, reading = None, self.reading
            if self.files.model is not None:
                model, reading = loaded(self.files.model, pool, self.watch, self.verify, reading)
            raw, tokens = raw_text(self.text, reading, applied=model is not None, copies=True)
            out = _Outputs(stack, self.files)
            with closing(raw), closing(tokens or raw), self.watch.stage("filtering"):
                inputs = (tokens or raw).inputs
                for block in self._blocks(model, inputs, reading, replace(self.run, threads=pool)):
                    sides = raw.read(len(block))
                    source, target = ([line.decode("utf-8", "replace") for line in side] for side in sides)
                    out.add(judge.judged(block, source, target), sides, raw)
                    tally.add(block)
                    self.watch.tell(f"filtering: {tally.pairs} pairs")
                out.end(raw)
        self.watch.close()
        if unread := tally.skipped.summary():
            self.watch.say(f"rejected unaligned: {unread}")
        self.watch.say(out.summary())

    def _blocks(self, model: Aligner | None, inputs: Sequence[Any], reading: Reading, run: Run) -> Iterator[Alignments]:
        """Yield the text aligned, by a model that is trained on it where there is none."""
        if model is not None:
            return qualities(model, *inputs, reading=reading, run=run)
        with self.watch.stage("reading"):
            bitext = read_bitext(*inputs, reading=reading)
        how: Any = {"reading": reading, "run": run, "keep_text": False, "progress": self.watch}
        aligner = train_aligner(bitext, None, self.training, **how)
        if self.files.save_model:
            with self.watch.stage("saving"):
                aligner.save(self.files.save_model)
        return qualities(aligner, bitext, run=run)
