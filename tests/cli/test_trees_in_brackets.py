"""Trees that commands write, and those that other programs write: every command reads them, and they mean the same."""

import json

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from aligntools.formats.annotation.brackets import clean, parse_trees, plain
from tests import models
from tests.cli.running import ran, run

#: What may stand in a column of CoNLL.
ODD = [
    *(
        "(",
        ")",
        "$(",
        "-LRB-",
        "a(b)",
        ":)",
        "-LCB-",
        "a b",
        "|||",
        "a ||| b",
        "**",
        "a\u2028b",
        "\x0b",
        "\x1c",
        "\x85",
    ),
    "x" * 9_000,
]
COLUMN = st.text(st.characters(exclude_characters="\t\n\r", exclude_categories=["Cs"]), min_size=1, max_size=6)
COLUMN |= st.sampled_from(ODD)


@pytest.fixture(scope="module")
def model():
    return models.model("trees")


def trees(data):
    return [tree for _, tree in parse_trees(data.decode().split("\n"), "output")]


def done(*args, **how):
    finished = ran(*args, **how)
    return finished


@settings(max_examples=8)
@given(st.lists(st.tuples(COLUMN, COLUMN), min_size=1, max_size=4))
@example([("0", "|||")])
@example([("The", "("), ("a b", "x y"), ("|||", "|||"), ("\u2028", "$("), ("dog", "_")])
def test_words_and_tags_come_back(model, pairs):
    folder = model.parent
    rows = [f"{k}\t{word}\t_\t_\t{tag}\t_\t0\t_\t_\t_\n" for k, (word, tag) in enumerate(pairs, 1)]
    (folder / "text").write_text("".join(rows) + "\n")
    (folder / "links").write_text("0-0\n")
    (folder / "source").write_text("(S (X a))\n")
    written = done("parse", "-q", "-m", model, folder / "text").stdout
    lists = [
        line.split(" ||| ", 1)[1].rsplit(" ||| ", 2 - k)[0].encode()
        for k, option in enumerate(("--n-best", "--samples"))
        for line in done("parse", "-q", "-m", model, folder / "text", option, 2).stdout.decode().split("\n")[:-1]
    ]
    given_links = ("-s", folder / "source", "-t", folder / "text", "-a", folder / "links")
    projected = done("project", "-q", *given_links, "--spans", "brackets").stdout
    for output in (written, projected, *lists):
        (tree,) = trees(output)
        assert tree.words() == [clean(word) for word, _ in pairs]
        for (_, tag), own in zip(pairs, tree.tags(), strict=True):
            assert own == clean(tag) or tag == "_"
    (folder / "written").write_bytes(written)
    kept = plain(trees(written)[0])
    assert kept.words() == [clean(word) for word, _ in pairs]
    assert (
        str(kept.words()[0])[:20] in done("view", folder / "written").stdout.decode()
        or not kept.words()[0].isprintable()
    )
    scored = run(
        "eval-brackets", folder / "written", folder / "written", "--json", "--bootstrap", 0, "--leave-out", "none"
    )
    assert json.loads(scored.stdout)["results"][0]["f1"] == 1
    done("train-grammar", "-q", "--treebank", folder / "written", "-o", folder / "own")
    assert trees(done("parse", "-q", "-m", folder / "own", folder / "text").stdout)[0].words() == kept.words()
