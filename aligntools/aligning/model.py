"""An alignment model as a whole: vocabularies, settings and one model a view, on disk and in memory."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from aligntools.aligning import evidence as known_evidence
from aligntools.aligning.applying.model_text import ModelText
from aligntools.aligning.evidence import OF_MODELS, About
from aligntools.aligning.models import kernels_jumps as kj
from aligntools.aligning.models.base import LexicalModel
from aligntools.aligning.models.jumps import initial_jumps
from aligntools.aligning.models.lexical import lexical_fields, lexicon_from_counts
from aligntools.aligning.models.registry import kind_of
from aligntools.aligning.parts.work import words_named
from aligntools.aligning.settings import AlignerSettings, ResolvedSettings
from aligntools.aligning.text.cooccurrence import Table
from aligntools.aligning.text.kernels_look_alikes import BEST, KEY, LENGTH, LETTERS, SAME, TIERS
from aligntools.aligning.text.look_alikes import look_alike_keys
from aligntools.aligning.text.subwords import Subwords, cut_sides
from aligntools.aligning.text.views import ViewWords
from aligntools.formats.models.modelfile import (
    fitting,
    hold,
    hold_number,
    hold_offsets,
    hold_sorted_rows,
    hold_vocabulary,
    read_model,
    write_model,
)
from aligntools.formats.text.corpus import Bitext, Side, Skipped, compacted
from aligntools.ground.declarations import modern
from aligntools.ground.parallel import Pool
from aligntools.ground.ranges import amounts
from aligntools.viewing.models import ModelView, WordList
from aligntools.words.vocabulary import AnyVocabulary, ExtendedVocabulary, Vocabulary
from aligntools.words.white_space import SPLITS

#: Weight of the pieces' posteriors; the views share the rest.
WEIGHT = 0.35


@dataclass(frozen=True, eq=False)
class SubwordMember:
    """The model of pieces.

    model: Its words are pieces.
    """

    source: Subwords
    target: Subwords
    model: LexicalModel

    @property
    def sizes(self) -> tuple[int, int]:
        """Sizes of the pieces' vocabularies, NULL among the pieces."""
        return len(self.model.words.s_words), len(self.model.words.t_words)

    def text(self, bitext: Bitext) -> tuple[ModelText, tuple[np.ndarray, np.ndarray]]:
        """Cut a text, as the model sees it; pieces that it does not know have higher ids.

        Returns where the pieces of each word of both sides begin, too: int64 [words + 1].
        """
        words, cuts, pieces = self.model.words, [], list[Any]()
        for side, subwords, ids in zip(
            bitext.sides, (self.source, self.target), (words.s_ids, words.t_ids), strict=True
        ):
            cut, new = numbered(*side, subwords, ids)
            cuts.append(cut)
            pieces.append(ExtendedVocabulary(range(len(ids)), new))  # type: ignore[arg-type]  # of which sizes are used
        source, target = cut_sides(*cuts)
        text = ModelText(self.model, Bitext(source, target, pieces[0], pieces[1], Skipped()), self.sizes)
        return text, (source.starts, target.starts)


def numbered(
    side: Side, vocabulary: AnyVocabulary, subwords: Subwords, known: dict[str, int]
) -> tuple[tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray], list[str]]:
    """Cut the words of a side and number the pieces: ``known`` ones keep their numbers, new ones follow.

    Returns what `cut_sides` takes of a side; and pieces that were not known.
    """
    used, tokens = compacted(side.tokens)
    sizes, ids, pieces = subwords.cut([vocabulary.word(word) for word in used.tolist()])
    new: dict[str, int] = {}
    numbers = [known[p] if p in known else new.setdefault(p, len(known) + len(new)) for p in pieces]
    return (tokens, side.offsets, sizes, np.array(numbers, np.int32)[ids]), list(new)


KIND = "alignment"


@dataclass(frozen=True, eq=False)
class AlignmentModel:
    """What training gives and ``align -m`` takes.

    length_ratio, split: Target words for each source word of the training text; what separated its words.
    evidence, decision: What kinds of evidence say of themselves; the `Weights.text` of what decides on links.
    before, words: The model that it was adapted from, and then the words of its text, both sides together.
    """

    settings: ResolvedSettings
    source_vocabulary: Vocabulary
    target_vocabulary: Vocabulary
    views: list[LexicalModel]
    lowercase: bool = True
    length_ratio: float = 1.0
    subwords: SubwordMember | None = None
    split: str = SPLITS[0]
    evidence: Mapping[str, About] = field(default_factory=dict)
    decision: dict[str, Any] | None = None
    before: "AlignmentModel | None" = None
    words: int = 0

    @property
    def chain(self) -> "list[AlignmentModel]":
        """The model, the one that it was adapted from, and so on."""
        return [self, *(self.before.chain if self.before else [])]

    @property
    def usual_threshold(self) -> float:
        """The posterior that a link must exceed, where nothing else is asked for."""
        return self.settings.threshold(len(self.views) + (self.subwords is not None))

    @property
    def sizes(self) -> tuple[int, int]:
        """Sizes of the vocabularies, NULL among the words; higher ids are words that the model does not know."""
        return len(self.source_vocabulary), len(self.target_vocabulary)

    def save(self, path: str) -> None:
        """Write the model file."""
        write_model(path, KIND, *self._parts())

    def _parts(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        header: dict[str, Any] = {
            "settings": asdict(self.settings),
            "lowercase": self.lowercase,
            "split": self.split,
            "length_ratio": self.length_ratio,
            "members": [_about(m) for m in self.views],
        }
        header |= self.evidence
        if self.decision is not None:
            header["decision"] = self.decision
        arrays = words_named("source", self.source_vocabulary) | words_named("target", self.target_vocabulary)
        for n, m in enumerate(self.views):
            arrays.update({f"{n}.{name}": a for name, a in _arrays_of(m).items()})
        if self.subwords is not None:
            header["subwords"] = _about(self.subwords.model)
            arrays.update({f"subwords.{name}": a for name, a in _arrays_of(self.subwords.model).items()})
            of, words = self.subwords, self.subwords.model.words
            for side, cuts, pieces in (("source", of.source, words.s_words), ("target", of.target, words.t_words)):
                for kind, texts in (("merges", map(" ".join, cuts.merges)), ("pieces", pieces[1:])):
                    arrays |= words_named(f"subwords.{side}.{kind}", Vocabulary.from_words(texts))
        if self.before is not None:
            header["words"] = self.words
            header["before"], more = self.before._parts()
            arrays.update({f"before.{name}": a for name, a in more.items()})
        return header, arrays

    @classmethod
    def load(cls, path: str, pool: Pool | None = None, verify: bool = True) -> "AlignmentModel":
        """Read a model file.

        Raises ModelError when it is not one, or its parts do not fit together.
        """
        header, arrays = read_model(path, KIND, verify)
        with fitting(path):
            return cls._of_parts(header, arrays, pool)

    @classmethod
    def _of_parts(cls, header: dict[str, Any], arrays: dict[str, np.ndarray], pool: Pool | None) -> "AlignmentModel":
        """Make a model of a file's header and arrays; ValueError and the like where they do not fit."""
        settings = _settings(header)
        source = hold_vocabulary(arrays, "source")
        target = hold_vocabulary(arrays, "target")
        views = [
            _view_model(about, _under(str(n), arrays), settings, source, target, pool)
            for n, about in enumerate(header["members"])
        ]
        ratio = hold_number(header, "length_ratio", amounts())
        subwords = (
            _subwords(header["subwords"], _under("subwords", arrays), settings, pool) if (settings.subwords) else None
        )
        split = header.get("split", SPLITS[0])  # older files have none
        if split not in SPLITS:
            raise ValueError(f"no splitting '{split}'")
        decision = dict(header["decision"]) if "decision" in header else None
        known = {name: about for name, about in header.items() if name not in OF_MODELS and isinstance(about, dict)}
        before, words = None, 0
        if "before" in header:
            before = cls._of_parts(header["before"], _under("before", arrays), pool)
            words = int(hold_number(header, "words", amounts()))
        lowercase = bool(header["lowercase"])
        return cls(settings, source, target, views, lowercase, ratio, subwords, split, known, decision, before, words)


def _under(name: str, arrays: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return the arrays whose names begin with a prefix, by the rest of their names."""
    return {k.removeprefix(f"{name}."): a for k, a in arrays.items() if k.startswith(f"{name}.")}


def _about(m: LexicalModel) -> dict[str, Any]:
    about = {"view": m.letters, "tiers": m.tiers.tolist(), "joint": len(m.counts) == 1, "sampler": False}
    return about | m.about()


def _settings(header: dict[str, Any]) -> ResolvedSettings:
    """Return the settings of a file, which are all there and in their ranges, and of the views that it has.

    Files of version 0.3 have no subwords, and views that do not agree.
    """
    found = modern(AlignerSettings, header["settings"])
    settings = ResolvedSettings(**{"subwords": 0, "view_agreement": False} | found | {"views": tuple(found["views"])})
    if settings != settings.resolved(1) or [m["view"] for m in header["members"]] != list(settings.views):
        raise ValueError("settings")
    return settings


def _subwords(
    about: dict[str, Any], arrays: dict[str, np.ndarray], settings: ResolvedSettings, pool: Pool | None
) -> SubwordMember:
    merges, pieces = (
        [hold_vocabulary(arrays, f"{side}.{kind}") for side in ("source", "target")] for kind in ("merges", "pieces")
    )
    cut = []
    for found in merges:
        pairs = [merge.split(" ") for merge in found.words()[1:]]
        if any(len(pair) != 2 or "" in pair for pair in pairs):
            raise ValueError("merges are two pieces each")
        cut.append(Subwords([(first, second) for first, second in pairs]))
    if about["view"]:
        raise ValueError("pieces are whole")
    (source, target), (s_pieces, t_pieces) = cut, pieces
    return SubwordMember(source, target, _view_model(about, arrays, settings, s_pieces, t_pieces, pool))


def _arrays_of(m: LexicalModel) -> dict[str, np.ndarray]:
    """Return a view's arrays as the file names them; jumps and tension stand in every file, whatever the model."""
    words = m.words
    out = {
        "s_map": words.s_map,
        "t_map": words.t_map,
        "s_keys": words.s_keys,
        "t_keys": words.t_keys,
        "s_null": m.s_null,
        "t_null": m.t_null,
        "p_null": m.p_null,
        "jumps": initial_jumps(),
        "tension": np.zeros(2),
    }
    for name in ("ptr", "ids", "types", "target_types"):
        out[f"table.{name}"] = getattr(m.table, name)
    for d, counts in enumerate(m.counts):
        out[f"counts.{d}"] = counts
    if m.letters:
        for name in ("s_words", "t_words"):
            out |= words_named(name, Vocabulary.from_words(getattr(words, name)[1:]))
    return out | m.arrays()


def _check(arrays: dict[str, np.ndarray], sizes: tuple[int, int, int, int, int], joint: bool) -> None:
    """Hold a view's arrays against what kernels trust: shapes, types, ids within the vocabularies, no negative counts.

    The table's rows are cut by ascending offsets, and ascend themselves. ValueError names the first misfit.
    """
    n_vocabulary, n_other, n_s, n_t, n_pairs = sizes
    ids = {"s_map": (n_vocabulary + 1, n_s), "t_map": (n_other + 1, n_t), "table.ids": (n_pairs, n_t - 1)}
    for name, (size, last) in ids.items():
        hold(arrays, name, (size,), np.int32, 0, last)
    for name, n in (("s_keys", n_s), ("t_keys", n_t)):
        hold(arrays, name, (n + 1, KEY), np.int32)
        hold({name: arrays[name][:, LENGTH]}, name, (n + 1,), np.int32, 0, LETTERS)
    hold(arrays, "p_null", (2,), np.float32, 0, 1)
    hold(arrays, "tension", (2,), np.float64, -1000, 1000)
    hold_sorted_rows(arrays, "table.ids", hold_offsets(arrays, "table.ptr", n_s, n_pairs))
    want: dict[str, tuple[tuple[int, ...], type[np.generic]]] = {
        "s_null": ((n_s + 1,), np.float32),
        "t_null": ((n_t + 1,), np.float32),
        "jumps": ((2, kj.JUMP_SIZE), np.float32),
        "table.types": ((n_s,), np.int32),
        "table.target_types": ((n_t,), np.int32),
    }
    want |= {f"counts.{d}": ((n_pairs,), np.float32) for d in range(1 if joint else 2)}
    for name, (shape, kind) in want.items():
        hold(arrays, name, shape, kind, 0)


def _look_alikes(
    arrays: dict[str, np.ndarray], given: list[float], *words: list[str]
) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Return arrays and tiers as they are now; files of version 0.3 have four tiers, and keys that fit these."""
    tiers = np.array(given, np.float64)
    if tiers.shape != (4,):
        return arrays, tiers
    for name, one in zip(("s_keys", "t_keys"), words, strict=True):
        hold(arrays, name, (3, len(one) + 1), np.int32)
    _, symbols, same, beginning = tiers
    now = np.zeros(TIERS)
    now[SAME], now[BEST : BEST + 3] = max(symbols, same), beginning
    keys = (np.concatenate([look_alike_keys(w), np.zeros((1, KEY), np.int32)]) for w in words)
    return arrays | dict(zip(("s_keys", "t_keys"), keys, strict=True)), now


def _view_model(
    about: dict[str, Any],
    arrays: dict[str, np.ndarray],
    settings: ResolvedSettings,
    source: Vocabulary,
    target: Vocabulary,
    pool: Pool | None,
) -> LexicalModel:
    if about["view"]:
        s_words, t_words = (hold_vocabulary(arrays, name).words() for name in ("s_words", "t_words"))
    else:
        s_words, t_words = source.words(), target.words()
    sizes = (len(source), len(target), len(s_words), len(t_words), len(arrays["table.ids"]))
    arrays, tiers = _look_alikes(arrays, about["tiers"], s_words, t_words)
    _check(arrays, sizes, about["joint"])
    table = Table(*(arrays[f"table.{name}"] for name in ("ptr", "ids", "types", "target_types")))
    counts = [arrays[f"counts.{d}"] for d in range(1 if about["joint"] else 2)]
    hold({"tiers": tiers}, "tiers", (TIERS,), np.float64, 0)
    lexicon = lexicon_from_counts(table, counts[0], counts[-1], tiers, settings.alpha, settings.estimator == "vb", pool)
    s_map, t_map, s_keys, t_keys = (arrays[name] for name in ("s_map", "t_map", "s_keys", "t_keys"))
    words = ViewWords(about["view"], s_words, t_words, s_map, t_map, s_keys, t_keys)
    nulls = (arrays[name] for name in ("s_null", "t_null", "p_null"))
    fields = lexical_fields(words, table, lexicon, counts, tiers, *nulls)
    model: LexicalModel = kind_of(settings.model_type).load().from_arrays(fields, arrays, about, settings)
    return model


# What an alignment model learned, in numbers to look at: what it shows of itself, each word's best translations


def model_view(model: "AlignmentModel", title: str, words: int, best: int) -> ModelView:
    """Return what a model learned of whole words (of its first view, if it has no such view).

    words: The most frequent words of each side that translations and fertilities are given of.
    best: Translations of each.
    """
    view = next((m for m in model.views if m.letters == 0), model.views[0])
    s, p_null = model.settings, ", ".join(f"{x:.3f}" for x in view.p_null)
    settings: list[list[Any]] = [
        ["model", s.model_type],
        ["views", ", ".join("whole words" if v == 0 else f"first {v} letters" for v in s.views)],
        *([["merges of subwords", s.subwords]] if s.subwords else []),
        ["source words", len(view.words.s_words) - 1],
        ["target words", len(view.words.t_words) - 1],
        ["word pairs in the table", len(view.table.ids)],
        ["probability of NULL, forward and reverse", p_null],
        ["target words per source word", f"{model.length_ratio:.3f}"],
    ]
    for name, about in model.evidence.items():
        kinds = known_evidence.KINDS
        kind = kinds[name].about if name in kinds else f"evidence of the kind {name}"
        settings.append([kind, str(about.get("name"))])
    if model.decision is not None:
        settings.append(["links are decided on by", "the network that judges links"])
    settings.extend(view.facts())
    lists = [_word_list(view, d, words, best) for d in (0, 1) if words]
    notes = []
    for side, known in zip(lists, (view.words.s_words, view.words.t_words), strict=False):
        if len(known) - 1 > len(side.words):
            notes.append(f"The {len(side.words):,} most frequent of {len(known) - 1:,} {side.name}.")
    if view.letters:
        notes.append(f"Words are cut to their first {view.letters} letters, as in the model's first view.")
    return ModelView(title, settings, view.charts(), words=lists, notes=notes)


def _word_list(view: LexicalModel, d: int, words: int, best: int) -> WordList:
    """Return the most frequent words of one side, with their best translations."""
    table, lexicon, way = view.table, view.lexicon, -1 if d else 1
    own, others = (view.words.s_words, view.words.t_words)[::way]
    counts = (table.column_sums if d else table.row_sums)(view.counts[-1 if d else 0])
    counts[0] = -1  # NULL
    chosen = np.argsort(-counts, kind="stable")[: min(words, len(own) - 1)]
    rank = np.full(len(own), -1, np.int64)
    rank[chosen] = np.arange(len(chosen))
    rows = np.repeat(np.arange(table.n_source, dtype=np.int32), np.diff(table.ptr))
    given, observed = (rows, table.ids)[::way]
    places = np.flatnonzero(rank[given] >= 0)
    of, inverse = ((lexicon.forward, lexicon.s_inverse), (lexicon.reverse, lexicon.t_inverse))[d]
    values = of[places] * inverse[given[places]]
    order = np.lexsort((-values, rank[given[places]]))
    numbers, values, places = rank[given[places]][order], values[order], places[order]
    starts = np.searchsorted(numbers, np.arange(len(chosen) + 1))
    translations: list[list[list[Any]]] = []
    for a, b in zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True):
        part = slice(a, min(b, a + best))
        pairs = zip(observed[places[part]].tolist(), values[part].tolist(), strict=True)
        translations.append([[others[k], p] for k, p in pairs if p >= 1e-4])
    name, other = ("source words", "target words")[::way]
    shown, shares = [own[k] for k in chosen.tolist()], view.word_shares(d, chosen)
    return WordList(name, other[:-1], shown, translations, counts[chosen].tolist(), shares, 1 - d)
