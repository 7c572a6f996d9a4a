"""What an encoder knows of a text in parts: each part's share of the pairs that it reads, by words."""

from dataclasses import dataclass, replace
from functools import cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from aligntools.encoding.settings import EncoderSettings

if TYPE_CHECKING:
    from aligntools.aligning.parts.training import Stages
    from aligntools.aligning.parts.work import Work
    from aligntools.encoding.knowledge import Member
    from aligntools.ground.parallel import Pool

#: What a run keeps of it: the name of the facts for a model's header.
KNOWN = "known"


@dataclass(frozen=True)
class Asking:
    """What jobs are told.

    Attributes
    ----------
    settings : EncoderSettings
    pairs : tuple of int
        Of each part.
    lowercase : bool
        Whether the text is put in lower case.
    """

    settings: EncoderSettings
    pairs: tuple[int, ...]
    lowercase: bool

    def rows(self, part: int) -> np.ndarray:
        """Return which pairs of a part are read: of the whole text so many, evenly spread."""
        total, first = sum(self.pairs), sum(self.pairs[:part])
        chosen = np.linspace(0, total - 1, self.settings.pairs_of(total)).astype(np.int64)
        return chosen[(chosen >= first) & (chosen < first + self.pairs[part])] - first


@cache
def _member(folder: str | None, layer: int | None) -> "Member":
    """Return the encoder, loaded once by each process."""
    from aligntools.encoding import knowledge

    return knowledge.member(folder, layer)


def ask_part(work: "Work", asking: Asking, part: int, pool: "Pool") -> None:
    """Keep what the encoder says of some pairs of a part: links of words, and how far words choose each other."""
    from aligntools.aligning.contrastive.noise import pick
    from aligntools.aligning.parts.words import SIDES
    from aligntools.aligning.parts.work import load_text, written_name
    from aligntools.encoding import knowledge
    from aligntools.formats.text.corpus import in_lower_case

    name, rows = f"{KNOWN}.{part:06d}", asking.rows(part)
    if work.store.has(name):
        return
    text = pick(load_text(work.store, written_name(*work.place(part))), rows)
    found = _member(asking.settings.folder, asking.settings.encoder_layer).knowledge(text, pool)
    whole = replace(found, mutual=1.0, chance=0.0)  # how far it is believed goes by all parts
    given = knowledge.priors(in_lower_case(text) if asking.lowercase else text, whole)
    facts = {
        "mutual": found.mutual,
        "chance": found.chance,
        "words": len(text.source.tokens) + len(text.target.tokens),
        "pairs": len(text),
        "links": len(found.given.strengths),
    }
    words = given.source_vocabulary, given.target_vocabulary
    work.store.write(
        name,
        facts,
        keys=given.lexical.keys,
        alphas=given.lexical.alphas,
        **{
            f"{side}.{what}": getattr(v, what)
            for side, v in zip(SIDES, words, strict=True)
            for what in ("blob", "starts")
        },
    )


def ask(work: "Work", asking: Asking, stages: "Stages") -> dict[str, Any]:
    """Ask about all parts and keep what is given to training; return what a model's header says of the encoder."""
    from aligntools.aligning.parts.given_pairs import keep_given
    from aligntools.aligning.parts.words import SIDES
    from aligntools.aligning.parts.work import written_name
    from aligntools.encoding.knowledge import Knowledge
    from aligntools.formats.links.given_links import concatenate_given
    from aligntools.formats.links.priors import Counted, Priors, combined
    from aligntools.words.vocabulary import Vocabulary

    store, parts = work.store, range(work.parts)
    names = [f"{KNOWN}.{part:06d}" for part in parts]
    if not store.has(KNOWN):
        stages.run("encoder", partial(ask_part, work, asking), parts)
        facts = [store.about(name) for name in names]
        words = max(sum(one["words"] for one in facts), 1)
        agreed = (sum(one[key] * one["words"] for one in facts) / words for key in ("mutual", "chance"))
        judged = Knowledge(concatenate_given([]), *agreed)
        found = []
        for name in names:
            a = store.read_all(name)
            source, target = (Vocabulary(a[f"{s}.blob"], a[f"{s}.starts"]) for s in SIDES)
            found.append(Priors(source, target, Counted(a["keys"], a["alphas"] * judged.belief)))
        if judged.belief:
            keep_given(work, combined(found))
        about = _member(asking.settings.folder, asking.settings.encoder_layer).about | {
            "pairs": sum(one["pairs"] for one in facts),
            "links": sum(one["links"] for one in facts),
            "agreement": round(judged.agreement, 4),
            "belief": round(judged.belief, 4),
        }
        store.write(KNOWN, about)
        _member.cache_clear()
    store.remove(*names, *(written_name(*work.place(part)) for part in parts))
    return store.about(KNOWN)
