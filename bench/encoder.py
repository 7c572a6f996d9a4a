"""AER of small texts with what an encoder knows beforehand, and without.

Each gold set's first pairs are all the text there is. The map of states is learned from the gold links of other
languages (`bench.encoder_map`); the network of contrastive-align is the one that ships, in all columns. Where eflomal's
program is given it stands beside them, and so do published figures of aligners that are encoders.
"""

import statistics
import tempfile
from itertools import islice, pairwise
from pathlib import Path

from bench import code, measuring, peers, report, texts
from bench.encoder_map import LAYERS, PAIRS, Maps, gold_text, language

#: The set of a language that the encoder has not read.
UNKNOWN = ("en-grc.gold",)
COLUMNS = {
    "align": "`align`", "align, encoder": "`align --encoder`", "contrastive": "`contrastive-align`",
    "contrastive, encoder": "`contrastive-align --encoder`", "alone": "the encoder alone",
}  # fmt: skip
PEER = "eflomal"
#: What others say of the very same gold pairs, with text of their own to learn from.
PUBLISHED = (
    "Published for the 248 pairs of en-ro.gold: mBERT as it is 27.9; awesome-align, which tunes mBERT on parallel text"
    " of five pairs of languages, 22.6 and 20.7 (without and with its consistency objective); eflomal 25.1, MGIZA 26.4"
    " and fast_align 32.1 where they learn from some 450,000 further pairs (README of awesome-align; Dou & Neubig"
    " 2021). The figures above know these 248 pairs alone. Of no other set here are published figures known."
)


def run(o):
    from aligntools.ground.parallel import Pool

    if not o.data:
        raise SystemExit("encoder needs gold links: --data DIR")
    names = o.sets.split(",") if o.sets else texts.gold_sets(o.data)
    kept, here = measuring.Kept(o.work / "encoder.json"), code.of(_measure, known_of, gold_text)
    with Pool(o.threads) as pool:
        maps = Maps(o, pool)
        rows = {n: kept.get(f"{n} {here}", lambda n=n: _measure(maps, n), n) for n in names}
    if o.eflomal:
        own = code.of(eflomal, gold_text)
        for n in names:
            rows[n][PEER] = kept.get(f"{n} {PEER} {own}", lambda n=n: eflomal(o, *gold_text(o.data, n)), f"{n}, {PEER}")
    return f"{_body(rows)}\n\n{report.circumstances(o.threads)}"


def other_text(o, name, most=None, after=0):
    """Return pairs of the training text of a gold set's languages as they are written, after its first gold pairs.

    most: So many pairs, evenly spread; None: all.
    after: So many gold pairs stand before them.
    """
    import numpy as np

    import aligntools as at

    pair, part = name.split(".")
    with tempfile.TemporaryDirectory(dir=o.work) as folder:
        sides = [Path(folder) / side for side in ("source", "target")]
        for path, language in zip(sides, ("en", pair[3:]), strict=True):
            gold = list(islice(texts.lines(o.data, pair, part, language, lowercase=False), after))
            train = list(texts.lines(o.data, pair, "train", language, lowercase=False))
            chosen = np.linspace(0, len(train) - 1, min(most or len(train), len(train))).astype(int).tolist()
            path.write_text("".join(f"{line}\n" for line in [*gold, *(train[k] for k in chosen)]), encoding="utf-8")
        return at.read_bitext(*sides, case_sensitive=True)


def known_of(maps, name, written, settings):
    """Return what the encoder says of a text, by the map that the languages of a gold set had no part in."""
    from aligntools.aligning.evidence import TextEvidence, evidence_from
    from aligntools.aligning.evidence_kinds import EncoderSource, EvidenceOptions
    from aligntools.encoding import knowledge
    from aligntools.formats.text.corpus import in_lower_case

    source = EncoderSource(settings)
    vars(source)["member"] = knowledge.Member(maps.encoder, LAYERS, maps.without(language(name)))
    said = evidence_from(source, written, maps.pool, lambda _done, _of: None)
    found = TextEvidence({"encoder": said}, EvidenceOptions({"encoder": settings}), in_lower_case(written))
    vars(found)["sources"] = {"encoder": source}
    return found


def _measure(maps, name):
    """Return AER of each way, the share that `contrastive-align --encoder` keeps of the error, and what was said."""
    from aligntools.aligning.aligner_training import train_with
    from aligntools.aligning.contrastive import evidence
    from aligntools.aligning.contrastive.aligner import train_contrastive_aligner
    from aligntools.aligning.contrastive.base import network_for, train_base
    from aligntools.aligning.settings import AlignerSettings
    from aligntools.encoding.settings import EncoderSettings
    from aligntools.formats.text.text_settings import Reading
    from aligntools.ground.run import Run

    written, gold = gold_text(maps.o.data, name)
    known = known_of(maps, name, written, EncoderSettings(encoder=True))
    text, given = known.text, known.sources["encoder"].links(written, maps.pool)
    found = {"pairs": len(written), "alone": aer(evidence.firm(given).links, gold)}
    found["agreement"] = known.header["encoder"]["agreement"]
    how = {"reading": Reading(), "run": Run(threads=maps.pool)}
    network = network_for("all", None)
    for title, one in (("", None), (", encoder", known)):
        model = train_with(text, AlignerSettings(), known=one, **how)
        found[f"align{title}"] = aer(links(model, text), gold)
        base = train_base(text, network, AlignerSettings(), known=one, **how)
        model = train_contrastive_aligner(text, aligner=base, run=how["run"], encoder=None if one else False)
        found[f"contrastive{title}"] = aer(links(model, text), gold)
    return found


def eflomal(o, text, gold):
    """Return the lowest AER of eflomal's two directions and five symmetrizations, chosen on these gold links."""
    from aligntools.formats.links.pharaoh import read_pharaoh

    with tempfile.TemporaryDirectory(dir=o.work) as folder:
        files = texts.Text("", *(Path(folder) / name for name in ("source", "target", "joint")), None, 0, len(text))
        for side, vocabulary, path in (
            (text.source, text.source_vocabulary, files.source),
            (text.target, text.target_vocabulary, files.target),
        ):
            words = vocabulary.words()
            lines = (" ".join(words[i] for i in side.tokens[a:b].tolist()) for a, b in pairwise(side.offsets.tolist()))
            path.write_text("".join(f"{line.lower()}\n" for line in lines), encoding="utf-8")
        found = peers.scores(PEER, o, files, lambda path, _: (aer(read_pharaoh(str(path))[: len(gold.sure)], gold),))
        return min(one for _, one in found)


def links(model, text):
    """Return the links of each pair of a text by a model."""
    from aligntools.formats.links.pharaoh import concatenate

    return concatenate([block.table for block in model.align_blocks(text)])


def aer(found, gold):
    """Return the AER of links in percent."""
    from aligntools.metrics.aer import count, figures

    return 100 * float(figures(count(found, gold).sum(0))[0])


def _body(rows):
    columns = ({PEER: f"{PEER}, its best"} if all(PEER in row for row in rows.values()) else {}) | COLUMNS
    header = ["gold set, pairs", *columns.values(), "share of the error", "agreement"]
    table = [[f"{name}, {row['pairs']}", *_cells(row, columns)] for name, row in rows.items()]
    known = [row for name, row in rows.items() if name not in UNKNOWN]
    if known:
        mean = {key: statistics.fmean(row[key] for row in known) for key in [*columns, "agreement"]}
        table.append(["mean of languages that it knows", *_cells(mean, columns)])
    text = (
        f"AER in percent. The first {PAIRS} pairs of each gold set are all the text; AER is of these. The map of"
        " the encoder's states is learned from gold links of other languages. The network that judges links in"
        " `contrastive-align` is the one that ships, with the encoder and without. *Share of the error*: what"
        " `contrastive-align --encoder` has of the error of `contrastive-align`. *Its best*: of two directions and five"
        " symmetrizations, chosen on the gold links. *Agreement*: how far words choose each"
        " other beyond chance, by which the encoder is believed. What a"
        " link's probability is worth beside the network, six numbers, was learned from all these sets. Single"
        " runs.\n\n"
    )
    return f"{text}{report.table(header, table)}\n\n{PUBLISHED}"


def _cells(row, columns):
    share = row["contrastive, encoder"] / row["contrastive"]
    return [*(f"{row[key]:.1f}" for key in columns), f"{share:.2f}", f"{row['agreement']:.2f}"]
