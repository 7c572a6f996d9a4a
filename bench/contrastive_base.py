"""A gold set and the base model that contrastive alignment starts from, kept between runs."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from bench import code, measuring, texts
from bench.quality import HEURISTIC


def base_hash():
    """Return what tells two states of the base model's code apart, so that other work does not train it anew."""
    return code.of(commands=("align", "symmetrize"))


@dataclass
class Study:
    """A gold set, and the base model trained on its text, which is kept between runs."""

    o: object
    name: str
    pool: object

    @cached_property
    def text(self):
        """Return the text that the base model is trained on."""
        whole = texts.text(self.o.data, self.name, self.o.work)
        if whole.n_pairs <= self.o.pairs:
            return whole
        part = texts.beginning(whole, max(self.o.pairs, whole.n_gold), self.o.work)
        return replace(part, gold=whole.gold, n_gold=whole.n_gold)

    def _file(self, kind):
        return self.o.work / f"contrastive.{self.name}.{self.o.pairs}.{base_hash()}.{kind}"

    def base(self):
        """Train the base model unless it is there; return what it decides on: way -> file of links."""
        ways = {way: self._file(way) for way in ("joint", "forward", "reverse", HEURISTIC)}
        if not all(path.exists() for path in (self._file("atm"), *ways.values())):
            measuring.note(f"{self.name}: base model, {self.text.n_pairs} pairs")
            for old in self.o.work.glob(f"contrastive.{self.name}.{self.o.pairs}.*"):
                old.unlink()
            command = ["align", "-q", "--threads", self.o.threads, "-s", self.text.source, "-t", self.text.target]
            single = ["--forward-output", ways["forward"], "--reverse-output", ways["reverse"]]
            measuring.run(
                measuring.aligntools(*command, "-o", ways["joint"], *single, "--save-model", self._file("atm"))
            )
            both = ["symmetrize", "-c", HEURISTIC, "-i", ways["forward"], "-j", ways["reverse"]]
            measuring.run(measuring.aligntools(*both), ways[HEURISTIC])
        return ways

    @cached_property
    def model(self):
        """Return the base model."""
        from aligntools.aligning.model import AlignmentModel

        self.base()
        return AlignmentModel.load(self._file("atm"), self.pool)

    @cached_property
    def threshold(self):
        """Return what contrastive-align takes for the base model's own decision."""
        model = self.model
        return model.settings.threshold(len(model.views) + (model.subwords is not None))

    @cached_property
    def finder(self):
        """Return what finds candidates."""
        from aligntools.aligning.contrastive.candidates import CandidateFinder

        return CandidateFinder(self.model, self.pool)

    @cached_property
    def bitext(self):
        """Return the training text; the pairs with gold links come first."""
        from aligntools.formats.text.bitext import stream_bitext

        m, lines = self.model, self.text.n_pairs
        vocabularies = {"source_vocabulary": m.source_vocabulary, "target_vocabulary": m.target_vocabulary}
        files = str(self.text.source), str(self.text.target)
        return next(iter(stream_bitext(*files, **vocabularies, lowercase=m.lowercase, block_lines=lines)))

    @cached_property
    def gold_text(self):
        """Return the pairs with gold links."""
        from aligntools.formats.text.corpus import pick

        return pick(self.bitext, np.arange(self.text.n_gold))

    @cached_property
    def gold(self):
        """Return the gold links."""
        from aligntools.formats.links.goldlinks import read_gold

        return read_gold(str(self.text.gold), format="pharaoh")

    def links(self, finder, weights, evidence=()):
        """Return the links that weights find in the pairs with gold links."""
        from aligntools.aligning.contrastive.tasks import align
        from aligntools.formats.links.pharaoh import concatenate

        return concatenate([found.table for found in align(finder, self.gold_text, weights, self.pool, evidence)])

    def links_aer(self, finder, weights, evidence=()):
        """Return the AER of these links in percent."""
        from aligntools.metrics.aer import AerScore

        return 100 * AerScore.of(self.gold, self.links(finder, weights, evidence)).aer
