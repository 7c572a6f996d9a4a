"""Whatever is saved can be loaded, and saved again to the same bytes, whatever words and tags it has learned from."""

import numpy as np
import pytest

import aligntools as at
from aligntools.formats.annotation.conll import format_conll
from aligntools.formats.links.pharaoh import Links
from aligntools.ground.errors import AligntoolsError
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


def aligner(lines, trees):
    return at.train_aligner(lines, lines, iterations=1, threads=1)


def whole_word_aligner(lines, trees):
    return at.train_aligner(lines, lines, views=(0,), model_type="ibm1", case_sensitive=True, threads=1)


def fertility_aligner(lines, trees):
    return at.train_aligner(lines, lines, views=(0,), model_type="ibm4", iterations=1, threads=1)


def class_aligner(lines, trees):
    return at.train_aligner(lines, lines, views=(0,), model_type="hmm-classes", iterations=1, threads=1)


def tagger(lines, trees):
    return at.train_tagger(trees, latent=2, iterations=2, threads=1)


def induced_tagger(lines, trees):
    return at.induce_tags(lines, states=3, iterations=2, threads=1)


def parser(lines, trees):
    return at.train_parser(trees, iterations=2, threads=1)


def induced_parser(lines, trees):
    return at.induce_parser(trees, iterations=2, threads=1)


def induced_grammar(lines, trees):
    return at.induce_grammar(trees, iterations=2, symbols=2, threads=1)


def neural_grammar(lines, trees):
    return at.induce_grammar(trees, estimator="neural", iterations=1, symbols=2, threads=1)


def language_model(lines, trees):
    return at.train_lm(lines, order=2, skip_symbols=True)


def grammar(lines, trees):
    links = Links.from_lists([[(k, k) for k in range(len(line.split(" ")) if line else 0)] for line in lines])
    return at.extract_grammar(lines, lines, links)


KINDS = [
    *(aligner, whole_word_aligner, fertility_aligner, class_aligner, tagger, induced_tagger, parser, induced_parser),
    *(induced_grammar, neural_grammar, language_model, grammar),
]
BINARY = language_model, grammar
#: Texts of which there is little to learn, and trees over their words.
LITTLE = {
    "any characters": (LINES, WORDS),
    "one word": (["a"], ["a"]),
    "one word again": (["a a a", "", "a a a"], ["a", "a", "a"]),
    "no word twice": (["a b c"], ["a", "b", "c"]),
    "blank": (["", ""], []),
    "long": (["a" * 100_000], ["a" * 100_000]),
}


@pytest.mark.parametrize("text", LITTLE)
@pytest.mark.parametrize("train", KINDS)
def test_a_model_is_loaded_and_saved_again(train, text, tmp_path):
    lines, words = LITTLE[text]
    how = {"format": "binary"} if train in BINARY else {}
    try:
        model = train(lines, conll(tmp_path, words))
    except AligntoolsError:  # there is nothing to learn, and it says so
        if text == "any characters":
            raise
        return
    model.save(tmp_path / "model", **how)
    at.load(tmp_path / "model").save(tmp_path / "again", **how)
    assert (tmp_path / "model").read_bytes() == (tmp_path / "again").read_bytes()


def test_arpa_is_read_again(tmp_path):
    model = language_model(LINES, None)
    model.save(tmp_path / "arpa", format="arpa")
    again = at.LanguageModel.load(tmp_path / "arpa")
    assert again.counts == model.counts
    assert np.allclose([again.score(line) for line in LINES], [model.score(line) for line in LINES], atol=1e-4)


@pytest.mark.parametrize("format", ["hiero", "moses"])
def test_a_grammar_of_other_programs_is_read_again(format, tmp_path):
    grammar(LINES, None).save(tmp_path / "text", format=format)
    at.Grammar.load(tmp_path / "text").save(tmp_path / "again", format=format)
    assert (tmp_path / "text").read_bytes() == (tmp_path / "again").read_bytes()
