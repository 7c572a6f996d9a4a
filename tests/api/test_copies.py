"""Models of all kinds from Python: they can be kept, sent and shared by threads, and do not change."""

import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

import aligntools as at
from tests import models
from tests.places import ROOT, SAMPLES


def lines(name, count=30):
    return (SAMPLES / name).read_text(encoding="utf-8").splitlines()[:count]


PAIRS = list(zip(lines("de-en.de"), lines("de-en.en"), strict=True))
NEW = [f"the wug{n} barks {word} ." for n, word in enumerate(" ".join(lines("en.txt")).split())]


def translator():
    links = ["0-0"] * len(PAIRS)
    return at.Translator(
        at.extract_grammar(*zip(*PAIRS, strict=True), links, max_span=5), None, pop_limit=20, threads=1
    )


#: How a model of each kind is made, what it is asked, and how.
KINDS = {
    "aligner": (lambda: at.load(models.model("fast")), PAIRS, lambda m, text: m.align_batch(text, threads=2)),
    "contrastive": (
        lambda: at.ContrastiveAligner.load(models.model("weights"), at.load(models.model("align"))),
        PAIRS,
        lambda m, text: m.align_batch(text, threads=1),
    ),
    "tagger": (lambda: at.load(models.model("tagger")), NEW, lambda m, text: m.tag_batch(text, batch_size=9)),
    "induced": (
        lambda: at.induce_tags(SAMPLES / "en.txt", states=4, iterations=5),
        NEW,
        lambda m, text: m.tag_batch(text, batch_size=9, threads=1),
    ),
    "parser": (
        lambda: at.load(models.model("parser")),
        lines("en.tagged"),
        lambda m, text: m.parse_batch(text, batch_size=9, threads=1),
    ),
    "lm": (lambda: at.train_lm(SAMPLES / "de-en.en", order=3), lines("fr-en.en"), lambda m, text: map(m.score, text)),
    "translator": (translator, lines("de-en.de"), lambda m, text: m.translate_batch(text)),
}


def answers(kind, model, text=None):
    return list(map(str, KINDS[kind][2](model, KINDS[kind][1] if text is None else text)))


@pytest.fixture(scope="module")
def made():
    return {kind: make() for kind, (make, *_) in KINDS.items()}


@pytest.mark.parametrize("kind", KINDS)
def test_copies_saved_models_and_threads_answer_the_same(kind, made, tmp_path):
    model, text = made[kind], KINDS[kind][1]
    shared = pickle.loads(pickle.dumps(model))  # what it builds at the first question is not there yet
    if kind not in ("contrastive", "lm", "translator"):
        model.save(tmp_path / "model")
        shared = at.load(tmp_path / "model")
        assert type(shared) is type(model)
    expected = answers(kind, model)
    with ThreadPoolExecutor(8) as pool:
        for k, found in enumerate(pool.map(lambda k: answers(kind, shared, text[k:] + text[:k]), range(12))):
            assert found == expected[k:] + expected[:k]
    assert answers(kind, pickle.loads(pickle.dumps(model))) == expected
    if kind != "aligner":
        with pytest.raises(AttributeError):
            model.model = None


def test_another_process_answers_the_same(made):
    code = "import pickle, sys; from tests.api.test_copies import answers;"
    code += "print([answers(*one) for one in pickle.load(sys.stdin.buffer).items()])"
    done = subprocess.run([sys.executable, "-c", code], input=pickle.dumps(made), capture_output=True, cwd=ROOT)
    assert done.stdout.decode().strip() == str([answers(*one) for one in made.items()]), done.stderr
