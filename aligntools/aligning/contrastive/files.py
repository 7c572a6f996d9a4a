"""A text in files aligned with features of whole alignments: base model, weights and links, read or learned."""

import contextlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import Any

from aligntools.aligning.aligner import Aligner, check_applied
from aligntools.aligning.alignment import text_with_evidence
from aligntools.aligning.alignments import AlignmentTally
from aligntools.aligning.contrastive.aligner import (
    ContrastiveAligner,
    gold_within,
    load_contrastive_weights,
    train_contrastive_aligner,
)
from aligntools.aligning.contrastive.base import (
    aligner_from_tables,
    check_of_places,
    network_for,
    network_of,
    train_base,
)
from aligntools.aligning.contrastive.other_links import Evidence, check_count, read_evidence
from aligntools.aligning.contrastive.settings import ContrastiveSettings
from aligntools.aligning.evidence import EvidenceOptions
from aligntools.aligning.outputs import MANY_LINKS
from aligntools.aligning.settings import AlignerSettings
from aligntools.aligning.text_files import TextFiles
from aligntools.formats.links.goldlinks import Gold
from aligntools.formats.text.text_settings import Reading
from aligntools.ground.errors import UsageProblem
from aligntools.ground.parallel import pool_of
from aligntools.ground.progress import Watch
from aligntools.ground.run import Run
from aligntools.pipeline import Sinks, Tally

#: A file that agrees with the base model less than this is probably of other lines ...
DOUBTFUL = 0.25
#: ... or has its sides exchanged, if it then agrees so many times as well.
FAR_MORE = 2.0


def contrastive_align_files(
    text: TextFiles,
    settings: ContrastiveSettings,
    reading: Reading,
    run: Run,
    *,
    watch: Watch,
    search: dict[str, Any],
    asked: EvidenceOptions = EvidenceOptions(),  # noqa: B008
    output: str = "-",
    model: str | None = None,
    forward_table: str | None = None,
    reverse_table: str | None = None,
    source_vcb: str | None = None,
    target_vcb: str | None = None,
    weights: str | None = None,
    start: str | None = None,
    gold: str | None = None,
    evidence: Sequence[str] = (),
    save_model: str | None = None,
    save_weights: str | None = None,
    fast: bool = False,
    threshold: float | None = None,
    verify: bool = True,
    unbuffered: bool = False,
    ending: Callable[[], AbstractContextManager[None]] = contextlib.nullcontext,
    verbose: bool = False,
) -> None:
    """Align a text with features of whole alignments.

    search: How alignments are searched, as far as that was said; the rest is as weights files say.
    ending: Returns a context in which lines are answered, and that may end the reading.
    """
    there = model is not None or forward_table is not None
    check_count(evidence)
    if (settings.rounds or 1) > 1 and there:
        raise UsageProblem("`rounds` is for a base model that is trained here; leave out `model` and tables")
    if there and not weights and asked:
        check_of_places(asked, network_for(settings.features, start))
    how: dict[str, Any]
    links: Sequence[Evidence]
    with Sinks(output=output) as sinks, pool_of(run.threads) as pool:
        run = replace(run, threads=pool)
        taken = load_contrastive_weights(weights, start=start, **search) if weights else None
        network = network_of(taken) if taken is not None else network_for(settings.features, start)
        if taken is None or not there:
            asked = asked.chosen(network is not None and not fast)
        bitext, links = None, evidence
        gold_links: Path | Gold | None = Path(gold) if gold else None
        if model is not None:
            base = Aligner.load(model, threads=pool, verify=verify)
        elif forward_table is not None and reverse_table is not None:
            watch.begin("reading tables")
            names = {"source_vcb": source_vcb, "target_vcb": target_vcb}
            base = aligner_from_tables(forward_table, reverse_table, **names, case_sensitive=reading.case_sensitive)
        else:
            bitext, known = text_with_evidence(*text.paths(reading.split), asked, reading, run, watch)
            links = read_evidence(bitext, evidence)
            gold_links = gold_links and gold_within(gold_links, bitext, len(bitext))  # before anything is trained
            watch.close()
            if not len(bitext.source.tokens):
                watch.say("warning: every line has a blank side; nothing to learn from")
            taught, how = AlignerSettings(fast=fast, seed=settings.seed), {"reading": reading, "run": run}
            base = train_base(bitext, network, taught, settings.rounds, progress=watch, known=known, **how)
        if save_model:
            base.save(save_model)
        if taken is not None:
            if there:
                check_applied(asked, taken, str(weights))
            aligner = ContrastiveAligner(base, taken, asked=asked)
        else:
            if bitext is None:  # read once: learning and aligning both need it
                cased = replace(reading, case_sensitive=not base.model.lowercase)
                bitext, known = text_with_evidence(*text.paths(reading.split), asked, cased, run, watch, places=True)
                links, base = read_evidence(bitext, evidence), base.knowing(known)
            if start is None and settings.features.strip() != "all":
                watch.say("note: not all features are used, so learning starts from the paper's weights; see `start`")
            watch.begin("learning", None if gold else settings.passes or None, "pass")
            density = settings.density or ("expected" if forward_table else None)
            own, how = replace(settings, **search, rounds=None, density=density), {"reading": reading, "run": run}
            about: Any = {"start": start, "gold": gold_links, "evidence": links, "progress": watch}
            aligner = train_contrastive_aligner(bitext, None, own, aligner=base, **about, **how, **asked.keywords())
            for line in _learned(aligner, evidence, settings, verbose):
                watch.say(line)
            if save_weights:
                aligner.save_weights(save_weights)
        sides = text.paths(reading.split) if bitext is None else (bitext,)
        watch.begin("aligning", None if bitext is None else len(bitext), "pair")
        tally, answers = AlignmentTally(), Tally()
        requests = (answers, str(sides[0])) if unbuffered else None
        how = {"unbuffered": unbuffered, "evidence": links, "requests": requests, "threshold": threshold}
        with ending():
            for block in aligner.align_blocks(*sides, **how, reading=reading, run=run):
                compiled = True if tally.links >= MANY_LINKS else None
                sinks.write({"output": block.format(compiled=compiled)}, flush=unbuffered)
                tally.add(block)
                watch.advance("aligning", len(block))
            for line in answers.lines():
                watch.say(line)
            watch.summary(tally.pairs, tally.links, tally.skipped.summary())


def _learned(
    aligner: ContrastiveAligner, paths: Sequence[str], settings: ContrastiveSettings, verbose: bool
) -> Iterator[str]:
    """Yield lines about the weights that were learned and the files' weights, and warnings about what does not help."""
    found, weights = aligner.report, aligner.weights
    if found is not None:
        figures = f"base model {100 * found.base:.2f}, fitted {100 * found.fitted:.2f}"
        if found.validated is not None:
            figures += f", cross-validated {100 * found.validated:.2f} ({settings.folds} folds)"
        yield f"AER % on {weights.about['pairs']} gold pairs: {figures}"
    elif not weights.about["pairs"]:
        yield "warning: no pair to learn weights from; the start weights are used"
    for path, file in zip(paths, aligner.evidence, strict=True):
        shares = (file.agreement, file.precision, file.recall, file.exchanged)
        agreement, precision, recall, exchanged = (f"{100 * share:.1f} %" for share in shares)
        figures = f"{file.links} links, {agreement} agreement with the base model"
        figures += f", estimated precision {precision}, recall {recall}, weight {file.weight:.3g}"
        yield f"evidence {path}: {figures}" + ("" if file.aer is None else f", AER % {100 * file.aer:.2f}")
        if file.exchanged > FAR_MORE * file.agreement and file.exchanged > DOUBTFUL:
            yield (
                f"warning: with source and target exchanged {path} would agree with the base model on {exchanged};"
                " is it of the other direction?"
            )
        elif file.agreement < DOUBTFUL:
            yield f"warning: {path} hardly agrees with the base model; is it of these lines, counted from 0?"
    if found is not None and aligner.evidence:  # do combined links have more errors than what they were made of?
        ours, how = (found.fitted, "fitted") if found.validated is None else (found.validated, "cross-validated")
        known = [(found.base, "the base model alone")]
        both = zip(paths, aligner.evidence, strict=True)
        known += [(file.aer, f"{path} alone") for path, file in both if file.aer is not None]
        if found.without is not None:
            yield f"without evidence: cross-validated AER % {100 * found.without:.2f}"
            known.append((found.without, "weights learned without evidence"))
        best, name = min(known)
        if ours >= best:
            yield (
                f"warning: combined links are not better than those of {name}:"
                f" AER % {100 * ours:.2f} {how}, {100 * best:.2f} there"
            )
    if verbose:
        shown = ", ".join(f"{name} {value:.3g}" for name, value in weights.by_name.items())
        yield f"weights from {weights.about['pairs']} pairs: {shown}"
