"""Decoding against the pop limit: speed, search error, BLEU; language models and grammars of large text."""

import time

import numpy as np

from bench import measuring, report, texts
from bench.translation import SPAN, Systems

#: Bounds on the memory of a process, by `--max-memory`; tables that do not fit go to files.
MEMORY = ("2G", "1G")


def run(o):
    systems = Systems(o.texts, o.work / "translation", o.threads)
    large = _large(o, systems)  # first: a process' peak begins with what the one that started it has in memory
    body = [*_decoding(systems, [int(n) for n in o.limits.split(",")])]
    body += ["Estimation and extraction, whole commands:", large]
    return "\n\n".join([*body, report.circumstances(o.threads)])


def _decoding(systems, limits):
    from aligntools.formats.inputs.sentences import tokens_of_side
    from aligntools.formats.text.bitext import read_side
    from aligntools.formats.translation.grammar_text import read_grammar
    from aligntools.translating.decoding.decoder import DecoderSettings, System
    from aligntools.translating.decoding.system_tables import feature_names
    from aligntools.translating.lm import language_model
    from aligntools.translating.translation_weights import in_order, read_weights

    dev, test = systems.text("dev.de"), systems.text("test2016.de")
    both = systems.write("both.de", systems.lines(dev) + systems.lines(test))
    rules, model = systems.filtered(systems.grammar("de", "en"), both), systems.language_model("en")
    given = ("--supervised", dev, "--reference", systems.text("dev.en"), "--grammar", rules, "--lm", model)
    weights = systems.make("weights", "imputed-risk", *given)
    grammar, language_model = read_grammar(str(rules)), language_model.load(str(model))
    values = in_order(str(weights), read_weights(str(weights))[0], feature_names(grammar))
    text = tokens_of_side(*read_side(str(test), lowercase=False))
    decoded = {}
    for limit in limits:
        system = System(grammar, language_model, values, DecoderSettings(pop_limit=limit, span_limit=SPAN))
        sentences = system.encode(text.words, text.offsets)
        system.translate(system.encode(text.words[: text.offsets[50]], text.offsets[:51]))  # compiles, and makes room
        began = time.process_time()
        found = system.translate(sentences)
        seconds = time.process_time() - began
        began = time.process_time()
        system.forest(sentences)
        forests = time.process_time() - began
        names = system.names(sentences)(found.tokens)
        lines = [b" ".join(names[a:b]).decode() for a, b in zip(found.offsets, found.offsets[1:], strict=False)]
        out = systems.write(f"out.{limit}", lines)
        bleu = 100 * systems.bleu(systems.text("test2016.en"), out)[0]["bleu"]
        decoded[limit] = len(text) / seconds, len(text) / forests, found.scores, bleu
    best = np.max([scores for _, _, scores, _ in decoded.values()], axis=0)
    rows = [
        [f"{n:,}", f"{speed:,.0f}", f"{forest:,.0f}", f"{np.mean(best - scores):.3f}",
         f"{100 * np.mean(best - scores > 1e-4):.1f}", f"{bleu:.2f}"]
        for n, (speed, forest, scores, bleu) in decoded.items()
    ]  # fmt: skip
    header = ["pop limit", "sentences/s", "with hypergraphs", "score lost, mean", "worse than the best, %", "BLEU"]
    words = len(text.words) / len(text)
    yield (
        f"de-en test2016 ({len(text):,} sentences, {words:.1f} words each), {len(grammar):,} rules that match it,"
        " weights learned by risk on dev, one thread, reading and writing not included. The lost score is relative to"
        " the best score that any limit found."
    )
    yield report.table(header, rows)


def _large(o, systems):
    out = systems.folder / "large"
    rows = []
    if o.data:
        text = texts.text(o.data, texts.MILLION, o.work).target
        words = _words(text)
        for memory in MEMORY:
            usage = _measured(o, "train-lm", "-q", text, "--binary", out, "--max-memory", memory)
            rows.append(_row(f"train-lm -n 5, --max-memory {memory}", f"{words:,} words", usage, words))
    sides = [systems.text(f"train.{language}") for language in ("de", "en")]
    words = sum(map(_words, sides))
    for phrases in ("outer", "tight"):
        for memory in MEMORY:
            usage = _measured(
                o, "extract-grammar", "-s", sides[0], "-t", sides[1], "-a", systems.links("de", "en"), "-o", out,
                "--phrases", phrases, "--max-memory", memory,
            )  # fmt: skip
            rules = usage.messages.split(": ")[1].split(" rules")[0]
            name = f"extract-grammar --phrases {phrases}, --max-memory {memory}"
            rows.append(_row(name, f"{words:,} words, {int(rules):,} rules", usage, words))
    out.unlink()
    return report.table(["command", "of", "seconds", "CPU s", "million words a minute", "peak MB"], rows)


def _measured(o, *args):
    return measuring.run(measuring.aligntools(*args, "--threads", o.threads))


def _words(path):
    with open(path, "rb") as lines:
        return sum(len(line.split()) for line in lines)


def _row(name, of, usage, words):
    rate = 60e-6 * words / usage.seconds
    return [name, of, f"{usage.seconds:.1f}", f"{usage.cpu:.1f}", f"{rate:.1f}", f"{usage.peak / 1e6:,.0f}"]
