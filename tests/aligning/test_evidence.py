"""Evidence of a kind that is registered takes part wherever any does; and what every kind has to do."""

import inspect
import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import aligntools as at
from aligntools.aligning import evidence
from aligntools.aligning.contrastive import rounds, second_look
from aligntools.aligning.evidence_kinds import SETTINGS, EncoderKind
from aligntools.aligning.model import AlignmentModel
from aligntools.encoding import dictionary, knowledge, lexicon, word_encoder
from aligntools.ground.declarations import declared
from tests.aligning import equal_length
from tests.cli.running import ROOT, fails, run
from tests.encoding import tiny
from tests.places import SAMPLES

#: Of each kind that is asked: what asks for it, and what leaves it out.
ASKING = {
    "encoder": ({"encoder": True}, {"encoder": False}),
    "word_encoder": ({"word_encoder": True}, {}),
    "vectors": ({"vectors": ()}, {}),  # the files are made for each test
    "dictionary": ({"dictionary": ()}, {}),  # and so is this one
    "lengths": ({"equal_length": True}, {"equal_length": False}),
    "initials": ({"first_letter": 3.0}, {}),
}


@pytest.fixture(autouse=True)
def toys(monkeypatch):
    """Register two kinds of which nothing else knows."""
    monkeypatch.setattr(evidence, "KINDS", dict(evidence.KINDS))
    evidence.register(equal_length.EQUAL_LENGTH)
    evidence.register(equal_length.FIRST_LETTER)


@pytest.fixture
def sources(tmp_path, monkeypatch):
    """Put a tiny encoder that is believed in the place of the extra's."""
    monkeypatch.setattr(knowledge, "DOUBTED", -2.0)
    monkeypatch.setattr(knowledge, "BELIEVED", -1.0)
    return tiny.installed(tmp_path, monkeypatch)


@pytest.fixture(autouse=True)
def vectors(tmp_path, monkeypatch):
    """Vectors of all words that differ by what words are: files of them, and an encoder of words."""

    def encoded(words, _pool=None):
        rows = [np.random.default_rng([*word.lower().encode()]).standard_normal(9) for word in words]
        return np.array(rows, np.float32).reshape(-1, 9)

    words = tiny.words()
    rows = ["".join(f" {x:.5f}" for x in row) for row in encoded(words)]
    for name in ("a.vec", "b.vec"):
        (tmp_path / name).write_text("".join(f"{word}{row}\n" for word, row in zip(words, rows, strict=True)))
    monkeypatch.setattr(word_encoder, "check", lambda: None)
    monkeypatch.setattr(word_encoder, "word_vectors", encoded)
    monkeypatch.setattr(lexicon, "DOUBTED", -2.0)
    monkeypatch.setattr(lexicon, "BELIEVED", -1.0)
    files = {"vectors": (str(tmp_path / "a.vec"), str(tmp_path / "b.vec"))}
    monkeypatch.setitem(ASKING, "vectors", (files, {}))
    (tmp_path / "a.tsv").write_text("".join(f"{word}\t{word}; {word} {word}\n" for word in words))
    monkeypatch.setattr(dictionary, "DOUBTED", -2.0)
    monkeypatch.setattr(dictionary, "BELIEVED", -1.0)
    monkeypatch.setitem(ASKING, "dictionary", ({"dictionary": (str(tmp_path / "a.tsv"),)}, {}))


@pytest.fixture
def text(tmp_path):
    """Two files that all kinds know something of, with words in both cases and a blank line."""
    lines = tiny.lines(40)
    lines[7] = ""
    others = [" ".join(word.upper() for word in line.split()[::-1]) for line in lines]
    for name, side in (("source", lines), ("target", others)):
        (tmp_path / name).write_text("".join(f"{line}\n" for line in side))
    return str(tmp_path / "source"), str(tmp_path / "target")


@pytest.fixture(params=[*ASKING])
def kind(request, sources):
    return evidence.kind_of(request.param)


def asking(kind):
    return ASKING[kind.name][0]


def other_source(kind, monkeypatch):
    """Put another source of a kind in the place of its own."""
    source = kind.source(kind.settings(**asking(kind)))
    other = source.about | {"checksum": "0" * 64}
    monkeypatch.setattr(type(source), "about", other)


def of_places():
    return sorted(kind.name for kind in evidence.source_kinds() if kind.places)


def lines(found):
    return [str(one) for one in found]


# What every kind that is asked does


def test_every_kind_is_tried():
    assert {kind.name for kind in evidence.source_kinds()} == ASKING.keys()
    assert [kind.settings for kind in evidence.source_kinds()][: len(SETTINGS)] == [*SETTINGS]


def test_declarations_fit_each_other(kind):
    """Its defaults ask for nothing and leave nothing out; its options are its own."""
    defaults = kind.settings()
    assert not kind.asked(defaults)
    assert not kind.left_out(defaults)
    assert set(kind.applying) <= {*kind.settings.names()}
    assert kind.option in kind.settings.names()
    others = [name for one in evidence.source_kinds() if one is not kind for name in one.settings.names()]
    assert not {*kind.settings.names()} & {*others}
    settings = kind.settings(**asking(kind))
    assert kind.asked(settings)
    source = kind.source(settings)
    assert json.loads(json.dumps(source.about)) == source.about
    assert isinstance(source.about["name"], str)
    assert isinstance(source, evidence.TextSource if kind.places else evidence.WordSource)
    assert not kind.places or isinstance(source.about["checksum"], str)


def test_a_model_is_trained_with_it_kept_and_shown(kind, text, tmp_path):
    """What is known is in the model's counts, and its header says from where; new text is aligned without it."""
    model = at.train_aligner(*text, threads=2, fast=True, **asking(kind))
    without = at.train_aligner(*text, fast=True)
    assert without.model.evidence == {}
    about = model.model.evidence[kind.name]
    assert (model.model.views[0].counts[0] != without.model.views[0].counts[0]).any() == kind.types
    model.save(tmp_path / "one")
    loaded = AlignmentModel.load(str(tmp_path / "one"))
    assert loaded.evidence == {kind.name: about}
    loaded.save(str(tmp_path / "two"))
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    assert lines(at.load(tmp_path / "one").align_batch(*text)) == lines(model.align_batch(*text))
    assert [kind.about, about["name"]] in at.view_model(tmp_path / "one").settings
    (line,) = evidence.summary(loaded.evidence)
    assert about["name"] in line
    assert "\n" not in line
    assert lines(at.align(*text, fast=True, **asking(kind))) == lines(model.align_batch(*text))
    at.train_aligner(*text, threads=1, fast=True, **asking(kind)).save(tmp_path / "two")
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    steps = []
    again = at.train_aligner(*text, init_model=at.load(tmp_path / "one"), progress=steps.append, **asking(kind))
    assert again.model.evidence == loaded.evidence
    assert steps


def test_words_are_given_as_they_are_written(kind, text, monkeypatch):
    seen = []
    known = type(kind.source(kind.settings(**asking(kind)))).known

    def watched(source, written, *rest):
        seen.extend(written.target_vocabulary.words()[1:])
        return known(source, written, *rest)

    monkeypatch.setattr(type(kind.source(kind.settings(**asking(kind)))), "known", watched)
    at.train_aligner(*text, fast=True, **asking(kind))
    assert any(word.isupper() for word in seen)


def test_the_network_weighs_its_places_and_asks_it_of_new_text(kind, text, tmp_path):
    found = at.train_contrastive_aligner(*text, **asking(kind))
    assert [*found.weights.knowers] == ([kind.name] if kind.places else [])
    assert len(found.weights.tables) == kind.places
    found.save_weights(tmp_path / "w")
    found.aligner.save(tmp_path / "m")
    again = at.ContrastiveAligner.load(tmp_path / "w", at.Aligner.load(tmp_path / "m"))
    assert lines(again.align_batch(*text)) == lines(found.align_batch(*text))
    again.save_weights(tmp_path / "v")
    assert (tmp_path / "w").read_bytes() == (tmp_path / "v").read_bytes()
    whole = at.read_bitext(*text, case_sensitive=True)
    assert lines(again.align_batch(whole)) == lines(found.align_batch(*text))


@pytest.mark.slow
def test_best_decides_with_its_places(kind, text, tmp_path, monkeypatch):
    """And so does its model, which says in one line what it needs; without evidence of places it needs nothing."""
    model = at.train_aligner(*text, best=True, **asking(kind))
    assert [*model.weights.knowers] == ([kind.name] if kind.places else [])
    expected = lines(model.align_batch(*text))
    model.save(tmp_path / "model")
    loaded = at.load(tmp_path / "model")
    assert lines(loaded.align_batch(*text)) == expected
    contrastive = at.train_contrastive_aligner(*text, **asking(kind))
    assert lines(contrastive.align_batch(*text)) == expected
    if not kind.places:
        return
    other_source(kind, monkeypatch)
    with pytest.raises(at.UsageProblem, match="this is another one") as raised:
        list(at.load(tmp_path / "model").align_batch(*text))
    assert kind.instead.replace("`", "") in str(raised.value)
    assert "\n" not in str(raised.value)
    without = at.Aligner.load(tmp_path / "model", **ASKING[kind.name][1])
    assert len(lines(without.align_batch(*text))) == len(expected)
    assert without.weights.knowers == {}


@pytest.mark.slow
def test_gold_links_weigh_it(kind, text, sources):
    gold = lines(at.align(*text, fast=True))[:6]
    found = at.train_contrastive_aligner(*text, gold=gold, folds=2, **asking(kind))
    assert [*found.weights.knowers] == ([kind.name] if kind.places else [])
    assert found.evidence == ()


def test_it_works_in_parts_or_says_that_it_does_not(kind, text, tmp_path):
    how = {"views": (0,), "part_size": 13, "ibm1_iterations": 1, "iterations": 1, "sweeps": 3, **asking(kind)}
    if not kind.in_parts:
        with pytest.raises(at.UsageProblem, match="for text in memory"):
            list(at.align_in_parts(*text, **how))
        return
    found = []
    for threads in (1, 2):
        blocks = at.align_in_parts(*text, threads=threads, save_model=tmp_path / str(threads), **how)
        found.append([str(one) for block in blocks for one in block])
    assert found[0] == found[1]
    assert (tmp_path / "1").read_bytes() == (tmp_path / "2").read_bytes()
    whole = at.train_aligner(*text, views=(0,), subwords=0, **asking(kind)).model.evidence
    about = at.load(tmp_path / "1").model.evidence
    assert about.keys() == whole.keys()
    assert about[kind.name]["name"] == whole[kind.name]["name"]
    assert about[kind.name].get("entries") == whole[kind.name].get("entries")
    assert about[kind.name].get("links") == whole[kind.name].get("links")
    del how[kind.option]
    list(at.align_in_parts(*text, save_model=tmp_path / "without", **how))
    assert (tmp_path / "without").read_bytes() != (tmp_path / "1").read_bytes()


def test_over_an_aligner_that_is_there_its_places_are_weighed(kind, text, tmp_path, caplog):
    """As over one that is trained there; evidence of words comes too late."""
    if not kind.places:
        with pytest.raises(at.UsageProblem, match="the base model is taken as it is; leave out"):
            at.train_contrastive_aligner(*text, aligner=at.train_aligner(*text, fast=True), **asking(kind))
        return
    found = at.train_contrastive_aligner(*text, **asking(kind))
    found.aligner.save(tmp_path / "m")
    base = at.Aligner.load(tmp_path / "m")
    again = at.train_contrastive_aligner(*text, aligner=base, **asking(kind))
    assert again.weights.text() == found.weights.text()
    assert lines(again.align_batch(*text)) == lines(found.align_batch(*text))
    assert base.known is None
    without = at.train_contrastive_aligner(*text, aligner=base, **ASKING[kind.name][1])
    assert without.weights.knowers == {}
    with pytest.raises(at.UsageProblem, match="there is no network that could weigh"):
        at.train_contrastive_aligner(*text, aligner=base, features="paper", **asking(kind))


def test_places_are_weighed_over_a_model_of_text_in_parts(text, sources, tmp_path):
    """Weights of some of the text align all of it, which is read as it goes."""
    for _ in at.align_in_parts(*text, part_size=13, views=(0,), save_model=tmp_path / "m", equal_length=True):
        pass
    base = at.Aligner.load(tmp_path / "m")
    some = [Path(path).read_text().splitlines()[:20] for path in text]
    found = at.train_contrastive_aligner(*some, aligner=base, equal_length=True)
    assert [*found.weights.knowers] == ["lengths"]
    found.save_weights(tmp_path / "w")
    without = at.ContrastiveAligner.load(tmp_path / "w", base, equal_length=False)
    known, unknown = (lines(one.align_batch(*text)) for one in (found, without))
    assert len(known) == 40
    assert known != unknown


@pytest.mark.parametrize("read", [True, False])
def test_a_second_look_knows_whether_the_base_model_read(text, sources, monkeypatch, tmp_path, read):
    """Where the header of a base model, or of its file, does not name the encoder, other weights are taken."""
    monkeypatch.setattr(EncoderKind, "look", lambda _, about, read: [1.0 + read] + [0.0] * len(second_look.INPUTS))
    at.train_aligner(*text, fast=True, encoder=read).save(tmp_path / "m")
    found = at.train_contrastive_aligner(*text, aligner=at.Aligner.load(tmp_path / "m"), encoder=True)
    assert found.weights.knowers["encoder"]["look"][0] == 1.0 + read


def test_pairs_that_are_not_read_have_the_links_that_they_have_without(text, sources, monkeypatch):
    """Those that are read have the links of a text that is read whole; new text is read by both."""
    monkeypatch.setattr(knowledge, "ODDS", 20 * knowledge.ODDS)
    base, links = at.train_aligner(*text, fast=True), {}
    for pairs in (12, 40):
        found = at.train_contrastive_aligner(*text, aligner=base, encoder=True, encoder_pairs=pairs)
        own = found.aligner.known.text
        links[pairs] = lines(found.align_batch(own))
        links[f"new {pairs}"] = lines(found.align_batch(*text))
    rows = knowledge.most_needed(at.read_bitext(*text, case_sensitive=True), 12)
    without = lines(at.train_contrastive_aligner(*text, aligner=base, encoder=False).align_batch(*text))
    assert links[12] == [links[40][k] if k in rows else without[k] for k in range(40)]
    assert without != links[12] != links[40] == links["new 40"] == links["new 12"]


def test_a_model_of_a_text_that_was_partly_read_does_without(text, sources, tmp_path, monkeypatch):
    """Its own text has the evidence that was read."""
    monkeypatch.setattr(knowledge, "ODDS", 20 * knowledge.ODDS)
    model = at.train_aligner(*text, best=True, encoder=True, encoder_pairs=12)
    assert model.weights.knowers["encoder"]["sampled"]
    assert model.model.evidence["encoder"]["of"] == 40
    own, new = lines(model.align_batch(model.known.text)), lines(model.align_batch(*text))
    left_out = lines(model.asking(evidence.EvidenceOptions().without(["encoder"])).align_batch(*text))
    rows = knowledge.most_needed(at.read_bitext(*text, case_sensitive=True), 12)
    assert own == [new[k] if k in rows else left_out[k] for k in range(40)]
    assert new != own != left_out
    model.save(tmp_path / "m")
    assert lines(at.load(tmp_path / "m").align_batch(*text)) == new


@pytest.mark.parametrize(("pairs", "rounds_due"), [(4, 1), (20, 2), (40, 2)])
def test_large_text_has_two_rounds_where_enough_of_it_is_read(pairs, rounds_due, text, sources, monkeypatch):
    monkeypatch.setattr(rounds, "LARGEST", 39)
    trained = []
    train_again = rounds.train_again
    monkeypatch.setattr(rounds, "train_again", lambda *a, **k: trained.append(1) or train_again(*a, **k))
    model = at.train_aligner(*text, best=True, encoder=True, encoder_pairs=pairs)
    assert 1 + len(trained) == rounds_due
    assert model.known.read <= pairs / 40
    at.train_contrastive_aligner(*text, encoder=True, encoder_pairs=pairs)
    assert len(trained) == 2 * (rounds_due - 1)


def test_what_evidence_of_places_brought_is_told(text, sources, monkeypatch):
    """Of as many pairs as are looked at, here all that were read: the links with it, and those that are new or gone."""
    monkeypatch.setattr(knowledge, "ODDS", 20 * knowledge.ODDS)
    steps = []
    model = at.train_aligner(*text, best=True, encoder=True, encoder_pairs=12, progress=steps.append)
    rows = sorted(knowledge.most_needed(at.read_bitext(*text, case_sensitive=True), 12))
    own = list(model.align_batch(model.known.text))
    before = list(model.asking(evidence.EvidenceOptions().without(["encoder"])).align_batch(model.known.text))
    now, then = ({(k, *link) for k in rows for link in one[k].links} for one in (own, before))
    told = steps[-1].figures
    assert told["read"] <= 12
    assert (told["links"], told["more"], told["fewer"]) == (len(now), len(now - then), len(then - now))
    assert told["more"] > 0
    without = []
    at.train_aligner(*text, best=True, encoder=False, progress=without.append)
    assert without[-1].figures == {}


def test_where_some_pairs_are_read_words_are_known_by_themselves_too(text, sources, tmp_path):
    """In one training and in parts alike; of a text that is read whole they would add nothing."""
    how = {"encoder": True, "encoder_pairs": 5, "encoder_lines": "1-2,40", "views": (0,), "subwords": 0}
    whole = at.train_aligner(*text, **how)
    list(at.align_in_parts(*text, part_size=13, save_model=tmp_path / "parts", **how))
    in_parts = at.load(tmp_path / "parts").model.evidence["encoder"]
    about = whole.model.evidence["encoder"]
    assert about["pairs"] == 5
    assert about["alone"]["entries"] > 0
    counted = ("entries", "words", "missing")
    assert [in_parts["alone"][name] for name in counted] == [about["alone"][name] for name in counted]
    assert "; words by themselves: " in evidence.summary(whole.model.evidence)[0]
    assert "alone" not in at.train_aligner(*text, encoder=True, fast=True).model.evidence["encoder"]


def test_a_new_kind_is_an_option_of_the_command_line(text, tmp_path):
    """Of a program in which it is made known before the commands are; its model needs no option."""
    given = "-s", text[0], "-t", text[1]
    code = "from aligntools.aligning import evidence; from tests.aligning.equal_length import EQUAL_LENGTH;"
    code += "evidence.register(EQUAL_LENGTH); from aligntools.cli.main import main; main()"
    own = "align", "--best", "--no-encoder", "--equal-length", *given, "--save-model", str(tmp_path / "m")
    found = subprocess.run([sys.executable, "-c", code, *own], capture_output=True, cwd=ROOT, timeout=120)
    assert b"lengths letters" in found.stderr
    assert found.stdout.decode().splitlines() == lines(at.align(*text, best=True, equal_length=True))
    assert run("align", "-q", "-m", tmp_path / "m", *given).stdout == found.stdout


# Several together, and what is not known


def test_kinds_stand_beside_each_other(text, sources, tmp_path):
    every = {name: value for how, _ in ASKING.values() for name, value in how.items()}
    found = at.train_contrastive_aligner(*text, **every)
    assert found.model.evidence.keys() == ASKING.keys()
    assert [*found.weights.knowers] == of_places()
    found.save_weights(tmp_path / "w")
    found.aligner.save(tmp_path / "m")
    base = at.Aligner.load(tmp_path / "m")
    loaded = at.ContrastiveAligner.load(tmp_path / "w", base)
    assert lines(loaded.align_batch(*text)) == lines(found.align_batch(*text))
    for name, (_, left_out) in ASKING.items():
        if left_out:
            some = at.ContrastiveAligner.load(tmp_path / "w", base, **left_out)
            assert [*some.weights.knowers] == [other for other in of_places() if other != name]
            for other, table in zip(some.weights.knowers, some.weights.tables, strict=True):
                assert table.tolist() == found.weights.tables[of_places().index(other)].tolist()
            assert len(some.weights.values) == len(found.weights.values) - 1
            assert len(lines(some.align_batch(*text))) == 40


def test_priors_and_tables_of_several_kinds(text, sources, tmp_path):
    known = at.train_aligner(*text, fast=True, equal_length=True, first_letter=3.0).known
    alphas = [one.priors.lexical.alphas.sum() for one in known.by_kind.values()]
    assert known.priors.lexical.alphas.sum() == pytest.approx(sum(alphas))
    at.train_contrastive_aligner(*text, encoder=True).save_weights(tmp_path / "w")
    whole = json.loads((tmp_path / "w").read_text())
    for broken in ({"encoder": {"name": "x"}}, {"encoder": 3}, {"lengths": {"name": "x", "checksum": "y"}}):
        (tmp_path / "w").write_text(json.dumps(whole | broken))
        with pytest.raises(at.DataError, match="have a name, a checksum, and a list of its own"):
            at.ContrastiveAligner.load(tmp_path / "w", at.train_aligner(*text, fast=True))


def test_options_and_headers_of_kinds(text, tmp_path):
    at.train_aligner(*text, fast=True).save(tmp_path / "m")
    with pytest.raises(at.UsageProblem, match="encoder_layer is for training"):
        at.Aligner.load(tmp_path / "m", encoder_layer=3)
    with pytest.raises(TypeError, match="unexpected keyword argument 'nothing'"):
        at.Aligner.load(tmp_path / "m", nothing=3)
    at.train_aligner(*text, best=True, equal_length=True).save(tmp_path / "model")
    evidence.forget("lengths")
    loaded = at.load(tmp_path / "model")
    loaded.save(tmp_path / "again")
    assert (tmp_path / "model").read_bytes() == (tmp_path / "again").read_bytes()
    assert ["evidence of the kind lengths", "letters"] in at.view_model(loaded).settings
    fails(
        run("align", "-q", "-m", tmp_path / "model", "-s", text[0], "-t", text[1]),
        "'lengths' is of an unknown kind",
        status=2,
    )


@pytest.mark.parametrize("name", ["settings", "decision", "evidence", "trees", "weights"])
def test_names_that_headers_have_already(name):
    with pytest.raises(ValueError, match=f"headers have '{name}' already"):
        evidence.register(replace(equal_length.FIRST_LETTER, name=name))


# Kinds with ways of their own: what their declarations say is so


@pytest.fixture(params=[kind.name for kind in evidence.kinds() if not isinstance(kind, evidence.SourceKind)])
def own_way(request):
    return evidence.KINDS[request.param]


def test_what_declarations_of_other_kinds_say(own_way, tmp_path):
    """Whether they change words' counts, take part where text is in parts, and have to be there for new text."""
    text = SAMPLES / "de-en.de", SAMPLES / "de-en.en"
    links = lines(at.align(*text, fast=True))
    with_it, without = {
        "look-alikes": ({}, {"look_alike": False}),
        "priors": ({"priors": SAMPLES / "de-en.priors", "prior_lexical": 1.0}, {}),
        "links": ({"evidence": [links]}, {}),
    }[own_way.name]
    assert {own_way.option} & {*with_it, *without}
    assert own_way.types != own_way.places
    if own_way.types:
        one, other = (at.train_aligner(*text, fast=True, **how) for how in (with_it, without))
        assert (one.model.views[0].counts[0].sum() != other.model.views[0].counts[0].sum()) or (
            one.model.views[0].tiers != other.model.views[0].tiers
        ).any()
        one.save(tmp_path / "model")
        assert not own_way.again
        assert at.load(tmp_path / "model").model.evidence == {}
        assert len(lines(at.load(tmp_path / "model").align_batch(*text))) == 240
    else:
        weighed = at.train_contrastive_aligner(*text, fast=True, passes=0, encoder=False, **with_it)
        assert weighed.weights.files == 1
        assert weighed.weights.knowers == {}
        assert own_way.again
        with pytest.raises(at.UsageProblem, match="learned with 1 file of evidence"):
            list(weighed.align_batch(*text))
    known = {name for kind in at.align_in_parts.takes for name in declared(kind)}
    known |= {*inspect.signature(at.align_in_parts).parameters}
    assert own_way.in_parts == (own_way.option in known)
