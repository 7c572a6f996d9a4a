"""What contrastive alignment costs: learning, applying, and each step against sentence length and beam."""

import time
from dataclasses import replace

import numpy as np

from bench import measuring, report, texts

LENGTHS = (10, 25, 50, 100)
BEAMS = (1, 4, 16)
#: How far a pair's words may be from a length, as a share of it; the target side has a tenth more words.
AROUND = 0.08


def run(o):
    text = texts.text(o.data, texts.MILLION, o.work)
    folder = o.work / "contrastive_speed"
    folder.mkdir(exist_ok=True)
    lines = [path.read_text(encoding="utf-8").split("\n") for path in (text.source, text.target)]
    pairs = list(zip(*lines, strict=True))
    base, weights = folder / f"{o.pairs}.atm", folder / f"{o.pairs}.w"
    every = _write(folder / "base", pairs[:: max(1, len(pairs) // o.pairs)][: o.pairs])
    measuring.run(measuring.aligntools("align", "-q", *every, "--save-model", base, "--threads", o.threads))
    command = measuring.aligntools(
        "contrastive-align", "-q", "--no-encoder", "-m", base, *_write(folder / "learn", pairs[: o.learn]),
        "--save-weights", weights, "-o", folder / "learn.align", "--set", "beam=1", "--threads", o.threads,
    )  # fmt: skip
    learned = min(measuring.run(command).seconds for _ in range(2))  # the first one may compile
    rates = _rates(o, folder, base, weights, [p for p in pairs if _near(p, 25)][: o.apply])
    rows = _by_length(o, folder, base, weights, pairs)
    body = [
        f"Base trained on {o.pairs:,} pairs of en-fr. Learning from 500 of {o.learn:,} pairs and aligning these, the"
        f" whole command: {learned:.1f} s.",
        "Aligning pairs of about 25 words with learned weights, pairs per second, without start-up: "
        + ", ".join(f"beam {b}: {r:,.0f}" for b, r in zip(BEAMS, rates, strict=True))
        + f" ({o.threads} threads).",
        "Microseconds per pair on one thread; finding is for candidate links and their local features:",
        report.table(["source words", "candidates", "finding", *(f"search, beam {b}" for b in BEAMS)], rows),
        report.circumstances(o.threads),
    ]
    return "\n\n".join(body)


def _near(pair, words):
    source, target = (len(side.split()) for side in pair)
    return abs(source - words) <= AROUND * words and abs(target - 1.1 * words) <= 2 * AROUND * words


def _write(path, pairs):
    """Write text and return the options that name it."""
    files = [path.with_suffix(f".{side}") for side in ("source", "target")]
    for file, side in zip(files, zip(*pairs, strict=True), strict=True):
        file.write_text("".join(line + "\n" for line in side), encoding="utf-8")
    return ["-s", files[0], "-t", files[1]]


def _rates(o, folder, base, weights, pairs):
    """Return pairs a second by beam: all of them against a twentieth, so that start-up is not counted."""
    few, every = _write(folder / "few", pairs[: len(pairs) // 20]), _write(folder / "apply", pairs)
    rates = []
    for beam in BEAMS:
        seconds = []
        for files in (few, every):
            command = measuring.aligntools(
                "contrastive-align", "-q", "-m", base, "-w", weights, *files, "-o", folder / "b.align",
                "--set", f"beam={beam}", "--threads", o.threads,
            )  # fmt: skip
            seconds.append(min(measuring.run(command).seconds for _ in range(3)))
        rates.append((len(pairs) - len(pairs) // 20) / (seconds[1] - seconds[0]))
    return rates


def _by_length(o, folder, base, weights, pairs):
    from aligntools.aligning.contrastive.candidates import CandidateFinder
    from aligntools.aligning.contrastive.search import search
    from aligntools.aligning.contrastive.weights import load_weights
    from aligntools.aligning.model import AlignmentModel
    from aligntools.formats.text.bitext import stream_bitext
    from aligntools.formats.text.corpus import pick
    from aligntools.ground.parallel import Pool

    with Pool(1) as pool:
        model, learned = AlignmentModel.load(base, pool), load_weights(weights)
        finder = CandidateFinder(model, pool, learned.network)
        rows = []
        for words in LENGTHS:
            files = _write(folder / "length", [p for p in pairs if _near(p, words)][: o.each])
            text = next(
                iter(
                    stream_bitext(
                        files[1], files[3], source_vocabulary=model.source_vocabulary,
                        target_vocabulary=model.target_vocabulary, lowercase=True,
                    )
                )
            )  # fmt: skip
            finder.find_all(pick(text, np.arange(5)))  # compiles
            candidates, seconds = _timed(lambda text=text: finder.find_all(text))
            row = [words, f"{len(candidates.rows) / len(text):.0f}", f"{1e6 * seconds / len(text):,.0f}"]
            for beam in BEAMS:
                how = replace(learned.search, beam=beam)
                search(candidates.part(0, 2), learned.values, learned.active, how, pool)
                _, seconds = _timed(lambda how=how, e=candidates: search(e, learned.values, learned.active, how, pool))
                row.append(f"{1e6 * seconds / len(text):,.0f}")
            rows.append(row)
    return rows


def _timed(function):
    """Return what a function returns, and its CPU seconds."""
    began = time.process_time()
    found = function()
    return found, time.process_time() - began
