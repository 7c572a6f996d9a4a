#!/usr/bin/env python3
"""Show that a change leaves what users get as it was: every command on samples and real text, byte for byte.

python -m bench.same_bytes record BEFORE --data DIR --checkout OLD
python -m bench.same_bytes record AFTER --data DIR
python -m bench.same_bytes compare BEFORE AFTER

`record` runs the commands of same_bytes.txt with a checkout's program and keeps every file and standard output;
`compare` says which differ. What names the program's version (signatures) is compared without it, and so is the
order of keys in JSON.
"""

import argparse
import gzip
import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

from bench.report import ROOT

#: Lines taken of each real text: enough to pass the sizes below which uncompiled code serves.
TEXTS = {
    "fr": ("alignment/en-fr", "dev", "train", 6000),
    "zh": ("alignment/en-zh", "gold", "train", 3000),
    "grc": ("alignment/en-grc", "gold", None, 3000),
}

#: Every command, once or more, a line each.
COMMANDS = [
    line
    for line in (Path(__file__).parent / "same_bytes.txt").read_text(encoding="utf-8").splitlines()
    if line and not line.startswith("#")
]


def main():
    """Record or compare."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    recording = commands.add_parser("record")
    recording.add_argument("folder", type=Path)
    recording.add_argument("--data", type=Path, required=True)
    recording.add_argument("--checkout", type=Path, default=ROOT)
    recording.add_argument("--python", default=sys.executable)
    recording.add_argument("--only", default="", help="a regular expression; other commands are left out")
    comparing = commands.add_parser("compare")
    comparing.add_argument("before", type=Path)
    comparing.add_argument("after", type=Path)
    args = parser.parse_args()
    if args.command == "record":
        record(args.folder, args.data, args.checkout.resolve(), args.python, args.only)
    else:
        sys.exit(compare(args.before, args.after))


def _lines(path, n=None):
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8", newline="\n") as file:
        return [line for line, _ in zip(file, range(n or 1 << 60), strict=False)]


def prepare(folder, data, checkout):
    """Write the texts that the commands read."""
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copytree(checkout / "data" / "samples", folder / "S", dirs_exist_ok=True)
    for name, (place, gold, train, n) in TEXTS.items():
        for side in ("en", name):
            lines = _lines(data / place / f"{gold}.{side}", n)
            if train:
                lines += _lines(data / place / f"{train}.{side}.gz", n)
            (folder / f"{name}.{side}").write_text("".join(lines).lower(), encoding="utf-8")
        shutil.copy(data / place / f"{gold}.wa", folder / f"{name}.wa")
    for name, source, n in (("ewt", "en_ewt-train", 1500), ("ewt-test", "en_ewt-test", 300)):
        blocks = "".join(_lines(data / "treebanks" / "ud" / f"{source}.conllu.gz")).split("\n\n")[:n]
        (folder / f"{name}.conllu").write_text("\n\n".join(blocks).strip("\n") + "\n\n", encoding="utf-8")
    for side in ("de", "en"):
        for name, source, n in (("multi", "train", 5000), ("dev", "dev", 100), ("dev40", "dev", 40)):
            text = "".join(_lines(data / "translation" / f"{source}.{side}.gz", n))
            (folder / f"{name}.{side}").write_text(text, encoding="utf-8")
        (folder / f"sample.{side}").write_text("".join(_lines(folder / "S" / f"de-en.{side}", 20)), encoding="utf-8")


def record(folder, data, checkout, python, only):
    """Run every command in ``folder``; a command that fails is noted with what it said."""
    prepare(folder, data, checkout)
    environment = os.environ | {"PYTHONPATH": str(checkout)}
    notes = []
    for number, line in enumerate(COMMANDS, 1):
        if not re.search(only, line):
            continue
        if line.startswith("BIN "):
            script = f"{python} {checkout}/bin/{line[4:]}"
        else:
            script = f"{python} -m aligntools {line}"
        if " > " not in line:
            script += f" > out.{number}"
        if line.startswith("BIN atools"):  # the drop-in's scores are no part of a Pharaoh line
            script = f"sed 's/ ||| .*//' f1 > f1x; {script}"
        if "g1x" in line:
            script = f"cat g2 | awk -F' [|][|][|] ' '!($1 in s) {{s[$1]; print $2}}' > g1x; {script}"
        began = time.perf_counter()
        done = subprocess.run(["bash", "-c", script], cwd=folder, env=environment, capture_output=True, check=False)
        said = done.stderr.decode("utf-8", "replace")
        notes.append({"command": line, "status": done.returncode, "said": said[-2000:]})
        sys.stderr.write(f"{number} {time.perf_counter() - began:.1f} s, status {done.returncode}: {line[:90]}\n")
        if done.returncode:
            sys.stderr.write(said[-300:])
    (folder / "notes.json").write_text(json.dumps(notes, indent=1))


def plain(path):
    """Return a file's contents without what names versions."""
    data = path.read_bytes()
    if path.suffix == ".gz":
        data = gzip.decompress(data)
    data = re.sub(rb"version:[^\s\"]+", b"version:", data)
    if data[:1] in b"{[" and path.stat().st_size < 1 << 24:
        try:
            held = json.loads(data)
        except ValueError:
            return data
        if isinstance(held, dict):
            held.pop("version", None)
            if isinstance(held.get("settings"), dict):
                held["settings"].pop("version", None)
        return json.dumps(held, sort_keys=True).encode()
    return data


def compare(before, after):
    """Print the files that differ and the commands that ended otherwise; return how many."""
    names = {p.name for folder in (before, after) for p in folder.iterdir() if p.is_file()} - {"notes.json"}
    differing = []
    for name in sorted(names):
        both = [folder / name for folder in (before, after)]
        if not all(p.exists() for p in both):
            differing.append(f"{name}: only in one")
        elif plain(both[0]) != plain(both[1]):
            differing.append(name)
    statuses = [
        {n["command"]: n["status"] for n in json.loads((f / "notes.json").read_text())} for f in (before, after)
    ]
    for command in statuses[0].keys() & statuses[1].keys():
        if statuses[0][command] != statuses[1][command]:
            differing.append(f"status {statuses[0][command]}, then {statuses[1][command]}: {command}")
    print(f"{len(names)} files, {len(statuses[0])} commands, {len(differing)} differ")
    print("\n".join(differing))
    return int(bool(differing))


if __name__ == "__main__":
    main()
