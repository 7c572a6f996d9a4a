"""AER of ``contrastive-align`` with a neural aligner's links as evidence, by what they count for.

The neural aligner is the encoder alone: words are linked where their states choose each other. `contrastive-align` gets
its links as a file of another aligner (``--evidence``) and knows nothing else of the encoder.
"""

import statistics

from bench import code, measuring, report, texts
from bench.encoder import _aer, _links
from bench.encoder_map import LAYERS, PAIRS, Maps, gold_text, language

#: What the file counts for; None: what the program finds without gold links.
SHARES = (None, 0.15, 0.3, 0.6, 1.0)


def run(o):
    from aligntools.ground.parallel import Pool

    if not o.data:
        raise SystemExit("neural_evidence needs gold links: --data DIR")
    kept, rows = measuring.Kept(o.work / "neural_evidence.json"), {}
    here = code.of(_measure, _aer, _links, gold_text)
    with Pool(o.threads) as pool:
        maps = Maps(o, pool)
        for name in o.sets.split(",") if o.sets else texts.gold_sets(o.data):
            rows[name] = kept.get(f"{name} {here}", lambda n=name: _measure(maps, n), name)
    return f"{_body(rows)}\n\n{report.circumstances(o.threads)}"


def _measure(maps, name):
    """Return AER of the encoder alone, of `contrastive-align` without it, and of both by each share."""
    import aligntools as at
    from aligntools.aligning.contrastive import evidence
    from aligntools.encoding import knowledge
    from aligntools.formats.links.pharaoh import concatenate
    from aligntools.formats.text.corpus import in_lower_case

    written, gold = gold_text(maps.o.data, name)
    said = knowledge.Member(maps.encoder, LAYERS, maps.without(language(name))).knowledge(written, maps.pool)
    links = evidence.firm(said.given).links
    file = [" ".join(f"{i}-{j}" for i, j in pair) for pair in links.tolists()]
    text, how = in_lower_case(written), {"encoder": False, "threads": maps.pool}
    without = at.train_contrastive_aligner(text, **how)
    found = {"pairs": len(text), "alone": _aer(links, gold), "without": _aer(_links(without, text), gold)}
    for share in SHARES:
        model = at.train_contrastive_aligner(text, evidence=[file], evidence_share=share, **how)
        blocks = model.align_blocks(text, evidence=[file], threads=maps.pool)
        found[f"share {share}"] = _aer(concatenate([block.table for block in blocks]), gold)
    return found


def _body(rows):
    columns = ["alone", "without", *(f"share {share}" for share in SHARES)]
    titles = ["the neural aligner alone", "`contrastive-align`", "both, by default"]
    titles += [f"both, share {share}" for share in SHARES[1:]]
    lines = [[f"{name}, {r['pairs']}", *(f"{r[c]:.1f}" for c in columns)] for name, r in rows.items()]
    lines.append(["mean", *(f"{statistics.mean(r[c] for r in rows.values()):.1f}" for c in columns)])
    summary = [
        [title, f"{statistics.mean(r[c] / min(r['alone'], r['without']) for r in rows.values()):.3f}",
         sum(r[c] < min(r["alone"], r["without"]) for r in rows.values())]
        for title, c in zip(titles[2:], columns[2:], strict=True)
    ]  # fmt: skip
    text = (
        f"AER in percent. The first {PAIRS} pairs of each gold set are all the text. The neural aligner is the encoder"
        " alone, with a map learned from gold links of other languages; its links come as a file of `--evidence`, and"
        " `--no-encoder` is given. *Share* is `--evidence-share`."
    )
    header = ["gold set, pairs", *titles]
    both = ["", "mean share of the better one's error", f"below it, of {len(rows)}"]
    return "\n\n".join([text, report.table(header, lines), report.table(both, summary)])
