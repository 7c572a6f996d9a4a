"""``aligntools train-classes``: files, options, messages."""

import pytest

from tests.cli.running import ran, run
from tests.places import SAMPLES

TEXT = "a dog barks\n\nthe cat sleeps\na cat barks\nthe dog sleeps $\n"


@pytest.fixture
def corpus(tmp_path):
    (tmp_path / "en").write_text(TEXT)
    (tmp_path / "de").write_text("ein Hund bellt\n\ndie Katze ruht\neine Katze bellt\nder Hund ruht $\n")
    (tmp_path / "links").write_text("0-0 1-1 2-2\n\n0-0 1-1 2-2\n0-0 1-1 2-2\n0-0 1-1 2-2 3-3\n")
    return tmp_path


def rows(path):
    return [line.split("\t") for line in path.read_text().splitlines()]


def test_files_are_as_mkcls_writes_them(corpus):
    files = "--save-cats", "c.cats", "--save-paths", "paths", "--save-counts", "counts"
    done = ran("train-classes", "en", "-n", "4", "-o", "c", *files, cwd=corpus)
    assert done.stderr.startswith(b"7 words in 4 classes; perplexity ")
    assert (corpus / "c").read_text() == "a\t2\nbarks\t4\ncat\t3\ndog\t3\n$\t5\nsleeps\t4\nthe\t2\n"
    cats = (corpus / "c.cats").read_text().splitlines()
    assert cats[:10] == [
        ";KategProblem:cats: 4   words: 8",
        *("0:$,", "1:", "2:a,the,", "3:cat,dog,", "4:barks,sleeps,", "5:mkcls-mapped-dollar-symbol-$,"),
        *(";I have 5 categories used.", "", "Problem(1,0,208)"),
    ]
    assert [line.partition(":")[0].strip() for line in cats[10:]] == ["#value", "#valueChange", "#doChange"]
    paths, counts = rows(corpus / "paths"), rows(corpus / "counts")
    assert {word: path for path, word, _ in paths}["a"] == {word: path for path, word, _ in paths}["the"]
    assert len({path for path, _, _ in paths}) == 4
    assert counts[0] == ["a", "1", "2"]
    assert {word: int(k) + 1 for word, k, _ in counts} == {word: int(k) for word, k in rows(corpus / "c")}


def test_rare_words_and_taggers(corpus, tmp_path):
    done = run("train-classes", "-", "-n", "3", "--min-count", "2", "-q", cwd=corpus, stdin=TEXT.encode())
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"$\t1\n" in done.stdout
    assert done.stdout.count(b"\t1\n") == 1
    ran("train-classes", "-q", SAMPLES / "de-en.en", "-n", "8", "-o", "c", cwd=tmp_path)
    tagger = "train-tagger", "-q", "--tagged", SAMPLES / "en.conllu", "--latent", "1", "--classes", "c", "-o", "t"
    ran(*tagger, cwd=tmp_path)


def test_classes_of_both_sides(corpus):
    done = ran(
        *("train-classes", "en", "-t", "de", "-a", "links", "-n", "4", "--target-output", "de.c", "-o", "en.c"),
        cwd=corpus,
    )
    assert b"mutual information" in done.stderr
    assert b"perplexity" not in done.stderr
    english, german = dict(rows(corpus / "en.c")), dict(rows(corpus / "de.c"))
    assert english["dog"] == english["cat"]
    assert german["Hund"] == german["Katze"]
    assert german["ein"] == german["eine"]
    (corpus / "links").write_text("1-1 2-2 3-3\n\n1-1\n1-1\n1-1 4-4\n")
    again = "train-classes", "en", "-t", "de", "-a", "links", "-n", "4", "--target-output", "x", "-q"
    ran(*again, "--index-base", "1", cwd=corpus)
