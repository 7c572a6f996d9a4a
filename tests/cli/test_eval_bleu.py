"""eval-bleu: figures, references, intervals, and texts that do not fit."""

import json

import pytest

from tests.cli.running import succeeds

REFERENCE = b"the cat sat on the mat .\n\nA dog barks loudly\nno\n"
OTHER = b"a cat was on the mat\nx\nthe dog is barking loudly at me .\nno no no\n"
FIRST = b"the cat sat on a mat .\n\nA dog barks\nno\n"
SECOND = b"The the the cat\nx y\nthe dog\xc2\xa0barks loudly .\n\n"


@pytest.fixture
def texts(file):
    return {n: file(n, t) for n, t in {"r": REFERENCE, "o": OTHER, "a": FIRST, "b": SECOND}.items()}


def scores(command_inside, *args):
    done = succeeds(command_inside("eval-bleu", "--json", *args))
    return json.loads(done.stdout)


@pytest.mark.parametrize("lowercase", [False, True])
@pytest.mark.parametrize("smooth", [("exp", None), ("floor", 0.2), ("add-k", None), ("none", None)])
@pytest.mark.parametrize("several", [False, True])
def test_figures_are_sacrebleus(texts, command_inside, lowercase, smooth, several):
    sacrebleu = pytest.importorskip("sacrebleu")
    flags = ["--bootstrap", 0, "--set", f"smooth={smooth[0]}"]
    flags += ["--set", f"smooth_value={smooth[1]}"] if smooth[1] else []
    flags += (["--lowercase"] if lowercase else []) + (["-r", texts["o"]] if several else [])
    found = scores(command_inside, *flags, texts["r"], texts["a"], texts["b"])
    sentences = scores(command_inside, "--sentence-level", *flags, texts["r"], texts["a"], texts["b"])
    options = {"tokenize": "none", "force": True, "lowercase": lowercase, "smooth_method": smooth[0],
               "smooth_value": smooth[1]}  # fmt: skip
    references = [t.decode().split("\n")[:-1] for t in ([REFERENCE, OTHER] if several else [REFERENCE])]
    for k, text in enumerate((FIRST, SECOND)):
        lines = text.decode().split("\n")[:-1]
        metric = sacrebleu.BLEU(**options)
        theirs = metric.corpus_score(lines, references)
        ours = found["results"][k]
        assert 100 * ours["bleu"] == pytest.approx(theirs.score, abs=1e-9)
        assert 100 * ours["brevity_penalty"] == pytest.approx(100 * theirs.bp, abs=1e-9)
        assert (ours["words"], ours["reference_words"]) == (theirs.sys_len, theirs.ref_len)
        single = sacrebleu.BLEU(effective_order=True, **options)
        expected = [single.sentence_score(line, [r[n] for r in references]).score for n, line in enumerate(lines)]
        assert [100 * x for x in sentences["results"][k]["sentences"]] == pytest.approx(expected, abs=1e-9)
        for part in str(metric.get_signature()).split("|")[:-1]:
            assert part in found["signature"].split("|")


def test_intervals_and_differences(texts, command_inside):
    found = scores(command_inside, "--paired", "--bootstrap", 50, texts["r"], texts["a"], texts["b"])["results"]
    for result in found:
        low, high = result["bleu_interval"]
        assert low <= result["bleu"] <= high or result["bleu"] == 0
    assert found[1]["difference"]["bleu"] == pytest.approx(found[1]["bleu"] - found[0]["bleu"])


def test_seeds(file, command_inside):
    rows = [[f"w{k % 5}" for k in range(n)] for n in range(4, 44)]
    reference = file("r", "".join(" ".join(row) + "\n" for row in rows).encode())
    text = file(
        "t", "".join(" ".join(row[: len(row) - n % 5] + ["x"] * (n % 7)) + "\n" for n, row in enumerate(rows)).encode()
    )
    found = [scores(command_inside, "--seed", k, reference, text)["results"][0] for k in (1, 1, 2)]
    assert found[0] == found[1]
    assert found[0]["bleu_interval"] != found[2]["bleu_interval"]


def conll(text):
    """Return lines as CoNLL-U, and a no-break space in a word as a space."""
    blocks = []
    for line in text.decode().removesuffix("\n").split("\n"):
        forms = [word.replace("\u00a0", " ") for word in line.split(" ")]
        rows = [f"{k}\t{form}\t_\tX\t_\t_\t0\t_\t_\t_\n" for k, form in enumerate(forms, 1)]
        blocks.append("# a comment\n" + "".join(rows) + "\n")
    return "".join(blocks).encode()


def test_words_of_conll_are_scored(file, command_inside):
    lines = [
        b"the cat sat on the mat .\n10\xc2\xa0000 dogs bark loudly\n",
        b"a cat sat on the mat .\n10\xc2\xa0000 dogs\n",
    ]
    plain = [file(f"plain{k}", text) for k, text in enumerate(lines)]
    trees = [file(f"trees{k}", conll(text)) for k, text in enumerate(lines)]
    expected = scores(command_inside, "--bootstrap", 0, *plain)["results"][0]
    assert 0 < expected["bleu"] < 1
    for reference, translation in ((trees[0], trees[1]), (plain[0], trees[1]), (trees[0], plain[1])):
        found = scores(command_inside, "--bootstrap", 0, reference, translation)["results"][0]
        assert {**found, "translation": None} == {**expected, "translation": None}
    several = scores(command_inside, "--bootstrap", 0, "-r", trees[1], *plain)["results"][0]
    assert several["bleu"] == 1
    assert scores(command_inside, "--bootstrap", 0, plain[0], trees[0])["results"][0]["bleu"] == 1
