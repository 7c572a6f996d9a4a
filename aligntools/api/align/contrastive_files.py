"""A text in files aligned with features of whole alignments: base model, weights and links, read or learned."""

import contextlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aligntools.aligning.contrastive.settings import MOST_FILES, ContrastiveSettings
from aligntools.aligning.evidence import Asked, Known
from aligntools.aligning.settings import AlignerSettings
from aligntools.api.align.aligner import Aligner
from aligntools.api.align.alignment import known_text, read_bitext
from aligntools.api.align.alignments import AlignmentTally
from aligntools.api.align.contrastive import ContrastiveAligner, load_contrastive_weights, train_contrastive_aligner
from aligntools.api.align.contrastive_base import (
    aligner_from_tables,
    check_of_places,
    network_for,
    network_of,
    train_base,
)
from aligntools.api.align.evidence import Evidence, check_count, read_evidence
from aligntools.api.align.evidence_texts import check_applied
from aligntools.api.align.files import asking
from aligntools.api.align.outputs import MANY_LINKS
from aligntools.api.align.text_files import TextFiles
from aligntools.formats.opening.files import writing
from aligntools.formats.text.reading import Reading
from aligntools.ground.errors import UsageProblem
from aligntools.ground.parallel import pool_of
from aligntools.ground.progress import Watch
from aligntools.ground.running import Run

if TYPE_CHECKING:
    from aligntools.aligning.contrastive.linknetwork import LinkNetwork
    from aligntools.formats.text.corpus import Bitext

# What is said of other aligners' links: what each file is worth, and whether it helps


#: A file that agrees with the base model less than this is probably of other lines ...
DOUBTFUL = 0.25
#: ... or has its sides exchanged, if it then agrees so many times as well.
FAR_MORE = 2.0


def evidence_lines(paths: Sequence[str], aligner: ContrastiveAligner) -> Iterator[str]:
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


@dataclass(frozen=True)
class ContrastiveFiles:
    """Files that are read and written besides the text; None for what is not.

    output: Links; ``-`` is standard output.
    model: A base model.
    forward_table, reverse_table, source_vcb, target_vcb: Tables that another aligner wrote, in the place of one.
    weights: Weights of the features: nothing is learned then.
    start: What judges links and start weights: a name, or a file.
    gold: Gold links.
    evidence: Other aligners' links.
    save_model, save_weights: Where the base model and the weights are saved.
    """

    output: str = "-"
    model: str | None = None
    forward_table: str | None = None
    reverse_table: str | None = None
    source_vcb: str | None = None
    target_vcb: str | None = None
    weights: str | None = None
    start: str | None = None
    gold: str | None = None
    evidence: Sequence[str] = ()
    save_model: str | None = None
    save_weights: str | None = None


@dataclass
class ContrastiveText:
    """A text in files, and what is to be done with it.

    settings: How weights are learned.
    search: How alignments are searched, as far as that was said; the rest is as weights files say.
    asked: Which evidence takes part, besides files of links.
    fast: Train the quickest base model.
    verify: Check checksums.
    unbuffered: Write each line as soon as its pair is read.
    ending: Returns a context in which lines are answered, and that may end the reading.
    verbose: Say which weights were learned.
    """

    text: TextFiles
    files: ContrastiveFiles
    settings: ContrastiveSettings
    search: dict[str, Any]
    reading: Reading
    run: Run
    asked: Asked
    watch: Watch
    fast: bool = False
    verify: bool = True
    unbuffered: bool = False
    ending: Callable[[], AbstractContextManager[None]] = contextlib.nullcontext
    verbose: bool = False
    _evidence: Sequence[Evidence] = field(default=(), init=False)

    @property
    def _given(self) -> bool:
        """Whether there is a base model already."""
        return self.files.model is not None or self.files.forward_table is not None

    def check(self) -> None:
        """Refuse what does not go together, before anything is read."""
        files, settings = self.files, self.settings
        self.text.check_text()
        if "-" in files.evidence and [*self.text.text, *files.evidence].count("-") > 1:
            raise UsageProblem("only one file can be standard input")
        check_count(files.evidence, len(files.evidence), MOST_FILES)
        self._check_base()
        if (settings.rounds or 1) > 1 and self._given:
            raise UsageProblem(
                "`rounds` is for a base model that is trained here; leave out `model` and tables, or ask for one"
            )
        if files.weights and (files.gold or files.save_weights):
            raise UsageProblem("`weights` are taken as they are; `gold` and `save_weights` are for learning them")
        changed = {f.name for f in fields(settings) if getattr(settings, f.name) != f.default}
        learned = sorted(changed - {"start", "seed", "evidence_share"})
        if files.model:
            learned += sorted(changed & {"seed"})
        else:  # a base model is trained for them
            learned = [name for name in learned if name != "rounds"]
        if files.weights and learned:
            raise UsageProblem(f"`weights` are taken as they are; `{learned[0]}` is for learning them")
        of_gold = sorted(changed & {"method", "folds"})
        if of_gold and not files.gold:
            raise UsageProblem(f"`{of_gold[0]}` is about `gold`")
        if settings.evidence_share is not None and (not files.evidence or files.weights):
            raise UsageProblem("`evidence_share` is about `evidence`, and for learning; leave out `weights`")
        if self.unbuffered and self.run.asked:
            raise UsageProblem("`unbuffered` answers each line in this process; leave out `workers` and `cluster`")
        if self.unbuffered and not (self._given and files.weights):
            raise UsageProblem("`unbuffered` goes with `model` and `weights`: learning needs the text first")

    def _check_base(self) -> None:
        """Refuse a base model that is not given in one way."""
        files = self.files
        tables = [files.forward_table is not None, files.reverse_table is not None]
        if any(tables) and (not all(tables) or files.model or self.fast):
            raise UsageProblem(
                "a base model of tables takes `forward_table` and `reverse_table`, and no `model` or `fast`"
            )
        names = [files.source_vcb is not None, files.target_vcb is not None]
        if any(names) and not (all(names) and all(tables)):
            raise UsageProblem("`source_vcb` and `target_vcb` go together, with `forward_table` and `reverse_table`")
        if files.model and (files.save_model or self.fast or self.reading.case_sensitive):
            raise UsageProblem("`model` is taken as it is; `save_model`, `fast` and `case_sensitive` are for a new one")
        if self._given and not files.weights and self.asked:
            check_of_places(self.asked, network_for(self.settings.features, files.start))

    def align(self) -> None:
        """Align the text.

        Raises UsageProblem when files and options do not go together. Raises DataError when a file cannot be read or
        written.
        """
        self.check()
        with writing(self.files.output) as out, pool_of(self.run.threads) as pool:
            run = replace(self.run, threads=pool)
            text, aligner = self._aligner(run)
            tally = AlignmentTally()
            self.watch.begin("aligning", None if text is None else len(text), "pair")
            source = (text,) if text is not None else self.text.paths(self.reading.split)
            how: dict[str, Any] = {"evidence": self._evidence, "reading": self.reading, "run": run}
            with self.ending():
                for block in aligner.align_blocks(*source, unbuffered=self.unbuffered, **how):
                    out.write(block.format(compiled=True if tally.links >= MANY_LINKS else None))
                    if self.unbuffered:
                        out.flush()
                    tally.add(block)
                    self.watch.advance("aligning", len(block))
                self.watch.summary(tally.pairs, tally.links, tally.skipped.summary())

    def _aligner(self, run: Run) -> "tuple[Bitext | None, ContrastiveAligner]":
        """Return the aligner, and the text where it was read for it."""
        files = self.files
        weights = None
        if files.weights:
            weights = load_contrastive_weights(files.weights, start=files.start, **self.search)
        network = network_of(weights) if weights is not None else network_for(self.settings.features, files.start)
        if weights is None or not self._given:
            self.asked = self.asked.chosen(network is not None and not self.fast)
        base, text = self._base(network, run)
        if files.save_model:
            base.save(files.save_model)
        if weights is not None:
            if self._given:
                check_applied(self.asked, weights, str(files.weights))
            return text, ContrastiveAligner(base, weights, asked=self.asked)
        if text is None:  # read once: learning and aligning both need it
            reading = replace(self.reading, case_sensitive=not base.model.lowercase)
            text, known = self._read(reading, run, places=True)
            base = base.knowing(known)
        aligner = self._learned(base, text, run)
        self._tell(aligner)
        if files.save_weights:
            aligner.save_weights(files.save_weights)
        return text, aligner

    def _base(self, network: "LinkNetwork | None", run: Run) -> "tuple[Aligner, Bitext | None]":
        """Return the base model, and the text where it was read to train it."""
        files, watch = self.files, self.watch
        self._evidence = files.evidence
        if files.model:
            return Aligner.load(files.model, threads=run.threads, verify=self.verify), None
        if files.forward_table and files.reverse_table:
            watch.begin("reading tables")
            names: dict[str, Any] = {"source_vcb": files.source_vcb, "target_vcb": files.target_vcb}
            tables = files.forward_table, files.reverse_table
            return aligner_from_tables(*tables, **names, case_sensitive=self.reading.case_sensitive), None
        bitext, known = self._read(self.reading, run)
        watch.close()
        if not len(bitext.source.tokens):
            watch.say("warning: every line has a blank side; nothing to learn from")
        settings = AlignerSettings(fast=self.fast, seed=self.settings.seed)
        how: dict[str, Any] = {"reading": self.reading, "run": run, "progress": watch, "known": known}
        return train_base(bitext, network, settings, self.settings.rounds, **how), bitext

    def _read(self, reading: Reading, run: Run, places: bool = False) -> "tuple[Bitext, Known | None]":
        """Read the text and other aligners' links of it; return what is known of its words, too, or of their places."""
        watch, paths, known = self.watch, self.text.paths(reading.split), None
        watch.begin("reading")
        if self.asked:
            bitext, known = known_text(*paths, self.asked, reading, run, asking(watch), places)
            watch.close()
            for line in known.summary if known is not None else ():
                watch.say(line)
        else:
            bitext = read_bitext(*paths, reading=reading)
        self._evidence = read_evidence(bitext, self.files.evidence)
        return bitext, known

    def _learned(self, base: Aligner, text: "Bitext", run: Run) -> ContrastiveAligner:
        """Learn weights."""
        files, watch = self.files, self.watch
        settings = replace(self.settings, **self.search, rounds=None)
        if files.forward_table and not settings.density:
            settings = replace(settings, density="expected")
        if files.start is None and settings.features.strip() != "all":
            watch.say("note: not all features are used, so learning starts from the paper's weights; see `start`")
        gold = Path(files.gold) if files.gold else None
        watch.begin("learning", None if gold else settings.passes or None, "pass")
        return train_contrastive_aligner(
            text,
            None,
            settings,
            start=files.start,
            aligner=base,
            gold=gold,
            evidence=self._evidence,
            reading=self.reading,
            run=run,
            progress=watch,
            **self.asked.keywords(),
        )

    def _tell(self, aligner: ContrastiveAligner) -> None:
        """Say what was learned."""
        found, weights = aligner.report, aligner.weights
        if found is not None:
            figures = f"base model {100 * found.base:.2f}, fitted {100 * found.fitted:.2f}"
            if found.validated is not None:
                figures += f", cross-validated {100 * found.validated:.2f} ({self.settings.folds} folds)"
            self.watch.say(f"AER % on {weights.about['pairs']} gold pairs: {figures}")
        elif not weights.about["pairs"]:
            self.watch.say("warning: no pair to learn weights from; the start weights are used")
        for line in evidence_lines(self.files.evidence, aligner):
            self.watch.say(line)
        if self.verbose:
            shown = ", ".join(f"{name} {value:.3g}" for name, value in weights.by_name.items())
            self.watch.say(f"weights from {weights.about['pairs']} pairs: {shown}")
