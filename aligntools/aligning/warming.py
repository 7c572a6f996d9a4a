"""Runs every kernel once on a few sentences."""

from aligntools.aligning.applying.applier import Applier, decide
from aligntools.aligning.applying.kernels_decoding import JOINT
from aligntools.aligning.contrastive import warming as contrastive
from aligntools.aligning.links import symmetrize
from aligntools.aligning.settings import Reconstruction, Settings
from aligntools.aligning.training.reconstruction import reconstruct
from aligntools.aligning.training.stages import train
from aligntools.formats import bitext, pharaoh


def warm(folder, pool):
    """Compile what ``align``, ``symmetrize`` and ``lexicon`` use; ``folder`` (a Path) is for small files.

    Inputs are long enough to pass the sizes below which uncompiled code serves.
    """
    lines = 4000
    text = folder / "text"
    text.write_text(
        "ein haus und noch ein haus 12 ||| one house and another house 12\n" * lines + "a b ||| b a\n" * lines * 6
    )
    read = bitext.read_bitext(joint=str(text))
    head = bitext.Bitext(
        bitext.Side(read.source.tokens[:700], read.source.offsets[:101]),
        bitext.Side(read.target.tokens[:600], read.target.offsets[:101]),
        read.source_vocabulary, read.target_vocabulary, bitext.Skipped(),
    )  # fmt: skip
    sizes = (len(head.source_vocabulary), len(head.target_vocabulary))
    for model, joint in (("fertility", True), ("ibm2", False)):
        settings = Settings(model=model, joint=joint, views=(0,)).resolved(1000)
        members = train(head, settings, pool, 1_000_000)
        if joint:
            contrastive.warm(head, settings, members, pool)
            reconstruct(head, list(members), settings, pool, 1_000_000, Reconstruction(2, smoothing=1.0))
        for part in head, read:
            for posteriors in Applier(members, settings, sizes, pool).posteriors(part):
                pairs, offsets, p = decide(posteriors, JOINT, 0.4, pool)
    settings = Settings(model="ibm2", positions="table", joint=False).resolved(1000)
    tables = train(head, settings, pool, 1_000_000)
    for _ in Applier(tables, settings, sizes, pool).posteriors(head):
        pass
    for _ in Applier(members, Settings(model="hmm", views=(0,)), sizes, pool).posteriors(head, viterbi=True):
        pass
    links = pharaoh.Links(pairs, offsets)
    data = pharaoh.format_pharaoh(links, "target", None, compiled=True)
    pharaoh.format_pharaoh(links, "source", p, compiled=True)
    links = pharaoh.parse_pharaoh(data, compiled=True)
    for flavor in ("atools", "symal"):
        symmetrize.symmetrize(links, links, "grow-diag-final-and", flavor, compiled=True)
