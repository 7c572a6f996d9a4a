"""eval-uas: attachment scores, conventions, groups, and texts that do not fit."""

import json

import pytest

from tests.cli.running import succeeds

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
