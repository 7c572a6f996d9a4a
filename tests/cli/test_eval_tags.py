import json

from tests.cli.running import ROOT, run

SAMPLES = ROOT / "data" / "samples"
CONLL, TAGGED = SAMPLES / "en.conllu", SAMPLES / "en.tagged"
QUICK = "--json", "--bootstrap", "0"


def results(done):
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)["results"]


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
    slashes = file(
        "slashes", "\n".join(" ".join(t[::-1].replace("_", "/", 1)[::-1] for t in x.split()) for x in lines).encode()
    )
    columns = file("columns", "\n\n".join("\n".join(t.replace("_", "\t") for t in x.split()) for x in lines).encode())
    done = run("eval-tags", TAGGED, slashes, columns, *QUICK)
    assert [result["accuracy"] for result in results(done)] == [1, 1]
    assert json.loads(done.stdout)["settings"]["hyp"] == "tagged,columns:2"
    done = run("eval-tags", CONLL, CONLL, "--column", "5", "--set", "hyp_column=xpos", *QUICK)
    assert results(done)[0]["accuracy"] == 1
    assert json.loads(done.stdout)["settings"]["gold"] == "conll:5"


def test_seeds_and_samples(file):
    rows = [["a_N"] * n for n in range(1, 40)]
    wrong = [["a_V"] * (3 * n % 7) + row[3 * n % 7 :] for n, row in enumerate(rows)]
    wrong = [w[: len(r)] for w, r in zip(wrong, rows, strict=True)]
    gold, hyp = (
        file(name, "".join(" ".join(r) + "\n" for r in x).encode()) for name, x in (("gold", rows), ("hyp", wrong))
    )
    found = [results(run("eval-tags", gold, hyp, "--json", *f))[0]["accuracy_interval"] for f in (
        (), ("--seed", 1), ("--seed", 2), ("--bootstrap", 7),
    )]  # fmt: skip
    assert found[0] == found[1]
    assert found[0] not in found[2:]
