"""Runs every kernel once on a few sentences."""

from dataclasses import replace
from pathlib import Path

from aligntools.aligning.applying.applier import Applier, decide
from aligntools.aligning.applying.costs import link_costs
from aligntools.aligning.applying.kernels_decoding import JOINT, MEAN
from aligntools.aligning.contrastive import warming as contrastive
from aligntools.aligning.links import symmetrize
from aligntools.aligning.models import registry
from aligntools.aligning.settings import AlignerSettings, ReconstructionSettings
from aligntools.aligning.training.reconstruction import reconstruct
from aligntools.aligning.training.stages import train
from aligntools.aligning.training.subwords import train_subwords
from aligntools.formats.links import pharaoh
from aligntools.formats.text import bitext, corpus
from aligntools.ground.parallel import Pool


def warm(folder: Path, pool: Pool) -> None:
    """Compile what ``align``, ``symmetrize`` and ``lexicon`` use; ``folder`` (a Path) is for small files.

    Inputs are long enough to pass the sizes below which uncompiled code serves.
    """
    lines = 4000
    text = folder / "text"
    text.write_text(
        "ein haus und noch ein haus 12 ||| one house and another house 12\n" * lines + "a b ||| b a\n" * lines * 6
    )
    read = bitext.read_bitext(joint=str(text))
    head = corpus.Bitext(
        corpus.Side(read.source.tokens[:700], read.source.offsets[:101]),
        corpus.Side(read.target.tokens[:600], read.target.offsets[:101]),
        read.source_vocabulary,
        read.target_vocabulary,
        corpus.Skipped(),
    )
    sizes = (len(head.source_vocabulary), len(head.target_vocabulary))
    for kind in registry.kinds():
        for form in kind.forms:
            settings = AlignerSettings(kind.name, views=(0,), **form).resolved(1000)
            models = train(head, settings, pool, 1_000_000)
            for _ in Applier(models, settings, sizes).posteriors(head, pool):
                pass
    settings = AlignerSettings(views=(0,)).resolved(1000)
    models = train(head, settings, pool, 1_000_000)
    contrastive.warm(head, settings, models, pool)
    reconstruct(head, list(models), settings, pool, 1_000_000, ReconstructionSettings(2, mre_smoothing=1.0))
    pieces = train_subwords(head, replace(settings, subwords=9), pool, 1_000_000)
    applier = Applier(models, settings, sizes, subwords=pieces)
    for _ in applier.posteriors(head, pool, viterbi=True):
        pass
    for posteriors in applier.posteriors(read, pool):
        for way in (MEAN, JOINT):
            pairs, offsets, p = decide(posteriors, way, 0.4, pool)
    links = pharaoh.Links(pairs, offsets)
    data = pharaoh.format_pharaoh(links, "target", None, compiled=True)
    pharaoh.format_pharaoh(links, "source", p, compiled=True)
    links = pharaoh.parse_pharaoh(data, compiled=True)
    link_costs(head, pharaoh.Links.from_lists([[]] * len(head)), None, pool)
    for flavor in ("atools", "symal"):
        symmetrize.symmetrize(links, links, "grow-diag-final-and", flavor, compiled=True)
