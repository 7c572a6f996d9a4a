"""Services under load: millions of short requests through live pipes, memory and time looked at all the while."""

import contextlib
import itertools
import json
import os
import random
import subprocess
import threading
import time
from pathlib import Path

from bench import code, measuring, report

#: Requests that are written ahead of their answers, at most: a client that never waits.
AHEAD = 64
#: Looks at memory in a run.
LOOKS = 200


def run(o):
    kept = o.work / f"soak-{code.of(soak, requests, _commands)}.json"
    found = json.loads(kept.read_text()) if kept.exists() else {}
    measuring.run(measuring.aligntools("warmup", "-q"))
    commands = _commands(o.work / "soak")
    for name in o.services.split(","):
        if found.get(name, {}).get("asked") == [o.requests, o.soak_seed]:
            continue
        measuring.note(f"{name}: {o.requests:,} requests")
        seen = soak(measuring.aligntools(*commands[name]), requests(name, o.requests, o.soak_seed), o.requests, name)
        found[name] = seen | {"asked": [o.requests, o.soak_seed], "load": os.getloadavg()[0]}
        measuring.note(" | ".join(_row(name, found[name])))
        kept.write_text(json.dumps(found))
    header = ["service", "requests", "answers", "MB at a tenth", "MB at the end", "most MB", "µs each, first tenth",
              "last tenth", "CPU µs each, second tenth", "last tenth", "load", "exit status"]  # fmt: skip
    body = [
        "Short random sentences of the samples' words, one word in ten unknown and one request in a hundred odd (blank,"
        f" not UTF-8, malformed), seed {o.soak_seed}, through one live pipe with `--unbuffered`, one thread, up to"
        f" {AHEAD} requests ahead of their answers. Memory is what is resident (VmRSS), looked at {LOOKS} times; times"
        " are from a request's tenth of the run, writing and reading by the client included; CPU is the service's own."
        " Of each service the last run is shown; load is the machine's at its end.",
        report.table(header, [_row(name, seen) for name, seen in found.items()]),
        report.circumstances(1),
    ]
    return "\n\n".join(body)


def _commands(folder):
    """Make the models of the samples; return each service's arguments."""
    folder.mkdir(parents=True, exist_ok=True)
    samples = report.ROOT / "data" / "samples"

    def make(*args):
        measuring.run(measuring.aligntools(*args))

    make("align", "-q", "-i", samples / "de-en.txt", "--save-model", folder / "model", "-o", folder / "align")
    make("train-hmm", "-q", "--tagged", samples / "en.tagged", "--members", 2, "-o", folder / "tagger")
    make("train-parser", "-q", "--treebank", samples / "en.conllu", "-o", folder / "parser")
    make("extract-grammar", "-q", "-i", samples / "de-en.txt", "-a", folder / "align", "-o", folder / "grammar")
    make("train-lm", "-q", "-n", 3, samples / "de-en.en", "-o", folder / "lm")
    common = "-q", "--unbuffered", "--threads", 1
    return {
        "align": ("align", "-m", folder / "model", "-i", "-", *common),
        "tag": ("tag", "-m", folder / "tagger", "--format", "text", *common),
        "parse": ("parse", "-m", folder / "parser", "--format", "tagged", *common),
        "translate": ("translate", "--grammar", folder / "grammar", "--lm", folder / "lm", *common),
    }


def requests(name, count, seed):
    """Yield so many requests to a service, as bytes."""
    rng = random.Random(seed)
    samples = report.ROOT / "data" / "samples"
    german, english = (sorted(set((samples / f"de-en.{side}").read_text("utf-8").split())) for side in ("de", "en"))
    tagged = sorted(set((samples / "en.tagged").read_text("utf-8").split()))

    def sentence(words, tag=""):
        chosen = [
            rng.choice(words) if rng.random() < 0.9 else f"x{rng.getrandbits(40):x}{tag}"
            for _ in range(rng.randint(1, 12))
        ]
        return " ".join(chosen).encode()

    odd = itertools.cycle([b"", b"\xff\xfe \xff", b"_", b" ||| ", b"no separator\r"])
    for _ in range(count):
        if rng.random() < 0.01:
            line = next(odd)
        elif name == "align":
            line = sentence(german) + b" ||| " + sentence(english)
        elif name == "parse":
            line = sentence(tagged, "_NOUN")
        else:
            line = sentence(english if name == "tag" else german)
        yield line + b"\n"


def soak(command, asked, count, name):
    """Send requests to a service and read its answers; return what was seen.

    Returns
    -------
    dict
        ``requests``, ``answers``; ``memory``, the bytes resident at each look; ``seconds`` and ``cpu``, of each tenth;
        ``status``.
    """
    process = subprocess.Popen(list(map(str, command)), stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=report.ROOT)
    room, sent = threading.Semaphore(AHEAD), [0]

    def write():
        with contextlib.suppress(BrokenPipeError), process.stdin:
            for request in asked:
                room.acquire()
                sent[0] += 1
                process.stdin.write(request)
                process.stdin.flush()

    threading.Thread(target=write, daemon=True).start()
    ends = [count * k // 10 for k in range(1, 11)]
    every, answers, memory, times, used = max(1, count // LOOKS), 0, [], [time.perf_counter()], [_cpu(process.pid)]
    for line in process.stdout:
        if name == "parse" and line != b"\n":  # an answer ends with a blank line
            continue
        answers += 1
        room.release()
        if answers % every == 0:
            memory.append(_resident(process.pid))
        while ends and answers >= ends[0]:
            times.append(time.perf_counter())
            used.append(_cpu(process.pid))
            ends.pop(0)
    process.stdout.close()
    return {
        "requests": sent[0], "answers": answers, "memory": memory, "seconds": _steps(times), "cpu": _steps(used),
        "status": process.wait(),
    }  # fmt: skip


def _resident(pid):
    """Return the bytes of a process that are in memory; 0 where it has ended."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0
    return next((int(line.split()[1]) << 10 for line in status.splitlines() if line.startswith("VmRSS")), 0)


def _cpu(pid):
    """Return the seconds of CPU that a process has used; 0 where it has ended."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _steps(values):
    return [after - before for before, after in itertools.pairwise(values)]


def _row(name, found):
    memory, seconds, cpu = [x for x in found["memory"] if x], found["seconds"], found["cpu"]
    tenth = found["requests"] / 10
    return [
        name, f"{found['requests']:,}", f"{found['answers']:,}", f"{memory[len(memory) // 10] / 1e6:,.1f}",
        f"{memory[-1] / 1e6:,.1f}", f"{max(memory) / 1e6:,.1f}", f"{1e6 * seconds[0] / tenth:,.0f}",
        f"{1e6 * seconds[-1] / tenth:,.0f}", f"{1e6 * cpu[1] / tenth:,.0f}", f"{1e6 * cpu[-1] / tenth:,.0f}",
        f"{found['load']:.1f}", str(found["status"]),
    ]  # fmt: skip
