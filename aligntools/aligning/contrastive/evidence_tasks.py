"""Weights of the contrastive model with other aligners' links: how reliable each file is, and what it counts for."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from aligntools.aligning.applying.applier import decide
from aligntools.aligning.applying.kernels_decoding import MEAN
from aligntools.aligning.contrastive import evidence, phrases, second_look
from aligntools.aligning.contrastive import kernels_features as kf
from aligntools.aligning.contrastive.candidate_links import concatenate
from aligntools.aligning.contrastive.candidates import CandidateFinder
from aligntools.aligning.contrastive.evidence import with_readings
from aligntools.aligning.contrastive.learning import pick
from aligntools.aligning.contrastive.tasks import LearningPlan, draw, first_look
from aligntools.aligning.contrastive.weights import Weights, scale
from aligntools.aligning.evidence import LOOK, SAMPLED, About, Known, kind_of, worth
from aligntools.formats.links.given_links import GivenLinks, concatenate_given
from aligntools.formats.links.pharaoh import Links
from aligntools.formats.links.pharaoh import concatenate as join
from aligntools.formats.text.corpus import Bitext, in_ids_of

#: Pairs that files of evidence are judged on, drawn at random.
PAIRS = 2000
#: A file counts for nothing up to the estimated precision DOUBTED, and for more above it, by the power STEEPNESS.
#: Aligners make similar errors, which then look right, so that estimates are too high. By how much cannot be seen from
#: their agreement. So without gold links only a file that hardly contradicts the base model counts.
DOUBTED, STEEPNESS = 0.8, 8
#: Pairs that were read in which links are counted, evenly spread.
LOOKED_AT = 500
#: Weight of the log-odds of evidence against the base model's, where learning from gold begins.
FIRST_SHARE = 0.25


@dataclass(frozen=True)
class EvidenceFile:
    """Estimates of how reliable a file of evidence is, and its weight.

    links: On the pairs that it was judged on.
    agreement, exchanged: With the base model's own links: F1, as a fraction; and with the file's source and target
        exchanged.
    precision, recall: Estimated from the base model's posteriors and all files, as fractions.
    weight: Of the log-odds that it adds.
    aer: On gold links, as a fraction.
    """

    links: int
    agreement: float
    exchanged: float
    precision: float
    recall: float
    weight: float = 0.0
    aer: float | None = None


def judge_files(
    finder: CandidateFinder, bitexts: list[Bitext], files: list[list[GivenLinks]], plan: LearningPlan
) -> tuple[list[np.ndarray], list[EvidenceFile]]:
    """Learn what readings of files are worth, from texts without gold.

    files: For each text, those of each file.
    Returns list of float64 [evidence.READINGS], list of EvidenceFile.
    """
    parts, own, drawn = [], [], []
    for bitext, of_text, chosen in zip(bitexts, files, draw(bitexts, PAIRS, plan.learning.seed), strict=True):
        part = [x[chosen] for x in of_text]
        drawn.append(part)
        for posteriors, found in finder.find(pick(bitext, chosen), part):
            parts.append(found)
            own.append(Links(*decide(posteriors, MEAN, plan.threshold, finder.pool)[:2]))
    links = join(own)
    told, tables = [], []
    judged = evidence.judge(concatenate(parts), bool(plan.active[kf.TREES])) if parts else None
    for k in range(len(files[0]) if files else 0):
        given = evidence.firm(concatenate_given([part[k] for part in drawn]))
        agreement, exchanged = (evidence.agreement(x.links, links) for x in (given, given.turned()))
        precision, recall = (judged.precision[k], judged.recall[k]) if judged else (0.0, 0.0)
        told.append(EvidenceFile(len(given.links.pairs), agreement, exchanged, precision, recall))
        tables.append(judged.tables[k] if judged else np.zeros(evidence.READINGS))
    return tables, told


def share(precision: float) -> float:
    """Return the weight of a file's log-odds against the base model's, 0 to 1, from its estimated precision.

    The weight grows from 0 at DOUBTED to 1 at a precision of 1. Links of eflomal and fast_align have estimates of 0.65
    to 0.94, those of a model of far more text 0.99 and more.
    """
    return min(1.0, max(0.0, (precision - DOUBTED) / (1.0 - DOUBTED))) ** STEEPNESS


def with_evidence(
    weights: Weights, tables: list[np.ndarray], told: list[EvidenceFile], counts_for: float | None = None
) -> Weights:
    """Return weights with those of evidence, for which they were not learned.

    ``counts_for`` is what every file counts for; None: its `share`.
    """
    usual = scale(weights.values, weights.active)
    own = [(share(x.precision) if counts_for is None else counts_for) * usual for x in told]
    values, active = np.concatenate([weights.values, own]), np.append(weights.active, np.ones(len(tables), bool))
    return replace(weights, values=values, active=active, tables=tuple(tables))


def with_known(weights: Weights, known: Known) -> Weights:
    """Return weights with those of what is known of places, each reading worth what its table says."""
    return with_knowers(weights, known.header, {name: places.table for name, places in known.places.items()})


def for_new_text(weights: Weights, header: Mapping[str, About], known: Known | None = None) -> Weights:
    """Return the weights of a saved model: with those of all kinds that can be asked of new text.

    header: What the model's header says of evidence.
    known: What is known of its own text's places, if it was not trained in parts.
    """
    places = {} if known is None else known.places
    read = {name: found.table for name, found in places.items()}
    unread = worth(header, read)
    whole = {name for name, found in places.items() if found.whole}
    about = {name: one if name in whole else {**one, SAMPLED: True} for name, one in header.items()}
    return with_knowers(weights, about, read | unread)


def with_knowers(weights: Weights, header: Mapping[str, About], tables: Mapping[str, np.ndarray]) -> Weights:
    """Return weights with those of kinds of evidence, whose readings are worth what their tables say."""
    usual = scale(weights.values, weights.active)
    for name in sorted(tables):
        weights = replace(
            weights,
            values=np.append(weights.values, usual),
            active=np.append(weights.active, True),
            tables=(*weights.tables, np.asarray(tables[name], np.float64)),
            knowers={**weights.knowers, name: header[name]},
        )
    return weights


def with_second_looks(weights: Weights, known: Known, finder: CandidateFinder) -> Weights:
    """Return weights with second looks that find as many links as the first, in some pairs of a text that sources read.

    How many links gold standards have differs; what the base model decides on says what this text has.
    """
    model, text = finder.model, known.text
    for name, about in weights.knowers.items():
        look = kind_of(name).look(about)
        places = known.places.get(name)
        if look is None or places is None or text is None or not phrases.known(weights.values):
            continue
        rows = np.flatnonzero(np.diff(places.given.links.offsets))
        rows = rows[np.unique(np.linspace(0, len(rows) - 1, min(len(rows), LOOKED_AT)).astype(np.int64))]
        part = in_ids_of(pick(text, rows), model.source_vocabulary, model.target_vocabulary, model.lowercase)
        given = places.given[rows]
        believed = replace(given, strengths=given.strengths * float(about.get("belief", 1.0)))
        links, odds = 0, [np.empty(0)]
        for _, candidates in finder.find(part, [given], [believed]):
            first = first_look(candidates, weights)
            with_table = with_readings(candidates, [places.table]).local[:, -1] + first
            at, found = second_look.inputs(candidates, first, places.table, 0)
            links += int(np.count_nonzero(with_table[at] > 0))
            odds.append(second_look.odds(found, look))
        look = [*look[:-1], look[-1] + second_look.at_count(np.concatenate(odds), links)]
        weights = replace(weights, knowers={**weights.knowers, name: {**about, LOOK: look}})
    return weights


def plan_with_evidence(plan: LearningPlan, files: int, counts_for: float | None = None) -> LearningPlan:
    """Return a plan of learning from gold whose start has weights of evidence too."""
    own = np.full(files, (FIRST_SHARE if counts_for is None else counts_for) * scale(plan.start, plan.active))
    return replace(plan, start=np.append(plan.start, own), active=np.append(plan.active, np.ones(files, bool)))
