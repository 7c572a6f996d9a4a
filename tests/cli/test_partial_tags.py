"""train-tagger with tags that are not all known: --partial, --dictionary."""

import pytest

from tests.cli.running import fails, ran, run

SHORT = ("--latent", 2, "--members", 1, "--iterations", 2)


@pytest.fixture(scope="module")
def folder(tmp_path_factory, samples):
    """Return a folder with a text of which every third word has its tag, its words and its dictionary."""
    folder = tmp_path_factory.mktemp("partial")
    lines, words, types = [], [], set()
    for line in (samples / "en.tagged").read_text().splitlines():
        tokens = [token.rpartition("_") for token in line.split()]
        kept = [tag if k % 3 == 0 else "NOUN|VERB" if tag == "VERB" else "_" for k, (_, _, tag) in enumerate(tokens)]
        lines.append(" ".join(f"{word}_{tag}" for (word, _, _), tag in zip(tokens, kept, strict=True)))
        words.append(" ".join(word for word, _, _ in tokens))
        types |= {(word, tag) for word, _, tag in tokens}
    (folder / "some").write_text("".join(f"{line}\n" for line in lines))
    (folder / "words").write_text("".join(f"{line}\n" for line in words))
    (folder / "types").write_text("".join(f"{word}\t{tag}\t1\n" for word, tag in sorted(types)))
    return folder


def right(samples, model, text):
    found = run("tag", "-m", model, text).stdout.decode().split()
    gold = (samples / "en.tagged").read_text().split()
    return sum(a == b for a, b in zip(found, gold, strict=True)) / len(gold)


def test_dictionaries_of_some_words(samples, folder):
    done = ran("train-tagger", "--tagged", folder / "some", "--partial", *SHORT, "-o", folder / "m", "-v")
    assert b"model 1, split 0, iteration 2" in done.stderr
    assert b"321 words, " in done.stderr
    assert b" words may have one tag, " in done.stderr
    assert right(samples, folder / "m", folder / "words") > 0.75
    both = ("--tagged", folder / "some", "--partial", "--dictionary", folder / "types", *SHORT)
    done = ran("train-tagger", *both, "--min-share", 0.2, "-o", folder / "m2")
    assert b", 0 any" in done.stderr
    assert b"given tags" not in done.stderr
    assert right(samples, folder / "m2", folder / "words") > 0.95
    ran("train-hmm", "-q", *both, "--min-share", 0.2, "-o", folder / "m3")
    assert (folder / "m3").read_bytes() == (folder / "m2").read_bytes()
    (folder / "few").write_text("the\tNOUN\t1\n")
    done = run(
        "train-tagger", "--tagged", folder / "some", "--partial", "--dictionary", folder / "few", "-o", folder / "m",
        "--latent", 1,
    )  # fmt: skip
    n = (folder / "some").read_text().count(" the_DET")
    assert n > 0
    assert f"; {n} given tags are not in the dictionary".encode() in done.stderr


@pytest.mark.parametrize("estimator", ["em", "vb", "mre"])
def test_a_dictionary_names_what_is_induced(samples, folder, estimator):
    ran(
        "train-tagger", "--text", folder / "words", "--dictionary", folder / "types", "--estimator", estimator,
        "--iterations", 10, "--min-share", 0, "-o", folder / "named",
    )  # fmt: skip
    assert right(samples, folder / "named", folder / "words") > 0.9


def test_projected_text_is_what_partial_takes(samples, folder):
    model, conll, links, out, types = (folder / name for name in ("en", "en.conllu", "links", "de.conllu", "de.types"))
    run("train-tagger", "-q", "--tagged", samples / "en.tagged", "--latent", 1, "-o", model)
    run("tag", "-q", "-m", model, "--to", "conll", samples / "de-en.en", "-o", conll)
    run("align", "-q", "-s", samples / "de-en.en", "-t", samples / "de-en.de", "-o", links)
    project = ("project", "-q", "--source", conll, "--target", samples / "de-en.de", "-a", links, "-o", out)
    ran(*project, "--dictionary", types, "--links", "one-to-one")
    fails(run("train-tagger", "--tagged", out, "-o", folder / "never"), "words have no tag (_)", "--partial")
    train = ("train-tagger", "-q", "--tagged", out, "--partial", "--latent", 1, "-o", folder / "de")
    ran(*train, "--dictionary", types)
    tagged = run("tag", "-m", folder / "de", "-", stdin="Der Zug fährt .\n".encode()).stdout.decode()
    assert tagged == "Der_DET Zug_NOUN fährt_VERB ._PUNCT\n"
