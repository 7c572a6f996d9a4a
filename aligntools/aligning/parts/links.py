"""The links of a part, as they are kept."""

from aligntools.aligning.alignments import Alignments
from aligntools.aligning.parts.work import PartedText
from aligntools.formats.links.pharaoh import Links


def links_name(part: int) -> str:
    """Return the name of a part's links."""
    return f"links.{part:06d}"


def save_links(work: PartedText, part: int, found: Alignments) -> None:
    """Keep the links of a part."""
    arrays = {name: getattr(found, name) for name in ("log_likelihood", "lengths", "probabilities")}
    for key, of in (("links", found.table), ("forward", found.forward_table), ("reverse", found.reverse_table)):
        if of is not None:
            arrays |= {f"{key}.pairs": of.pairs, f"{key}.offsets": of.offsets}
    work.store.write(links_name(part), **arrays)


def links_of(work: PartedText, part: int) -> Alignments:
    """Return the links of a part."""
    a = work.store.read_all(links_name(part))

    def table(key: str) -> Links | None:
        return Links(a[f"{key}.pairs"], a[f"{key}.offsets"]) if f"{key}.pairs" in a else None

    return Alignments(
        Links(a["links.pairs"], a["links.offsets"]),
        a["probabilities"],
        table("forward"),
        table("reverse"),
        a["log_likelihood"],
        a["lengths"],
        work.text(part).skipped,
    )
