"""Damaged inputs: every input file of every line, in fixed ways and at random ones."""

import os
import random
import re
from collections import defaultdict
from collections.abc import Iterator
from itertools import cycle, islice

from aligntools.cli.standins import PROGRAMS
from bench.abuse import damages, driving, lines, model_damages, verdicts


def ways(kind: str, fixed: list[str] | None, at_random: int, contents: int) -> Iterator[tuple[str, int]]:
    """Yield the damages for a kind of input: their names, each with a number."""
    for damage in damages.FIXED:
        if damage.suits(kind) and (fixed is None or damage.name in fixed):
            yield damage.name, 0
    for k in range(at_random):
        yield "random", k
    if kind in lines.BINARY:
        for k in range(contents):
            yield "contents", k


def dealt(numbers: list[int], seed: int, least: int, most: int) -> dict[int, list[list[str]]]:
    """Return the fixed damages of each input of some lines, by name.

    Those for a kind are dealt out to its inputs in turn: once each, where an input gets from ``least`` to ``most``.
    """
    of_kind: dict[str, list[list[str]]] = defaultdict(list)
    found: dict[int, list[list[str]]] = {}
    for line in lines.read():
        if line.number in numbers:
            found[line.number] = [[] for _ in line.inputs]
            for word, hand in zip(line.inputs, found[line.number], strict=True):
                of_kind[word.kind].append(hand)
    for kind, hands in of_kind.items():
        names = [damage.name for damage in damages.FIXED if damage.suits(kind)]
        random.Random(f"{seed} {kind}").shuffle(names)
        each = min(most, max(least, -(-len(names) // len(hands))))
        for k, name in enumerate(islice(cycle(names), each * len(hands))):
            hands[k % len(hands)].append(name)
    return found


def damaged(data: bytes, way: str, rng: random.Random) -> bytes:
    """Return a file's bytes, damaged."""
    if way == "random":
        return damages.at_random(data, rng)
    if way == "contents":
        return model_damages.wrong_contents(data, rng)
    return _fixed(way).apply(data, rng)


def _fixed(way):
    return next((d for d in damages.FIXED if d.name == way), None)


def everything(numbers: list[int], common: dict, jobs: int) -> list[dict]:
    """Run the cases of some lines; return what came of each."""
    tasks = [common | {"module": "inputs", "line": number} for number in numbers]
    return [result for results in driving.everything(tasks, jobs) for result in results]


def cases(runner, task: dict) -> Iterator[dict]:
    """Run a line's cases; yield what came of each.

    ``task`` has ``seed``, ``random`` (random damages for each input) and ``contents`` (for model files, damages under a
    right checksum). It may have ``fixed`` (for each input, the names of the fixed damages; else all), ``models`` (no
    other inputs) and ``only`` (a list of input number, way and number).
    """
    ending = runner.warm()
    if ending.status:
        yield {"input": "", "way": "none", "number": 0, "verdict": "broken", "why": ending.err.decode()[-500:]}
        return
    for place, word in enumerate(runner.line.inputs):
        if task.get("models") and word.kind not in lines.BINARY:
            continue
        data = (runner.place / word.text).read_bytes()
        fixed = task["fixed"][place] if "fixed" in task else None
        for way, number in ways(word.kind, fixed, task["random"], task["contents"]):
            if task.get("only") and [place, way, number] not in task["only"]:
                continue
            rng = random.Random(f"{task['seed']} {runner.line.number} {place} {way} {number}")
            yield case(runner, place, data, way, number, rng)


def case(runner, place: int, data: bytes, way: str, number: int, rng: random.Random) -> dict:
    """Run one case."""
    word, fixed = runner.line.inputs[place], _fixed(way)
    changed = damaged(data, way, rng)
    folder = runner.fresh()
    path = folder.with_name("bad" + (fixed.suffix if fixed else ""))
    path.write_bytes(changed)
    replaced = {place: str(path)}
    ending = runner.run(
        runner.line.arguments(runner.place, replaced), runner.line.standard_input(runner.place, replaced)
    )
    verdict = verdicts.judge(ending, folder, _expected(runner, place, changed, way, fixed, data, path))
    path.unlink()
    return {
        "input": word.text, "kind": word.kind, "place": place, "way": way, "number": number, "verdict": verdict.word,
        "why": verdict.why, "seconds": round(ending.seconds, 3), "status": ending.status,
        "megabytes": ending.memory >> 20,
    }  # fmt: skip


def _expected(runner, place, changed, way, fixed, data, path):
    word = runner.line.inputs[place]
    binary = word.kind in lines.BINARY
    same = None
    unchanged = changed == data and not (fixed and fixed.suffix)
    if unchanged and not os.environ.get("NUMBA_BOUNDSCHECK"):
        same = runner.good
    elif unchanged or (binary and way != "contents") or (fixed and fixed.neutral):
        # code with checked indexes rounds otherwise, which models show
        same = {name: held for name, held in runner.good.items() if "log" not in name and not name.endswith(".atm")}
    text = word.kind not in lines.LINELESS and not (fixed and fixed.whole)
    packed = fixed is not None and (fixed.suffix or way.startswith("packed"))
    own = runner.line.command in PROGRAMS
    return verdicts.Expected(
        # it may be HTML then, without its translation, or CoNLL without the columns that an option asks for
        statuses=(1, 2) if word.kind == "xliff" or "--predicted-columns" in str(runner.line).split(" ") else (1,),
        names=("<stdin>",) if word.stream else (path.name,),
        others=tuple(w.text for w in runner.line.inputs if w is not word), line=text,
        counts={} if packed and word.lines else runner.counts(place, changed), rows=runner.rows(),
        renamed=(str(path).encode(), str(runner.place / word.text).encode()), outputs=runner.outputs(), same=same,
        ignored=runner.line.unnamed, own_words=own, numbers=not re.search(rb"(?i)nan|inf", changed),
    )  # fmt: skip
