"""The whole model of a text in parts, for files and for other text."""

import numpy as np

from aligntools.aligning.model import AlignmentModel
from aligntools.aligning.models.base import LexicalModel
from aligntools.aligning.models.lexical import LexicalFields, Lexicon, table_values
from aligntools.aligning.models.registry import kind_of
from aligntools.aligning.parts.passes import last_stage
from aligntools.aligning.parts.words import MARK, MOST_WORDS, SHARED
from aligntools.aligning.parts.work import PartedText, ViewWork
from aligntools.aligning.text.cooccurrence import Table, smoothed_shares
from aligntools.aligning.text.views import ViewWords, cut
from aligntools.ground import memory
from aligntools.ground.errors import ResourceError
from aligntools.ground.parallel import Pool
from aligntools.words.vocabulary import Vocabulary


def whole_model(work: PartedText, models: tuple[tuple[int, int], ...], lowercase: bool, pool: Pool) -> AlignmentModel:
    """Put a model together from what its parts and shards keep.

    Like any model it has all words of the text, so it takes memory for the whole table and the vocabularies.

    models: Of each view the last iteration, and the generation of the table.
    Raises ResourceError when there is not enough memory for it.
    """
    vocabularies = _whole_words(work, "source"), _whole_words(work, "target")
    views = [
        _view_model(ViewWork(work, number, letters), last, generation, vocabularies, pool)
        for number, (letters, (last, generation)) in enumerate(zip(work.settings.views, models, strict=True))
    ]
    tokens = [0, 0]
    for part in range(work.parts):
        text = work.text(part)
        tokens[0] += len(text.source.tokens)
        tokens[1] += len(text.target.tokens)
    return AlignmentModel(
        work.settings, vocabularies[0], vocabularies[1], views, lowercase, tokens[1] / max(tokens[0], 1)
    )


def _whole_words(work: PartedText, side: str) -> Vocabulary:
    """Return the words of one side of the text, in order of first occurrence."""
    words: dict[bytes, None] = {}
    for part in range(work.parts):
        memory.ask(0, "the model's words")
        vocabulary = getattr(work.text(part), f"{side}_vocabulary")
        words.update(dict.fromkeys(list(vocabulary.encoded())[1:]))
    return Vocabulary.from_bytes(list(words))


def _view_model(
    view_work: ViewWork, last: int, generation: int, vocabularies: tuple[Vocabulary, Vocabulary], pool: Pool
) -> LexicalModel:
    store, name, shards = view_work.store, view_work.name, range(view_work.shards())
    ids = np.concatenate([store.read(name("shard", generation, s), "ids")[0] for s in shards])
    memory.ask(len(ids) * (32 if kind_of(view_work.settings.model_type).last_pass else 16), "the model's table")
    ptr, size = [np.zeros(1, np.int64)], 0
    for shard in shards:
        (own,) = store.read(name("shard", generation, shard), "ptr")
        ptr.append(own[1:] + size)
        size += int(own[-1])
    table = Table(np.concatenate(ptr), ids, *store.read(name("layout", 0), "source.types", "target.types"))
    counts = [
        np.concatenate([store.read(name("values", last, s), f"whole{d}")[0] for s in shards])
        for d in range(view_work.arrays)
    ]
    s_inverse, t_inverse, floors, tiers = store.read(
        name("estimate", last), "s_inverse", "t_inverse", "floors", "tiers"
    )
    settings = view_work.settings
    values = [table_values(c, settings.alpha, settings.estimator == "vb", pool) for c in counts]
    s_counts, t_counts = store.read(name("vocabulary"), "source.counts", "target.counts")
    fields: LexicalFields = {
        "words": _words(view_work, vocabularies),
        "table": table,
        "counts": counts,
        "tiers": tiers,
        "lexicon": Lexicon(values[0], values[-1], s_inverse, t_inverse, float(floors[0]), floors),
        "s_null": smoothed_shares(np.append(s_counts, 0.0)),
        "t_null": smoothed_shares(np.append(t_counts, 0.0)),
        "p_null": np.full(2, settings.null_prior, np.float32),
    }
    of: type[LexicalModel] = kind_of(settings.model_type).load()
    return of.of_parts(view_work, fields, last_stage(view_work, last).parameters())


def _words(view_work: ViewWork, vocabularies: tuple[Vocabulary, Vocabulary]) -> ViewWords:
    """Return the view's words, and where each word of the text is among them."""
    if not view_work.letters and any(view_work.store.about(view_work.name("vocabulary"))["shared"]):
        raise ResourceError(
            f"a model of whole words has at most {MOST_WORDS} on a side, and the text has more; use `views=5`"
        )
    s_words, s_map, s_keys = _side_words(view_work, "source", vocabularies[0])
    t_words, t_map, t_keys = _side_words(view_work, "target", vocabularies[1])
    return ViewWords(view_work.letters, s_words, t_words, s_map, t_map, s_keys, t_keys)


def _side_words(view_work: ViewWork, side: str, vocabulary: Vocabulary) -> tuple[list[str], np.ndarray, np.ndarray]:
    """Return a side's words, where each word of the text is among them, and their look-alike keys."""
    blob, starts, keys = view_work.store.read(
        view_work.name("vocabulary"), f"{side}.blob", f"{side}.starts", f"{side}.keys"
    )
    words = Vocabulary(blob, starts).words()
    ids = {word: i for i, word in enumerate(words)}
    mapping = np.empty(len(vocabulary) + 1, np.int32)
    for i, word in enumerate(vocabulary.words()):
        own = cut(word, view_work.letters)
        known = ids.get(own)
        mapping[i] = ids[MARK + cut(own, SHARED)] if known is None else known
    mapping[-1] = len(words)
    return words, mapping, keys
