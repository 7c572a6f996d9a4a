"""A service over HTTP under load: how long one pair takes, pairs a second in lists, and memory over many requests."""

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

from bench import code, measuring, report, texts

CONNECTIONS = (1, 8, 64)
#: Pairs of a list.
LIST = 100
#: Bodies that the own client sends in turn.
BODIES = 2_000
#: What a text is asked about, and what a request says beside its pairs.
PAIR = "en-de"
LOOKS = 10


def run(o):
    folder = code.place(o.work, "serve", make_model)
    model = make_model(o.data, folder, o.trained)
    client = folder / "bodies.jsonl"
    pairs = bodies(o.data, client, folder / "pair.json", folder / "list.json")
    body = [
        f"`align` trained on {o.trained:,} pairs of {PAIR} text, served with the default limits (but `--max-waiting`"
        f" 256); {pairs:,} other pairs of it, raw. Median and 99th percentile of an answer in milliseconds, with the"
        " client's time, on the same two cores. *ab*: Apache's, connections kept open, one pair of median length again"
        " and again; *own*: a client of the bench, each of its pairs another. Lists have"
        f" {LIST} pairs, sent one after the other.",
    ]
    rows, lists, memory = [], [], []
    services = {"1 process": None, "`--workers 2`": 2}
    for name, workers in services.items():
        with served(model, workers) as service:
            for generator in GENERATORS:
                if generator is by_ab and shutil.which("ab") is None:
                    continue
                for connections in CONNECTIONS:
                    file = folder / "pair.json" if generator is by_ab else client
                    found = generator(service.address, file, o.requests, connections)
                    rows.append([name, GENERATORS[generator], connections, *_figures(found), _load()])
                    measuring.note(" | ".join(map(str, rows[-1])))
            for connections in (1, 2):
                found = by_own(service.address, folder / "list.json", max(o.requests // LIST, 10), connections)
                lists.append([name, connections, f"{found['rate'] * LIST:,.0f}", f"{found['middle']:.0f}", _load()])
    for name, workers in services.items() if o.soaked else ():
        with served(model, workers) as service:
            first, seen, done = service.memory(), [], 0
            while done < o.soaked:
                done += by_own(service.address, client, min(o.soaked // LOOKS, o.soaked - done) or 1, 8)["answers"]
                seen.append(service.memory())
                measuring.note(f"{name}: {done:,} requests, {seen[-1] / 1e6:,.1f} MB")
            memory.append([name, f"{first / 1e6:,.0f}", *_soaked(seen, done)])
    body.append(report.table(["service", "client", "connections", "median ms", "99 % ms", "requests/s", "failed",
                              "load"], rows))  # fmt: skip
    body.append(report.table(["service", "connections", "pairs/s in lists", "median ms of a list", "load"], lists))
    if o.soaked:
        body.append("Memory in MB of all processes together (their proportional shares, PSS) at the beginning, after a"
                    " tenth of the requests below, and at the end:")  # fmt: skip
        body.append(report.table(["service", "at start", "at a tenth", "at the end", "requests"], memory))
    body.append(report.circumstances())
    return "\n\n".join(body)


def _figures(found):
    return f"{found['middle']:.1f}", f"{found['late']:.1f}", f"{found['rate']:,.0f}", found["failed"]


def _soaked(seen, done):
    return f"{seen[0] / 1e6:,.0f}", f"{seen[-1] / 1e6:,.0f}", f"{done:,}"


def _load():
    return f"{os.getloadavg()[0]:.1f}"


def _sides(data, first, last):
    languages = PAIR[3:], PAIR[:2]
    return [[line for n, line in enumerate(texts.lines(data, PAIR, "train", language)) if first <= n < last]
            for language in languages]  # fmt: skip


def make_model(data, folder, pairs):
    """Train a model on the beginning of the text; return its file."""
    model = folder / f"de-en-{pairs}.atm"
    if not model.exists():
        files = folder / "train.de", folder / "train.en"
        for file, side in zip(files, _sides(data, BODIES, BODIES + pairs), strict=True):
            file.write_text("\n".join(side) + "\n", "utf-8")
        command = measuring.aligntools("align", "-q", "-s", files[0], "-t", files[1], "--save-model", model)
        measuring.run([*command, "-o", folder / "links"])
    return model


def bodies(data, every, one, several):
    """Write requests: each pair by itself, the one of median length, lists; return how many pairs there are."""
    sides = _sides(data, 0, BODIES)
    asked = [{"source": s, "target": t} for s, t in zip(*sides, strict=True) if s.strip() and t.strip()]
    every.write_text("\n".join(map(json.dumps, asked)) + "\n", "utf-8")
    asked.sort(key=lambda pair: len(pair["source"]) + len(pair["target"]))
    one.write_text(json.dumps(asked[len(asked) // 2]), "utf-8")
    count = len(asked) // LIST
    lists = [{"pairs": asked[k::count][:LIST]} for k in range(count)]  # of all lengths each
    several.write_text("\n".join(map(json.dumps, lists)) + "\n", "utf-8")
    return len(asked)


class Service:
    """A service that runs.

    Attributes
    ----------
    process : Popen
    address : str
    """

    def __init__(self, process, address):
        self.process, self.address = process, address

    def memory(self):
        """Return the bytes of memory of its processes; what they share is counted once."""
        return sum(_proportional(pid) for pid in (self.process.pid, *_children(self.process.pid)))


@contextlib.contextmanager
def served(model, workers):
    """Run a service while the block runs."""
    own = ["serve", "-m", model, "--port", 0, "--max-waiting", 256]
    command = measuring.aligntools(*own, *([] if workers is None else ["--workers", workers]))
    environment = os.environ | {"PYTHONPATH": str(report.ROOT)}
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment)
    try:
        said = process.stderr.readline()
        if "http://" not in said:
            sys.exit(f"the service said: {said}{process.stderr.read()}")
        yield Service(process, re.search(r"http://\S+", said)[0] + "align")
    finally:
        process.send_signal(signal.SIGTERM)
        process.stderr.close()
        process.wait()


def _children(pid):
    with contextlib.suppress(OSError):
        return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    return []


def _proportional(pid):
    with contextlib.suppress(OSError):
        text = Path(f"/proc/{pid}/smaps_rollup").read_text()
        return int(re.search(r"^Pss:\s+(\d+)", text, re.M)[1]) << 10
    return 0


def by_ab(address, file, requests, connections):
    """Send one body again and again by Apache's `ab`."""
    command = ["ab", "-q", "-k", "-n", requests, "-c", connections, "-T", "application/json", "-p", file, address]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"ab: {done.stderr}")
    return read_ab(done.stdout)


def read_ab(text):
    """Return what ab says: milliseconds of the median and the 99th percentile, requests a second, those that failed."""

    def number(pattern, otherwise="0"):
        found = re.search(pattern, text, re.M)
        return float(found[1] if found else otherwise)

    refused = number(r"^Non-2xx responses:\s+(\d+)")
    broken = number(r"\(Connect: (\d+)") + number(r"Receive: (\d+)") + number(r"Exceptions: (\d+)")
    return {
        "middle": number(r"^\s+50%\s+(\d+)"),
        "late": number(r"^\s+99%\s+(\d+)"),
        "rate": number(r"^Requests per second:\s+([\d.]+)"),
        "failed": int(refused + broken),
        "answers": int(number(r"^Complete requests:\s+(\d+)")),
    }


def by_own(address, file, requests, connections):
    """Send the bodies of a file in turn by the bench's own client, in another process."""
    command = [sys.executable, "-m", "bench.serve_client", address, file, requests, connections]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False, cwd=report.ROOT)
    if done.returncode:
        sys.exit(done.stderr)
    return json.loads(done.stdout)


#: What drives a service, and what the table calls it.
GENERATORS = {by_ab: "ab", by_own: "own"}
