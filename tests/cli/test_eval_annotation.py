"""eval-uas and eval-tags: scores, conventions, groups, intervals, and texts that do not fit."""

import json

import pytest

from tests.cli.running import run, succeeds
from tests.places import SAMPLES

GOLD = [
    [("The", "DET", 2, "det"), ("dog", "NOUN", 3, "nsubj"), ("barked", "VERB", 0, "root"), (".", "PUNCT", 3, "punct")],
    [("Cats", "NOUN", 2, "nsubj:x"), ("sleep", "VERB", 0, "root"), ("$", "PUNCT", 2, "punct"), (",", "SYM", 2, "x")],
]
#: Heads 1 and 2 of the first sentence, and the full stop, differ; the second has one other label.
PARSED = [
    [("The", "DET", 3, "det"), ("dog", "NOUN", 0, "nsubj"), ("barked", "VERB", 2, "root"), (".", "PUNCT", 2, "punct")],
    [("Cats", "NOUN", 2, "nsubj:y"), ("sleep", "VERB", 0, "root"), ("$", "PUNCT", 2, "dep"), (",", "SYM", 2, "x")],
]


def conll(sentences):
    rows = [
        "".join(f"{k}\t{w}\t_\t{t}\t_\t_\t{h}\t{label}\t_\t_\n" for k, (w, t, h, label) in enumerate(s, 1))
        for s in sentences
    ]
    return "\n".join([*rows, ""]).encode()


@pytest.fixture
def texts(file):
    return file("gold", conll(GOLD)), file("parsed", conll(PARSED))


def scores(command_inside, *args):
    done = succeeds(command_inside("eval-uas", "--json", *args))
    return json.loads(done.stdout)


def test_groups_and_pairs(texts, command_inside):
    gold, parsed = texts
    found = scores(command_inside, "--by", "distance", "--by", "tag", "--by", "length", "--paired", gold, gold, parsed)
    first, second = found["results"]
    assert second["difference"]["uas"] == pytest.approx(-0.5)
    assert (first["uas"], first["las"]) == (1, 1)
    tags = {g["name"]: (g["gold"], g["right_gold"]) for g in second["by"]["tag"]}
    assert tags == {"DET": (1, 0), "NOUN": (2, 1), "PUNCT": (2, 1), "SYM": (1, 1), "VERB": (2, 1)}
    distances = {g["name"]: (g["gold"], g["predicted"]) for g in second["by"]["distance"]}
    assert distances["root"] == (2, 2)
    assert sum(g for g, _ in distances.values()) == 8
    assert [g["gold"] for g in second["by"]["length"]] == [8]


def test_texts_of_other_words_are_aligned_by_their_characters(file, texts, command_inside):
    other = conll([
        [("Thedog", "NOUN", 2, "nsubj"), ("barked", "VERB", 0, "root"), (".", "PUNCT", 2, "punct"),
         ("Cats", "NOUN", 5, "nsubj"), ("sleep", "VERB", 2, "conj"), ("$", "PUNCT", 5, "punct"), (",", "SYM", 5, "x")]
    ])  # fmt: skip
    path = file("other", other)
    found = scores(command_inside, "--conll18", texts[0], path)
    assert "|words:aligned|" in found["signature"]
    result = found["results"][0]
    assert {name: one["f1"] for name, one in result["conll18"].items() if name in ("Tokens", "Sentences", "UAS")} == {
        "Tokens": 2 * 6 / 15, "Sentences": 0.0, "UAS": 2 * 5 / 15,
    }  # fmt: skip
    assert result["conll18"]["UAS"]["aligned_accuracy"] == 5 / 6
    assert (result["words"], result["uas"], result["complete"], result["root"]) == (8, 5 / 8, 0, 1 / 2)
    paired = scores(command_inside, "--conll18", "--paired", texts[0], texts[1], path)["results"]
    assert paired[1]["difference"]["uas"] == pytest.approx(1 / 8)


CONLL, TAGGED = SAMPLES / "en.conllu", SAMPLES / "en.tagged"
QUICK = "--json", "--bootstrap", "0"


def results(done):
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)["results"]


def test_the_same_in_every_format(file):
    one, other = results(run("eval-tags", CONLL, CONLL, CONLL, *QUICK))
    assert one == other
    assert one["accuracy"] == 1
    found = results(run("eval-tags", "--head", TAGGED, CONLL, *QUICK))[0]
    assert (found["accuracy"], found["words"]) == (1, 321)
    found = results(run("eval-tags", "--head", TAGGED, CONLL, "--set", "hyp_column=xpos", "-q", *QUICK))[0]
    assert found["accuracy"] is None
    assert found["many_to_one"] > 0.9
    lines = TAGGED.read_text().splitlines()
    slashes = file(
        "slashes", "\n".join(" ".join(t[::-1].replace("_", "/", 1)[::-1] for t in x.split()) for x in lines).encode()
    )
    columns = file("columns", "\n\n".join("\n".join(t.replace("_", "\t") for t in x.split()) for x in lines).encode())
    done = run("eval-tags", TAGGED, slashes, columns, *QUICK)
    assert [result["accuracy"] for result in results(done)] == [1, 1]
    assert json.loads(done.stdout)["settings"]["hyp"] == "tagged,columns:2"
    done = run("eval-tags", CONLL, CONLL, "--column", "5", "--set", "hyp_column=xpos", *QUICK)
    assert results(done)[0]["accuracy"] == 1
    assert json.loads(done.stdout)["settings"]["gold"] == "conll:5"


def test_seeds_and_samples(file):
    rows = [["a_N"] * n for n in range(1, 40)]
    wrong = [["a_V"] * (3 * n % 7) + row[3 * n % 7 :] for n, row in enumerate(rows)]
    wrong = [w[: len(r)] for w, r in zip(wrong, rows, strict=True)]
    gold, hyp = (
        file(name, "".join(" ".join(r) + "\n" for r in x).encode()) for name, x in (("gold", rows), ("hyp", wrong))
    )
    found = [results(run("eval-tags", gold, hyp, "--json", *f))[0]["accuracy_interval"] for f in (
        (), ("--seed", 1), ("--seed", 2), ("--bootstrap", 7),
    )]  # fmt: skip
    assert found[0] == found[1]
    assert found[0] not in found[2:]
