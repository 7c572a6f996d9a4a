"""eval-uas: attachment scores, conventions, groups, and texts that do not fit."""

import json

import pytest

from tests.cli.running import ROOT, ran, succeeds

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


@pytest.mark.parametrize(
    ("flags", "words", "uas", "las", "complete", "root"),
    [
        ((), 8, 4 / 8, 2 / 8, 1 / 2, 1 / 2),
        (("--set", "subtypes=false"), 8, 4 / 8, 3 / 8, 1 / 2, 1 / 2),
        (("--punct", "ud"), 6, 3 / 6, 2 / 6, 1 / 2, 1 / 2),
        (("--no-punct",), 6, 3 / 6, 2 / 6, 1 / 2, 1 / 2),
        (("--punct", "conll"), 6, 3 / 6, 1 / 6, 1 / 2, 1 / 2),
        (("--max-length", 3, "--punct", "ud"), 6, 3 / 6, 2 / 6, 1 / 2, 1 / 2),
    ],
)
def test_figures(texts, command_inside, flags, words, uas, las, complete, root):
    found = scores(command_inside, *flags, *texts)["results"][0]
    expected = {"words": words, "uas": uas, "las": las, "complete": complete, "root": root}
    assert {name: found[name] for name in expected} == pytest.approx(expected)
    assert found["uas_interval"][0] <= found["uas"] <= found["uas_interval"][1]


def test_signatures_figures_and_seeds(texts, command_inside):
    found = scores(command_inside, "--punct", "conll", "--max-length", 10, "--bootstrap", 0, *texts)
    assert found["signature"].startswith("metric:uas|punct:conll|nsent:2|nword:6|maxlen:10|subtypes:yes|version:")
    assert "uas_interval" not in found["results"][0]
    plain, verbose = (command_inside("eval-uas", *texts, *flags) for flags in ((), ("-v",)))
    assert plain.stderr == b""
    counts = "words 8, heads 4, labels 2, sentences 2, trees 1, roots 2, roots right 1"
    assert verbose.stderr.decode() == f"{texts[1]}: {counts}\n"
    added = set(verbose.stdout.splitlines()) - set(plain.stdout.splitlines())
    assert [line[:5] for line in added] == [b"LAS: "]
    ud = "--punct", "ud", "--column"
    ways = (), ("--seed", 2), ("--bootstrap", 3), (*ud, "4"), (*ud, "xpos")
    found = [scores(command_inside, *flags, *texts) for flags in ways]
    assert "|bootstrap:3|seed:1|" in found[2]["signature"]
    assert "|bootstrap:1000|seed:2|" in found[1]["signature"]
    assert [f["results"][0]["words"] for f in found] == [8, 8, 8, 6, 8]  # no word has the tag PUNCT in column 5


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
    done = command_inside("eval-uas", "--by", "tag", "--paired", gold, gold, parsed)
    text = done.stdout.decode()
    assert "UAS -50.00" in text
    assert "by tag:" in text
    assert "gold: 8 words in 2 sentences count" in text


def test_columns_and_trees_that_are_told(file, texts, command_inside):
    bare = conll([[(w, t, h, "_") for w, t, h, _ in s] for s in PARSED])
    done = command_inside("eval-uas", texts[0], file("bare", bare))
    assert done.stdout.decode().splitlines()[1].split()[-3] == "-"
    assert scores(command_inside, file("bare", bare), texts[1])["results"][0]["las"] is None
    gold, parsed = texts
    copy = file("copy", gold.read_bytes() if hasattr(gold, "read_bytes") else conll(GOLD))
    assert b"copy: every word has the gold's head; is it" in command_inside("eval-uas", gold, copy).stderr
    assert command_inside("eval-uas", gold, gold).stderr == b""
    assert command_inside("eval-uas", gold, parsed).stderr == b""
    cycle = conll([GOLD[0], [(w, t, {1: 2, 2: 1}.get(k, h), x) for k, (w, t, h, x) in enumerate(GOLD[1], 1)]])
    said = command_inside("eval-uas", file("cycle", cycle), texts[1]).stderr
    assert b"cycle:6: a cycle in the gold tree; so it is in 1 sentences of 2" in said
    roots = conll([[(w, t, 0, x) for w, t, _, x in GOLD[0]], GOLD[1]])
    said = command_inside("eval-uas", file("roots", roots), texts[1]).stderr
    assert b"roots:1: several roots in the gold tree; so it is in 1 sentences of 2" in said
    sample = ROOT / "data" / "samples" / "en.conllu"
    done = ran("eval-uas", sample, "-", stdin=sample.read_bytes())
    assert done.stdout.decode().splitlines()[1].split() == ["-", *["100.00", "100.00-100.00"], *["100.00"] * 3]


def test_words_and_heads_that_are_missing(file, texts, command_inside):
    gold = texts[0]
    other = file("other", conll([GOLD[0], [("Dogs", *GOLD[1][0][1:]), *GOLD[1][1:]]]))
    assert scores(command_inside, "--set", "ignore_forms=true", gold, other)["results"][0]["uas"] == 1
    some = conll([GOLD[0], [(w, t, "_" if h else h, x) for w, t, h, x in GOLD[1]]])
    note = f"note: {gold.with_name('some')}: 3 words have no head; they count as wrong\n"
    left = f"warning: {gold.with_name('some')}: every word has the gold's label; is it predicted, or left over from"
    assert command_inside("eval-uas", gold, file("some", some)).stderr.decode() == f"{note}{left} the gold?\n"
    assert command_inside("eval-uas", gold, file("some", some), "-q").stderr == b""


def test_relations_confusions_and_the_shared_task(texts, command_inside):
    gold, parsed = texts
    found = scores(command_inside, "--by", "relation", "--confusion", "--conll18", gold, parsed)["results"][0]
    rows = {row["name"]: (row["gold"], row["predicted"], row["right_gold"]) for row in found["by"]["relation"]}
    assert rows["punct"] == (2, 1, 0)
    assert rows["x"] == (1, 1, 1)
    assert {"gold": "nsubj:x", "predicted": "nsubj:y", "words": 1} in found["confusions"]
    assert found["conll18"]["LAS"]["f1"] == 3 / 8  # without subtypes
    assert found["conll18"]["CLAS"]["recall"] == 2 / 4
    text = command_inside("eval-uas", "--conll18", "--confusion", gold, parsed).stdout.decode()
    assert "parsed, as CoNLL 2018 scored it:" in text
    assert "parsed, most frequent wrong labels:" in text


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
