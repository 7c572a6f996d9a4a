"""Wall time of whole processes, start to finish, systems taking turns."""

import statistics
import tempfile
from pathlib import Path

from bench import measuring, peers, report, texts


def run(o):
    if o.source:
        chosen = [texts.given(o.source, o.target, o.work)]
    elif o.data:
        chosen = [texts.text(o.data, name, o.work) for name in o.sets.split(",")]
    else:
        raise SystemExit("speed needs text: --data DIR, or --source and --target")
    parts = [
        "Seconds from start to exit of everything that gives one symmetrized alignment: for fast_align two"
        " directions one after the other, for eflomal both at once, then atools grow-diag-final-and for each."
        f" Median of {o.runs} runs; the systems took turns; the range is in brackets."
    ]
    for text in chosen:
        parts.append(_measure(o, text))
    return "\n\n".join([*parts, report.circumstances(o.threads)])


def _systems(o, text, folder):
    """Return what to run, by name."""

    def ours(*flags):
        files = ["-s", text.source, "-t", text.target, "-o", Path(folder) / "out"]
        command = measuring.aligntools("align", "-v", "--threads", o.threads, *files, *flags)
        return lambda: measuring.run(command)

    def theirs(tool):
        return lambda: peers.align(tool, o, text, folder) + peers.symmetrize(o, folder, "grow-diag-final-and")

    ways = "", "--fast", "--best --no-encoder", "--best"
    systems = {" ".join(["aligntools", way]).strip(): ours(*way.split()) for way in ways}
    return systems | {tool: theirs(tool) for tool in peers.available(o)}


def _measure(o, text):
    with tempfile.TemporaryDirectory(dir=o.work) as folder:
        systems = _systems(o, text, folder)
        measuring.run(measuring.aligntools("warmup", "-q"))
        found = {name: [] for name in systems}
        for turn in range(o.runs):
            for name, once in systems.items():
                usage = once()
                found[name].append(usage)
                measuring.note(f"{text.name}, turn {turn + 1}, {name}: {usage.seconds:.2f} s")
    tools = peers.available(o)
    median = {name: statistics.median(u.seconds for u in usages) for name, usages in found.items()}
    rows = []
    for name, usages in found.items():
        seconds = [u.seconds for u in usages]
        rows.append(
            [
                name,
                f"{median[name]:.1f} [{min(seconds):.1f}, {max(seconds):.1f}]",
                f"{statistics.median(u.cpu for u in usages):.1f}",
                f"{text.n_pairs / median[name]:,.0f}",
                *(f"{median[name] / median[tool]:.3f}" for tool in tools),
                f"{max(u.peak for u in usages) / 1e6:,.0f}",
            ]
        )
    header = ["system", "seconds", "CPU seconds", "pairs/s", *(f"/ {tool}" for tool in tools), "peak MB"]
    ours = [name for name in found if name.startswith("aligntools")]
    words = texts.count_words(text.source), texts.count_words(text.target)
    return "\n\n".join(
        [
            f"### {text.name}: {text.n_pairs:,} pairs, {words[0]:,} and {words[1]:,} words",
            report.table(header, rows),
            "Where the time goes (seconds, share of the whole process):",
            _shares({name: found[name] for name in ours}),
        ]
    )


def _shares(found):
    """Return a table of the stages' medians; what no stage accounts for is interpreter, imports and loading."""
    stages = {name: [measuring.stages(u.messages) for u in usages] for name, usages in found.items()}
    names = list(dict.fromkeys(stage for runs in stages.values() for run in runs for stage in run))
    rows = []
    for name, usages in found.items():
        total = statistics.median(u.seconds for u in usages)
        middle = [statistics.median(run.get(stage, 0.0) for run in stages[name]) for stage in names]
        cells = [*middle, max(total - sum(middle), 0.0)]
        rows.append([name, *(f"{x:.1f} ({100 * x / total:.0f} %)" if x else "" for x in cells)])
    return report.table(["system", *names, "the rest"], rows)
