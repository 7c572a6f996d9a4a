"""An alignment model as a whole: vocabularies, settings and one model a view, on disk and in memory."""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from aligntools.aligning.models import kernels_fertility as kf
from aligntools.aligning.models import kernels_hmm as kh
from aligntools.aligning.models.base import LexicalModel
from aligntools.aligning.models.fertility import Fertility, FertilityCounts
from aligntools.aligning.models.hmm import Hmm
from aligntools.aligning.models.ibm import DiagonalIbm2, Ibm1, TableIbm2, tension_of
from aligntools.aligning.models.jumps import initial_jumps
from aligntools.aligning.models.lexical import lexicon_from_counts
from aligntools.aligning.models.position_tables import LONGEST, PositionTable
from aligntools.aligning.settings import AlignerSettings
from aligntools.aligning.subword_member import SubwordMember
from aligntools.aligning.text.cooccurrence import Table
from aligntools.aligning.text.kernels_look_alikes import BEST, KEY, LENGTH, LETTERS, SAME, TIERS
from aligntools.aligning.text.look_alikes import look_alike_keys
from aligntools.aligning.text.subwords import Subwords
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
from aligntools.ground.former_names import modern
from aligntools.ground.ranges import amounts
from aligntools.words.vocabulary import Vocabulary
from aligntools.words.white_space import SPLITS

KIND = "alignment"


@dataclass(frozen=True, eq=False)
class AlignmentModel:
    """What training gives and ``align -m`` takes.

    Attributes
    ----------
    settings : AlignerSettings, resolved
    source_vocabulary, target_vocabulary : Vocabulary
    views : list of LexicalModel
        One a view of the text.
    lowercase : bool
        Whether the text was put in lower case.
    length_ratio : float
        Target words a source word, in the training text.
    subwords : SubwordMember or None
        What links pieces of words.
    split : str
        What separated the words of the text; see `words.white_space`.
    encoder : dict or None
        Of what encoder the model learned words: its name, checksum and layers.
    decision : dict or None
        Weights of features by which links are decided on, where posteriors alone do not: what
        `contrastive.weights.Weights.text` has.
    """

    settings: AlignerSettings
    source_vocabulary: Vocabulary
    target_vocabulary: Vocabulary
    views: list[LexicalModel]
    lowercase: bool = True
    length_ratio: float = 1.0
    subwords: SubwordMember | None = None
    split: str = SPLITS[0]
    encoder: dict[str, Any] | None = None
    decision: dict[str, Any] | None = None

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
        header = {
            "settings": asdict(self.settings),
            "lowercase": self.lowercase,
            "split": self.split,
            "length_ratio": self.length_ratio,
            "members": [_about(m) for m in self.views],
        }
        if self.encoder is not None:
            header["encoder"] = self.encoder
        if self.decision is not None:
            header["decision"] = self.decision
        arrays = {
            "source.blob": self.source_vocabulary.blob,
            "source.starts": self.source_vocabulary.starts,
            "target.blob": self.target_vocabulary.blob,
            "target.starts": self.target_vocabulary.starts,
        }
        for n, m in enumerate(self.views):
            arrays.update({f"{n}.{name}": a for name, a in _arrays_of(m).items()})
        if self.subwords is not None:
            header["subwords"] = _about(self.subwords.model)
            arrays.update({f"subwords.{name}": a for name, a in _arrays_of_subwords(self.subwords).items()})
        write_model(path, KIND, header, arrays)

    @classmethod
    def load(cls, path, pool=None, verify=True) -> "AlignmentModel":
        """Read a model file.

        Raises
        ------
        ModelError
            When it is not one, or its parts do not fit together.
        """
        header, arrays = read_model(path, KIND, verify)
        with fitting(path):
            settings = _settings(header)
            source = hold_vocabulary(arrays, "source.blob", "source.starts")
            target = hold_vocabulary(arrays, "target.blob", "target.starts")
            views = [
                _view_model(about, _under(str(n), arrays), settings, source, target, pool)
                for n, about in enumerate(header["members"])
            ]
            ratio = hold_number(header, "length_ratio", amounts())
            subwords = _subwords(header["subwords"], _under("subwords", arrays), settings, pool) if (
                settings.subwords) else None  # fmt: skip
            split = header.get("split", SPLITS[0])  # older files have none
            if split not in SPLITS:
                raise ValueError(f"no splitting '{split}'")
            found = {name: dict(header[name]) for name in ("encoder", "decision") if name in header}
            return cls(settings, source, target, views, bool(header["lowercase"]), ratio, subwords, split, **found)


def _under(name, arrays):
    """Return the arrays whose names begin so, by the rest of their names."""
    return {k.removeprefix(f"{name}."): a for k, a in arrays.items() if k.startswith(f"{name}.")}


def _about(m):
    """Return what the header says of a member."""
    return {
        "view": m.view, "tiers": m.tiers.tolist(), "joint": len(m.counts) == 1, "sampler": isinstance(m, Fertility),
    }  # fmt: skip


def _settings(header):
    """Return the settings of a file, which are all there and in their ranges, and of the views that it has.

    Files of version 0.3 have no subwords, and views that do not agree.
    """
    found = modern(AlignerSettings, header["settings"])
    settings = AlignerSettings(**{"subwords": 0, "view_agreement": False} | found | {"views": tuple(found["views"])})
    if settings != settings.resolved(1) or [m["view"] for m in header["members"]] != list(settings.views):
        raise ValueError("settings")
    return settings


def _arrays_of_subwords(member):
    """Return the arrays of what links pieces, as the file names them: how words are cut, pieces, and their model's."""
    out = _arrays_of(member.model)
    words = member.model.words
    for name, subwords, pieces in (("source", member.source, words.s_words), ("target", member.target, words.t_words)):
        for kind, texts in (("merges", map(" ".join, subwords.merges)), ("pieces", pieces[1:])):
            vocabulary = Vocabulary.from_words(texts)
            out[f"{name}.{kind}.blob"], out[f"{name}.{kind}.starts"] = vocabulary.blob, vocabulary.starts
    return out


def _subwords(about, arrays, settings, pool):
    """Make what links pieces of its arrays."""
    merges, pieces = (
        [hold_vocabulary(arrays, f"{side}.{kind}.blob", f"{side}.{kind}.starts") for side in ("source", "target")]
        for kind in ("merges", "pieces")
    )
    cut = []
    for found in merges:
        pairs = [tuple(merge.split(" ")) for merge in found.words()[1:]]
        if any(len(pair) != 2 or "" in pair for pair in pairs):
            raise ValueError("merges are two pieces each")
        cut.append(Subwords(pairs))
    if about["view"]:
        raise ValueError("pieces are whole")
    return SubwordMember(*cut, _view_model(about, arrays, settings, *pieces, pool))


_SAMPLER = ("pairs", "words", "types", "null", "jump_rows", "fertility")


def _arrays_of(m):
    """Return a view's arrays as the file names them; jumps and tension stand in every file, whatever the model."""
    words = m.words
    out = {
        "s_map": words.s_map, "t_map": words.t_map, "s_keys": words.s_keys, "t_keys": words.t_keys,
        "s_null": m.s_null, "t_null": m.t_null, "p_null": m.p_null,
        "jumps": m.jumps if isinstance(m, Hmm) else initial_jumps(),
        "tension": tension_of(m),
    }  # fmt: skip
    for name in ("ptr", "ids", "types", "target_types"):
        out[f"table.{name}"] = getattr(m.table, name)
    for d, counts in enumerate(m.counts):
        out[f"counts.{d}"] = counts
    if m.view:
        for name in ("s_words", "t_words"):
            vocabulary = Vocabulary.from_words(getattr(words, name)[1:])
            out[f"{name}.blob"], out[f"{name}.starts"] = vocabulary.blob, vocabulary.starts
    if isinstance(m, TableIbm2):
        for d, positions in enumerate(m.positions):
            out[f"positions.{d}.shapes"], out[f"positions.{d}.values"] = positions.shapes, positions.values
    if isinstance(m, Fertility):
        for d, sampler in enumerate(m.sampler):
            out.update({f"sampler.{d}.{name}": getattr(sampler, name) for name in _SAMPLER})
            places = np.flatnonzero(sampler.jumps)  # most are 0
            out[f"sampler.{d}.jumps.places"] = places.astype(np.int32)
            out[f"sampler.{d}.jumps.values"] = sampler.jumps.ravel()[places]
    return out


def _check(arrays, sizes, joint, sampler):
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
    want = {
        "s_null": ((n_s + 1,), np.float32), "t_null": ((n_t + 1,), np.float32),
        "jumps": ((2, kh.JUMP_SIZE), np.float32),
        "table.types": ((n_s,), np.int32), "table.target_types": ((n_t,), np.int32),
    }  # fmt: skip
    want |= {f"counts.{d}": ((n_pairs,), np.float32) for d in range(1 if joint else 2)}
    for d, (given, observed) in enumerate(((n_s, n_t), (n_t, n_s)) if sampler else ()):
        shapes = (
            ((n_pairs,), np.float32), ((given + 1,), np.float64), ((given,), np.float32), ((observed + 1,), np.float64),
            ((given + 1,), np.int16), ((given, kf.FERTILITIES), np.float32),
        )  # fmt: skip
        want |= {f"sampler.{d}.{name}": shape for name, shape in zip(_SAMPLER, shapes, strict=True)}
    for name, (shape, kind) in want.items():
        hold(arrays, name, shape, kind, 0)


def _look_alikes(arrays, tiers, *words):
    """Return arrays and tiers as they are now; files of version 0.3 have four tiers, and keys that fit these."""
    tiers = np.array(tiers, np.float64)
    if tiers.shape != (4,):
        return arrays, tiers
    for name, one in zip(("s_keys", "t_keys"), words, strict=True):
        hold(arrays, name, (3, len(one) + 1), np.int32)
    _, symbols, same, beginning = tiers
    now = np.zeros(TIERS)
    now[SAME], now[BEST : BEST + 3] = max(symbols, same), beginning
    keys = (np.concatenate([look_alike_keys(w), np.zeros((1, KEY), np.int32)]) for w in words)
    return arrays | dict(zip(("s_keys", "t_keys"), keys, strict=True)), now


def _sampler_of(arrays, d):
    """Return the sampler's counts of one direction, whose other arrays were checked."""
    rows = arrays[f"sampler.{d}.jump_rows"]
    hold(arrays, f"sampler.{d}.jump_rows", rows.shape, np.int16, 0, int(rows[-1]))
    jumps = np.zeros((int(rows[-1]) + 3, 2 * kf.JUMPS + 2))  # the last row of words, the beginning's, that of all
    places = arrays[f"sampler.{d}.jumps.places"]
    hold(arrays, f"sampler.{d}.jumps.places", (places.size,), np.int32, 0, jumps.size - 1)
    jumps.ravel()[places] = hold(arrays, f"sampler.{d}.jumps.values", (places.size,), np.float64, 0)
    pairs, words, types, null, _, fertility = (arrays[f"sampler.{d}.{name}"] for name in _SAMPLER)
    return FertilityCounts(pairs, words, types, null, rows, jumps, fertility)


def _with_jump_rows(arrays, sizes):
    """Return a sampler's arrays as they are now; in files of version 0.3 the jumps from all words are the same."""
    found = dict(arrays)
    for d, given in enumerate(sizes):
        words, jumps = f"sampler.{d}.words", f"sampler.{d}.jumps"
        if jumps not in arrays:
            continue
        hold(arrays, words, (given + 2,), np.float64, 0)
        hold(arrays, jumps, (2 * kf.JUMPS + 1,), np.float64, 0)
        found[words], found[f"sampler.{d}.jump_rows"] = arrays[words][:-1], np.zeros(given + 1, np.int16)
        slots = 2 * kf.JUMPS + 2
        found[f"{jumps}.places"] = np.arange(2 * slots, 3 * slots, dtype=np.int32)
        found[f"{jumps}.values"] = np.append(arrays[jumps], arrays[words][-1])
    return found


def _positions(arrays, d):
    shapes, values = arrays[f"positions.{d}.shapes"], arrays[f"positions.{d}.values"]
    right = shapes.ndim == 2 and shapes.shape[1] == 2 and shapes.dtype == np.int32 and values.dtype == np.float32
    if not right or (len(shapes) and (shapes.min() < 1 or shapes.max() > LONGEST)):
        raise ValueError(f"positions.{d}.shapes")
    hold(arrays, f"positions.{d}.values", (shapes.astype(np.int64).prod(1).sum(),), np.float32, 0)
    return PositionTable(shapes, values)


def _view_model(about, arrays, settings, source, target, pool):
    """Make one view's model of its arrays."""
    if about["view"]:
        s_words, t_words = (
            hold_vocabulary(arrays, f"{name}.blob", f"{name}.starts").words() for name in ("s_words", "t_words")
        )
    else:
        s_words, t_words = source.words(), target.words()
    sizes = (len(source), len(target), len(s_words), len(t_words), len(arrays["table.ids"]))
    arrays, tiers = _look_alikes(arrays, about["tiers"], s_words, t_words)
    if about["sampler"]:
        arrays = _with_jump_rows(arrays, (len(s_words), len(t_words)))
    _check(arrays, sizes, about["joint"], about["sampler"])
    table = Table(*(arrays[f"table.{name}"] for name in ("ptr", "ids", "types", "target_types")))
    counts = [arrays[f"counts.{d}"] for d in range(1 if about["joint"] else 2)]
    hold({"tiers": tiers}, "tiers", (TIERS,), np.float64, 0)
    lexicon = lexicon_from_counts(table, counts[0], counts[-1], tiers, settings.alpha, settings.estimator == "vb", pool)
    keys = (arrays[name] for name in ("s_map", "t_map", "s_keys", "t_keys"))
    fields = {
        "words": ViewWords(about["view"], s_words, t_words, *keys), "table": table, "lexicon": lexicon,
        "counts": counts, "tiers": tiers, "s_null": arrays["s_null"], "t_null": arrays["t_null"],
        "p_null": arrays["p_null"],
    }  # fmt: skip
    if settings.model_type == "ibm1":
        return Ibm1(**fields)
    if settings.positions == "table":
        return TableIbm2(**fields, tension=arrays["tension"], positions=[_positions(arrays, d) for d in (0, 1)])
    if settings.model_type == "ibm2":
        return DiagonalIbm2(**fields, tension=arrays["tension"])
    if not about["sampler"]:
        return Hmm(**fields, jumps=arrays["jumps"])
    return Fertility(**fields, jumps=arrays["jumps"], sampler=[_sampler_of(arrays, d) for d in (0, 1)])
