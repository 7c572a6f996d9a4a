"""Whatever is saved can be loaded, and saved again to the same bytes, whatever words and tags it has learned from."""

import numpy as np
import pytest

import aligntools as at
from aligntools.formats.annotation.conll import format_conll
from aligntools.formats.links.pharaoh import Links
from tests.contracts.nasty import WORDS

#: Sentences with each of the words; a short word stands at the end, since "\r" there is of the line's end.
SENTENCES = [[*WORDS[k : k + 3], "x"] for k in range(0, len(WORDS), 3)]
LINES = [" ".join(row) for row in SENTENCES]
TAGS = [word for word in WORDS if word != "_" and len(word) < 20 and not word.endswith("\r")][:40]


def conll(tmp_path, words=WORDS, tags=TAGS):
    """Return a file of trees: chains of three words, with tags and labels of any characters."""
    rows = [words[k : k + 3] for k in range(0, len(words), 3)]
    flat = [word.encode() for row in rows for word in row]
    named = [tags[k % len(tags)].encode() for k in range(len(flat))]
    heads = [b"%d" % k for row in rows for k in range(len(row))]
    offsets = np.cumsum([0, *map(len, rows)])
    path = tmp_path / "trees.conllu"
    path.write_bytes(format_conll(flat, offsets, {3: named, 4: named, 6: heads, 7: named}))
    return str(path)


def aligner(tmp_path):
    return at.train_aligner(LINES, LINES, iterations=1, threads=1)


def whole_word_aligner(tmp_path):
    return at.train_aligner(LINES, LINES, views=(0,), model_type="ibm1", case_sensitive=True, threads=1)


def tagger(tmp_path):
    return at.train_tagger(conll(tmp_path), latent=1, threads=1)


def induced_tagger(tmp_path):
    return at.induce_tags(SENTENCES, states=3, iterations=2, threads=1)


def parser(tmp_path):
    return at.train_parser(conll(tmp_path), iterations=2, threads=1)


def induced_parser(tmp_path):
    return at.induce_parser(conll(tmp_path), iterations=2, threads=1)


def induced_grammar(tmp_path):
    return at.induce_grammar(conll(tmp_path), iterations=2, symbols=2, threads=1)


def language_model(tmp_path):
    return at.train_lm(LINES, order=2, skip_symbols=True)


def grammar(tmp_path):
    links = Links.from_lists([[(k, k) for k in range(len(row))] for row in SENTENCES])
    return at.extract_grammar(LINES, LINES, links)


@pytest.mark.parametrize(
    "train",
    [
        aligner, whole_word_aligner, tagger, induced_tagger, parser, induced_parser, induced_grammar, language_model,
        grammar,
    ],
)  # fmt: skip
def test_a_model_is_loaded_and_saved_again(train, tmp_path):
    model = train(tmp_path)
    how = {"format": "binary"} if train in (language_model, grammar) else {}
    model.save(tmp_path / "model", **how)
    at.load(tmp_path / "model").save(tmp_path / "again", **how)
    assert (tmp_path / "model").read_bytes() == (tmp_path / "again").read_bytes()


def test_arpa_is_read_again(tmp_path):
    model = language_model(tmp_path)
    model.save(tmp_path / "arpa", format="arpa")
    again = at.LanguageModel.load(tmp_path / "arpa")
    assert again.counts == model.counts
    assert np.allclose([again.score(line) for line in LINES], [model.score(line) for line in LINES], atol=1e-4)


@pytest.mark.parametrize("format", ["hiero", "moses"])
def test_a_grammar_of_other_programs_is_read_again(format, tmp_path):
    grammar(tmp_path).save(tmp_path / "text", format=format)
    at.Grammar.load(tmp_path / "text").save(tmp_path / "again", format=format)
    assert (tmp_path / "text").read_bytes() == (tmp_path / "again").read_bytes()
