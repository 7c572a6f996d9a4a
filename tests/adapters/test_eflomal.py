import contextlib
import inspect
import io
import itertools
import tempfile
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import aligntools as at
from aligntools.adapters import eflomal
from tests.places import SAMPLES

SOURCE = (SAMPLES / "de-en.de").read_text(encoding="utf-8").splitlines()
TARGET = (SAMPLES / "de-en.en").read_text(encoding="utf-8").splitlines()
SMALL = SOURCE[:30], TARGET[:30]


def aligned(source, target, **options):
    """Return the four files that an aligner writes into temporary files that are held open, as lists of lines."""
    made = {name: options.pop(name) for name in list(options) if name in inspect.signature(eflomal.Aligner).parameters}
    names = ("links_filename_fwd", "links_filename_rev", "scores_filename_fwd", "scores_filename_rev")
    with contextlib.ExitStack() as stack:
        files = {name: stack.enter_context(tempfile.NamedTemporaryFile("w+")) for name in names}
        paths = {name: file.name for name, file in files.items()}
        eflomal.Aligner(**made).align(source, target, **paths, **options)
        return [file.read().splitlines() for file in files.values()]


@pytest.fixture(scope="module")
def sample():
    return aligned(SOURCE, TARGET)


def test_arguments_are_those_of_eflomal():
    names = ["model", "score_model", "n_iterations", "n_samplers", "rel_iterations", "null_prior"]
    names += [f"{side}_{end}_len" for side in ("source", "target") for end in ("prefix", "suffix")]
    found = {n: p.default for n, p in inspect.signature(eflomal.Aligner).parameters.items()}
    assert found == dict(zip(names, [3, 0, None, 3, 1.0, 0.2, 0, 0, 0, 0], strict=True))
    names = "self src_input trg_input links_filename_fwd links_filename_rev scores_filename_fwd scores_filename_rev"
    assert list(inspect.signature(eflomal.Aligner.align).parameters) == [
        *names.split(),
        "priors_input",
        "quiet",
        "use_gdb",
    ]
    names = "self src_input_file src_output_file trg_input_file trg_output_file priors_input_file priors_output_file"
    assert list(inspect.signature(eflomal.Aligner.prepare_files).parameters) == names.split()
    names = """source_filename target_filename links_filename_fwd links_filename_rev statistics_filename
        scores_filename_fwd scores_filename_rev priors_filename model score_model n_iterations n_samplers quiet
        rel_iterations null_prior use_gdb"""
    assert list(inspect.signature(eflomal.align).parameters) == names.split()
    assert eflomal.Aligner(2, 1, (5, 5, 0), 1, 0.5).n_iterations == (5, 5, 0)


def test_links_and_scores(sample):
    found = at.align(at.read_bitext(SAMPLES / "de-en.txt"))
    forward, reverse, *_ = sample
    assert [{*line.split()} for line in forward] == [{f"{i}-{j}" for i, j in a.forward} for a in found]
    assert [{*line.split()} for line in reverse] == [{f"{i}-{j}" for i, j in a.reverse} for a in found]
    for lines, column in ((forward, 1), (reverse, 0)):
        chosen = [[int(link.split("-")[column]) for link in line.split()] for line in lines]
        assert all(row == sorted(set(row)) for row in chosen)
    text = at.read_bitext(SAMPLES / "de-en.txt")
    found = at.align(text)
    costs = at.link_costs(text, found.forward_table, found.reverse_table)
    np.testing.assert_allclose(np.array(sample[2:], float), costs, rtol=1e-5, atol=1e-5)
    words = aligned(SOURCE, TARGET, score_model=1)
    assert words[:2] == sample[:2]
    costs = at.link_costs(text, found.forward_table, found.reverse_table, model=1)
    np.testing.assert_allclose(np.array(words[2:], float), costs, rtol=1e-5, atol=1e-5)


def test_inputs_are_read_once_the_source_first(sample):
    order = []

    def lines(name, sentences):
        for sentence in sentences:
            order.append(name)
            yield sentence + "\n"

    assert aligned(lines("s", SOURCE), lines("t", TARGET)) == sample
    assert order == ["s"] * len(SOURCE) + ["t"] * len(TARGET)
    with tempfile.TemporaryFile("w+", encoding="utf-8") as unnamed:
        unnamed.write("\n".join(TARGET))
        unnamed.seek(0)
        assert aligned(io.StringIO("\n".join(SOURCE)), unnamed) == sample
    both = itertools.tee(zip(SOURCE, TARGET, strict=True))
    assert aligned((s for s, _ in both[0]), (t for _, t in both[1])) == sample


def test_what_generators_raise_comes_through(tmp_path):
    class Own(Exception):
        pass

    def none():
        raise Own
        yield

    with pytest.raises(Own):
        eflomal.Aligner().align(none(), none(), str(tmp_path / "f"))


def test_files_are_written_in_place_or_whole_and_texts_stay(tmp_path):
    there, new = tmp_path / "there", tmp_path / "new"
    there.write_text("older and longer\n" * 1000)
    number = there.stat().st_ino
    eflomal.Aligner(model=1).align(*SMALL, str(there), str(new))
    assert there.stat().st_ino == number
    assert len(there.read_text().splitlines()) == len(new.read_text().splitlines()) == 30
    assert sorted(p.name for p in tmp_path.iterdir()) == ["new", "there"]
    text, numbers = tmp_path / "text", tmp_path / "numbers"
    text.write_text("a b\n")
    with open(text) as source, pytest.raises(ValueError, match="text is the file that is read as src_input"):
        eflomal.Aligner().align(source, ["a b"], links_filename_fwd=str(text))
    numbers.write_text("1 2\n2 0 1\n")
    with pytest.raises(ValueError, match="numbers is the file that is read as source_filename"):
        eflomal.align(str(numbers), str(numbers), links_filename_rev=str(numbers))
    assert (text.read_text(), numbers.read_text()) == ("a b\n", "1 2\n2 0 1\n")


def test_words_lines_and_texts_that_are_odd(tmp_path):
    """A no-break space parts words for eflomal's callers, and so positions count."""
    source = ["a\u00a0b c"] * 5
    forward, *_ = aligned(source, ["a b c"] * 5)
    assert forward == ["0-0 1-1 2-2"] * 5
    source = ["\ufeffdas haus", "", "x " * 2001, "das haus", "a \udc80", "das ||| haus"]
    target = ["the house", "y", "y", "", "a", "the ||| house"]
    found = aligned(source, target)
    assert [[bool(line) for line in lines] for lines in found[:2]] == [[True, False, False, False, False, True]] * 2
    assert [line == "-0" for line in found[2]] == [False, True, True, True, True, False]
    assert found[0][5] == "0-0 1-1 2-2"
    assert aligned([], []) == [[], [], [], []]
    assert aligned(["ja"], ["yes"])[:2] == [["0-0"], ["0-0"]]
    assert len(aligned(["", ""], ["", "x"])[2]) == 2
    for sides in (["a"], []), ([], ["a"]), (["a", "b"], ["c"]):
        with pytest.raises(ValueError, match="Mismatched file sizes"):
            eflomal.Aligner().align(*sides, str(tmp_path / "f"))
    cut = [" ".join(word[:2] for word in line.lower().split()) for line in SMALL[0]]
    assert aligned(*SMALL, source_prefix_len=2) == aligned(cut, SMALL[1])
    cut = [" ".join(word[-2:] for word in line.lower().split()) for line in SMALL[1]]
    assert aligned(*SMALL, target_suffix_len=2) == aligned(SMALL[0], cut)


PRIORS = ["LEX\tbuch\tbook\t50\n", "LEX\tdas\tthe\t50\n"]


def test_priors_and_models_change_links(tmp_path):
    """Of one pair alone nothing says which words belong together."""
    pair = ["buch das"], ["the book"]
    without, given = aligned(*pair), aligned(*pair, priors_input=iter(PRIORS))
    assert "0-1" in given[0][0].split()
    assert "0-1" not in without[0][0].split()
    straight = [aligned(["das buch"], ["the book"], priors_input=lines) for lines in (None, PRIORS)]
    assert straight[0][0] == straight[1][0] == ["0-0 1-1"]
    assert float(straight[1][2][0]) < float(straight[0][2][0]) - 1
    cut = aligned(*pair, source_prefix_len=2, priors_input=PRIORS)
    assert "0-1" in cut[0][0].split()
    names = numbered(tmp_path, *pair, PRIORS)
    eflomal.align(*names, str(tmp_path / "f"), priors_filename=str(tmp_path / "p"))
    assert (tmp_path / "f").read_text() == given[0][0] + "\n"
    priors = ["LEX\t.\t.\t50", "LEX\tab\tab\t275", "HMMF\t1\t375", "HMMR\t1\t375"]
    source = [f"{'ab ' * n}." for n in range(1, 6)]
    found = aligned([*source, f"{'ab ' * 6}."], [*source, "ab"], priors_input=priors)
    diagonal = [" ".join(f"{k}-{k}" for k in range(n + 1)) for n in range(1, 6)]
    assert (found[0][:5], found[1][:5]) == (diagonal, diagonal)
    kinds = [aligned(*SMALL, model=model)[0] for model in (1, 2, 3)]
    assert len({tuple(lines) for lines in kinds}) == 3
    links = [sum(len(line.split()) for line in aligned(*SMALL, null_prior=x)[0]) for x in (0.01, 0.2, 0.9)]
    assert links[0] > links[2]
    assert links[1] == sum(len(line.split()) for line in kinds[2])


@pytest.mark.parametrize("line", ["LEX\ta", "HMMF\tx\t1", "LEX\ta\tb\t-1"])
def test_wrong_priors_are_value_errors(line, tmp_path):
    with pytest.raises(ValueError, match="<priors>:2: "):
        aligned(["a"], ["b"], priors_input=["LEX\ta\tb\t1", line])
    names = numbered(tmp_path, ["a"], ["b"], ["LEX\ta\tb\t1"])
    (tmp_path / "p").write_text("2 2 1 0 0 0 0\n1 5 1\n")
    with pytest.raises(ValueError, match="p:2: '1 5 1' is not 2 numbers"):
        eflomal.align(*names, priors_filename=str(tmp_path / "p"))
    (tmp_path / "p").write_text("3 2 0 0 0 0 0\n")
    with pytest.raises(ValueError, match="p:1: 3 source words"):
        eflomal.align(*names, priors_filename=str(tmp_path / "p"))


@pytest.mark.parametrize("options", [{"model": 4}, {"model": 0}, {"score_model": 4}])
def test_models_that_there_are_not_are_refused(options):
    with pytest.raises(ValueError, match="model"):
        aligned(*SMALL, **options)


def test_texts_are_read_and_written_in_numbers():
    with tempfile.NamedTemporaryFile("w+b") as file:
        sentences, index = eflomal.read_text(["Das Haus\n", "das Buch", "", "x " * 1024], True, 0, 0)
        assert index == {"das": 0, "haus": 1, "buch": 2, "x": 3}
        assert [s.tolist() for s in sentences[:3]] == [[0, 1], [0, 2], []]
        assert {s.dtype for s in sentences} == {np.dtype(np.uint32)}
        eflomal.write_text(file, tuple(sentences), len(index))
        lines = Path(file.name).read_text().splitlines()
    assert lines == ["4 4", "2 0 1", "2 0 2", "0", "0", "# words", "das", "haus", "buch", "x"]
    assert eflomal.read_text(["Abcde"], False, 3, 0)[1] == {"Abc": 0}
    assert eflomal.read_text(["Abcde"], True, 0, 2)[1] == {"de": 0}
    out = io.BytesIO()
    eflomal.write_text(out, (np.array([1, 0], np.uint32),), 2)  # of another's making: the words are not known
    assert out.getvalue() == b"1 2\n2 1 0\n"


def test_numbered_texts(tmp_path, sample):
    with tempfile.NamedTemporaryFile("w+b") as file:
        index, n, size = eflomal.to_eflomal_text_file(["ein Haus", "ein Buch"], file, 3)
    assert (n, size, len(index)) == (2, 3, 3)
    assert [index[w] for w in ("ein", "HAUSTÜR", "weg")] == [1, 2, None]
    names = numbered(tmp_path, SOURCE, TARGET)
    eflomal.align(*names, str(tmp_path / "f"), str(tmp_path / "r"), str(tmp_path / "jumps"), n_samplers=3)
    assert (tmp_path / "f").read_text().splitlines() == sample[0]
    assert (tmp_path / "r").read_text().splitlines() == sample[1]
    jumps = list(map(int, (tmp_path / "jumps").read_text().split()))
    assert (jumps[0], len(jumps)) == (2048, 2049)
    assert max(range(2048), key=jumps[1:].__getitem__) == 1024 + 1  # to the next word
    names = numbered(tmp_path, SOURCE, TARGET)
    for name in names:
        text = Path(name).read_text()
        Path(name).write_text(text[: text.index("# words")])
    eflomal.align(*names, str(tmp_path / "f"))
    links = (tmp_path / "f").read_text().splitlines()
    assert len(links) == len(SOURCE)
    assert sum(bool(line) for line in links) > 200


def numbered(folder, source, target, priors=None):
    """Write a text as the eflomal program reads it; return the names."""
    with open(folder / "s", "wb") as s, open(folder / "t", "wb") as t, open(folder / "p", "w") as p:
        eflomal.Aligner().prepare_files(source, s, target, t, priors, p)
    return str(folder / "s"), str(folder / "t")


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("", "s:1: the numbers"), ("2 3 4\n", "s:1: the numbers"), ("2 3\n1 0\n", "s:3: ends after 1"),
        ("1 3\n2 0\n", "s:2: 2 word ids are announced and 1 found"), ("1 3\n1 3\n", "s:2: the word id 3"),
        ("1 3\nx\n", "s:2: 'x' is not"), ("1 2\n1 0\n# words\na\na\n", "s:3: 1 different words"),
        ("1 3\n1 99999999999999999999\n", "s:2: '1 9999"),
    ],
)  # fmt: skip
def test_bad_numbered_texts_are_named(tmp_path, text, where):
    names = numbered(tmp_path, ["a"], ["b"])
    Path(names[0]).write_text(text)
    with pytest.raises(ValueError, match=where.replace("(", r"\(")):
        eflomal.align(*names, str(tmp_path / "f"))


def test_priors_are_counted_as_eflomal_counts_them():
    source, target = ["a b\n", "A  c"], ["x y", "x y z"]
    forward, reverse = ["0-0 1-1\n", "0-0 0-1"], ["0-0 1-0", "1-1 0-2"]
    found = eflomal.calculate_priors(source, target, forward, reverse)
    assert found == (
        Counter({("a", "x"): 1, ("b", "y"): 1, ("A", "x"): 1, ("A", "y"): 1}),
        Counter({1: 4, 0: 1, 2: 1}), Counter({1: 1, 0: 1, 2: 2, 3: 1, -1: 1}),
        Counter({("a", 1): 1, ("b", 1): 1, ("A", 2): 1}), Counter({("x", 2): 1, ("y", 1): 1, ("z", 1): 1}),
    )  # fmt: skip
    assert eflomal.calculate_priors(source, target, forward, reverse, False) == found
    opposite = eflomal.calculate_priors(source, target, forward, reverse, True)
    assert opposite[1:] == (found[2], found[1], found[4], found[3])
    assert opposite[0] == {("a", "x"): 1, ("b", "x"): 1, ("c", "y"): 1, ("A", "z"): 1}
    written = io.StringIO()
    eflomal.write_priors(written, *found)
    assert written.getvalue().splitlines()[:3] == ["LEX\tA\tx\t1", "LEX\tA\ty\t1", "LEX\ta\tx\t1"]
    back = eflomal.read_priors(io.StringIO(written.getvalue()))
    assert {(s, t): a for s, t, a in back[0]} == found[0]
    assert (back[1], back[2]) == (found[1], found[2])
    assert sorted(back[3]) == sorted((w, n, a) for (w, n), a in found[3].items())


@pytest.mark.parametrize(
    ("forward", "message"),
    [
        (["0-0", "2-0"], "line 2: the link 2-0"),
        (["0-0", "x"], "forward links, line 2: 'x'"),
        (["0-0"], "forward links, line 2"),
    ],
)
def test_bad_links_are_named(forward, message):
    with pytest.raises(ValueError, match=message):
        eflomal.calculate_priors(["a b", "c d"], ["x", "y"], forward, ["0-0", "0-0"])


@pytest.mark.parametrize("line", ["LEX\ta\tb", "LEX\ta\tb\tx", "FERF\ta\tb\t1", "NEW\ta\tb\t1", "HMMF\t1\t2\t3", ""])
def test_bad_priors_are_named(line):
    with pytest.raises(ValueError, match="line 2"):
        eflomal.read_priors(["LEX\ta\tb\t1\n", line])


def test_joint_lines_are_parted():
    lines = ["a b ||| c\n", " d ||| e f "]
    assert list(eflomal.sentences_from_joint_file(lines)) == [("a b", "c"), ("d", "e f")]
    assert list(eflomal.sentences_from_joint_file(lines, 1)) == ["c", "e f"]
    for bad in ("a b", "a ||| b ||| c", "a ||| "):
        with pytest.raises(ValueError, match="line 2"):
            list(eflomal.sentences_from_joint_file(["a ||| b", bad]))
