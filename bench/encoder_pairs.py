"""AER of larger texts by how many of their sentence pairs the encoder reads.

Gold pairs come first, then training text, so that there are as many pairs as asked for. The encoder reads the whole
text once; what it would know of fewer pairs is made of that. The map of states is learned from the gold links of other
languages, as for `bench.encoder`.
"""

import gzip
from itertools import islice

from bench import code, measuring, report, texts
from bench.encoder import _aer, _links
from bench.encoder_map import LAYERS, Maps, language

#: Pairs that the encoder reads; None: all of them, and then places count too.
READ = (0, 1_000, 3_000, 10_000, None)


def run(o):
    from aligntools.ground.parallel import Pool

    if not o.data:
        raise SystemExit("encoder_pairs needs gold links and text: --data DIR")
    kept, here, rows = measuring.Kept(o.work / "encoder_pairs.json"), code.of(Measured, _aer, _links), {}
    with Pool(o.threads) as pool:
        maps = Maps(o, pool)
        for name in o.sets.split(","):
            measured = Measured(maps, name, o.pairs)
            for read in READ:
                key = f"{name} {o.pairs} {read} {here}"
                rows[name, read] = kept.get(key, lambda m=measured, n=read: m.figures(n), f"{name}, {read} read")
    return _body(o, rows)


class Measured:
    """A text of which the encoder reads some pairs.

    Parameters
    ----------
    maps : Maps
    name : str
        A gold set.
    pairs : int
    """

    def __init__(self, maps, name, pairs):
        self.maps, self.name, self.pairs, self._read = maps, name, pairs, None

    def figures(self, read):
        """Return the pairs of the text, AER of `align` and of `contrastive-align` where so many pairs are read."""
        from aligntools.aligning.settings import AlignerSettings
        from aligntools.api.align.contrastive import train_contrastive_aligner
        from aligntools.api.align.contrastive_base import network_for, train_base
        from aligntools.api.align.training import train_with
        from aligntools.formats.text.reading import Reading
        from aligntools.ground.running import Run

        text, gold, _, _ = self._whole()
        known = self._known(read)
        how = {"reading": Reading(), "run": Run(threads=self.maps.pool)}
        model = train_with(text, AlignerSettings(), known=known, **how)
        found = {"pairs": len(text), "align": self._aer(model, text, gold)}
        base = train_base(text, network_for("all", None), AlignerSettings(), known=known, **how)
        model = train_contrastive_aligner(text, aligner=base, run=how["run"], encoder=None if known else False)
        return found | {"contrastive": self._aer(model, text, gold)}

    @staticmethod
    def _aer(model, text, gold):
        return _aer(_links(model, text)[: len(gold.sure)], gold)

    def _whole(self):
        """Return the text, its gold links, its words as they are written, and what the encoder knows of all pairs."""
        if self._read is None:
            from aligntools.encoding import knowledge
            from aligntools.formats.text.corpus import in_lower_case

            written, gold = _text(self.maps.o.data, self.name, self.pairs)
            measuring.note(f"the encoder reads {len(written)} pairs of {self.name}")
            member = knowledge.Member(self.maps.encoder, LAYERS, self.maps.without(language(self.name)))
            self._read = in_lower_case(written), gold, written, member.knowledge(written, self.maps.pool)
        return self._read

    def _known(self, read):
        """Return what is known where so many pairs are read: agreement is that of all, which a sample estimates."""
        from dataclasses import replace

        import numpy as np

        from aligntools.aligning.contrastive.evidence import Places
        from aligntools.aligning.evidence import Asked, Known, Said
        from aligntools.encoding import knowledge
        from aligntools.encoding.settings import EncoderSettings

        if read == 0:
            return None
        text, _, written, said = self._whole()
        if read is None or read >= len(text):
            own = {"encoder": Said({}, knowledge.priors(written, said), Places(said.given, said.odds))}
            return Known(own, Asked({"encoder": EncoderSettings(encoder=True)}), text)
        chosen = np.linspace(0, len(text) - 1, read).astype(np.int64)
        some = replace(said, given=said.given[chosen])
        return Known({"encoder": Said({}, knowledge.priors(knowledge.sample(written, read), some))})


def _text(data, name, pairs):
    """Return the gold pairs of a set and training text, so many pairs together, as they are written; and gold links."""
    from aligntools.formats.links.goldlinks import read_gold
    from aligntools.formats.text.bitext import read_bitext
    from aligntools.formats.text.memory_text import TextLines

    pair, part = name.split(".")
    sides = []
    for which in ("en", pair[3:]):
        with open(data / pair / f"{part}.{which}", encoding="utf-8") as file:
            lines = list(file)
        training = texts.TRAINING.get((pair, part), ("train",))[0]
        with gzip.open(data / pair / f"{training}.{which}.gz", "rt", encoding="utf-8", newline="\n") as file:
            sides.append(TextLines(lines + list(islice(file, max(pairs - len(lines), 0)))))
    return read_bitext(*sides, lowercase=False), read_gold(str(data / pair / f"{part}.wa"))


def _body(o, rows):
    names = dict.fromkeys(name for name, _ in rows)
    header = ["gold set, pairs of text", "command", *(f"{n:,} read" if n is not None else "all read" for n in READ)]
    table = [
        [f"{name}, {rows[name, 0]['pairs']:,}", command, *(f"{rows[name, n][key]:.1f}" for n in READ)]
        for name in names
        for key, command in (("align", "`align --encoder`"), ("contrastive", "`contrastive-align`"))
    ]
    text = (
        "AER in percent of the gold pairs, which stand before training text. *Read*: pairs that the encoder reads,"
        " evenly spread; 0: without it. Where it reads all pairs, its links count as evidence of their places too."
        " The map of states is learned from gold links of other languages; the network that judges links is the one"
        " that ships. Single runs.\n\n"
    )
    return f"{text}{report.table(header, table)}\n\n{report.circumstances(o.threads)}"
