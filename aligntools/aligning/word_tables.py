"""Tables of word probabilities, exchanged with other aligners.

A model can be made of the tables that another aligner wrote: IBM 2 with its words' probabilities and the diagonal
prior. And a model's own table can be written, in fast_align's form.
"""

from collections.abc import Iterable

import numpy as np

from aligntools.aligning.model import AlignmentModel
from aligntools.aligning.models.ibm2 import Ibm2
from aligntools.aligning.models.lexical import lexical_fields, lexicon_from_counts
from aligntools.aligning.settings import AlignerSettings
from aligntools.aligning.text.cooccurrence import Table
from aligntools.aligning.text.kernels_look_alikes import TIERS
from aligntools.aligning.text.views import view_words
from aligntools.formats.links.ttable import NULL, TTable
from aligntools.formats.opening.files import writing
from aligntools.words.vocabulary import Vocabulary
from aligntools.words.white_space import tell_unwritten, whole_words

#: Probability, in the other direction, of a pair that only one of the tables has.
LEAST = 1e-7
#: Least share of the smaller table that the other must have too; it is a third and more for tables of the same text,
#: and up to 5 % for others.
FEWEST = 0.1
#: Beams beyond this are cut to it: 32-bit numbers would be infinite.
_WIDEST = 1e30
_LINES = 100_000  # written at a time


def model_from_tables(forward: TTable, reverse: TTable, lowercase: bool = False) -> AlignmentModel:
    """Return a model that aligns by two tables, ``p(target | source)`` and ``p(source | target)``, each by itself.

    ``lowercase`` puts their words, and the text's, in lower case. ValueError when they have next to no pairs in common.
    """
    if lowercase:
        forward, reverse = forward.lowercased(), reverse.lowercased()
    sources = sorted((set(forward.given) | set(reverse.words)) - {NULL})
    targets = sorted((set(reverse.given) | set(forward.words)) - {NULL})
    one = _by_pair(forward, sources, targets)
    two = _by_pair(reverse, targets, sources)
    two = two[0] % (len(sources) + 1) * (len(targets) + 1) + two[0] // (len(sources) + 1), two[1]
    common = int(np.isin(one[0], two[0]).sum())
    if common <= FEWEST * min(len(one[0]), len(two[0])):
        raise ValueError(
            f"the two tables have {common} pairs of words in common; the second must be of the other direction"
        )
    keys = np.union1d(one[0], two[0])
    values = []
    for found, p in (one, two):
        column = np.full(len(keys), LEAST, np.float32)
        column[np.searchsorted(keys, found)] = np.maximum(p, LEAST)
        values.append(column)
    s, t = keys // (len(targets) + 1), keys % (len(targets) + 1)
    types = [np.bincount(side, minlength=n + 1).astype(np.int32) for side, n in ((s, len(sources)), (t, len(targets)))]
    table = Table(np.concatenate([[0], np.cumsum(types[0])]).astype(np.int64), t.astype(np.int32), *types)
    settings = AlignerSettings(model_type="ibm2", estimator="em", agreement=False, look_alike=False)
    settings = settings.resolved(len(keys))
    source, target = (Vocabulary.from_bytes(words) for words in (sources, targets))
    tiers = np.zeros(TIERS)
    lexicon = lexicon_from_counts(table, values[0], values[1], tiers, settings.alpha, False)
    nulls = _null(reverse, sources), _null(forward, targets), np.full(2, settings.p_null, np.float32)
    fields = lexical_fields(view_words(source, target, 0), table, lexicon, values, tiers, *nulls)
    model = Ibm2(**fields, tension=np.full(2, settings.tension))
    return AlignmentModel(settings, source, target, [model], lowercase=lowercase)


def _by_pair(table: TTable, given: list[bytes], words: list[bytes]) -> tuple[np.ndarray, np.ndarray]:
    """Return the pairs of words, ``given * (len(words) + 1) + word`` with words from 1 on, and their probabilities."""

    def places(names: Iterable[bytes], of: list[bytes]) -> np.ndarray:
        numbers = {word: n for n, word in enumerate(of, 1)}
        return np.array([numbers.get(name, 0) for name in names], np.int64)

    r = places(table.given, given)[table.keys // max(len(table.words), 1)]
    c = places(table.words, words)[table.keys % max(len(table.words), 1)]
    real = (r > 0) & (c > 0)
    return r[real] * (len(words) + 1) + c[real], table.probabilities[real]


def _null(table: TTable, words: list[bytes]) -> np.ndarray:
    """Return the words' probabilities under NULL; the table's, else that of a rare word. float32 [words + 2]."""
    p = table.lookup([NULL], words, 0.0)[0]
    least = p[p > 0].min() if (p > 0).any() else 1.0 / max(len(words), 1)
    return np.concatenate([[0], np.where(p > 0, p, least), [least]]).astype(np.float32)


def write_ttable(path: str, model: AlignmentModel, beam: float | None = None) -> None:
    """Write lines ``source TAB target TAB ln p(target | source)``, NULL as ``<eps>``, as fast_align's -p does.

    A reverse model (``direction`` reverse) gives ``target TAB source TAB ln p(source | target)``. With ``beam`` what is
    less probable than the source word's best to the power ``-beam`` is left out, as fast_align does.
    """
    m = model.views[0]
    reverse = model.settings.direction == "reverse"
    words, others = (m.words.t_words, m.words.s_words) if reverse else (m.words.s_words, m.words.t_words)
    null = np.log((m.s_null if reverse else m.t_null)[1 : len(others)])
    if beam is not None and not model.settings.p_null:
        null = null[:0]
    table, values = m.table, m.lexicon.reverse if reverse else m.lexicon.forward
    first = np.repeat(np.arange(table.n_source), np.diff(table.ptr))
    if reverse:
        order = np.lexsort((first, table.ids))
        first, second = table.ids[order], first[order]
        logs = np.log(values[order] * m.lexicon.t_inverse[first])
    else:
        second = table.ids
        logs = np.log(np.maximum(values * m.lexicon.s_inverse[first], 1e-38))
    fine = whole_words(words), whole_words(others)
    kept = _within(null, np.zeros(len(null), np.int64), beam)
    left_out, kept = int(np.count_nonzero(~fine[1][kept + 1])), kept[fine[1][kept + 1]]
    with writing(path) as file:
        file.write("".join(f"{NULL.decode()}\t{others[k + 1]}\t{null[k]:.6g}\n" for k in kept).encode())
        kept = _within(logs, first, beam)
        whole = fine[0][first[kept]] & fine[1][second[kept]]
        tell_unwritten(left_out + int(np.count_nonzero(~whole)))
        kept = kept[whole]
        for a in range(0, len(kept), _LINES):
            part = kept[a : a + _LINES]
            columns = zip(first[part], second[part], logs[part], strict=True)
            file.write("".join(f"{words[s]}\t{others[t]}\t{x:.6g}\n" for s, t, x in columns).encode())


def _within(logs: np.ndarray, rows: np.ndarray, beam: float | None) -> np.ndarray:
    """Return the places of those logarithms that are within the beam of the best of their row; rows ascend."""
    if beam is None or not len(logs):
        return np.arange(len(logs))
    starts = np.flatnonzero(np.diff(rows, prepend=-1))
    best, beam = np.maximum.reduceat(logs, starts), max(-_WIDEST, min(beam, _WIDEST))
    return np.flatnonzero(logs >= np.repeat(-beam * best, np.diff(np.append(starts, len(rows)))))
