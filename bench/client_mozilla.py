"""What mozilla/translations does with aligners: alignments with priors, in chunks, and a shortlist."""

import ast
import os
import stat
from pathlib import Path

#: Read by every Python that the client starts: it divides the number of cores by four, and has as many processes.
_CORES = "import os\nos.cpu_count = lambda: max(4, len(os.sched_getaffinity(0)))\n"


def _environment(place, client, folder, **more):
    (folder / "cores").mkdir(exist_ok=True)
    (folder / "cores" / "sitecustomize.py").write_text(_CORES)
    return place.environment(client, folder / "cores", BIN=place.drop_ins, SRC="en", TRG="ru", **more)


def alignments(place, tokens):
    """Align its tests' sample: priors out, then priors in, tokenized text out and links of words out."""
    client = place.clients / "mozilla-translations"
    folder = place.folder(f"alignments-{tokens}")
    sample = _sample(client)
    environment = _environment(place, client, folder)
    lines = []
    for step, priors in (("first", "--priors_output_path"), ("second", "--priors_input_path")):
        for tokenized in (True, False) if tokens != "spaces" else (False,):
            out = folder / f"{step}-{tokenized}"
            out.mkdir()
            for side, text in sample.items():
                (out / f"corpus.{side}").write_text(text)
                place.run("zstd", "-q", "--rm", out / f"corpus.{side}")
            args = ["--corpus_src", out / "corpus.en.zst", "--corpus_trg", out / "corpus.ru.zst"]
            # without tokenization it would write plain text and then compress the file into itself
            name = "corpus.aln" if tokens == "spaces" else "corpus.aln.zst"
            args += ["--output_path", out / "artifacts" / name, "--chunk_lines", 3]
            args += [priors, folder / "corpus.priors", "--tokenization", tokens]
            (out / "artifacts").mkdir()
            program = [place.python, "-m", "pipeline.alignments.align"]
            place.run(*program, *args, *(["--output_tokenized"] * tokenized), cwd=folder, env=environment)
            for path in (out / "artifacts").glob("*.zst"):
                place.run("zstd", "-q", "-d", "--rm", path)
            links, *sides = [path.read_text() for path in sorted((out / "artifacts").glob("corpus*"))]
            lines.append(_verify(links, sides or list(sample.values()), tokenized))
    priors = (folder / "corpus.priors").read_text().splitlines()
    kinds = {line.split("\t")[0] for line in priors}
    assert kinds == {"LEX", "FERF", "FERR", "HMMF", "HMMR"}, f"the priors have {kinds}"
    done = f"{len(lines)} runs, 8 lines each, {sum(lines)} links, all within"
    return f"{done}; {len(priors)} lines of priors written and read"


def _sample(client):
    """Return its tests' sample with separators inside, by side."""
    tree = ast.parse((client / "tests" / "test_alignments.py").read_text())
    return {
        node.targets[0].id[:2]: ast.literal_eval(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign) and node.targets[0].id.endswith("_sample_with_separator")
    }


def _verify(links, sides, tokenized):
    """Check what its ``verify_alignments`` checks; return the number of links."""
    rows = [links.splitlines(), *(side.splitlines() for side in sides)]
    assert len({len(row) for row in rows}) == 1, f"{[len(row) for row in rows]} lines"
    count = 0
    for line, source, target in zip(*rows, strict=True):
        words = [text.split(" ") if tokenized else text.split() for text in (source, target)]
        for link in line.split():
            i, j = map(int, link.split("-"))
            assert i < len(words[0]), f"{link} in {source}"
            assert j < len(words[1]), f"{link} in {target}"
            count += 1
    assert count > len(rows[0]), "hardly any links"
    return count


#: What the client has of Marian and GNU parallel, over Python's sentencepiece and in one process.
_PROGRAMS = {
    "parallel": """#!/bin/sh
while [ "${1#-}" != "$1" ]; do case $1 in -j | --block) shift 2 ;; *) shift ;; esac; done
exec "$@"
""",
    "spm_encode": """#!{python}
import sys, sentencepiece
model = sentencepiece.SentencePieceProcessor(model_file=sys.argv[2])
for line in sys.stdin:
    print(*model.encode(line.rstrip("\\n"), out_type=str))
""",
    "spm_export_vocab": """#!{python}
import sys, sentencepiece
named = dict(argument.lstrip("-").split("=", 1) for argument in sys.argv[1:])
model = sentencepiece.SentencePieceProcessor(model_file=named["model"])
with open(named["output"], "w") as out:
    out.writelines(f"{model.id_to_piece(k)}\\t{model.get_score(k)}\\n" for k in range(model.vocab_size()))
""",
}
_VOCABULARY = """
import sys, sentencepiece
sentencepiece.SentencePieceTrainer.train(input=sys.argv[1], model_prefix=sys.argv[2], vocab_size=200,
                                         hard_vocab_limit=False, minloglevel=2)
"""


def shortlist(place):
    """Run generate-shortlist.sh on its tests' sample."""
    client = place.clients / "mozilla-translations"
    folder = place.folder("shortlist")
    for name, text in _PROGRAMS.items():
        path = folder / "marian" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text.replace("{python}", str(place.python)))
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
    for side, text in _sample(client).items():
        (folder / f"corpus.{side}").write_text(text)
        place.code(_VOCABULARY, folder / f"corpus.{side}", folder / f"vocab.{side}")
        place.run("zstd", "-q", "--rm", folder / f"corpus.{side}")
    environment = _environment(place, client, folder, MARIAN=folder / "marian")
    path = [str(folder / "marian"), str(Path(place.python).parent), environment["PATH"]]
    environment["PATH"] = os.pathsep.join(path)
    script = client / "pipeline" / "alignments" / "generate-shortlist.sh"
    vocabularies = [folder / f"vocab.{side}.model" for side in ("en", "ru")]
    place.run("bash", script, folder / "corpus", *vocabularies, folder / "out", 1, env=environment)
    rows = [
        line.split(" ") for line in place.run("zstd", "-dc", folder / "out" / "lex.s2t.pruned.zst").stdout.splitlines()
    ]
    assert len(rows) > 100, f"{len(rows)} rows"
    assert all(len(row) == 3 and 0 < float(row[2]) <= 1 for row in rows), "rows that are not of two pieces and a share"
    return f"{len(rows)} rows of pieces and their shares"
