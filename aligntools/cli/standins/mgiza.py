"""Stands in for GIZA++ and MGIZA: their options and files; the models are ours, of one direction.

``-s`` generates ``-t``. MGIZA names its file of alignments by the thread; here there is one.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from aligntools.cli.kinds import Named, placed
from aligntools.cli.standins import Wrong, program

if TYPE_CHECKING:
    from aligntools.aligning.giza_training import Coded, TrainingFiles

USAGE = """usage: mgiza [config-file] -s SOURCE.vcb -t TARGET.vcb -c SOURCE_TARGET.snt -o PREFIX [-option value ...]
Writes PREFIX.A3.final (mgiza: PREFIX.A3.final.part000) and tables. -m1, -mh, -m2, -m3 and -m4 say how many iterations
each model has; the last one that has any is trained, and those before it in aligntools' way. With -restart 11 -m3 0
-m4 1, or -restart 9 -m3 1 -m4 0, text is aligned by the tables that -previoust and the like name.
"""
#: All options of the programs; those that are not read below change nothing.
_NAMES = """
    adbackoff c compactadtable compactalignmentformat coocurrencefile corpusfile countcutoff
    countcutoffal countincreasecutoff countincreasecutoffal countoutputprefix d
    deficientdistortionforemptyword depm4 depm5 dictionary dopeggingyn dumpcount
    dumpcountusingwordstring emalignmentdependencies emalsmooth emprobforempty emsmoothhmm
    hmmdumpfrequency hmmiterations l log logfile m1 m2 m3 m4 m5 m5p0 m6 manlexfactor1 manlexfactor2
    manlexmaxmultiplicity maxfertility maxsentencelength mh mincountincrease ml model1dumpfrequency
    model1iterations model23smoothfactor model2dumpfrequency model2iterations model345dumpfrequency
    model3dumpfrequency model3iterations model4iterations model4smoothfactor model5iterations
    model5smoothfactor model6iterations nbestalignments ncpus nodumps nofiledumpsyn
    noiterationsmodel1 noiterationsmodel2 noiterationsmodel3 noiterationsmodel4 noiterationsmodel5
    noiterationsmodel6 nsmooth nsmoothgeneral numberofiterationsforhmmalignmentmodel o onlyaldumps
    outputfileprefix outputpath p p0 peggedcutoff pegging previousa previousd previousd4 previousd42
    previoushmm previousn previousp0 previoust probcutoff probsmooth readtableprefix restart s
    sourcevocabularyclasses sourcevocabularyfile t t1 t2 t2to3 t3 t345 targetvocabularyclasses
    targetvocabularyfile tc testcorpusfile th transferdumpfrequency v verbose verbosesentence
"""
NAMES = frozenset(_NAMES.split())
#: Other names of options.
_SAME = {
    other: name
    for name, others in {
        **{"s": "sourcevocabularyfile", "t": "targetvocabularyfile", "c": "corpusfile", "o": "outputfileprefix"},
        **{f"m{n}": f"model{n}iterations noiterationsmodel{n}" for n in range(1, 7)},
        **{"mh": "hmmiterations numberofiterationsforhmmalignmentmodel", "d": "dictionary", "tc": "testcorpusfile"},
        **{"t1": "model1dumpfrequency", "t2": "model2dumpfrequency", "th": "hmmdumpfrequency"},
    }.items()
    for other in others.split(" ")
}
#: Models by the option of their iterations, the last first.
_MODELS = {"m4": "ibm4", "m3": "ibm3", "mh": "hmm", "m2": "ibm2"}
#: How the file of alignments is called where the model that is written of has no ``A3``, and which option asks for it.
_STAGES = {
    "ibm1": ("A1", "t1", "m1"),
    "ibm2": ("A2", "t2", "m2"),
    "hmm": ("Ahmm", "th", "mh"),
}
#: Tables that text is aligned by: by the value of -restart its iterations, and the options that name the tables.
_BY_TABLES = {
    "11": ({"m3": 0, "m4": 1}, ("previoust", "previousn", "previousd4", "previousd42")),
    "9": ({"m3": 1, "m4": 0}, ("previoust", "previousn", "previousd")),
}
#: Options that say what is not done here: what is said of each where it has another value than these.
_LACKING = {
    "m5": "there is no IBM 5 here; the last model is -m4",
    "m6": "there is no model 6 here; the last model is -m4",
    "d": "dictionaries are not read here; `aligntools align --dictionary` starts from one",
    "tc": "test text is not aligned beside the other; run it with -restart and the tables of the training",
    "readtableprefix": "tables are named one by one, by -previoust and the like, with -restart",
}
_NOTHING = ("", "0")
#: Options that take probabilities; a negative number is none.
_PROBABILITIES = ("p0", "emprobforempty", "model4smoothfactor")
#: What train-model.perl passes for p0 unless it is told otherwise: hardly a word is without a link then.
_MOSES_P0 = 0.999
#: What the programs do where nothing is said.
_DEFAULTS = {
    **{"m1": "5", "m2": "0", "mh": "5", "m3": "5", "m4": "5", "pegging": "0", "restart": "0"},
    **{"t1": "0", "t2": "0", "th": "0"},
}


def parse(args: Sequence[str]) -> dict[str, str]:
    """Read ``-name value`` arguments, and a file of settings if one comes first."""
    found, rest = dict(_DEFAULTS), list(args)
    if rest and not rest[0].startswith("-"):
        found["config"] = rest.pop(0)
        from aligntools.formats.opening.files import text_lines

        for line in text_lines(found["config"]):
            name, _, value = line.strip().partition(" ")
            _set(found, name, value)
    while rest:
        argument = rest.pop(0)
        if not argument.startswith("-") or not rest:
            raise Wrong(f"ERROR: parameter '{argument}' does not exist or has no value.")
        _set(found, argument.lstrip("-"), rest.pop(0))
    for name in _DEFAULTS:
        if not (found[name].isdecimal() and found[name].isascii() and len(found[name]) < 10):
            raise Wrong(f"ERROR: -{name} takes a whole number, not '{found[name]}'.")
    for name in _PROBABILITIES:
        try:
            fits = float(found.get(name) or -1) <= 1
        except ValueError:
            fits = False
        if not fits:
            said = f"takes a probability, or a negative number for none, not '{found[name]}'"
            raise Wrong(f"ERROR: -{name} {said}.")
    for name, said in _LACKING.items():
        if found.get(name, "") not in _NOTHING:
            raise Wrong(f"ERROR: -{name} {found[name]}: {said}.")
    missing = [f"-{name}" for name in ("s", "t", "c", "o") if not found.get(name)]
    if missing:
        raise Wrong(f"ERROR: {' and '.join(missing)} must be given.")
    if found["restart"] == "0":
        return found
    iterations, tables = _BY_TABLES.get(found["restart"], ({}, ()))
    if not tables or any(int(found[name]) != n for name, n in iterations.items()):
        known = ", or ".join(
            " ".join([f"-restart {level}", *(f"-{name} {n}" for name, n in its.items())])
            for level, (its, _) in _BY_TABLES.items()
        )
        raise Wrong(f"ERROR: text is aligned by tables here ({known}); training does not go on from them.")
    missing = [f"-{name}" for name in tables if not found.get(name)]
    if not found.get("previousp0") and float(found.get("p0") or -1) < 0:
        missing.append("-p0 or -previousp0")
    if missing:
        raise Wrong(f"ERROR: -restart {found['restart']} needs {' and '.join(missing)}.")
    return found


def _set(found: dict[str, str], name: str, value: str) -> None:
    """Set an option by its name or, as in the originals, a beginning that no other one has; punctuation is skipped."""
    plain = "".join(c for c in name.lower() if c.isascii() and c.isalnum())
    known = [plain] if plain in NAMES else [option for option in NAMES if option.startswith(plain)]
    if len(known) != 1:
        raise Wrong(f"ERROR: parameter '{name}' {'is ambiguous' if known and plain else 'does not exist'}.")
    found[_SAME.get(known[0], known[0])] = value


@program("mgiza", USAGE)
def command(args: list[str]) -> int:
    """Align as MGIZA and GIZA++ do, in one direction."""
    o = parse(args)
    from aligntools.aligning.giza_training import Coded, align_coded, align_coded_by
    from aligntools.ground.parallel import available_cores

    p0 = float(o.get("p0") or -1)
    p0 = -1 if p0 == _MOSES_P0 else p0
    model = next((kind for name, kind in _MODELS.items() if int(o[name])), "ibm1")
    iterations = max(int(o[name]) for name in _MODELS)
    classes = o.get("sourcevocabularyclasses") or None, o.get("targetvocabularyclasses") or None
    coded = Coded(o["s"], o["t"], o["c"], o["o"], _alignments(o, model), classes)
    inputs = [Named(f"-{name}", o[name]) for name in "stc"]
    inputs += [Named("-sourcevocabularyclasses", classes[0] or ""), Named("-targetvocabularyclasses", classes[1] or "")]
    files = _tables(o, coded) if o["restart"] != "0" else None
    if files is not None:
        inputs += [Named(f"-{name}", value) for name, value in o.items() if name.startswith("previous")]
    with placed([named for named in inputs if named.path], [Named("-o", coded.alignments)]):
        if files is not None:
            align_coded_by(coded, files, o, available_cores(), o["pegging"] != "0")
            return 0
        align_coded(
            coded,
            threads=available_cores(),
            model_type=model,
            ibm1_iterations=int(o["m1"]),
            iterations=iterations or None,
            pegging=o["pegging"] != "0",
            **({"p_null": min(1 - p0, 0.999)} if p0 >= 0 else {}),
        )
    return 0


def _alignments(o: dict[str, str], model: str) -> str:
    """Return the file of alignments: models before IBM 3 have that of their last iteration where one is asked for."""
    end, stage = "A3.final", _STAGES.get(model)
    if stage is not None:
        name, often, iterations = stage
        n, every = int(o[iterations]), int(o[often])
        if every and n % every == 0:
            end = f"{name}.{n}"
    whole = click.get_current_context().info_name == "GIZA++" or end.startswith("A2.")
    return f"{o['o']}.{end}" + ("" if whole else ".part000")


def _tables(o: dict[str, str], coded: "Coded") -> "TrainingFiles":
    from aligntools.aligning.giza_training import TrainingFiles

    beside = (f"{path}.classes" for path in (coded.source, coded.target))
    source, target = (given or other for given, other in zip(coded.classes, beside, strict=True))
    p0 = float(o.get("p0") or -1)
    return TrainingFiles(
        o["o"],
        (coded.source, coded.target),
        (source, target),
        o["previoust"],
        o["previousn"],
        o.get("previousd", ""),
        p0 if p0 >= 0 else o["previousp0"],
        (o["previousd4"], o["previousd42"]) if o["restart"] == "11" else None,
        o.get("previoushmm") or None,
    )
