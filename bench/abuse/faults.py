"""Faults of what surrounds a run: disks, signals, streams, limits of memory, folders, homes, caches and clocks."""

import contextlib
import os
import random
import resource
import shutil
import signal
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from aligntools.cli.standins import PROGRAMS
from bench.abuse import lines, processes, verdicts
from bench.abuse.forking import Ending
from bench.abuse.processes import Setting
from bench.abuse.verdicts import Expected, Verdict
from bench.measuring import note
from bench.report import ROOT

#: The number of another user, nobody.
NOBODY = 65534
#: Statuses after each signal: as the shell has them, or ended by the signal itself before the program could see it.
AFTER = {s: (128 + s, -s) for s in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL)}


@dataclass
class Scene:
    """A line about to be run under a fault.

    Attributes
    ----------
    line : lines.Line
    place : Path
        Good inputs.
    folder : Path
        Where it runs.
    good : dict of str to bytes
        What the undisturbed run writes, ``""`` to standard output.
    rng : random.Random
    setting : Setting
    expected : Expected
    arguments : list of str
    others : list of str
        What went wrong in runs beside it.
    """

    line: lines.Line
    place: Path
    folder: Path
    good: dict[str, bytes]
    seconds: float
    rng: random.Random
    setting: Setting = field(default_factory=Setting)
    expected: Expected = field(default_factory=Expected)
    arguments: list[str] = field(default_factory=list)
    others: list[str] = field(default_factory=list)

    @property
    def source(self) -> str:
        """Standard input."""
        return self.line.standard_input(self.place)

    def run(self) -> Ending:
        """Run it."""
        words = processes.command(self.line, self.arguments)
        return processes.run(words, self.folder, self.setting, self.source)

    def home(self) -> None:
        """Set a home of the scene's own, with no compiled code."""
        home = Path(f"{self.folder}.home")
        home.mkdir()
        self.setting.environment["HOME"] = str(home)

    def cache(self) -> Path:
        """Set the scene's own folder for compiled code and return it; it is a copy of the common one."""
        own = Path(f"{self.folder}.cache")
        base = os.environ.get("ALIGNTOOLS_CACHE_DIR") or os.path.expanduser("~/.cache/aligntools")
        shutil.copytree(base, own)
        self.setting.environment["ALIGNTOOLS_CACHE_DIR"] = str(own)
        return own


#: A fault gets a scene, changes its setting, and yields for the run; afterwards it takes away what it put there.
Fault = Callable[[Scene], contextlib.AbstractContextManager]
FAULTS: dict[str, Fault] = {}


def fault(function):
    """Register a fault under its name in words."""
    FAULTS[function.__name__.replace("_", " ")] = contextlib.contextmanager(function)
    return function


def _same(scene):
    """Nothing is to show."""
    scene.expected.same = scene.good
    scene.expected.statuses = ()


def _replaced(scene, name):
    """Put a name in place of one of the outputs; return the output's own, or nothing where it has none."""
    outputs = [w.text for w in scene.line.outputs if not w.stream and w.text in scene.arguments]
    if not outputs:
        return ""
    own = scene.rng.choice(outputs)
    scene.arguments[scene.arguments.index(own)] = name
    return own


@fault
def full_output(scene):
    if not _replaced(scene, "/dev/full"):
        scene.setting.out = "/dev/full"
    scene.expected.names = ("/dev/full", "<stdout>")
    yield


@fault
def full_disk(scene):
    with processes.small_disk(scene.folder / "disk", 4096 * scene.rng.choice((1, 1, 2, 3))):
        own = _replaced(scene, "disk/out")
        scene.expected.names = ("disk/out",)
        scene.expected.outputs += ("out",)
        scene.expected.ignored = ("ballast",)
        if own:
            with open(scene.folder / "disk" / "ballast", "wb") as file, contextlib.suppress(OSError):
                file.write(bytes(1 << 20))
        yield


@fault
def full_log(scene):
    if "--log-json" in scene.arguments:
        scene.arguments[scene.arguments.index("--log-json") + 1] = "/dev/full"
        scene.expected.names = ("/dev/full",)
    else:  # what is said has no room
        scene.setting.err = "/dev/full"
        _same(scene)
    yield


@fault
def full_temporary_folder(scene):
    with processes.small_disk(scene.folder.with_name("tiny"), 4096):
        scene.setting.environment["TMPDIR"] = str(scene.folder.with_name("tiny"))
        scene.expected.same = scene.good
        yield


@fault
def no_temporary_folder(scene):
    scene.setting.environment["TMPDIR"] = str(scene.folder / "nothing" / "there")
    scene.expected.same = scene.good
    yield


@fault
def full_cache(scene):
    scene.home()
    size = 4096 * scene.rng.choice((1, 8, 64))
    with processes.small_disk(scene.folder.with_name("cachedisk"), size, "700"):  # others may not write: it is used
        scene.setting.environment["ALIGNTOOLS_CACHE_DIR"] = str(scene.folder.with_name("cachedisk"))
        _same(scene)
        yield


@fault
def file_size_limit(scene):
    scene.setting.limits[resource.RLIMIT_FSIZE] = scene.rng.choice(
        (1000, 2000, 4096, 10000, 30000)
    )  # messages have room
    scene.expected.same = scene.good
    yield


def _signalled(number):
    def apply(scene):
        scene.setting.signal = number
        scene.setting.after = scene.rng.uniform(0.03, 1.2 * scene.seconds)
        scene.expected.statuses = AFTER[number]
        scene.expected.same = scene.good
        yield

    return apply


for _number in AFTER:
    FAULTS[f"signal {_number.name}"] = contextlib.contextmanager(_signalled(_number))


@fault
def closed_input(scene):
    scene.setting.closed = (0,)
    if not any(w.stream and w.role == "input" for w in scene.line.words):
        _same(scene)
    yield


@fault
def closed_output(scene):
    scene.setting.closed = (1,)
    if scene.good[""]:
        scene.expected.names = ("<stdout>",)
        scene.good[""] = b""
    else:
        _same(scene)
    yield


@fault
def closed_errors(scene):
    scene.setting.closed = (2,)
    _same(scene)
    yield


@fault
def closed_streams(scene):
    scene.setting.closed = (0, 1, 2)
    scene.expected.unheard = True
    yield


@fault
def little_address_space(scene):
    scene.setting.limits[resource.RLIMIT_AS] = int(scene.rng.uniform(0.3, 3) * (1 << 30))
    scene.expected.same = scene.good
    yield


@fault
def no_home(scene):
    scene.setting.environment |= {
        "HOME": scene.rng.choice((None, "", "/nonexistent", "relative")),
        "XDG_CACHE_HOME": None,
    }
    _same(scene)
    yield


@fault
def no_cache_folder(scene):
    scene.setting.environment |= {"HOME": "/nonexistent", "XDG_CACHE_HOME": None, "ALIGNTOOLS_CACHE_DIR": "/dev/null/x"}
    _same(scene)
    yield


@fault
def read_only_folder(scene):
    scene.folder.chmod(0o555)
    scene.setting.powerless = True
    scene.expected.names = tuple(w.text for w in scene.line.outputs)
    yield
    scene.folder.chmod(0o755)


@fault
def anothers_cache(scene):
    scene.setting.powerless = True
    scene.cache()
    if not os.geteuid():
        for path in [Path(f"{scene.folder}.cache"), *Path(f"{scene.folder}.cache").rglob("*")]:
            os.chown(path, NOBODY, NOBODY)
    scene.home()
    _same(scene)
    yield


@fault
def ten_on_one_cold_cache(scene):
    scene.setting.environment["ALIGNTOOLS_CACHE_DIR"] = f"{scene.folder}.cache"
    scene.home()
    _same(scene)
    folders = [Path(f"{scene.folder}.{k}") for k in range(9)]
    for folder in folders:
        folder.mkdir()
    words, began = processes.command(scene.line, scene.arguments), time.perf_counter()
    started = [processes.start(words, folder, scene.setting, scene.source) for folder in folders]
    yield
    for process, folder in zip(started, folders, strict=True):
        ending = processes.finish(process, folder, scene.setting, 120, began)
        held = {p.name: p.read_bytes() for p in folder.iterdir()} | {"": ending.out}
        if ending.status or _comparable(held) != _comparable(scene.good):
            scene.others.append(f"{ending.status}: {ending.err.decode('utf-8', 'replace')[-200:]}")


@fault
def damaged_cache(scene):
    files = sorted(p for p in scene.cache().rglob("*.nb?") if p.is_file())
    for path in scene.rng.sample(files, min(len(files), scene.rng.choice((1, 10, 10000)))):
        data = path.read_bytes()
        at = scene.rng.randrange(max(1, len(data)))
        path.write_bytes(scene.rng.choice((b"", data[:at], bytes(len(data)), data[:at] + b"\xff" + data[at + 1 :])))
    _same(scene)
    yield


@fault
def time_stepped_back(scene):
    later = time.time() + scene.rng.choice((60, 86400, 86400 * 4000))
    for path in [p for p in scene.cache().rglob("*") if p.is_file()]:
        os.utime(path, (later, later))
    _same(scene)
    yield


@fault
def plain_locale(scene):
    scene.setting.environment |= {"LC_ALL": "C", "LANG": None, "PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii"}
    _same(scene)
    yield


#: How often each fault comes, where not once.
OFTEN = {"signal SIGINT": 5, "signal SIGTERM": 5, "signal SIGHUP": 3, "signal SIGKILL": 5, "file size limit": 3,
         "full disk": 2, "full output": 2, "little address space": 2, "damaged cache": 3}  # fmt: skip
#: Faults that mean compiling everything that a line needs.
SLOW = ("full cache", "no cache folder", "anothers cache", "ten on one cold cache")


def plan(seed: int, count: int, found: list[lines.Line]) -> list[tuple[str, lines.Line, int]]:
    """Return so many faults with the lines that meet them, the same for the same seed."""
    rng = random.Random(f"faults {seed}")
    names = [name for name in FAULTS for _ in range(OFTEN.get(name, 1))]
    return [(names[k % len(names)], rng.choice(found), k) for k in range(count)]


def everything(place: Path, seed: int, count: int, jobs: int, only: tuple[str, ...] = ()) -> list[dict]:
    """Run faults; return what came of each."""
    chosen = [p for p in plan(seed, count, lines.read()) if not only or p[0] in only]
    quick = next(line for line in lines.read() if line.command == "eval-lm")
    chosen = [(name, quick if name in SLOW else line, k) for name, line, k in chosen]
    good = {}
    with ThreadPoolExecutor(jobs) as pool:
        for line in {line.number: line for _, line, _ in chosen}.values():
            good[line.number] = pool.submit(_undisturbed, place, line)
        results = pool.map(lambda p: case(place, seed, *p, *good[p[1].number].result()), chosen)
        found = []
        for result in results:
            found.append(result)
            if result["verdict"] not in verdicts.GOOD:
                note(f"{result['kind']}, line {result['line']}: {result['verdict']} {result['why'][:200]}")
    return found


def _undisturbed(place, line):
    with tempfile.TemporaryDirectory(prefix="abuse-") as folder:
        scene = Scene(line, place, Path(folder) / "case", {}, 0.0, random.Random(0), arguments=line.arguments(place))
        scene.folder.mkdir()
        ending = scene.run()
        if ending.status:
            raise SystemExit(f"{line}: {ending.err.decode()}")
        files = [p for p in scene.folder.iterdir() if p.is_file()]  # what folders hold is not named
        return {p.name: p.read_bytes() for p in files} | {"": ending.out}, ending.seconds


def _comparable(good):
    return {name: data for name, data in good.items() if "log" not in name}


def case(place: Path, seed: int, name: str, line: lines.Line, number: int, good: dict, seconds: float) -> dict:
    """Run one fault."""
    rng = random.Random(f"fault {seed} {name} {number}")
    with tempfile.TemporaryDirectory(prefix="abuse-", ignore_cleanup_errors=True) as folder:
        os.chmod(folder, 0o755)
        home = Path(folder) / "case"
        scene = Scene(line, place, home, dict(good), seconds, rng, arguments=line.arguments(place))
        home.mkdir()
        Path(f"{home}.tmp").mkdir(mode=0o777)
        scene.setting.environment["TMPDIR"] = f"{home}.tmp"
        scene.expected.outputs = tuple(n for n in good if n)
        scene.expected.ignored = line.unnamed
        scene.expected.own_words = line.command in PROGRAMS
        with FAULTS[name](scene):
            ending = scene.run()
            verdict = _judge(scene, ending, name)
    if scene.others and verdict.good:
        verdict = Verdict("others", " ".join(scene.others)[:300])
    return {
        "kind": name, "line": line.number, "command": line.command, "number": number, "verdict": verdict.word,
        "why": verdict.why, "status": ending.status, "seconds": round(ending.seconds, 2),
        "setting": f"{scene.setting.limits} {scene.setting.after:.2f}",
    }  # fmt: skip


def _judge(scene: Scene, ending: Ending, name: str) -> Verdict:
    expected = scene.expected
    if scene.setting.out:
        expected.same = {n: d for n, d in (expected.same or {}).items() if n} or None
    if expected.same:
        expected.same = _comparable(expected.same)
    if not scene.setting.signal or ending.status == 0:
        return verdicts.judge(ending, scene.folder, expected)
    said = ending.err.decode("utf-8", "replace")
    if scene.setting.signal == signal.SIGINT and "Traceback" in said and str(ROOT) not in said:
        return Verdict("refused")  # Python itself had not started yet
    if ending.status not in AFTER[scene.setting.signal]:
        return Verdict("status", f"{ending.status}: {said[-300:].strip()}")
    if "Traceback" in said:
        return Verdict("traceback", f"after {scene.setting.after:.2f} s: {said.strip().splitlines()[-1][:200]}")
    known = *scene.good, *expected.ignored
    left = [p.name for p in scene.folder.rglob("*") if p.is_file() and p.name not in known]
    left += [p.name for p in Path(f"{scene.folder}.tmp").rglob("*")]
    if left and name != "signal SIGKILL":
        return Verdict("leftover", f"after {scene.setting.after:.2f} s: {' '.join(left)}")
    for file, data in _comparable(scene.good).items():
        if file and (scene.folder / file).is_file() and (scene.folder / file).read_bytes() != data:
            return Verdict("half", file)
    return Verdict("refused" if ending.status else "done")
