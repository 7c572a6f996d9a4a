"""The links of a text in parts, decided on part by part with the whole text's model."""

from aligntools.aligning.applying.applier import CHUNK_CELLS, Applier
from aligntools.aligning.applying.decided import Decided, joined
from aligntools.aligning.applying.decisions import decided
from aligntools.aligning.models.base import LexicalModel
from aligntools.aligning.models.registry import kind_of
from aligntools.aligning.parts.passes import last_stage, part_fields
from aligntools.aligning.parts.table import PartTable
from aligntools.aligning.parts.work import ViewWork, Work
from aligntools.aligning.settings import Decisions
from aligntools.formats.links.pharaoh import Links
from aligntools.formats.text.corpus import Skipped
from aligntools.ground.parallel import Pool


def part_model(view_work: ViewWork, last: int, generation: int, part: int) -> LexicalModel:
    """Return a view's model of the whole text, of the words of a part alone."""
    part_table = PartTable(view_work, generation, part)
    of: type[LexicalModel] = kind_of(view_work.settings.model_type).load()
    return of.of_part(part_table, part_fields(part_table, last), last_stage(view_work, last).parameters())


def link_part(
    work: Work, models: tuple[tuple[int, int], ...], decisions: Decisions, directions: bool, part: int, pool: Pool
) -> None:
    """Decide on a part's links, and keep them.

    Parameters
    ----------
    models : tuple of (int, int)
        Of each view the last iteration, and the generation of the table.
    """
    name, store = f"links.{part:06d}", work.store
    if store.has(name):
        return
    text = work.text(part)
    views = [
        part_model(ViewWork(work, n, letters), last, generation, part)
        for n, (letters, (last, generation)) in enumerate(zip(work.settings.views or (), models, strict=True))
    ]
    sizes = len(text.source_vocabulary), len(text.target_vocabulary)
    applier = Applier(views, work.settings, sizes, CHUNK_CELLS)
    found = joined(list(decided(applier, text, decisions, pool, directions)))
    arrays = {name: getattr(found, name) for name in ("log_likelihood", "lengths", "probabilities")}
    for key, table in (("links", found.table), ("forward", found.forward_table), ("reverse", found.reverse_table)):
        if table is not None:
            arrays |= {f"{key}.pairs": table.pairs, f"{key}.offsets": table.offsets}
    store.write(name, **arrays)


def links_of(work: Work, part: int) -> tuple[Decided, Skipped]:
    """Return what was decided on a part, and what of it was skipped."""
    a = work.store.read_all(f"links.{part:06d}")

    def table(key: str) -> Links | None:
        return Links(a[f"{key}.pairs"], a[f"{key}.offsets"]) if f"{key}.pairs" in a else None

    found = Decided(
        Links(a["links.pairs"], a["links.offsets"]),
        a["probabilities"],
        table("forward"),
        table("reverse"),
        a["log_likelihood"],
        a["lengths"],
    )
    return found, work.text(part).skipped
