"""Language models, grammars, translators and tuning from Python."""

import math
import pickle
import re
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import aligntools as at
from aligntools.ground.parallel import Pool
from aligntools.translating import translation_files
from aligntools.translating import translator as translation
from tests.cli.running import ran, run
from tests.places import SAMPLES

TEXT = SAMPLES / "de-en.en"


@pytest.fixture(scope="module")
def model():
    return at.train_lm(TEXT, order=3)


@pytest.fixture(scope="module")
def texts():
    """Return the first sentences of the samples and an alignment of them, by their order in the sentence."""
    source = (SAMPLES / "de-en.de").read_text(encoding="utf-8").splitlines()[:40]
    target = (SAMPLES / "de-en.en").read_text(encoding="utf-8").splitlines()[:40]
    links = [
        " ".join(f"{i}-{i}" for i in range(min(len(s.split()), len(t.split()))))
        for s, t in zip(source, target, strict=True)
    ]
    return source, target, links


@pytest.fixture(scope="module")
def grammar(texts):
    return at.extract_grammar(*texts, max_span=5)


@pytest.fixture(scope="module")
def translator(grammar, model):
    return at.Translator(grammar, model, pop_limit=20, threads=1)


def unnumbered(forests):
    return re.sub(rb'"rule": \d+', b'"rule": ', forests)


def lines(translations):
    return [str(translation) for translation in translations]


# Language models


def test_language_models_and_their_texts(model, tmp_path):
    model.save(tmp_path / "a.arpa", "arpa")
    ran("train-lm", "-q", "-n", 3, TEXT, "-o", tmp_path / "b.arpa")
    assert (tmp_path / "a.arpa").read_bytes() == (tmp_path / "b.arpa").read_bytes()
    ran("train-lm", "-q", "-n", 3, "--format", "binary", TEXT, "-o", tmp_path / "b.lm")
    ran("train-lm", "-q", "-n", 3, "--binary", tmp_path / "old.lm", TEXT)
    model.save(tmp_path / "a.lm")
    assert (tmp_path / "a.lm").read_bytes() == (tmp_path / "b.lm").read_bytes() == (tmp_path / "old.lm").read_bytes()
    sentences = TEXT.read_text(encoding="utf-8").splitlines()
    for text in (str(TEXT), sentences, [line.split() for line in sentences], iter(sentences), [Path(TEXT)]):
        other = at.train_lm(text, order=3)
        assert np.array_equal(other.ngrams.keys, model.ngrams.keys)
        assert np.array_equal(other.ngrams.values, model.ngrams.values)
    text = (SAMPLES / "fr-en.en").read_text(encoding="utf-8").splitlines()[:20]
    each = list(model.score_lines(text))
    assert [s.log_probability for s in each] == pytest.approx([model.score(line) for line in text], rel=1e-5)
    found = model.perplexity(text)
    assert found.log_probability == pytest.approx(sum(s.log_probability for s in each))
    assert float(found) == pytest.approx(math.exp(-found.log_probability / (found.words + found.sentences)))
    assert (found.unknown, found.words) == (sum(s.unknown for s in each), sum(s.words for s in each))
    assert each[0].perplexity == pytest.approx(math.exp(-each[0].log_probability / (each[0].words + 1)))


def test_a_language_model_is_loaded(model, tmp_path):
    model.save(tmp_path / "m")
    model.save(tmp_path / "m.arpa", "arpa")
    text = TEXT.read_text(encoding="utf-8").splitlines()[:30]
    expected = [model.score(line) for line in text]
    for other in (at.load(tmp_path / "m"), at.LanguageModel.load(tmp_path / "m.arpa")):
        assert (other.order, len(other), other.counts) == (model.order, len(model), model.counts)
        assert [other.score(line) for line in text] == pytest.approx(expected, rel=1e-5)
    with pytest.raises(at.UsageProblem, match="no n-grams"):
        at.load(tmp_path / "m").save(tmp_path / "x", "arpa")
    with pytest.raises(AttributeError):
        model.order = 4


def test_settings_of_a_language_model():
    text = ["A b", "a b", "a B", "a b a b"]
    assert len(at.train_lm(text, order=2, lowercase=True)) < len(at.train_lm(text, order=2))
    assert at.train_lm(text, order=2, prune=[0, 1]).counts[1] < at.train_lm(text, order=2).counts[1]
    assert len(at.train_lm(["a <s> b"], order=1, skip_symbols=True)) == 5
    with pytest.raises(at.DataError, match="the word <s>"):
        at.train_lm(["a <s> b"], order=1)
    for wrong in ({"order": 0}, {"prune": [1]}, {"prune": [0, 2, 1]}, {"order": 2, "prune": [0, 0, 0]}):
        with pytest.raises(at.UsageProblem):
            at.train_lm(text, **wrong)
    with pytest.raises(at.DataError, match="has no words"):
        at.train_lm([""])
    steps = []
    at.train_lm(["a b", "", "b"], order=2, progress=steps.append)
    assert [(s.stage, s.done, s.total) for s in steps] == [("counting", 1, 2), ("estimating", 2, 2)]
    assert (steps[0].figures["sentences"], steps[0].figures["blank"]) == (2, 1)


# Grammars


def test_a_grammar_is_what_the_command_writes(texts, tmp_path):
    source, target, links = texts
    for name, rows in (("s", source), ("t", target), ("a", links)):
        (tmp_path / name).write_text("".join(row + "\n" for row in rows), encoding="utf-8")
    ran("extract-grammar", "-q", "-s", "s", "-t", "t", "-a", "a", "-o", "g", "--max-span", 5, cwd=tmp_path)
    pairs = [[tuple(map(int, link.split("-"))) for link in line.split()] for line in links]
    files = tmp_path / "s", str(tmp_path / "t"), tmp_path / "a"
    for given in (texts, (source, [t.split() for t in target], pairs), files):
        at.extract_grammar(*given, max_span=5, threads=1).save(tmp_path / "own")
        assert (tmp_path / "own").read_bytes() == (tmp_path / "g").read_bytes()
    ones = [[(i + 1, j + 1) for i, j in row] for row in pairs]
    at.extract_grammar(source, target, ones, max_span=5, index_base=1).save(tmp_path / "own")
    assert (tmp_path / "own").read_bytes() == (tmp_path / "g").read_bytes()


def test_rules_can_be_read_and_grammars_written(grammar, tmp_path):
    rule = grammar[0]
    assert rule == grammar[-len(grammar)]
    assert set(rule.features) == set(grammar.feature_names)
    assert str(rule).startswith(f"[X] ||| {' '.join(rule.source)} ||| {' '.join(rule.target)} ||| PhraseEgivenF=")
    with pytest.raises(IndexError):
        grammar[len(grammar)]
    for format in ("hiero", "binary"):
        grammar.save(tmp_path / format, format)
        other = at.Grammar.load(tmp_path / format)
        assert (len(other), other[5], other.feature_names) == (len(grammar), grammar[5], grammar.feature_names)
    assert len(at.load(tmp_path / "binary")) == len(grammar)
    assert pickle.loads(pickle.dumps(grammar))[7] == grammar[7]
    with pytest.raises(AttributeError):
        grammar.rules = None
    with pytest.raises(at.UsageProblem, match="no format"):
        grammar.save(tmp_path / "x", "xml")


def test_filtering_and_what_no_grammar_is_extracted_from(grammar, texts, tmp_path):
    text = texts[0][:3]
    few = at.filter_grammar(grammar, text)
    fewer = at.filter_grammar(grammar, text, span_limit=5)
    assert 0 < len(fewer) < len(few) < len(grammar)
    grammar.save(tmp_path / "g")
    assert len(at.Grammar.load(tmp_path / "g", text=text, span=5)) == len(fewer)
    known = {word for line in text for word in line.split()}
    assert all(set(few[k].source) <= known | {"[X,1]", "[X,2]"} for k in range(len(few)))
    source, target, links = texts
    with pytest.raises(at.DataError, match="39 lines, but the text has 40"):
        at.extract_grammar(source, target, links[1:])
    with pytest.raises(at.DataError, match="<source> has 40 lines, <target> 39"):
        at.extract_grammar(source, target[1:], links)
    with pytest.raises(at.DataError, match="past the source sentence"):
        at.extract_grammar(["a"], ["b"], ["3-0"])
    with pytest.raises(at.UsageProblem, match="alignments"):
        at.extract_grammar(source, target)
    with pytest.raises(at.UsageProblem, match="phrases is one of tight, outer, loose, not all"):
        at.extract_grammar(source, target, links, phrases="all")
    assert len(at.extract_grammar(["a b", ""], ["c", "d"], ["0-0", ""])) > 0


# Translators


def test_translations_are_those_of_the_command(translator, grammar, model, texts, tmp_path, monkeypatch):
    source = [*texts[0][:12], "", "zwölf"]
    (tmp_path / "text").write_text("".join(line + "\n" for line in source), encoding="utf-8")
    grammar.save(tmp_path / "g")
    model.save(tmp_path / "lm")
    options = "translate", "-q", "--grammar", "g", "--lm", "lm", "text", "--pop-limit", 20
    expected = run(*options, cwd=tmp_path).stdout.decode().splitlines()
    assert lines(translator.translate_batch(source)) == expected
    assert lines(translator.translate_batch(tmp_path / "text")) == expected
    assert lines(at.Translator(tmp_path / "g", tmp_path / "lm", pop_limit=20).translate_batch(iter(source))) == expected
    assert [str(translator.translate(line)) for line in source] == expected
    lists = run(*options, "--n-best", 3, cwd=tmp_path).stdout.decode().splitlines()
    found = [f"{n} ||| {one} ||| " for n, of in enumerate(translator.n_best(source, 3)) for one in of]
    assert len(found) == len(lists)
    assert all(line.startswith(own) for line, own in zip(lists, found, strict=True))
    for part in (500, 3):  # what is drawn depends on the number of the part's first sentence
        monkeypatch.setattr(translation, "PART", part)
        monkeypatch.setattr(translation_files, "PART", part)
        drawn = run(*options, "--samples", 2, "--seed", 5, cwd=tmp_path).stdout.decode().splitlines()
        found = [f"{n} ||| {one} ||| " for n, of in enumerate(translator.samples(source, 2, seed=5)) for one in of]
        assert all(line.startswith(own) for line, own in zip(drawn, found, strict=True))
    run(*options, "--hypergraphs", "h", cwd=tmp_path)
    parts = list(translator.hypergraphs(source))
    own = b"".join(line for part in parts for line in part.lines())
    written = (tmp_path / "h").read_bytes().split(b"\n", 1)[1]
    assert unnumbered(own) == unnumbered(written)  # the command's grammar is filtered: other numbers of rules
    assert sum(map(len, parts)) == len(source)


def test_a_translation_has_its_score_and_features(translator, texts):
    weights = translator.weights.features
    for line in texts[0][:5]:
        found = translator.translate(line)
        assert found.words == tuple(str(found).split())
        assert found.score == pytest.approx(sum(weights[name] * x for name, x in found.features.items()), rel=1e-4)
        assert found == next(translator.translate_batch([line], features=True))
        assert next(translator.translate_batch([line])).features == {}
    best, *_ = next(translator.n_best([texts[0][0]], 5))
    assert best.score == pytest.approx(sum(weights[name] * x for name, x in best.features.items()), rel=1e-4)


def test_workers_draw_the_samples_of_their_parts(translator, texts, monkeypatch):
    """The same as are drawn here, part by part."""
    source = texts[0][:16]
    monkeypatch.setattr(translation, "PART", 5)
    expected = list(translator.samples(source, 2))
    kept, parts = SimpleNamespace(get=lambda: translator), enumerate(translator._parts(source, 5))
    how = {"n": 2, "gamma": 1.0, "seed": 1}
    with Pool(1) as pool:
        assert [one for part in parts for one in translation._answers(kept, "samples", how, part, pool)] == expected


@pytest.mark.slow
def test_workers_and_a_cluster_do_not_show(translator, texts, tmp_path):
    source = texts[0] * 6
    assert list(translator.translate_batch(source, workers=2)) == list(translator.translate_batch(source))
    distributed = pytest.importorskip("distributed")
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0", "silence_logs": 60}
    with distributed.LocalCluster(processes=False, **options) as running:
        where = {"cluster": running.scheduler_address, "tmpdir": tmp_path}
        assert list(translator.n_best(source, 3, **where)) == list(translator.n_best(source, 3))
        assert list(translator.samples(source, 2, **where)) == list(translator.samples(source, 2))
    with pytest.raises(at.UsageProblem, match="unbuffered"):
        next(translator.translate_batch(source, unbuffered=True, workers=2))


def test_weights_and_tags(grammar, model, translator, texts, tmp_path):
    line = texts[0][0]
    weights = translator.weights
    weights.save(tmp_path / "w.json")
    assert at.TranslationWeights.load(tmp_path / "w.json") == at.TranslationWeights(weights.features, {})
    plain = str(at.Translator(grammar, model, tmp_path / "w.json", pop_limit=20).translate(line))
    assert plain == str(translator.translate(line))
    odd = {**weights.features, "PhraseEgivenF": -5.0, "lm": 0.0}
    assert str(at.Translator(grammar, model, odd, pop_limit=20).translate(line)) != plain
    with pytest.raises(at.DataError, match="no weight for the feature 'lm'"):
        at.Translator(grammar, model, {})
    with pytest.raises(at.DataError, match="a weight for 'other'"):
        at.Translator(grammar, model, {**weights.features, "other": 1.0})
    tagged = at.Translator(grammar, model, tags={word: "W" for t in texts[1] for word in t.split()})
    assert "W_W" in tagged.features
    assert "lm" not in at.Translator(grammar, None).translate(line).features


# Tuning


def test_tuning_is_what_the_command_does(grammar, model, texts, tmp_path):
    source, target, _ = texts
    grammar.save(tmp_path / "g")
    model.save(tmp_path / "lm")
    for name, rows in (("s", source[:12]), ("t", target[:12])):
        (tmp_path / name).write_text("".join(row + "\n" for row in rows), encoding="utf-8")
    options = {"rounds": 1, "pop_limit": 10, "n_best": 10}
    flags = [str(x) for name, value in options.items() for x in ("--" + name.replace("_", "-"), value)]
    given = "--supervised", "s", "--reference", "t", "--grammar", "g", "--lm", "lm"
    done = run("imputed-risk", "-q", *given, *flags, "-o", "w.json", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, b"")
    steps = []
    found = at.tune(tmp_path / "g", model, source[:12], [target[:12]], progress=steps.append, **options)
    found.save(tmp_path / "own.json")
    assert (tmp_path / "own.json").read_bytes() == (tmp_path / "w.json").read_bytes()
    assert [s.stage for s in steps] == ["round", "round", "best"]
    assert steps[1].figures["bleu"][0] == pytest.approx(found.about["bleu"], abs=0.01) or found.about["round"] == 0


def test_tuning_and_extraction_on_a_cluster(grammar, model, texts, tmp_path):
    distributed = pytest.importorskip("distributed")
    source, target, _ = texts
    options = {"rounds": 2, "pop_limit": 10, "n_best": 10}
    expected = at.tune(grammar, model, source[:12], [target[:12]], **options)
    running = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0", "silence_logs": 60}
    with distributed.LocalCluster(processes=False, **running) as cluster:
        where = {"cluster": cluster.scheduler_address, "tmpdir": tmp_path}
        assert at.tune(grammar, model, source[:12], [target[:12]], **options, **where) == expected
        found = at.extract_grammar(*texts, max_span=5, **where)
        found.save(tmp_path / "found")
    grammar.save(tmp_path / "grammar")
    assert (tmp_path / "found").read_bytes() == (tmp_path / "grammar").read_bytes()


def test_what_cannot_be_tuned(grammar, model, texts):
    source, target, _ = texts
    for given, how, problem in (
        ((), {}, "nothing to learn from"),
        ((source,), {}, "belong together"),
        ((source, [target]), {"quench": 0.5}, "is below"),
        ((source, [target]), {"forest": True, "method": "mert"}, 'forest is for risk or likelihood, not method="mert"'),
        ((source, [target]), {"prior": "one"}, "prior is one of zero, start, not one"),
        ((source, [target]), {"checkpoint": "no/such"}, "is not a directory"),
        ((), {"monolingual": [target]}, "monolingual needs reverse_grammar"),
    ):
        with pytest.raises(at.UsageProblem, match=problem):
            at.tune(grammar, model, *given, **how)
    with pytest.raises(at.DataError, match="must have the same number of lines"):
        at.tune(grammar, model, source, [target[1:]])
