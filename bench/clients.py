"""Programs that call other aligners, run as they are, with our stand-ins in their way.

A case runs one client's own code, from a folder of fetched sources, with the programs of ``aligntools drop-ins``
first on the PATH and its packages first on the PYTHONPATH. It fails where the client fails, or where what it wrote is
not what its users rely on. Case by case the client's Python packages and files are looked for; what is not there is
left out.
"""

import json
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from aligntools.cli.standins import PROGRAMS
from bench import client_eflomal, client_fast_align, client_moses, client_mozilla, report
from bench.client_places import Place
from bench.measuring import note


@dataclass(frozen=True)
class Case:
    """One thing that a client does.

    Attributes
    ----------
    client : str
        Its repository.
    what : str
        What is run.
    run : callable
        Takes a `Place`; returns what came of it in one line; raises `AssertionError`.
    needs : tuple of str
        Files of the client, below the folder of clients.
    packages, programs : tuple of str
        Python packages that the client's Python must have, and programs on the PATH.
    data : bool
        It needs real text.
    stand_ins : tuple of str
        Programs of ours that it needs.
    """

    client: str
    what: str
    run: Callable[[Place], str]
    needs: tuple[str, ...]
    packages: tuple[str, ...] = ()
    programs: tuple[str, ...] = ()
    data: bool = False
    stand_ins: tuple[str, ...] = ()

    def __str__(self):
        return f"{self.client}: {self.what}"


_OPUSFILTER = ("opusfilter/test_wordalign_filter.py",)
_MOZILLA = ("mozilla-translations/pipeline/alignments/align.py", "mozilla-translations/tests/test_alignments.py")
_MOZILLA_NEEDS = {"packages": ("zstandard", "tqdm", "requests", "psutil"), "programs": ("zstd",)}
_MACHINE = ("machine.py/eflomal_aligner.py",)

CASES = [
    Case("Helsinki-NLP/OpusFilter", "its tests of word alignment", client_eflomal.opusfilter_tests, _OPUSFILTER,
         ("opusfilter",)),
    Case("Helsinki-NLP/OpusFilter", "2,000 real and 2,000 shuffled pairs", client_eflomal.opusfilter_scores,
         _OPUSFILTER, ("opusfilter",), data=True),
    *(
        Case("mozilla/translations", f"align.py --tokenization={tokens}, then with its priors, chunks of 3 lines",
             lambda place, t=tokens: client_mozilla.alignments(place, t), _MOZILLA,
             (*_MOZILLA_NEEDS["packages"], *more), _MOZILLA_NEEDS["programs"])
        for tokens, more in (("icu", ("icu",)), ("moses", ("mosestokenizer",)), ("spaces", ()))
    ),
    Case("mozilla/translations", "generate-shortlist.sh", client_mozilla.shortlist, _MOZILLA,
         (*_MOZILLA_NEEDS["packages"], "sentencepiece"), ("zstd", "zstdmt", "bash"), stand_ins=("extract_lex",)),
    Case("sillsdev/machine.py", "EflomalAligner.train and .align", client_eflomal.machine, _MACHINE, ("machine",),
         data=True),
    Case("Clear-Bible/biblealignlib", "Eflomal.run_eflomal, run_makepriors, run_atools", client_eflomal.biblealignlib,
         ("biblealignlib/biblealignlib/autoalign/eflomal.py",)),
    Case("Helsinki-NLP/OPUS-MT-train", "the rule of lib/data.mk that aligns", client_eflomal.opus_mt,
         ("OPUS-MT-train/lib/data.mk",), programs=("make",)),
    Case("bjascob/amrlib", "FAA_Aligner.align_sents with FABIN_DIR", client_fast_align.amrlib,
         ("amrlib/amrlib/alignments/faa_aligner/faa_aligner.py",), ("penman",)),
    Case("lilt/alignment-scripts", "fast_align.sh, then combine.sh", client_fast_align.lilt,
         ("alignment-scripts/scripts/fast_align.sh",), programs=("bash", "paste")),
    Case("browsermt/students", "generate-alignment-and-shortlist.sh", client_fast_align.students,
         ("students/train-student/alignment/generate-alignment-and-shortlist.sh",), programs=("bash", "gzip")),
    Case("moses-smt/mosesdecoder", "train-model.perl from steps 3 and 4, fast-align-in-parts.perl",
         client_fast_align.moses, ("mosesdecoder/scripts/training/train-model.perl",), programs=("perl", "gzip")),
    Case("moses-smt/mosesdecoder", "train-model.perl, steps 1 to 3", client_moses.moses_training,
         ("mosesdecoder/scripts/training/train-model.perl",), programs=("perl", "gzip"),
         stand_ins=("mkcls", "snt2cooc", "GIZA++", "mgiza", "merge_alignment.py", "symal")),
]  # fmt: skip


def missing(case: Case, place: Place) -> str:
    """Return what a case lacks here, or nothing."""
    files = [name for name in case.needs if not (place.clients / name).exists()]
    if files:
        return f"no {files[0]}"
    code = "import importlib.util, sys; print(*(n for n in sys.argv[1:] if importlib.util.find_spec(n) is None))"
    done = subprocess.run(
        [place.python, "-c", code, *case.packages, *place.own_packages], capture_output=True, text=True, check=True,
        cwd=place.work,
    )  # fmt: skip
    if done.stdout.strip():
        return f"no Python package {done.stdout.split()[0]}"
    code = "import importlib.util; print(importlib.util.find_spec('eflomal') is not None)"
    if subprocess.run([place.python, "-Ic", code], capture_output=True, text=True, check=True).stdout == "True\n":
        return "its Python has the real eflomal"
    programs = [name for name in case.programs if not place.which(name)]
    if programs:
        return f"no program {programs[0]}"
    lacking = [name for name in case.stand_ins if name not in PROGRAMS]
    if lacking:
        return f"no stand-in for {lacking[0]}"
    return "no real text" if case.data and not place.data else ""


def run(o):
    if not o.clients:
        raise SystemExit("clients needs their sources: --clients DIR")
    kept = o.work / "clients.json"
    found = json.loads(kept.read_text()) if kept.exists() else {}
    with tempfile.TemporaryDirectory(dir=o.work) as folder:
        place = Place(Path(o.clients).resolve(), Path(folder), o.client_python, o.data, o.eflomal)
        for case in CASES:
            if o.only not in str(case):
                continue
            note(case)
            lacks = missing(case, place)
            if lacks:
                outcome = f"not run: {lacks}"
            else:
                try:
                    outcome = case.run(place)
                except AssertionError as error:
                    outcome = f"FAILED: {error}"
            note(outcome)
            found[str(case)] = [case.client, place.version(case), case.what, outcome, report.commit_of(report.ROOT)]
            kept.write_text(json.dumps(found))
    rows = [found[str(case)] for case in CASES if str(case) in found]
    body = [
        "Clients' own code, from their sources, with the stand-ins of `aligntools drop-ins` and without the programs"
        " and packages that these stand for. A line for each case, and our commit when it was run.",
        report.table(["client", "version", "what is run", "outcome", "our commit"], rows),
        report.circumstances(),
    ]
    return "\n\n".join(body)
