"""The weights of the second look at places, by logistic regression from gold links, and what they give.

A base model is trained of each gold set alone, and of the set before training text, of which the encoder reads some
pairs and all gold pairs. AER of gold pairs is by odds above 0, with as many links as the first look has, by weights
that other languages' gold links taught. With --unread the base models have learned without the encoder. With --out
weights of all languages are written.
"""

import json
import statistics
from itertools import islice

import numpy as np

from bench import code, measuring, report, texts
from bench.encoder import UNKNOWN
from bench.encoder_map import LAYERS, Maps, gold_text, language

#: Pairs of training text beside the gold pairs, and those of it that the encoder reads.
SIZES, READ = (0, 300, 5_000, 20_000), 1_000
#: What a candidate counts for whose link is possible but not sure; the penalty on squares of weights.
POSSIBLE, PENALTY = 0.5, 1e-3
#: What is added to all log-odds, so that a text has as many links as by the first look.
MORE = 0.2


def run(o):
    from aligntools.ground.parallel import Pool

    if not o.data:
        raise SystemExit("second_look needs gold links: --data DIR")
    names = o.sets.split(",") if o.sets else [n for n in texts.gold_sets(o.data) if n not in UNKNOWN]
    sizes = [int(n) for n in o.sizes.split(",")] if o.sizes else SIZES
    found, here = {}, code.of(_cells, gold_text)
    with Pool(o.threads) as pool:
        maps = Maps(o, pool)
        for name in names:
            for size in sizes if (o.data / language(name) / "train.en.gz").exists() else (0,):
                path = o.work / f"second-look.{name}.{size}.{here}{'.unread' * o.unread}.npz"
                if not path.exists():
                    measuring.note(f"{name}, {size} pairs of text")
                    np.savez(path, **_cells(maps, name, size, o.unread))
                found[name, size] = dict(np.load(path))
    if o.out:
        o.out.write_text(json.dumps(learn([*found.values()], o.unread).tolist()))
        raise SystemExit(0)
    rows = []
    for (name, size), cells in found.items():
        others = [own for (other, _), own in found.items() if language(other) != language(name)]
        weights = learn(others, o.unread)
        rows.append([name, size, *_compared(cells, weights)])
    table = [[name, f"{size:,}", f"{one:.2f}", f"{two:.2f}", f"{two / one:.3f}"] for name, size, one, two in rows]
    share = statistics.fmean(two / one for *_, one, two in rows)
    table.append(["mean", "", "", "", f"{share:.3f}"])
    about = (
        "AER in percent of gold pairs, by the first look at places and by the second, with as many links; weights of"
        " the second are learned from the gold links of other languages, as is the map of states. The network is the"
        " one that ships. *Text*: pairs beside the gold pairs."
        + (" The base models have learned without the encoder." if o.unread else "")
    )
    return f"{about}\n\n{report.table(['gold set', 'text', 'first', 'second', 'share'], table)}"


def _cells(maps, name, size, unread):
    """Return the inputs of candidates of a gold set, which are sure and possible links, and the first look's odds."""
    from dataclasses import replace

    from aligntools.aligning.aligner_training import train_with
    from aligntools.aligning.contrastive import second_look, tasks
    from aligntools.aligning.contrastive.candidate_links import concatenate
    from aligntools.aligning.contrastive.candidates import CandidateFinder
    from aligntools.aligning.contrastive.gold_learning import gold_marks
    from aligntools.aligning.evidence import SourceEvidence, TextEvidence
    from aligntools.aligning.evidence_kinds import EvidenceOptions
    from aligntools.aligning.settings import AlignerSettings
    from aligntools.encoding import knowledge
    from aligntools.encoding.settings import EncoderSettings
    from aligntools.formats.text.bitext import TextLines, read_bitext
    from aligntools.formats.text.corpus import in_ids_of, in_lower_case, pick
    from aligntools.formats.text.text_settings import Reading
    from aligntools.ground.run import Run

    own, gold = gold_text(maps.o.data, name)
    pair, part = name.split(".")
    sides = [[*islice(texts.lines(maps.o.data, pair, part, side), len(own))] for side in ("en", pair[3:])]
    if size:
        for lines, side in zip(sides, ("en", pair[3:]), strict=True):
            lines += islice(texts.lines(maps.o.data, pair, "train", side), size)
    written = read_bitext(*(TextLines([f"{line}\n" for line in lines]) for lines in sides), lowercase=False)
    text, read = in_lower_case(written), pick(written, np.arange(min(len(written), len(own) + READ)))
    said = knowledge.Member(maps.encoder, LAYERS, maps.without(pair)).read(read, maps.pool).knowledge
    about = {"name": "", "checksum": "", "belief": said.belief}
    known = TextEvidence(
        {"encoder": SourceEvidence(about, knowledge.priors(read, said))},
        EvidenceOptions({"encoder": EncoderSettings(encoder=True)}),
        text,
    )
    how = {"reading": Reading(), "run": Run(threads=maps.pool)}
    model = train_with(text, AlignerSettings(best=True), known=None if unread else known, **how)
    finder = CandidateFinder(model.model, maps.pool, model.weights.network)
    given = said.given[: len(own)]
    believed = replace(given, strengths=given.strengths * said.belief)
    vocabularies = model.model.source_vocabulary, model.model.target_vocabulary
    text = in_ids_of(pick(text, np.arange(len(own))), *vocabularies, True)
    candidates = concatenate([c for _, c in finder.find(text, [given], [believed])])
    first = tasks.first_look(candidates, model.weights)
    at, seen = second_look.inputs(candidates, first, said.odds, 0)
    sure, possible = gold_marks(candidates, gold)
    odds = first[at] + said.odds[candidates.readings[at, 0]]
    marks = {"sure": sure[at].astype(bool), "possible": possible[at].astype(bool)}
    return {"inputs": seen, "first": odds, "wanted": len(gold.sure.pairs), **marks}


def learn(sets, unread=False):
    """Return the weights of the second look, the last of which is added to all, float64.

    What Newton's method finds is made as sure as the network is, which is surer than right; of this and of what the
    first look does it is the mean. Where base models are ``unread`` a quarter of it is added to three of LOOK.
    """
    from aligntools.aligning.contrastive.search import SCALE
    from aligntools.encoding.knowledge import LOOK, ODDS

    first = np.zeros(sets[0]["inputs"].shape[1] + 1)
    first[0], first[2 : 2 + len(ODDS)] = 1.0, ODDS
    x = np.concatenate([one["inputs"] for one in sets])
    y = np.concatenate([(one["sure"] | one["possible"]).astype(float) for one in sets])
    counts = np.concatenate(
        [np.where(one["possible"] & ~one["sure"], POSSIBLE, 1) / len(one["sure"]) ** 0.5 for one in sets]
    )
    mean, deviation = x.mean(0), x.std(0) + 1e-6
    x = np.column_stack([(x - mean) / deviation, np.ones(len(x))])
    penalty = np.append(np.full(len(mean), PENALTY * counts.sum()), 0.0)
    weights = np.zeros(len(penalty))
    for _ in range(30):
        p = 1 / (1 + np.exp(-np.clip(x @ weights, -30, 30)))
        gradient = x.T @ (counts * (p - y)) + penalty * weights
        step = np.linalg.solve((x * (counts * p * (1 - p))[:, None]).T @ x + np.diag(penalty), gradient)
        weights -= step
        if np.abs(step).max() < 1e-6:
            break
    own = weights[:-1] / deviation
    found = np.append(own, weights[-1] - own @ mean) / SCALE
    found[-1] += MORE if unread else 2 * MORE
    return (3 * LOOK + found) / 4 if unread else (first + found) / 2


def _compared(cells, weights):
    """Return AER in percent by both looks, with as many links."""
    links = int(np.count_nonzero(cells["first"] > 0))
    second = cells["inputs"] @ weights[:-1] + weights[-1]
    found = []
    for odds in (cells["first"], second):
        chosen = np.argsort(-odds, kind="stable")[:links]
        right = sum(int(np.count_nonzero(own[chosen])) for own in (cells["sure"], cells["sure"] | cells["possible"]))
        found.append(100 * (1 - right / (links + int(cells["wanted"]))))
    return found
