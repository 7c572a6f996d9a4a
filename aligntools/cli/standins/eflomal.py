"""Stands in for the ``eflomal`` program, which reads text in numbers; SIL's machine.py and silnlp call it."""

import getopt
import sys

from aligntools.cli.kinds import Named, placed
from aligntools.cli.standins.arguments import Wrong, program
from aligntools.cli.standins.eflomal_align import running

PROGRAM = "eflomal"
USAGE = """Usage: eflomal -m MODEL [-s SOURCE] [-t TARGET] [-p PRIORS] [-f FORWARD_LINKS] [-r REVERSE_LINKS]
               [-F FORWARD_SCORES] [-R REVERSE_SCORES] [-S STATISTICS] [-M SCORE_MODEL] [-N NULL_PRIOR] [-q]
  -m, -M: 1 IBM 1, 2 HMM, 3 fertilities
  -1, -2, -3 (iterations) and -n (samplers) are taken and without effect
Texts are files of numbers, as eflomal's write_text makes them.
"""
_FILES = {"-s": "source", "-t": "target", "-p": "priors"}
_OUTPUTS = {
    "-f": "links_forward",
    "-r": "links_reverse",
    "-F": "scores_forward",
    "-R": "scores_reverse",
    "-S": "statistics",
}
_NUMBERS = {"-1": int, "-2": int, "-3": int, "-n": int, "-m": int, "-M": int, "-N": float}


@program(PROGRAM, prefix=f"{PROGRAM}: ")
def command(args: list[str]) -> int:
    """Align numbered text as eflomal does."""
    from aligntools.adapters.eflomal.aligner import align_numbered

    try:
        found, _ = getopt.getopt(args, "s:t:p:f:r:S:F:R:1:2:3:n:qm:M:N:h", ["debug"])
        given = dict(found)
        numbers = {flag: kind(given[flag]) for flag, kind in _NUMBERS.items() if flag in given}
    except (getopt.GetoptError, ValueError) as error:
        raise Wrong(f"{error}\n{USAGE.rstrip()}") from None
    if "-h" in given or "-m" not in given:
        sys.stderr.write(USAGE)
        return 1
    for flag in ("-m", "-M"):
        if numbers.get(flag, 1) not in (1, 2, 3):
            raise Wrong(f"{'(Scoring) model' if flag == '-M' else 'Model'} must be 1, 2 or 3!")
    files = {name: given.get(flag) for flag, name in _FILES.items()}
    outputs = {name: given.get(flag) for flag, name in _OUTPUTS.items()}
    read = [Named(flag, given.get(flag, "-")) for flag in ("-s", "-t")]
    if all(named.standard for named in read):
        raise Wrong("only one of the two texts can be standard input; give -s and -t")
    read += [Named("-p", given["-p"]) for _ in range("-p" in given)]
    written = [Named(flag, given[flag]) for flag in _OUTPUTS if flag in given]
    with placed(read, written), running(numbers["-m"], verbose=False) as reporter:
        align_numbered(
            files["source"] or "-",
            files["target"] or "-",
            outputs,
            files["priors"],
            numbers["-m"],
            numbers.get("-M", 0),
            numbers.get("-N", 0.2),
            quiet="-q" in given,
            progress=reporter,
        )
    return 0
