"""What work in parts would take: estimated from the beginning of the text, before any of it is done."""

import itertools
import tempfile
from collections import defaultdict
from collections.abc import Callable
from typing import Any

import numpy as np

from aligntools.aligning.memory import of_numbering, of_part
from aligntools.aligning.models.registry import kind_of
from aligntools.aligning.parts.training import link_parts, read_text, train_parts
from aligntools.aligning.parts.work import JobRunner, PartedText, PartReading
from aligntools.aligning.settings import AlignerSettings, Decisions, ResolvedSettings
from aligntools.aligning.training.sampling import LastPass
from aligntools.aligning.training.stages import schedule, steps_of
from aligntools.formats.opening.recognition import beginning
from aligntools.formats.text.bitext import TextLines
from aligntools.formats.text.exchange import format_of, paired
from aligntools.ground import memory
from aligntools.ground.engines import Serial
from aligntools.ground.parallel import Pool
from aligntools.store.stores import Store

#: A vocabulary grows with this power of the text's size (Heaps' law; 0.5 to 0.7 for words of one language).
HEAPS = 0.6
#: Pairs that are aligned to measure the time.
SAMPLE = 20_000


def estimate_text(
    inputs: list[dict[str, Any]], languages: str | None = None
) -> tuple[int, int, int, list[list[bytes]]]:
    """Estimate a text's size from the beginnings of its files; ``languages`` are those of TMX and the like.

    Returns its pairs, its words, and its different words, of both sides together; and a sample: the first lines of each
    side of the first file, or of its one file.
    """
    pairs = words = 0
    distinct, seen = set(), 0
    sample: list[list[bytes]] = []
    for one in inputs:
        lines = 0
        for name, path in one.items():
            named = paired(path, languages, "auto") if name == "joint" else path
            text, whole = beginning(named)
            if format_of(named, "auto") == "tsv":  # of TMX: a unit may have a blank side
                text = text.replace(b"\t", b" ||| ")
            here = text.splitlines()
            tokens = [word for word in text.split() if word != b"|||"]
            scale = whole / max(len(text), 1)
            words += int(len(tokens) * scale)
            lines = max(lines, int(len(here) * scale))
            if one is inputs[0]:
                sample.append(here[:SAMPLE])
                distinct.update(tokens)
                seen += len(tokens)
        pairs += lines
    grown = len(distinct) * (words / max(seen, 1)) ** HEAPS if seen else 0
    return pairs, words, int(grown), sample


def plan_lines(
    inputs: list[dict[str, Any]],
    settings: AlignerSettings,
    part_size: int,
    workers: int,
    pool: Pool,
    reading: dict[str, Any],
    tmpdir: str | None,
    clock: Callable[[], float],
) -> list[str]:
    """Return lines of text that say what the work would take; ``clock`` gives seconds."""
    pairs, words, vocabulary, sample = estimate_text(inputs, reading["languages"])
    resolved = settings.resolved(words // 2)
    views = len(resolved.views)
    links = not settings.decides and LastPass(lambda _: None).serves(resolved, words // 2)  # in training
    passes = views * (len(schedule(resolved)) + kind_of(resolved.model_type).last_pass) + (not links)
    parts = -(-pairs // part_size)
    spent, disk, traffic = _measured(sample, resolved, settings.decides, part_size, pool, reading, tmpdir, clock)
    if links:
        spent.pop("aligning", None)
    seconds = sum(one / steps_of(resolved, words // 2, stage) for stage, one in spent.items())
    each, numbering = memory.FIXED + of_part(part_size), memory.FIXED + of_numbering(vocabulary)
    lines = [
        f"text: about {pairs} pairs, {words} words, {vocabulary} different ones",
        f"parts: {parts} of up to {part_size} pairs; passes over each: {passes}",
        f"memory: {memory.shown(max(each, numbering))} in this process"
        + (f", {memory.shown(each)} in each worker" if workers else ""),
        f"disk: {memory.shown(disk * pairs)} at most",
        f"traffic: {memory.shown(traffic * pairs / max(workers, 1))} of counts and values a pass and worker",
    ]
    if seconds:
        total = seconds * pairs / max(workers, 1)
        shown = f"{total / 3600:.1f} h" if total > 5400 else f"{total / 60:.0f} min" if total > 90 else f"{total:.0f} s"
        of = "a worker of this speed each" if workers else "this machine"
        lines.append(f"time: {shown} with {of}, from {len(sample[0])} pairs")
    return lines


def _measured(
    sample: list[list[bytes]],
    settings: ResolvedSettings,
    best: bool,
    part_size: int,
    pool: Pool,
    reading: dict[str, Any],
    tmpdir: str | None,
    clock: Callable[[], float],
) -> tuple[dict[str, float], float, float]:
    """Align a sample; return the seconds of each stage, bytes on disk and bytes of traffic for each of its pairs."""
    if not sample or not sample[0]:
        return {}, 0.0, 0.0
    n = min(map(len, sample))
    names = ("joint",) if len(sample) == 1 else ("source", "target")
    times: list[tuple[float, str]] = []  # when a stage ended
    for size in (min(n, 200), n):  # the first compiles
        with tempfile.TemporaryDirectory(prefix="aligntools.", dir=tmpdir) as folder:
            text = {
                name: TextLines([line.decode(errors="replace") for line in side[:size]], f"<{name}>")
                for name, side in zip(names, sample, strict=True)
            }
            runner = JobRunner(Serial(pool), lambda figures: times.append((clock(), figures["stage"])))
            times[:] = [(clock(), "")]
            cut = PartReading(Store(folder), (text,), reading | {"languages": None}, part_size)
            parts, _ = read_text(cut, runner, pool)
            work = PartedText(cut.store, settings, parts, best)
            for _ in link_parts(work, runner, train_parts(work, runner), Decisions()):
                pass
            times.append((clock(), ""))
            layouts = [view.store.read(view.name("layout", 0), "offsets")[0] for view in work.views()]
            entries = sum(int(np.sum(offsets[-1])) for offsets in layouts)
            disk = sum(cut.store.size(name) for name in cut.store.names("*"))
    spent: dict[str, float] = defaultdict(float)
    for (begin, _), (end, stage) in itertools.pairwise(times):
        spent[stage] += (end - begin) / n
    return spent, 1.5 * disk / n, 8 * entries / n
