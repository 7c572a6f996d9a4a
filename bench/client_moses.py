"""Steps 1 to 3 of Moses' train-model.perl with our programs in GIZA++'s and MGIZA's place."""

import shutil

from aligntools.formats.links.giza import read_giza_a3
from bench.client_fast_align import SAMPLES

#: Text to train on, in lower case as Moses has it.
PAIRS = 240
ALIGNMENTS = (
    "intersect",
    "union",
    "grow",
    "grow-diag",
    "grow-diag-final",
    "grow-diag-final-and",
    "srctotgt",
    "tgttosrc",
)
#: What ``-final-alignment-model`` takes, and how the file of alignments ends.
FINAL = {"1": "A1.5", "2": "A2.5", "hmm": "Ahmm.5", "3": "A3.final", "4": "A3.final"}
#: MGIZA's options that align text by tables: as its force-align-moses.sh has them, and the HMM's.
_AGAIN = ("-m1", "0", "-m2", "0", "-mh", "0", "-m3", "0", "-m4", "1", "-restart", "11")
_TABLES = {"t": "t3", "a": "a3", "d": "d3", "n": "n3", "d4": "d4", "d42": "D4", "hmm": "hhmm"}


def moses_training(place):
    """Run the steps with ``GIZA++`` and with ``mgiza``, for each method and each last model; align by the tables."""
    folder = place.folder("moses-training")
    shutil.copytree(place.clients / "mosesdecoder" / "scripts", folder / "scripts")
    (folder / "bin").mkdir()
    shutil.copy(place.drop_ins / "symal", folder / "bin")
    for side in ("de", "en"):
        text = (SAMPLES / f"de-en.{side}").read_text(encoding="utf-8").lower()
        (folder / f"corpus.{side}").write_text(text, encoding="utf-8")
    train = "perl", folder / "scripts" / "training" / "train-model.perl", "-corpus", folder / "corpus"
    common = *train, "-f", "de", "-e", "en", "-external-bin-dir", place.drop_ins
    links = {}
    for kind, options in (("giza", ()), ("mgiza", ("-mgiza", "-mgiza-cpus", "2"))):
        for final, end in FINAL.items():
            root = folder / f"{kind}-{final}"
            own = "-root-dir", root, *options, "-final-alignment-model", final
            place.run(*common, *own, "-alignment", ALIGNMENTS[0], "--first-step", "1", "--last-step", "3", cwd=folder)
            for method in ALIGNMENTS[1:]:
                place.run(*common, *own, "-alignment", method, "--first-step", "3", "--last-step", "3", cwd=folder)
            assert (root / "giza.de-en" / f"de-en.{end}.gz").exists(), f"no {end}"
            links[kind, final] = [(root / "model" / f"aligned.{method}").read_text() for method in ALIGNMENTS]
    for final in FINAL:
        assert links["giza", final] == links["mgiza", final], f"{final}: other links with -mgiza"
        for method, text in zip(ALIGNMENTS, links["giza", final], strict=True):
            assert text.count("\n") == PAIRS, f"{final}, {method}: {text.count(chr(10))} lines"
            assert len(text.split()) > PAIRS, f"{final}, {method}: {len(text.split())} links"
    trained = folder / "mgiza-4"
    prefix = trained / "giza.de-en" / "de-en"
    tables = [x for to, end in _TABLES.items() for x in (f"-previous{to}", f"{prefix}.{end}.final")]
    place.run(place.drop_ins / "mgiza", f"{prefix}.gizacfg", *_AGAIN, *tables, "-o", folder / "again", cwd=folder)
    files = folder / "again.A3.final.part000", prefix.with_name("de-en.A3.final.part000")
    again, before = (read_giza_a3(str(path))[0].tolists() for path in files)
    assert again == before, "the tables have other alignments than their training"
    return (
        f"{PAIRS} lines for each of {len(ALIGNMENTS)} methods and {len(FINAL)} last models, the same with GIZA++ and"
        " mgiza; mgiza -restart 11 finds by the tables what the training found"
    )
