"""What eflomal's module and programs do once their text is read: train, align, write."""

import contextlib
import logging
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from aligntools.adapters import best_asked
from aligntools.aligning.aligner_training import train_with
from aligntools.aligning.alignments import Alignments
from aligntools.aligning.outputs import jump_counts, link_costs
from aligntools.aligning.priors import WeightedPriors
from aligntools.aligning.settings import AlignerSettings, PriorWeights
from aligntools.formats.links.pharaoh import Links, concatenate, format_pharaoh
from aligntools.formats.links.priors import Priors
from aligntools.formats.opening.files import writing_for_holders
from aligntools.formats.text.corpus import Bitext
from aligntools.formats.text.text_settings import Reading
from aligntools.ground.parallel import pool_of, threads_of
from aligntools.ground.progress import Progress
from aligntools.ground.run import Run

_log = logging.getLogger("aligntools")
#: Our models by eflomal's numbers.
MODELS: dict[int, str] = {1: "ibm1", 2: "hmm", 3: "fertility"}
#: eflomal's default probability of no link, which stands for ours.
NULL_PRIOR = 0.2
#: Jumps that priors count for, all together.
JUMP_COUNTS = 20


@dataclass(frozen=True)
class EflomalOutputs:
    """Where each result goes, None for nowhere."""

    links_forward: str | None = None
    links_reverse: str | None = None
    scores_forward: str | None = None
    scores_reverse: str | None = None
    statistics: str | None = None


def check_models(model: int, score_model: int) -> None:
    """Refuse numbers of models that do not exist."""
    if model not in MODELS or score_model not in (0, *MODELS):
        raise ValueError(f"model is 1, 2 or 3 and score_model one of these or 0, not {model} and {score_model}")


def run(
    bitext: Bitext,
    outputs: EflomalOutputs,
    *,
    model: int,
    score_model: int,
    null_prior: float,
    priors: Priors | None = None,
    quiet: bool = True,
    spelled: bool = True,
    progress: Progress = None,
) -> None:
    """Train on a text and write what is wanted.

    Where the environment asks for the best links, each direction's file has those that the network decides on; so has
    every symmetrization of the two.

    spelled: Whether the vocabularies hold words, whose spelling says something.
    """
    level = logging.DEBUG if quiet else logging.INFO
    with contextlib.ExitStack() as stack:
        # before the work, so that what cannot be written is known at once
        paths = {name: path for name, path in vars(outputs).items() if path is not None}
        files = {name: stack.enter_context(writing_for_holders(path)) for name, path in paths.items()}
        if not len(bitext):
            return
        pool = stack.enter_context(pool_of(threads_of()))
        _log.log(level, "aligning %d sentence pairs with model %d", len(bitext), model)
        scores = not set(files) <= {"links_forward", "links_reverse"}
        best = best_asked()
        p_null = min(max(AlignerSettings.p_null * null_prior / NULL_PRIOR, 0.0), 0.999)
        settings = replace(AlignerSettings(MODELS[model], best=best), p_null=p_null)
        if not spelled:
            settings = replace(settings, views=(0,), look_alike=False)
        weighted = WeightedPriors.of(priors, _weights(priors))
        how: Any = {"priors": weighted, "progress": progress, "keep_text": scores}
        aligner = train_with(bitext, settings, reading=Reading(), run=Run(pool), **how)
        links = _write_links(aligner.align_blocks(bitext, threads=pool), files, best)
        if not links:
            return
        if "scores_forward" in files or "scores_reverse" in files:
            costs = link_costs(bitext, *links, model=score_model or model, priors=priors, threads=pool)
            for name, column in (("scores_forward", costs[0]), ("scores_reverse", costs[1])):
                if name in files:
                    files[name].write(b"".join(b"%g\n" % cost for cost in column.tolist()))
        if "statistics" in files:
            counts = jump_counts(bitext, links[0])
            files["statistics"].write(b"%d\n" % len(counts) + b"".join(b"%d\n" % n for n in counts.tolist()))


def _weights(priors: Priors | None) -> PriorWeights:
    """Return the weights of priors; jumps weigh so little that they matter in texts of a few lines only."""
    if priors is None:
        return PriorWeights()
    jumps = max(float(table.alphas.sum()) for table in (priors.forward_jumps, priors.reverse_jumps))
    return PriorWeights(prior_jumps=min(1.0, JUMP_COUNTS / jumps) if jumps else 0.0)


def _write_links(blocks: "Iterator[Alignments]", files: dict[str, Any], best: bool) -> "list[Links]":
    """Write links; return those of both directions where more is made of them.

    ``best`` writes what both decide on into both files.
    """
    kept: tuple[list[Links], list[Links]] = ([], [])
    keep = bool(set(files) - {"links_forward", "links_reverse"})
    for block in blocks:
        # by the words that choose, as eflomal does
        tables = [table for table in (block.forward_table, block.reverse_table) if table is not None]
        wanted = [block.table] * 2 if best else tables
        for name, table, order in zip(("links_forward", "links_reverse"), wanted, ("target", "source"), strict=True):
            if name in files:
                files[name].write(format_pharaoh(table, order))
        if keep:
            kept[0].append(tables[0])
            kept[1].append(tables[1])
    return [concatenate(tables) for tables in kept] if keep else []
