import json

import pytest

from tests.cli.running import ROOT, fails, ran, run

SAMPLES = ROOT / "data" / "samples"
CONLL, TAGGED = SAMPLES / "en.conllu", SAMPLES / "en.tagged"
GOLD = "a_N b_V\n\nc_N d_D e_N f_V\n"
HYP = "a_N b_V\n\nc_V d_D e_N f_N\n"  # 4 of 6
INDUCED = "a_0 b_1\n\nc_0 d_1 e_0 f_2\n"
QUICK = "--json", "--bootstrap", "0"


@pytest.fixture
def file(tmp_path):
    def write(name, text):
        (tmp_path / name).write_text(text, encoding="utf-8")
        return tmp_path / name

    return write


def words(text):
    return text.split()


def results(done):
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)["results"]


def test_table(file):
    gold, hyp, induced = file("gold", GOLD), file("hyp", HYP), file("induced", INDUCED)
    done = run("eval-tags", gold, hyp, induced, gold, "--train", file("train", "a c f g"), "--paired", "--by-tag")
    assert done.stderr.decode() == (
        f"note: {induced}: 6 of 6 words have labels that the gold does not have (0 1 2); accuracy does not apply\n"
    )
    lines = done.stdout.decode().splitlines()
    assert lines[0].split() == words("tagging acc% 95% interval known unknown many-to-1 1-to-1 VI V hom com labels")
    row = lines[1].split()
    assert row[:2] + row[3:7] == [str(hyp), "66.67", "33.33", "100.00", "66.67", "66.67"]
    low, high = map(float, row[2].split("-"))
    assert 50 <= low < 66.67 < high <= 100  # one sentence of 2, all right, and one of 4, half of them
    # H(N,V,D) = 1.4591; a label of 3 words is one tag, one of 2 is two, one of 1 is one: H(G|P) = 1/3, H(P|G) = 1/3
    assert lines[2].split()[1:] == words("- - - - 83.33 83.33 0.6667 77.16 77.16 77.16 3")
    assert lines[3].split()[1:3] == ["100.00", "100.00-100.00"]
    assert lines[4].startswith(f"{gold} minus {hyp}: accuracy +33.33 (95% +0.00 to +50.00), p = ")
    assert "commonest errors: N as V 1, V as N 1" in lines
    assert f"{induced}, labels mapped many-to-1:" in lines
    assert lines[-2] == "gold: 6 words, 3 known and 3 unknown, 3 tags"
    settings = "metric:tags|gold:tagged|hyp:tagged|nsent:2|nword:6|1-to-1:optimal|log:2|train:4types|"
    assert lines[-1].startswith(f"signature: {settings}bootstrap:1000|seed:1|version:")


def test_json(file):
    done = run("eval-tags", file("gold", GOLD), "-", "--by-tag", *QUICK, stdin=HYP.encode())
    assert done.stderr == b""
    shown = json.loads(done.stdout)
    result = shown["results"][0]
    assert result["tagging"] == "-"
    assert result["accuracy"] == pytest.approx(4 / 6)
    assert result["by_tag"][0] == dict(tag="N", gold=3, predicted=3, correct=2, precision=2 / 3, recall=2 / 3, f1=2 / 3)
    assert result["confusions"] == [
        {"gold": "N", "predicted": "V", "words": 1},
        {"gold": "V", "predicted": "N", "words": 1},
    ]
    assert "accuracy_interval" not in result
    assert (shown["settings"]["nsent"], shown["settings"]["nword"]) == (2, 6)
    result = results(run("eval-tags", file("gold", GOLD), file("induced", INDUCED), "--json", "-q"))[0]
    assert (result["accuracy"], result["accuracy_interval"], result["known"]) == (None, None, None)
    assert result["information"]["vi"] == pytest.approx(2 / 3)


def test_the_same_in_every_format(file):
    one, other = results(run("eval-tags", CONLL, CONLL, CONLL, *QUICK))
    assert one == other
    assert one["accuracy"] == 1
    found = results(run("eval-tags", "--head", TAGGED, CONLL, *QUICK))[0]
    assert (found["accuracy"], found["words"]) == (1, 321)
    found = results(run("eval-tags", "--head", TAGGED, CONLL, "--set", "hyp_column=xpos", "-q", *QUICK))[0]
    assert found["accuracy"] is None
    assert found["many_to_one"] > 0.9
    lines = TAGGED.read_text().splitlines()
    slashes = file("slashes", "\n".join(" ".join(t[::-1].replace("_", "/", 1)[::-1] for t in x.split()) for x in lines))
    columns = file("columns", "\n\n".join("\n".join(t.replace("_", "\t") for t in x.split()) for x in lines))
    done = run("eval-tags", TAGGED, slashes, columns, *QUICK)
    assert [result["accuracy"] for result in results(done)] == [1, 1]
    assert json.loads(done.stdout)["settings"]["hyp"] == "tagged,columns:2"
    done = run("eval-tags", CONLL, CONLL, "--column", "5", "--set", "hyp_column=xpos", *QUICK)
    assert results(done)[0]["accuracy"] == 1
    assert json.loads(done.stdout)["settings"]["gold"] == "conll:5"


def test_words_and_labels(file):
    gold = file("gold", GOLD)
    counts = []
    for text in ("a c\nf g\n", "a_X c_Y\nf_X g_X\n", "a\tX\nc\tY\n\nf\tX\n"):
        found = results(run("eval-tags", gold, gold, "--train", file("train", text), *QUICK))[0]
        counts.append((found["known"], found["unknown"]))
    assert counts == [(3, 3)] * 3
    found = results(run("eval-tags", TAGGED, TAGGED, "--train", CONLL, *QUICK))[0]
    assert (found["unknown"], found["accuracy_unknown"], found["accuracy_known"]) == (0, None, 1)
    gold = file("gold.conllu", "# a header\n\n1\t10 000\t_\tNUM" + "\t_" * 6 + "\n\n")
    hyp = file("hyp", "\n10\u00a0000_NUM\n\n\n")
    assert results(run("eval-tags", gold, hyp, "--train", hyp, *QUICK))[0]["known"] == 1
    gold, hyp = file("gold", GOLD), file("hyp", GOLD.replace("d_D", "d_X"))
    done = run("eval-tags", gold, hyp, *QUICK)
    assert done.stderr.decode() == f"note: {hyp}: 1 of 6 words have labels that the gold does not have (X)\n"
    assert results(done)[0]["accuracy"] == pytest.approx(5 / 6)
    assert run("eval-tags", gold, hyp, *QUICK, "-q").stderr == b""
    done = ran("eval-tags", hyp, gold, "--by-tag", "-q")  # a tag that nothing was labelled with
    assert ["X", "1", "0", "0", "0.00", "0.00", "0.00"] in [x.split() for x in done.stdout.decode().splitlines()]


def test_texts_that_differ_and_figures(file):
    gold = file("gold", GOLD)
    done = run("eval-tags", gold, file("hyp", "a_N b_V\n\nc_N d_D x_N f_V\n"), "--set", "ignore_forms=true", *QUICK)
    assert results(done)[0]["accuracy"] == 1
    assert json.loads(done.stdout)["settings"]["forms"] == "ignored"
    fails(
        run("eval-tags", gold, file("short", "a_N b_V\n")), f"short: 1 sentences with words, but the gold {gold} has 2"
    )
    longer = file("longer", GOLD + "g_N\n")
    assert results(run("eval-tags", gold, longer, "--head", *QUICK))[0]["words"] == 6
    gold, hyp = file("gold", GOLD), file("hyp", HYP)
    plain, verbose = (run("eval-tags", gold, hyp, *flags) for flags in ((), ("-v",)))
    assert plain.stderr == b""
    counts = "right 4, words 6, labels that the gold does not have 0, H(G) 1.4591, H(P) 1.4591"
    assert verbose.stderr.decode() == f"{hyp}: {counts}\n"
    heads = [done.stdout.decode().splitlines()[0].split() for done in (plain, verbose)]
    assert set(heads[1]) - set(heads[0]) == {"H(G|P)", "H(P|G)"}
    row = dict(zip(heads[1], verbose.stdout.decode().splitlines()[1].split(), strict=False))
    assert row["tagging"] == str(hyp)
    assert verbose.stdout.count(b"G: gold tags") == 1


def test_what_a_file_is_can_be_said(file):
    """Formats, columns and separators change what is read, of the gold and of the other files apart."""
    odd = file("odd", "a|b_N\n")
    read = {"tagged": ("--separator", "_"), "other": ("--separator", "|")}
    for flags in read.values():
        assert results(run("eval-tags", odd, odd, *flags, "--by-tag", *QUICK))[0]["words"] == 1
    shown = [results(run("eval-tags", odd, odd, *f, "--by-tag", *QUICK))[0]["by_tag"][0]["tag"] for f in read.values()]
    assert shown == ["N", "b_N"]
    columns = file("columns", "a\tN\tX\nb\tV\tY\n")
    tagged = file("tagged", "a_X b_Y\n")
    for flags, accuracy in ((["--column", "3"], 1), ([], None)):
        done = run("eval-tags", columns, tagged, "--format", "columns", "--set", "hyp_format=tagged", *flags, *QUICK)
        assert results(done)[0]["accuracy"] == accuracy
    done = run("eval-tags", tagged, columns, "--set", "hyp_format=columns", "--set", "hyp_column=3", *QUICK)
    assert results(done)[0]["accuracy"] == 1


def test_seeds_and_samples(file):
    rows = [["a_N"] * n for n in range(1, 40)]
    wrong = [["a_V"] * (3 * n % 7) + row[3 * n % 7 :] for n, row in enumerate(rows)]
    wrong = [w[: len(r)] for w, r in zip(wrong, rows, strict=True)]
    gold, hyp = (file(name, "".join(" ".join(r) + "\n" for r in x)) for name, x in (("gold", rows), ("hyp", wrong)))
    found = [results(run("eval-tags", gold, hyp, "--json", *f))[0]["accuracy_interval"] for f in (
        (), ("--seed", 1), ("--seed", 2), ("--bootstrap", 7),
    )]  # fmt: skip
    assert found[0] == found[1]
    assert found[0] not in found[2:]
