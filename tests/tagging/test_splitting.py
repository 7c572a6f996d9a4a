"""Tokens split into words: by the table, by endings, and as tags in a text say."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aligntools import train_tagger
from aligntools.formats.annotation.conll import parse_conll
from aligntools.formats.annotation.conll_layouts import COLUMNS
from aligntools.formats.annotation.conll_tokens import expanded, surface_of
from aligntools.formats.annotation.tagged_text import parse_text
from aligntools.ground.errors import DataError, UsageProblem
from aligntools.tagging.state_splits import Splitter
from tests.cli.running import fails, ran, run


def learned(*rows):
    return Splitter.learn((form.encode(), words.encode().split(), tags.encode().split()) for form, words, tags in rows)


SPLITTER = learned(
    ("du", "de le", "ADP DET"), ("du", "de le", "ADP DET"), ("du", "de un", "ADP DET"), ("Des", "De les", "ADP DET"),
    ("farlo", "far lo", "VERB PRON"), ("dirmi", "dir mi", "VERB PRON"), ("dame", "da me", "VERB PRON"),
    ("dámelo", "dá me lo", "VERB PRON PRON"),
)  # fmt: skip


@pytest.mark.parametrize(
    ("form", "tag", "words"),
    [
        ("du", "ADP+DET", "de le"),
        ("Du", "ADP+DET", "De le"),
        ("DU", "ADP+DET", "DE LE"),
        ("du", "ADP+PRON", None),
        ("vederlo", "VERB+PRON", "veder lo"),  # by its ending -rlo
        ("Capirmi", "VERB+PRON", "Capir mi"),
        ("dílo", "VERB+PRON", "dí lo"),
        ("x", "VERB+PRON", None),
        ("cuéntamelo", "VERB+PRON+PRON", "cuénta me lo"),
    ],
)
def test_forms_and_endings_are_split_by_their_tags(form, tag, words):
    found = SPLITTER.split(form.encode(), tag.encode())
    assert (None if found is None else b" ".join(found).decode()) == words


def test_what_cannot_be_learned_is_passed_over():
    assert learned(("a b", "a b", "X Y")).forms == {}
    assert Splitter.learn([(b"\xff", [b"a", b"b"], [b"X", b"Y"])]).forms == {}
    assert SPLITTER.split(b"\xff", b"ADP+DET") is None
    assert Splitter.of(SPLITTER.kept()) == SPLITTER
    for damaged in (
        None, {}, {"forms": {}}, {"forms": [], "endings": {}}, {"forms": {"du": "de le"}, "endings": {}},
        {"forms": {"du X": "de"}, "endings": {}}, {"forms": {"du X": " de"}, "endings": {}},
        {"forms": {}, "endings": {"lo X": 3}}, {"forms": {"du X": "d\te le"}, "endings": {}},
        {"forms": {"du X": "d\ud800e le"}, "endings": {}},
    ):  # fmt: skip
        with pytest.raises(ValueError, match=r"splits|surrogates"):
            Splitter.of(damaged)


def row(id, form, tag="_", misc="_"):
    return f"{id}\t{form}\t_\t{tag}\t_\t_\t_\t_\t_\t{misc}\n"


@given(st.lists(st.lists(st.integers(0, 3), min_size=1, max_size=5), min_size=1, max_size=3))
def test_ranges_stand_for_the_tokens_that_were(sizes):
    text = "".join("# text = x\n" + "".join(row(k, f"w{k}") for k in range(1, len(s) + 1)) + "\n" for s in sizes)
    conll = parse_conll("x", [line.encode() + b"\n" for line in text.split("\n")[:-1]])
    flat = [n for s in sizes for n in s]
    pieces = [[b"p%d" % k for k in range(n)] if n > 1 else None for n in flat]
    found = expanded(conll, pieces)
    surface = surface_of(found)
    assert surface.column(COLUMNS["form"]) == conll.words
    assert (surface.words[1:] - surface.words[:-1]).tolist() == [max(n, 1) for n in flat]
    assert surface.offsets.tolist() == conll.offsets.tolist()


TREEBANK = (
    row(1, "il", "PRON") + row(2, "va", "VERB") + row("3-4", "du") + row(3, "de", "ADP") + row(4, "le", "DET")
    + row(5, "bois", "NOUN") + "\n" + row(1, "il", "PRON") + row(2, "boit", "VERB") + row(3, "du", "DET")
    + row(4, "vin", "NOUN") + "\n"
) * 5  # fmt: skip


@pytest.fixture(scope="module")
def treebank(tmp_path_factory):
    path = tmp_path_factory.mktemp("split") / "x.conllu"
    path.write_text(TREEBANK)
    return path


@pytest.fixture(scope="module")
def model(treebank):
    path = treebank.with_name("m.tagger")
    options = ("--tokens", "surface", "--latent", 1, "--members", 1, "-o", path)
    ran("train-hmm", "-q", "--tagged", treebank, *options)
    return path


def test_what_is_split_and_what_stays(model, treebank, tmp_path):
    done = ran("tag", "-q", "-m", model, "--split-tokens", stdin=b"Il va du bois\n\nil boit\n")
    expected = [
        row(1, "Il", "PRON"), row(2, "va", "VERB"), row("3-4", "du"), row(3, "de", "ADP"), row(4, "le", "DET"),
        row(5, "bois", "NOUN"), "\n", "# text =\n", "\n", row(1, "il", "PRON"), row(2, "boit", "VERB"), "\n",
    ]  # fmt: skip
    assert done.stdout.decode() == "".join(expected)
    assert run("conll", "--tokens", "surface", stdin=done.stdout).stdout == b"Il va du bois\n\nil boit\n"
    tagged = run("tag", "-q", "-m", model, "--split-tokens", "--to", "tagged", "--unbuffered", stdin=b"il va du bois\n")
    assert tagged.stdout == b"il_PRON va_VERB de_ADP le_DET bois_NOUN\n"
    assert run("tag", "-q", "-m", model, stdin=b"va du bois\n").stdout == b"va_VERB du_ADP+DET bois_NOUN\n"
    fails(run("tag", "-m", model, "--split-tokens", treebank), "tokens are split in plain and raw text", status=2)
    options = ("--latent", 1, "--members", 1, "-o", tmp_path / "words")
    ran("train-hmm", "-q", "--tagged", treebank, *options)
    fails(
        run("tag", "-m", tmp_path / "words", "--split-tokens"),
        "--split-tokens is for taggers of train-hmm --tokens surface",
        status=2,
    )
    conll = parse_conll("x", [line.encode() + b"\n" for line in TREEBANK.split("\n")[:-1]])
    tagger = train_tagger(conll, tokens="surface", latent=1)
    found = tagger.tag_text(parse_text([b"il va du vin\n"], 1), threads=1, split_tokens=True)
    assert [str(sentence) for sentence in found] == ["il_PRON va_VERB de_ADP le_DET vin_NOUN"]
    assert len(found.probabilities) == len(found.ids) == 5


def test_raw_text_is_split_and_comes_back(model):
    text = b"Il va  du bois.\nil boit\n"
    done = run("tag", "-q", "-m", model, "--tokenize", "--language", "fr", "--split-tokens", stdin=text)
    assert b"3-4\tdu\t" in done.stdout
    assert run("conll", "--to", "raw", stdin=done.stdout).stdout == text


def test_only_a_treebank_with_ranges_teaches_it(treebank, tmp_path):
    bare = tmp_path / "bare.conllu"
    bare.write_text("".join(line for line in TREEBANK.splitlines(keepends=True) if not line.startswith("3-4")))
    with pytest.raises(DataError, match=r"bare\.conllu: has no ranges"):
        train_tagger(bare, tokens="surface")
    plus = tmp_path / "plus.conllu"
    plus.write_text(TREEBANK.replace("PRON", "PRO+N"))
    with pytest.raises(DataError, match=r"plus\.conllu:1: the tag 'PRO\+N' has a plus"):
        train_tagger(plus, tokens="surface")
    for text, format in (([[("a", "X")]], "auto"), (treebank, "tagged")):
        with pytest.raises(UsageProblem, match='tokens="surface" takes CoNLL'):
            train_tagger(text, tokens="surface", format=format)
