"""Option values that make no sense: every option of every command, with each of a list of values."""

import re
import shutil
from collections.abc import Iterator

import click

from aligntools.cli import kinds, programs
from bench.abuse import driving, forking, lines, verdicts

#: Values; ``{folder}`` is an empty folder, ``old.text`` and ``old.model`` are files.
VALUES = (
    "", " ", "nan", "NaN", "-nan", "inf", "-inf", "Infinity", "-1", "0", "-0", "1", "0.5", "-0.5", "1e300", "-1e300",
    "1e-320", "1e400", "2147483648", "4294967296", "9223372036854775807", "9223372036854775808", "1" + "0" * 30,
    "-1" + "0" * 30, "1_0", "\u0663", "0x10", "word", "true", "1,2,,3", "nan,nan", "99999999999,1", "\xe9\u2028\xfc",
    "|||", "%s%n{0}", "x" * 300, "../../nothing/there", "{folder}", "/dev/full", "/dev/null", "old.text",
    "old.model", "-",
)  # fmt: skip
#: Counts that are in range and mean years of work: asked for, so a run that goes on is as it should be.
ENDLESS = {"iterations", "sweeps", "restarts", "rounds", "mre-iterations", "ibm1-iterations", "bootstrap", "passes",
           "members", "samples", "n-best", "n-sources", "states", "latent", "folds", "beam", "I"}  # fmt: skip


#: Options of the programs that stand in for others, which read their own command lines: those that name files, those
#: that are numbers or words. One that ends with ``=`` has its value in the same argument.
OF_PROGRAMS = {
    "fast_align": ("-i -f -p", "-I -m -t -q -T -a -b"),
    "atools": ("-i -j", "-c"),
    "eflomal": ("-s -t -p -f -r -S -F -R", "-1 -2 -3 -n -m -M -N"),
    "eflomal-align": (
        "-s -t -i -f -r -F -R -p",
        "--null-prior -m -M --source-prefix --source-suffix --target-prefix --target-suffix -l -1 -2 -3 --n-samplers",
    ),
    "eflomal-makepriors": ("-s -t -i -f -r -p", ""),
    "symal": ("-i= -o=", "-alignment= -diagonal= -final= -both="),
}
#: Finds what is no number, where a text may be so called and outputs have it.
_NO_NUMBER = re.compile(r"(?i)\b(nan|inf|infinity)\b").search
#: Files that a value names: copies of good ones, since the option may write there.
OLD = {"old.text": "de", "old.model": "a.atm"}


def parameters(command: str) -> list[click.Parameter]:
    """Return a command's options that take a value."""
    if command in forking.SCRIPTS:
        files, others = map(str.split, OF_PROGRAMS.get(command, ("", "")))
        return [
            *(click.Option([flag, f"o{k}"], metavar="FILE") for k, flag in enumerate(files)),
            *(click.Option([flag, f"v{k}"], type=float) for k, flag in enumerate(others)),
        ]
    found = programs.command(command).params
    return [p for p in found if isinstance(p, click.Option) and not p.is_flag and not p.count]


def everything(numbers: list[int], common: dict, jobs: int) -> list[dict]:
    """Run every option of the commands of some lines; return what came of each case."""
    chosen = [line for line in lines.read() if line.number in numbers]
    tasks = []
    for command in dict.fromkeys(line.command for line in chosen):
        own = [line.number for line in chosen if line.command == command]
        tasks += [common | {"module": "options", "line": n, "among": own} for n in own if parameters(command)]
    return [result for results in driving.everything(tasks, jobs) for result in results]


def mentions(line: lines.Line, parameter: click.Parameter) -> bool:
    """Tell whether a line has an option."""
    return any(word.text in parameter.opts for word in line.words)


def cases(runner, task: dict) -> Iterator[dict]:
    """Run the values of the options that this line is the best one for; yield what came of each.

    ``task`` has ``among``: the numbers of all lines of the command. An option is tried on the first of them that has
    it, or else on the first.
    """
    ending = runner.warm()
    if ending.status:
        yield {"option": "", "value": "", "verdict": "broken", "why": ending.err.decode()[-500:]}
        return
    among = [line for line in lines.read() if line.number in task["among"]]
    for parameter in parameters(runner.line.command):
        with_it = [line for line in among if mentions(line, parameter)] or among
        if with_it[0].number == runner.line.number:
            for value in VALUES:
                yield case(runner, parameter, value)


def case(runner, parameter: click.Parameter, value: str) -> dict:
    """Run one value."""
    folder = runner.fresh()
    (folder / "empty").mkdir()
    for name, good in OLD.items():
        shutil.copy(runner.place / good, folder / name)
    flag = max(parameter.opts, key=len)
    shown = value.replace("{folder}", "empty")
    args = _without(runner.line, parameter, runner)
    args += [flag + shown] if flag.endswith("=") else [flag, shown]
    if parameter.nargs == 2:
        args.append(shown)
    ending = runner.run(args, runner.line.standard_input(runner.place))
    written = tuple(name for name in (shown, shown + ".f2e", shown + ".e2f") if len(shown) < 200 and name)
    expected = verdicts.Expected(
        statuses=(1, 2),
        counts=_counts(runner, parameter, shown),
        rows=runner.rows(),
        ignored=(*OLD, *runner.line.unnamed),
        outputs=(*runner.outputs(), *written, *_logs(folder), *_states(folder, parameter)),
        numbers=isinstance(parameter.type, kinds.Number | click.types.FloatParamType) or not _NO_NUMBER(shown),
        own_words=runner.line.command in forking.SCRIPTS,
    )
    verdict = verdicts.judge(ending, folder, expected)
    word = verdict.word
    if word == "output" or (word == "hang" and flag.lstrip("-") in ENDLESS and shown.isdigit()):
        word = "done"
    if word == "memory" and ending.status == 1 and shown.lstrip("-").isdigit() and len(shown) > 5:
        word = "refused"  # a number of that size was asked for
    return {
        "kind": runner.line.command, "option": flag, "value": value, "verdict": word, "why": verdict.why,
        "seconds": round(ending.seconds, 3), "status": ending.status,
    }  # fmt: skip


def _logs(folder):
    return [str(p.relative_to(folder)) for p in folder.glob("empty/*")]


def _states(folder, parameter):
    """Return what a training keeps in a folder that an option names."""
    return [p.name for p in folder.rglob("*.state")] if parameter.name == "checkpoint" else []


def _without(line, parameter, runner):
    """Return the line's arguments without the option, where it may be given but once."""
    given, found, skip = line.arguments(runner.place), [], 0
    for word in given:
        if skip:
            skip -= 1
        elif word in parameter.opts:
            skip = parameter.nargs
        else:
            found.append(word)
    return found


def _counts(runner, parameter, value):
    """Lines of outputs, unless the option says which input is read or where the output goes."""
    if parameter.metavar in ("FILE", "DIR", "PREFIX", "A", "B", "SRC TGT") or parameter.name in ("n_best", "samples"):
        return {}
    return runner.counts()
