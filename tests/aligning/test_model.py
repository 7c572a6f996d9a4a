import itertools
import math
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aligntools.aligning.applying.applier import Applier, decide
from aligntools.aligning.applying.kernels_decoding import JOINT
from aligntools.aligning.applying.table_aligner import TableAligner, log_length
from aligntools.aligning.model import KIND, AlignmentModel
from aligntools.aligning.models import kernels_link_counts as kc
from aligntools.aligning.settings import AlignerSettings
from aligntools.aligning.training.stages import train
from aligntools.aligning.training.train_model import train_subwords
from aligntools.formats.links.ttable import TTable
from aligntools.formats.models.modelfile import read_model, write_model
from aligntools.formats.text.bitext import stream_bitext
from aligntools.formats.text.corpus import Bitext, Side, Skipped
from aligntools.ground.errors import ModelError
from aligntools.ground.parallel import Pool
from aligntools.words.vocabulary import Vocabulary

KINDS = {
    "fertility": dict(views=(0, 4), sweeps=4),
    "subwords": dict(views=(0, 4), sweeps=4, subwords=150),
    "fertility-apart": dict(views=(4,), sweeps=4, agreement=False),
    "hmm": dict(model_type="hmm", views=(5,)),
    "ibm2-apart": dict(model_type="ibm2", agreement=False, look_alike=False),
}


@pytest.fixture(scope="module")
def models(sample_bitext):
    out = {}
    with Pool(1) as pool:
        for name, choices in KINDS.items():
            settings = AlignerSettings(**choices).resolved(1)
            members = train(sample_bitext, settings, pool, 1_000_000)
            vocabularies = sample_bitext.source_vocabulary, sample_bitext.target_vocabulary
            pieces = train_subwords(sample_bitext, settings, pool, 1_000_000) if settings.subwords else None
            out[name] = AlignmentModel(settings, *vocabularies, members, True, 1.25, pieces)
    return out


def joined(parts):
    return [np.concatenate([p[n] for p in parts], axis=-1) for n in range(3)]


def each(model, bitext, **how):
    """Apply a model and keep each part's results before the next overwrites them."""
    sizes = len(model.source_vocabulary), len(model.target_vocabulary)
    cells = how.pop("cells", 1_000_000)
    out = []
    with Pool(1) as pool:
        for p in Applier(model.views, model.settings, sizes, cells, model.subwords).posteriors(bitext, pool, **how):
            n = p.cell_offsets[-1]
            out.append((p.forward[:n].copy(), p.reverse[:n].copy(), p.log_likelihood.copy()))
    return joined(out)


@pytest.mark.parametrize("name", ["fertility", "subwords", "fertility-apart", "hmm", "ibm2-apart"])
def test_a_sentence_has_the_same_posteriors_in_any_company(models, sample_bitext, name):
    model = models[name]
    whole = each(model, sample_bitext)
    for x, y in zip(whole, each(model, sample_bitext, cells=1), strict=True):  # each sentence a chunk
        np.testing.assert_array_equal(x, y)
    for x, y in zip(whole, each(model, sample_bitext, cells=5_000), strict=True):
        np.testing.assert_array_equal(x, y)
    for x, y in zip(whole, each(model, repeated(sample_bitext, 6)), strict=True):  # filled word by word, not looked up
        np.testing.assert_array_equal(x, y[..., : x.shape[-1]])


def repeated(bitext, times):
    sides = []
    for side in (bitext.source, bitext.target):
        lengths = np.tile(side.lengths(), times)
        sides.append(Side(np.tile(side.tokens, times), np.concatenate([[0], np.cumsum(lengths)])))
    return Bitext(*sides, bitext.source_vocabulary, bitext.target_vocabulary, Skipped())


def text(model, tmp_path, lines, **how):
    (tmp_path / "text").write_text("".join(line + "\n" for line in lines))
    blocks = list(
        stream_bitext(
            joint=str(tmp_path / "text"),
            source_vocabulary=model.source_vocabulary,
            target_vocabulary=model.target_vocabulary,
            **how,
        )
    )
    return blocks


def links(model, bitext):
    sizes = len(model.source_vocabulary), len(model.target_vocabulary)
    with Pool(1) as pool:
        (p,) = Applier(model.views, model.settings, sizes, subwords=model.subwords).posteriors(bitext, pool)
        pairs, offsets, probabilities = decide(p, JOINT, 0.4, pool)
    rows = zip(map(tuple, pairs.tolist()), probabilities.tolist(), strict=True)
    rows = list(rows)
    return [dict(rows[a:b]) for a, b in itertools.pairwise(offsets)]


@pytest.mark.parametrize("name", ["fertility", "subwords", "hmm", "fertility-apart"])
def test_words_that_the_model_does_not_know(models, tmp_path, name):
    """They are linked by where they stand, and by what they look like where two could be."""
    model = models[name]
    (bitext,) = text(
        model, tmp_path, ["das ist Zyrkonowsk und Brabulien . ||| this is Brabulien and Zyrkonowsk .", "Qwxy ||| Zvut"]
    )
    crossed, alone = links(model, bitext)
    assert (2, 4) in crossed
    assert (4, 2) in crossed
    assert (5, 5) in crossed
    assert set(alone) <= {(0, 0)}
    for x in each(model, bitext):
        assert np.isfinite(x).all()


@pytest.mark.parametrize("name", ["fertility", "subwords"])
def test_case_and_unknown_words_do_not_depend_on_the_block(models, tmp_path, name):
    model = models[name]
    lines = [
        "Der Zug fährt um acht Uhr ab . ||| The train leaves at eight o'clock .",
        *("Der Flugzeugträger fährt 77 Uhr ab ||| The aircraftcarrier leaves 77 o'clock", ""),
        *("Flugzeugträger Unbekannt Der ||| unknown The aircraftcarrier", "77 neue Brücken ||| 77 new bridges"),
    ]
    (whole,) = text(model, tmp_path, lines)
    expected = each(model, whole)
    single = text(model, tmp_path, lines, unbuffered=True)
    assert len(single) == len(lines)
    for x, y in zip(expected, joined([each(model, b) for b in single]), strict=True):
        np.testing.assert_array_equal(x, y)
    upside = text(model, tmp_path, lines[::-1], block_lines=2)
    for x, y in zip(expected[2], joined([each(model, b) for b in upside])[2], strict=True):
        np.testing.assert_array_equal(x, y[::-1])


@pytest.mark.parametrize("name", KINDS)
def test_unknown_words_do_not_depend_on_how_pairs_are_looked_up(models, tmp_path, monkeypatch, name):
    """Large blocks go through the index of words, small ones look pairs up one by one."""
    lines = [
        "Der Flugzeugträger fährt 77 Uhr ab ||| The aircraftcarrier leaves 77 o'clock",
        "Flugzeugträger Unbekannt Der ||| unknown The aircraftcarrier",
        "Der Zug fährt um acht Uhr ab . ||| The train leaves at eight o'clock .",
    ]
    (whole,) = text(models[name], tmp_path, lines)
    expected = each(models[name], whole)
    monkeypatch.setattr("aligntools.aligning.applying.applier.FEW_CELLS", 0)
    for x, y in zip(expected, each(models[name], whole), strict=True):
        np.testing.assert_array_equal(x, y)


#: Arrays that have to be as long as others.
SHORTENED = [
    *("0.table.ids", "source.starts", "0.table.ptr", "0.jumps", "0.s_null", "0.s_map", "0.s_keys", "0.p_null"),
    *("0.sampler.0.jumps.places", "0.sampler.0.jumps.values", "0.sampler.1.jump_rows", "0.sampler.1.words"),
    *("0.sampler.0.fertility", "0.table.types", "0.table.target_types", "1.sampler.0.pairs", "1.tension"),
]


@pytest.fixture
def damaged(models, tmp_path):
    """Save a model with other parts, its checksum right; return what loads it. Kernels do not check bounds."""

    def load(name, change):
        path = str(tmp_path / "model")
        models[name].save(path)
        write_model(path, KIND, *change(*read_model(path, KIND)))
        return partial(AlignmentModel.load, path)

    return load


@pytest.mark.parametrize(
    "change",
    [
        lambda h, a: (h, {k: v for k, v in a.items() if k != "0.table.ids"}),
        lambda h, a: (h, a | {"source.blob": a["source.blob"].astype(np.int64)}),
        lambda h, a: ({k: v for k, v in h.items() if k != "members"}, a),
        lambda h, a: (h | {"settings": h["settings"] | {"color": 3}}, a),
        lambda h, a: (h | {"members": [{}]}, a),
        lambda h, a: (h | {"members": 3}, a),
        lambda h, a: ([], a),
        *(lambda h, a, name=name: (h, a | {name: a[name][..., :-1]}) for name in SHORTENED),
    ],
)
def test_parts_that_do_not_fit_together(damaged, change):
    load = damaged("fertility", change)
    with pytest.raises(ModelError, match="damaged"):
        load()


@pytest.mark.parametrize(
    ("broken", "wrong"),
    [
        ({"source.merges": ["a b", "c"]}, {}), ({"target.merges": ["a b c"]}, {}), ({"source.merges": ["a "]}, {}),
        ({"source.pieces": ["a", "b"]}, {}), ({}, {"view": 4}), ({}, None),
    ],
)  # fmt: skip
def test_subwords_that_do_not_fit(damaged, broken, wrong):
    def change(header, arrays):
        for name, words in broken.items():
            vocabulary = Vocabulary.from_words(words)
            arrays |= {f"subwords.{name}.blob": vocabulary.blob, f"subwords.{name}.starts": vocabulary.starts}
        about = {k: v for k, v in header.items() if k != "subwords"}
        return about if wrong is None else header | {"subwords": header["subwords"] | wrong}, arrays

    load = damaged("subwords", change)
    with pytest.raises(ModelError, match="damaged"):
        load()


def put(array, at, value):
    array = array.copy()
    array[at] = value
    return array


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("jump_rows", lambda rows, _: put(rows, 1, -1)),
        ("jump_rows", lambda rows, _: put(rows, 1, rows[-1] + 1)),
        ("jump_rows", lambda rows, _: np.zeros_like(rows)),  # places of more rows than these
        ("jumps.places", lambda places, _: np.append(places[:-1], np.int32(-1))),
        ("jumps.places", lambda places, rows: put(places, -1, (int(rows[-1]) + 3) * (2 * kc.JUMPS + 2))),
        ("jumps.places", lambda places, _: places.astype(np.int64)),
        ("jumps.places", lambda places, _: places.reshape(-1, 1)),
        ("jumps.values", lambda values, _: -values),
    ],
)
def test_rows_of_jumps_are_rows_that_there_are(damaged, name, change):
    name, rows = f"1.sampler.0.{name}", "1.sampler.0.jump_rows"
    load = damaged("fertility", lambda header, arrays: (header, arrays | {name: change(arrays[name], arrays[rows])}))
    with pytest.raises(ModelError, match="damaged"):
        load()


def test_files_with_the_tiers_of_before_are_read(models, tmp_path):
    """Version 0.3 kept four tiers, and keys by equality and beginning: [3, words]."""
    path = str(tmp_path / "model")
    models["fertility"].save(path)
    header, arrays = read_model(path, KIND)
    for n, about in enumerate(header["members"]):
        about["tiers"] = [0.0, 0.5, 1.5, 0.25]
        for side in "st":
            name = f"{n}.{side}_keys"
            arrays[name] = np.zeros((3, len(arrays[name])), np.int32)
    write_model(path, KIND, header, arrays)
    for new, old in zip(AlignmentModel.load(path).views, models["fertility"].views, strict=True):
        assert new.tiers.tolist() == [0.0, 1.5, 0.0, 0.25, 0.25, 0.25, 0.0, 0.0]
        np.testing.assert_array_equal(new.words.s_keys, old.words.s_keys)
        np.testing.assert_array_equal(new.words.t_keys, old.words.t_keys)


def as_of_0_3(arrays):
    """Return a model's arrays as version 0.3 wrote them, when the jumps from all words were the same."""
    out = dict(arrays)
    for words in [name for name in arrays if name.endswith(".words")]:
        name = words.removesuffix("words")
        rows, values = out.pop(f"{name}jump_rows"), out.pop(f"{name}jumps.values")
        jumps = np.zeros((rows[-1] + 3, 2 * kc.JUMPS + 2))
        jumps.ravel()[out.pop(f"{name}jumps.places")] = values
        out[f"{name}jumps"], out[words] = jumps[-1, :-1].copy(), np.append(arrays[words], jumps[-1, -1])
    return out


def test_models_of_0_3_have_the_same_jumps_from_all_words(models, tmp_path):
    path = str(tmp_path / "model")
    models["fertility"].save(path)
    header, arrays = read_model(path, KIND)
    old = as_of_0_3(arrays)
    write_model(path, KIND, header, old)
    for now, then in zip(AlignmentModel.load(path).views, models["fertility"].views, strict=True):
        for a, b in zip(now.sampler, then.sampler, strict=True):
            np.testing.assert_array_equal(a.words, b.words)
            np.testing.assert_array_equal(a.jumps[-1], b.jumps[-1])
            assert not a.jumps[:-1].any()
            assert not a.jump_rows.any()
            assert len(a.jump_rows) == len(b.jump_rows)
    for name in ("0.sampler.0.jumps", "1.sampler.1.words"):
        for bad in (old[name][:-1], -1 - old[name], old[name].astype(np.float32), old[name][0]):
            write_model(path, KIND, header, old | {name: np.asarray(bad)})
            with pytest.raises(ModelError, match="damaged"):
                AlignmentModel.load(path)


WORDS = [b"a", b"b", b"c"]


def table_of(probabilities):
    given = {word: n for n, word in enumerate([b"<eps>", *WORDS])}
    words = {word: n for n, word in enumerate(WORDS)}
    return TTable(given, words, np.arange(12), np.array(probabilities))


def naive(p, given, observed, tension, p_null, use_null, ratio):
    total, path = log_length(len(observed), len(given), ratio), []
    for j, word in enumerate(observed, 1):
        if tension is None:
            prior = [1 / (len(given) + use_null)] * (len(given) + 1)
        else:
            weights = [math.exp(-tension * abs(i / len(given) - j / len(observed))) for i in range(1, len(given) + 1)]
            prior = [p_null, *((1 - p_null) * w / sum(weights) for w in weights)]
        scores = [q * p(c, word) for q, c in zip(prior, [b"<eps>", *given], strict=True)]
        first = 0 if use_null else 1
        total += math.log(sum(scores[first:]))
        path.append(max(range(first, len(scores)), key=lambda i: (scores[i], -i)) - 1)
    return path, total


sentences = st.lists(st.sampled_from([*WORDS, b"unknown"]), min_size=1, max_size=5)


@given(
    st.lists(st.integers(1, 1000), min_size=12, max_size=12),
    sentences, sentences, st.none() | st.floats(0.1, 14), st.floats(0.01, 0.9), st.booleans(),
)  # fmt: skip
def test_equals_enumeration(values, conditioning, observed, tension, p_null, use_null):
    probabilities = np.array(values) / 3000
    table = table_of(probabilities)

    def p(c, o):
        return probabilities[table.given[c] * 3 + table.words[o]] if c in table.given and o in table.words else 1e-9

    path, total = TableAligner(table, tension, p_null, use_null, 1.3).align(conditioning, observed)
    expected, log_probability = naive(p, conditioning, observed, tension, p_null, use_null, 1.3)
    assert total == pytest.approx(log_probability, rel=1e-9)
    for j, (i, wanted) in enumerate(zip(path.tolist(), expected, strict=True)):
        if i != wanted:  # no more than rounding may decide between two positions
            one, other = (p(b"<eps>" if x < 0 else conditioning[x], observed[j]) for x in (i, wanted))
            assert min(i, wanted) < 0 or one == other or tension is not None


def test_ties_and_no_probability():
    even = table_of([0.25] * 12)
    assert TableAligner(even).align([b"a", b"b"], [b"c"])[0].tolist() == [-1]
    assert TableAligner(even, use_null=False).align([b"a", b"b"], [b"c"])[0].tolist() == [0]
    assert TableAligner(even, tension=4.0).align([b"a", b"b"], [b"c", b"c"])[0].tolist() == [0, 1]
    nothing = TTable({}, {}, np.empty(0, np.int64), np.empty(0))
    path, total = TableAligner(nothing).align([b"a"], [b"b"])
    assert path.tolist() == [-1]
    assert math.isfinite(total)
