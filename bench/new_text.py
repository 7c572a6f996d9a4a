"""AER of gold pairs as new text, whose words a model of other text may not know: what each way of aligning it gives.

The model is trained on training text without the gold pairs, of which the encoder reads a sample, as of large text. The
map of states is learned from the gold links of other languages, as for `bench.encoder`.
"""

from bench import code, measuring, report
from bench.encoder import aer, known_of, links, other_text
from bench.encoder_map import Maps, gold_text

#: Pairs of the other text that the encoder reads.
SAMPLE = 1_000
WAYS = {
    "-m": "`align`, `-m`",
    "best -m": "`--best --no-encoder`, `-m`",
    "best -m, encoder": "`--best`, `-m`",
    "alone": "no model: `align`",
    "best alone": "`--best --no-encoder`",
    "best alone, encoder": "`--best`",
    "adapt": "`align`, `--adapt`",
    "best adapt": "`--best --no-encoder`, `--adapt`",
    "best adapt, encoder": "`--best`, `--adapt`",
}


def run(o):
    from aligntools.ground.parallel import Pool

    if not o.data:
        raise SystemExit("new_text needs gold links and text: --data DIR")
    kept, here = measuring.Kept(o.work / "new_text.json"), code.of(_measure, other_text, known_of, gold_text)
    with Pool(o.threads) as pool:
        maps = Maps(o, pool)
        rows = {
            name: kept.get(f"{name} {o.pairs} {here}", lambda n=name: _measure(maps, n, o.pairs), name)
            for name in o.sets.split(",")
        }
    return _body(o, rows)


def _measure(maps, name, pairs):
    """Return the pairs of both texts, the share of new words, and AER of each way."""
    from aligntools.aligning.aligner_training import train_with
    from aligntools.aligning.settings import AlignerSettings
    from aligntools.encoding.settings import EncoderSettings
    from aligntools.formats.text.corpus import in_ids_of
    from aligntools.formats.text.text_settings import Reading
    from aligntools.ground.run import Run

    how = {"reading": Reading(), "run": Run(threads=maps.pool)}

    measuring.note(f"the encoder reads of {name}")
    of_old = known_of(maps, name, other_text(maps.o, name, pairs), EncoderSettings(encoder=True, encoder_pairs=SAMPLE))
    written, gold = gold_text(maps.o.data, name)
    of_new = known_of(maps, name, written, EncoderSettings(encoder=True))
    old, new = of_old.text, of_new.text
    found = {"pairs": [len(new), len(old)]}
    for best, title, base_known, new_known in (
        (False, "", None, None),
        (True, "best ", None, None),
        (True, "best ", of_old, of_new),
    ):
        more = ", encoder" if base_known else ""
        measuring.note(f"{name}: {title}{more}")
        base = train_with(old, AlignerSettings(best=best), known=base_known, **how)
        own = in_ids_of(new, base.model.source_vocabulary, base.model.target_vocabulary, True)
        sizes = zip((own.source, own.target), base.model.sizes, strict=True)
        found["new words"] = [float((side.tokens >= size).mean()) for side, size in sizes]
        ways = {
            "-m": base,
            "alone": train_with(new, AlignerSettings(best=best), known=new_known, **how),
            "adapt": train_with(new, AlignerSettings(best=best), known=new_known, learned=base, **how),
        }
        for way, model in ways.items():
            text = written if model is base else new  # the encoder reads words as they are written
            found[title + way + more] = aer(links(model, text), gold)
    return found


def _body(o, rows):
    header = ["gold set", "pairs", "of other text", "new words, %", *WAYS.values()]
    table = [
        [
            name,
            *(f"{n:,}" for n in row["pairs"]),
            ", ".join(f"{100 * share:.0f}" for share in row["new words"]),
            *(f"{row[way]:.1f}" for way in WAYS),
        ]
        for name, row in rows.items()
    ]
    text = (
        "AER in percent of gold pairs as new text. First by a model of training text of other domains, line by line"
        f" (`-m`); the encoder reads {SAMPLE:,} pairs of that text, and the new text where it takes part. Then of the"
        " new text trained on alone, and trained on from what the model has learned (`--adapt`). New words: of the"
        " English, and of the other side, those that the model's text does not have. The map of states is learned from"
        " gold links of other languages; the network that judges links is the one that ships. Single runs. What"
        " a link and the encoder count for was chosen on zh, it and sv, the shares of both models with `--adapt` on zh,"
        " sv, de, fr and ja, what unseen words count for on zh, it, sv, de, es and fr; cs was held out.\n\n"
    )
    return f"{text}{report.table(header, table)}\n\n{report.circumstances(o.threads)}"
