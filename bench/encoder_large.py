"""AER of texts that are too large for the encoder to read whole: it reads a sample, and words by themselves.

Gold pairs come first, then all training text. The map of states is learned from the gold links of other languages, as
for `bench.encoder`.
"""

from bench import code, measuring, report
from bench.encoder import _aer, _links
from bench.encoder_map import LAYERS, Maps, language
from bench.encoder_pairs import _text

WAYS = {
    "align": "`align`",
    "align, encoder": "`align --encoder`",
    "best": "`align --best --no-encoder`",
    "best, encoder": "`align --best`",
}


def run(o):
    from aligntools.ground.parallel import Pool

    if not o.data:
        raise SystemExit("encoder_large needs gold links and text: --data DIR")
    kept, here = measuring.Kept(o.work / "encoder_large.json"), code.of(_measure, _aer, _links, _text)
    with Pool(o.threads) as pool:
        maps = Maps(o, pool)
        rows = {
            name: kept.get(f"{name} {o.pairs} {here}", lambda n=name: _measure(maps, n, o.pairs), name)
            for name in o.sets.split(",")
        }
    return _body(o, rows)


def _measure(maps, name, pairs):
    """Return the pairs of a text, AER of each way, and how far the encoder was believed."""
    from aligntools.aligning.evidence import Asked, Known, said_by
    from aligntools.aligning.settings import AlignerSettings
    from aligntools.api.align.encoders import EncoderSource
    from aligntools.api.align.training import train_with
    from aligntools.encoding import knowledge
    from aligntools.encoding.settings import SAMPLE, EncoderSettings
    from aligntools.formats.text.corpus import in_lower_case
    from aligntools.formats.text.reading import Reading
    from aligntools.ground.running import Run

    written, gold = _text(maps.o.data, name, pairs)
    text, settings = in_lower_case(written), EncoderSettings(encoder=True, encoder_pairs=SAMPLE)
    source = EncoderSource(settings)
    vars(source)["member"] = knowledge.Member(maps.encoder, LAYERS, maps.without(language(name)))
    measuring.note(f"the encoder reads of {name}")
    said = said_by(source, written, maps.pool, lambda _done, _of: None)
    known = Known({"encoder": said}, Asked({"encoder": settings}), text)
    found = {"pairs": len(text), "agreement": [said.about["agreement"], said.about["alone"]["agreement"]]}
    for way, best in (("align", False), ("best", True)):
        for title, one in (("", None), (", encoder", known)):
            how = {"reading": Reading(), "run": Run(threads=maps.pool)}
            model = train_with(text, AlignerSettings(best=best), known=one, **how)
            found[way + title] = _aer(_links(model, text)[: len(gold.sure)], gold)
    return found


def _body(o, rows):
    from aligntools.encoding.knowledge import ALONE
    from aligntools.encoding.settings import SAMPLE

    header = ["gold set, pairs of text", *WAYS.values(), "agreement of sentences", "of words"]
    table = [
        [f"{name}, {row['pairs']:,}", *(f"{row[way]:.1f}" for way in WAYS), *(f"{x:.2f}" for x in row["agreement"])]
        for name, row in rows.items()
    ]
    text = (
        f"AER in percent of the gold pairs, which stand before training text. The encoder reads {SAMPLE:,} pairs,"
        f" evenly spread, and the {ALONE:,} most frequent words of each side by themselves, as by default where a text"
        " is too large to be read whole. The map of states is learned from gold links of other languages; the network"
        " that judges links is the one that ships. Single runs.\n\n"
    )
    return f"{text}{report.table(header, table)}\n\n{report.circumstances(o.threads)}"
