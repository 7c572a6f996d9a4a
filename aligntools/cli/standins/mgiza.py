"""Stands in for GIZA++ and MGIZA: their options and files; the models are ours, of one direction.

``-s`` is the side that generates, ``-t`` the one that is generated. How the two programs differ is the name of the file
of alignments: MGIZA writes one of each thread, and here there is one.
"""

import sys
from collections.abc import Sequence

import click

from aligntools.cli.placing import Named, placed
from aligntools.cli.standins.arguments import UntouchedButDebug
from aligntools.ground.errors import harmless

USAGE = """usage: mgiza [config-file] -s SOURCE.vcb -t TARGET.vcb -c SOURCE_TARGET.snt -o PREFIX [-option value ...]
Writes PREFIX.A3.final (mgiza: PREFIX.A3.final.part000) and tables. -m1, -mh, -m2, -m3 and -m4 say how many iterations
each model has; the last one that has any is trained, and those before it in aligntools' way.
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
    "sourcevocabularyfile": "s",
    "targetvocabularyfile": "t",
    "corpusfile": "c",
    "outputfileprefix": "o",
    "model1iterations": "m1",
    "model2iterations": "m2",
    "model3iterations": "m3",
    "model4iterations": "m4",
    "noiterationsmodel1": "m1",
    "noiterationsmodel2": "m2",
    "noiterationsmodel3": "m3",
    "noiterationsmodel4": "m4",
    "hmmiterations": "mh",
    "numberofiterationsforhmmalignmentmodel": "mh",
}
#: Models by the option of their iterations, the last first.
_MODELS = {"m4": "ibm4", "m3": "ibm3", "mh": "hmm", "m2": "ibm2"}
#: What the programs do where nothing is said.
_DEFAULTS = {"m1": "5", "m2": "0", "mh": "5", "m3": "5", "m4": "5", "pegging": "0"}


def parse(args: Sequence[str]) -> dict[str, str]:
    """Read ``-name value`` arguments, and a file of settings if one comes first.

    Raises
    ------
    ValueError
        When there is no such option, or it has no value, or one that is not as it has to be.
    """
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
            raise ValueError(f"ERROR: parameter '{argument}' does not exist or has no value.")
        _set(found, argument.lstrip("-"), rest.pop(0))
    for name in _DEFAULTS:
        if not (found[name].isdecimal() and found[name].isascii() and len(found[name]) < 10):
            raise ValueError(f"ERROR: -{name} takes a whole number, not '{found[name]}'.")
    try:
        fits = float(found.get("p0", -1)) <= 1
    except ValueError:
        fits = False
    if not fits:
        raise ValueError(f"ERROR: -p0 takes a probability, or a negative number for none, not '{found['p0']}'.")
    missing = [f"-{name}" for name in ("s", "t", "c", "o") if not found.get(name)]
    if missing:
        raise ValueError(f"ERROR: {' and '.join(missing)} must be given.")
    return found


def _set(found: dict[str, str], name: str, value: str) -> None:
    lower = name.lower()
    if lower not in NAMES:
        raise ValueError(f"ERROR: parameter '{name}' does not exist.")
    found[_SAME.get(lower, lower)] = value


@click.command("mgiza", cls=UntouchedButDebug, add_help_option=False)
def command(args: list[str]) -> int:
    """Align as MGIZA and GIZA++ do, in one direction."""
    try:
        o = parse(args)
    except ValueError as error:
        sys.stderr.write(harmless(f"{error}\n{USAGE}"))
        return 1
    from aligntools.api.align.giza_training import Coded, align_coded
    from aligntools.api.running.threads import available_cores

    p0 = float(o.get("p0", -1))
    model = next((kind for name, kind in _MODELS.items() if int(o[name])), "ibm1")
    iterations = max(int(o[name]) for name in _MODELS)
    end = "" if click.get_current_context().info_name == "GIZA++" else ".part000"
    coded = Coded(o["s"], o["t"], o["c"], o["o"], f"{o['o']}.A3.final{end}")
    inputs = [Named(f"-{name}", o[name]) for name in "stc"]
    outputs = [Named("-o", coded.alignments)]
    with placed(inputs, outputs):
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
