"""GIZA++'s files: what align --giza-dir and the programs in GIZA++'s place write."""

import numpy as np
import pytest

from aligntools.formats.links.giza import read_giza_a3
from tests.cli.aligning import done, lower_case
from tests.cli.running import fails, ran, run

PAIRS = 60
TABLES = ("t3", "n3", "a3", "d3", "d4", "D4", "p0_3", "hhmm")


@pytest.fixture(scope="module")
def text(tmp_path_factory):
    """The beginning of the samples in lower case, and GIZA++'s files of a model of it."""
    folder = tmp_path_factory.mktemp("giza")
    sides = lower_case(folder, PAIRS)
    files = ("--forward-output", folder / "f", "--reverse-output", folder / "r", "--ttable", folder / "tt")
    how = ("--model-type", "ibm4", "--set", "word_classes=6", "--iterations", 2, "--giza-dir", folder / "giza", *files)
    done(run("align", "-q", *sides, *how, "-o", folder / "links"))
    done(run("de", "en", cwd=folder, script="plain2snt"))
    return folder


def rows(path, kind=float):
    return [tuple(map(kind, line.split())) for line in path.read_text().splitlines()]


def test_alignments_and_numbers(text, tmp_path):
    for name, direction in (("f", "forward"), ("r", "reverse")):
        links, missing = read_giza_a3(str(text / "giza" / f"{direction}.A3.final"))
        turned = [{(i, j) if name == "f" else (j, i) for i, j in pairs} for pairs in links.tolists()]
        written = [line.split() for line in (text / name).read_text().splitlines()]
        assert turned == [{tuple(map(int, link.split("-"))) for link in links} for links in written]
        assert missing == 0
    for ours, theirs in (("source.vcb", "de.vcb"), ("target.vcb", "en.vcb"), ("source_target.snt", "de_en.snt")):
        assert (text / "giza" / ours).read_bytes() == (text / theirs).read_bytes()
    assert (text / "giza" / "target_source.snt").read_bytes() == (text / "en_de.snt").read_bytes()
    how = ("--model-type", "hmm", "--direction", "reverse", "--set", "views=0", "--giza-dir", tmp_path)
    done(run("align", "-q", "-s", text / "de", "-t", text / "en", *how, "-o", tmp_path / "links"))
    names = {"reverse.t3.final", "reverse.a3.final", "reverse.d3.final", "reverse.A3.final"}
    assert {p.name for p in tmp_path.glob("*.final")} == names


def test_tables_are_those_of_the_model(text):
    """Translations as --ttable has them; distributions sum to 1, and each is there for each direction."""
    folder = text / "giza"
    names = {f"{d}.{table}.final" for d in ("forward", "reverse") for table in (*TABLES, "A3")}
    assert {p.name for p in folder.glob("*.final")} == names
    vocabularies = [(folder / f"{side}.vcb").read_text().splitlines() for side in ("source", "target")]
    words = [["<eps>", "", *(line.split()[1] for line in lines)] for lines in vocabularies]
    known = {}
    for line in (text / "tt").read_text().splitlines():
        source, target, p = line.split("\t")
        known[source, target] = np.exp(float(p))
    found = {(words[0][int(s)], words[1][int(t)]): p for s, t, p in rows(folder / "forward.t3.final")}
    assert {pair for pair, p in known.items() if p > 1e-6} <= set(found)
    for pair, p in known.items():
        assert found.get(pair, 0) == pytest.approx(p, rel=1e-3, abs=1e-6)
    for direction, given, observed in (("forward", 0, 1), ("reverse", 1, 0)):
        fertilities = np.array(rows(folder / f"{direction}.n3.final"))
        assert fertilities[:, 0].tolist() == list(range(2, len(words[given])))
        assert fertilities.shape[1] == 11
        np.testing.assert_allclose(fertilities[:, 1:].sum(1), 1, atol=1e-3)
        for name, key in (("a3", lambda _, j, length, __: (j, length)), ("d3", lambda _, i, __, length: (i, length))):
            sums = {}
            for *place, p in rows(folder / f"{direction}.{name}.final"):
                sums[key(*place)] = sums.get(key(*place), 0) + p
            assert list(sums.values()) == pytest.approx([1] * len(sums), abs=1e-4)
        assert (folder / f"{direction}.p0_3.final").read_text() == "0.92\n"
        others = (folder / f"{direction}.D4.final").read_text().splitlines()
        lines = (folder / f"{('source', 'target')[observed]}.vcb.classes").read_text().splitlines()
        classes = {line.split("\t")[1] for line in lines}
        assert {line.split()[3] for line in others[::2]} == classes
        for line in (folder / f"{direction}.d4.final").read_text().splitlines():
            fields = line.split()
            assert fields[0] == "76"
            assert fields[3] in classes
            assert (len(fields[9:]), fields[8]) == (203, "203")
            assert sum(map(float, fields[9:])) == pytest.approx(1, abs=1e-3)


MOSES = ("-m1", 5, "-m2", 0, "-m3", 3, "-m4", 0, "-mh", 2, "-model4smoothfactor", 0.4, "-nsmooth", 4, "-p0", 0.999)
FILES = ("-CoocurrenceFile", "none", "-s", "de.vcb", "-t", "en.vcb", "-c", "de_en.snt")


def test_programs_in_the_place_of_gizas(text):
    """The same tables; MGIZA's alignments are in parts, of which there is one. Settings may stand in a file."""
    ran(*FILES, *MOSES, "-ncpus", 4, "-o", "m", cwd=text, script="mgiza")
    own = {p.name for p in text.glob("m.*")}
    tables = {f"m.{table}.final" for table in ("t3", "n3", "a3", "d3", "p0_3", "hhmm")}
    assert own == {"m.A3.final.part000", "m.gizacfg", "m.hhmm.final.alpha", *tables}
    (text / "config").write_text("s de.vcb\nt en.vcb\nc de_en.snt\nm3 3\nm4 0\nmh 2\np0 0.999\n")
    ran("config", "-o", "g", cwd=text, script="GIZA++")
    assert (text / "g.A3.final").read_bytes() == (text / "m.A3.final.part000").read_bytes()
    assert len(read_giza_a3(str(text / "g.A3.final"))[0]) == PAIRS


def test_wrong_input_of_the_programs(text):
    def mgiza(*args):
        return run(*args, cwd=text, script="mgiza")

    assert b"parameter 'mm' does not exist" in mgiza("-mm", 1).stderr
    assert b"parameter 'prev' is ambiguous" in mgiza("-prev", 1).stderr
    assert b"parameter '' does not exist" in mgiza("--", 1).stderr
    assert b"-m4 takes a whole number, not 'x'" in mgiza(*FILES, "-o", "x", "-m4", "x").stderr
    assert b"-s and -t and -c and -o must be given" in mgiza("-m4", 1).stderr
    for options, message in (
        (("-m5", 3), b"-m5 3: there is no IBM 5 here"),
        (("-d", "words"), b"-d words: dictionaries are not read here"),
        (("-emprobforempty", "x"), b"-emprobforempty takes a probability, or a negative number for none, not 'x'"),
        (("-restart", 11, "-m3", 0, "-m4", 2), b"text is aligned by tables here (-restart 11 -m3 0 -m4 1, or -restart"),
        (("-restart", 4), b"training does not go on from them"),
        (("-restart", 9, "-m4", 0, "-m3", 1), b"-restart 9 needs -previoust and -previousn and -previousd and -p0 or"),
    ):
        done = mgiza(*FILES, "-o", "none", *options)
        assert message in done.stderr
        assert done.returncode == 1
    assert mgiza("-m4", 1).returncode == 1
    whole = (text / "de_en.snt").read_bytes()
    for name, damaged, message in (
        ("-c", whole[: whole.rindex(b"\n1\n") + 5], "ends within a sentence pair"),
        ("-c", whole.replace(b"1\n2 3 ", b"1\n2 9999 ", 1), "damaged:2: de.vcb has no word 9999"),
        ("-c", b"2" + whole[1:], "damaged:1: each pair counts once here"),
        ("-s", b"2 der 4\n3 zug\n", "damaged:2: '3 zug' is not the number of a word, from 1 on, the word and its"),
        ("-t", b"2 the 4\n2 train 1\n", "damaged:2: word 2 comes twice"),
    ):
        (text / "damaged").write_bytes(damaged)
        fails(mgiza(*FILES, name, "damaged", "-o", "none"), message)
        assert not list(text.glob("none.*"))


def test_the_last_iteration_of_earlier_models_is_named_as_moses_reads_it(text):
    """``train-model.perl -final-alignment-model``: A1.5, A2.5 and Ahmm.5, where the dump frequency asks for them."""
    none = ("-m1", 2, "-m2", 0, "-mh", 0, "-m3", 0, "-m4", 0)
    for name, options in (
        ("A1.2", ("-model1dumpfrequency", 2)),
        ("A3.final", ("-model1dumpfrequency", 3)),
        ("A2.2", ("-m2", 2, "-model2dumpfrequency", 1)),
        ("Ahmm.2", ("-hmmiterations", 2, "-hmmdumpfrequency", 2)),
    ):
        for program, end in (("GIZA++", ""), ("mgiza", "" if name == "A2.2" else ".part000")):
            done(run(*FILES, *none, *options, "-o", f"{program}.e", cwd=text, script=program))
            assert {p.name for p in text.glob(f"{program}.e.A*")} == {f"{program}.e.{name}{end}"}
            (text / f"{program}.e.{name}{end}").unlink()


@pytest.fixture(scope="module")
def numbered(text, tmp_path_factory):
    """The text as Moses numbers it, with a word that it does not have first, classes, and IBM 4 and 3 of it.

    The file of classes has more words than the text, and they come in another order.
    """
    folder = tmp_path_factory.mktemp("numbered")
    for side in ("de", "en"):
        lines = [line.split() for line in (text / f"{side}.vcb").read_text().splitlines()]
        rows = [f"{int(number) + 5}\t{word}\t{count}\n" for number, word, count in lines]
        (folder / f"{side}.vcb").write_text("".join(["1\tUNK\t0\n", *rows]))
        classes = [f"{word}\t{len(word) % 4}x\n" for _, word, _ in reversed(lines[3:])]
        (folder / f"{side}.vcb.classes").write_text("".join(["zebra\t9x\n", *classes]))
    shifted = []
    for line in (text / "de_en.snt").read_text().splitlines():
        shifted.append(
            line if line == "1" and len(shifted) % 3 == 0 else " ".join(str(int(n) + 5) for n in line.split())
        )
    (folder / "de_en.snt").write_text("".join(line + "\n" for line in shifted))
    for name, last in (("four", ("-m3", 0, "-m4", 2)), ("three", ("-m3", 2, "-m4", 0))):
        done(run(*FILES, "-m1", 2, "-mh", 2, *last, "-p0", 0.95, "-o", name, cwd=folder, script="mgiza"))
    return folder


def test_tables_have_the_numbers_of_the_vocabularies_and_classes_given(numbered):
    words = [{int(n): w for n, w, _ in rows(numbered / f"{side}.vcb", str)} for side in ("de", "en")]
    classes = [dict(rows(numbered / f"{side}.vcb.classes", str)) for side in ("de", "en")]
    for side in (0, 1):
        column = {int(row[side]) for row in rows(numbered / "four.t3.final")}
        assert column <= {0, *words[side]}
        assert len(column) > 50
    likely = {(words[0].get(int(s)), words[1][int(t)]) for s, t, p in rows(numbered / "four.t3.final") if p > 0.5}
    assert {("anna", "anna"), ("200", "200"), ("?", "?"), (".", ".")} <= likely, likely
    assert [int(row[0]) for row in rows(numbered / "four.n3.final")] == sorted(words[0])
    assert not (numbered / "four.source.classes").exists()
    # GIZA++ counts classes as it meets them: 9x of a word that the text does not have is 1
    met = [list(dict.fromkeys(of.values())) for of in classes]
    fields = [line.split() for line in (numbered / "four.d4.final").read_text().splitlines()]
    for column, of in ((3, met[1]), (4, met[0])):
        assert {int(row[column]) for row in fields} <= set(range(len(of) + 1)) - {1}


@pytest.mark.parametrize(
    ("name", "restart", "named"),
    [
        ("four", ("-restart", 11, "-m3", 0, "-m4", 1), {"d4": "d4", "d42": "D4"}),
        ("three", ("-restart", 9, "-m3", 1, "-m4", 0), {"d": "d3"}),
    ],
)
def test_text_is_aligned_by_tables(numbered, name, restart, named):
    """IBM 4 finds what its training found; IBM 3's d3 has shares of links, so that some of its links differ."""
    tables = {"t": "t3", "n": "n3", "hmm": "hhmm"} | named
    files = [x for to, table in tables.items() for x in (f"-previous{to}", f"{name}.{table}.final")]
    more = ("-p0", -1, "-previousp0", f"{name}.p0_3.final")
    cut = ("-coocurrence", "none", *FILES[2:])  # as MGIZA's force-align-moses.sh has it
    done(run(f"{name}.gizacfg", *cut, *restart, *files, *more, "-o", "again", cwd=numbered, script="mgiza"))
    assert {p.name for p in numbered.glob("again.*")} == {"again.A3.final.part000"}
    links = [read_giza_a3(str(numbered / f"{of}.A3.final.part000"))[0].tolists() for of in (name, "again")]
    before, again = ({(n, *link) for n, pair in enumerate(of) for link in pair} for of in links)
    assert len(before & again) >= (1 if name == "four" else 0.9) * max(len(before), len(again))
    message = "none.t3.final: cannot be opened"
    wrong = run(f"{name}.gizacfg", *FILES, *restart, *files, *more, "-previoust", "none.t3.final", "-o", "x",
                cwd=numbered, script="mgiza")  # fmt: skip
    fails(wrong, message)


def test_parts_of_alignments_are_joined(numbered):
    """In the order of the pairs' numbers, as MGIZA's merge_alignment.py."""
    lines = (numbered / "four.A3.final.part000").read_bytes().splitlines(keepends=True)
    pairs = [b"".join(lines[n : n + 3]) for n in range(0, len(lines), 3)]
    for part, own in (("a", pairs[1::2]), ("b", pairs[::2])):
        (numbered / part).write_bytes(b"".join(own))

    def merge(*args):
        return run(*args, cwd=numbered, script="merge_alignment.py")

    merged = done(merge("a", "b"))
    assert merged.stdout == b"".join(lines)
    assert merged.stderr == b"Combined 2 files, totally 60 sents \n"
    assert merge("four.A3.final.part000").stdout == b"".join(lines)
    fails(merge("a"), "a:1: sentence pair 1 is in no part; expected it before this")
    fails(merge("a", "b", "b"), "b:1: sentence pair 1 comes twice")
    (numbered / "c").write_bytes(pairs[0] + pairs[2] + pairs[1])
    (numbered / "d").write_bytes(pairs[1])
    fails(merge("c", "d"), "c:7: sentence pair 2 comes behind 3; expected a part whose numbers rise")
    (numbered / "c").write_bytes(pairs[0][:-1].rpartition(b"\n")[0])
    fails(merge("c"), "c:1: the file ends within a sentence pair")
    assert merge().returncode == 1
