import json

import pytest

from tests.cli.running import ROOT, ran, run

SAMPLE = ROOT / "data" / "samples" / "de-en"
GOLD = "0-0 1-1 2-2 1?2 2?1\n0-0\n"
HYPOTHESIS = "0-0 1-2 2-2 3-3\n0-0\n"  # A 5, S 4, A∩S 3, A∩P 4


@pytest.fixture
def file(tmp_path):
    def write(name, text):
        (tmp_path / name).write_text(text)
        return tmp_path / name

    return write


def test_tables_and_json(file):
    gold, hypothesis = file("gold", GOLD), file("hyp", HYPOTHESIS)
    done = run("eval-aer", gold, hypothesis, hypothesis, "--paired")
    assert done.stderr == b""
    lines = done.stdout.decode().splitlines()
    assert " ".join(lines[0].split()) == "alignment AER% 95% interval precision recall F1 links A∩S A∩P"
    row = lines[1].split()
    assert (row[0], row[1], row[3:]) == (str(hypothesis), "22.22", ["80.00", "75.00", "77.42", "5", "3", "4"])
    assert lines[3] == f"{hypothesis} minus {hypothesis}: AER +0.00 (95% +0.00 to +0.00), p = 1.0000"
    assert lines[4] == "gold: 4 sure and 6 possible links (sure included)"
    settings = "metric:aer|gold:pharaoh|base:gold0,hyp0|order:source-target|nsent:2|bootstrap:1000|seed:1|"
    assert lines[5].startswith(f"signature: {settings}version:")
    done = run("eval-aer", file("gold", GOLD), "-", "--json", "--bootstrap", "0", stdin=HYPOTHESIS.encode())
    shown = json.loads(done.stdout)
    result = shown["results"][0]
    assert result["aer"] == pytest.approx(2 / 9)
    assert (result["links"], result["sure"], result["possible"]) == (5, 4, 6)
    assert "aer_interval" not in result
    assert shown["settings"]["nsent"] == 2
    gold, hypothesis = file("gold", GOLD), file("hyp", HYPOTHESIS)
    plain, verbose = (run("eval-aer", gold, hypothesis, *flags) for flags in ((), ("-v",)))
    assert plain.stderr == b""
    counts = "links 5, sure 4, possible 6, links in sure 3, links in possible 4"
    assert verbose.stderr.decode() == f"{hypothesis}: {counts}\n"
    added = set(verbose.stdout.splitlines()) - set(plain.stdout.splitlines())
    assert [line[:2] for line in added] == [b"A:"]


def aer_of(done):
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)["results"][0]["aer"]


def test_conventions(file):
    gold, hypothesis = file("gold", GOLD), file("hyp", HYPOTHESIS)
    quick = "--json", "--bootstrap", "0"
    one = file("one", "1-1 2-2 3-3 2?3 3?2\n1-1\n")
    naacl = file("naacl", "08 1 1 S\n08 2 2 S\n08 3 3 S\n08 2 3 P\n08 3 2 P\n09 1 1\n09 0 1\n")
    turned = file("turned", "0-0 2-1 2-2 3-3\n0-0\n")
    assert aer_of(run("eval-aer", one, hypothesis, "--gold-base", "1", *quick)) == pytest.approx(2 / 9)
    assert aer_of(run("eval-aer", naacl, hypothesis, *quick)) == pytest.approx(2 / 9)
    assert aer_of(run("eval-aer", gold, turned, "--reverse", *quick)) == pytest.approx(2 / 9)
    assert aer_of(run("eval-aer", gold, hypothesis, "--set", "all_sure=true", *quick)) == pytest.approx(1 - 8 / 11)
    assert aer_of(run("eval-aer", gold, hypothesis, "--set", "ignore_possible=true", *quick)) == pytest.approx(
        1 - 6 / 9
    )


def test_lengths_and_index_bases(file):
    gold, longer = file("gold", GOLD), file("longer", HYPOTHESIS + "5-5\n")
    done = run("eval-aer", gold, longer, "--head", "--json", "--bootstrap", "0")
    assert aer_of(done) == pytest.approx(2 / 9)
    text = "1-1 2-2\n" * 6
    done = ran("eval-aer", file("gold", text), file("hyp", text))
    assert done.stderr.decode().count("no link has an index 0") == 2
    assert b"--gold-base 1" in done.stderr
    assert run("eval-aer", file("gold", text), file("hyp", text), "-q").stderr == b""


def test_numbered_gold(file, tmp_path):
    naacl, links = file("naacl", "8 1 1\n9 0 1\n9 2 2\n"), file("links", "\n0-0\n1-1\n")
    done = run("eval-aer", naacl, links, "--set", "first_sentence=7")
    assert done.stdout.splitlines()[1].split()[1] == b"0.00"
    assert b"|first:7|" in done.stdout
    assert done.stderr.decode() == f"note: {naacl}: 1 links to NULL left out\n"
    assert run("eval-aer", naacl, links, "--set", "first_sentence=7", "-q").stderr == b""
    rows = ["0-0 1-1\n", "0-1\n", "1-0 0-0\n", "2-2\n"]
    links = file("links", "".join(rows))
    numbered = run("eval-aer", "--json", "--seed", "2", file("gold", "#2\t0-1 1?1\n#4\t2-1\n"), links)
    alone = run("eval-aer", "--json", "--seed", "2", file("few", "0-1 1?1\n2-1\n"), file("two", rows[1] + rows[3]))
    first, second = (json.loads(done.stdout) for done in (numbered, alone))
    assert first["results"][0] | {"alignment": ""} == second["results"][0] | {"alignment": ""}
    assert "lines:numbered" in first["signature"]
    lines = ["1 1 1 S", "1 2 2 P", "1 3 3", "2 1 1 P 0.5"]
    (tmp_path / "upper").write_text("\n".join(lines) + "\n")
    (tmp_path / "lower").write_text("\n".join(lines).lower() + "\n")
    (tmp_path / "hyp").write_text("0-0 1-1\n0-0\n")
    upper, lower = (run("eval-aer", tmp_path / name, tmp_path / "hyp") for name in ("upper", "lower"))
    assert upper.returncode == lower.returncode == 0
    assert upper.stdout == lower.stdout


def test_what_is_undefined_without_sure_links_is_said_so(tmp_path):
    (tmp_path / "gold").write_text("0?0 1?1\n")
    (tmp_path / "hyp").write_text("0-0 2-2\n")
    found = ran("eval-aer", tmp_path / "gold", tmp_path / "hyp")
    assert found.stdout.decode().splitlines()[1].split()[1:] == ["50.00", "50.00-50.00", "50.00", "-", "-", "2", "0",
        "1"]  # fmt: skip
    assert b"gold: no sure links; recall and F1 are undefined, and AER is 1 - precision" in found.stderr
    result = json.loads(run("eval-aer", "--json", tmp_path / "gold", tmp_path / "hyp").stdout)["results"][0]
    assert (result["recall"], result["f1"], result["precision"], result["aer"]) == (None, None, 0.5, 0.5)
    all_sure = run("eval-aer", "--set", "all_sure=true", tmp_path / "gold", tmp_path / "hyp")
    assert b"undefined" not in all_sure.stderr
