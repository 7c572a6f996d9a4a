"""BLEU by aligner: the same translation system from links of different aligners, with paired tests."""

from bench import measuring, report
from bench.translation import EXTRACTION, SPAN, Systems

#: Rows of our commands: what they are, and their options.
OURS = {
    "align, grow-diag-final-and": ("align", "--symmetrize", "grow-diag-final-and"),
    "align": ("align",),
    "contrastive-align": ("contrastive-align", "--no-encoder"),
    "contrastive-align, nothing learned": ("contrastive-align", "--no-encoder", "--passes", 0),
    "contrastive-align, the paper's features and start": ("contrastive-align", "--features", "paper"),
    "the same, nothing learned": ("contrastive-align", "--features", "paper", "--passes", 0),
}
#: What the others are tested against.
FIRST = next(iter(OURS))
#: Rows of fast_align, by symmetrization.
FAST_ALIGN = ("grow-diag-final-and",)


def run(o):
    systems = Systems(o.texts, o.work / f"aligners.{report.code_hash()}", o.threads)
    outputs = {name: _output(systems, o, _links(systems, o, *how)) for name, how in OURS.items()}
    if o.fast_align:
        for way in FAST_ALIGN:
            outputs[f"fast_align, {way}"] = _output(systems, o, _fast_align(systems, o, way))
    rows = []
    for name, (out, links, rules) in outputs.items():
        others = [] if name == FIRST else [outputs[FIRST][0]]
        result = systems.bleu(systems.text("test2016.en"), *others, out)[-1]
        row = [name, f"{links:.2f}", f"{rules / 1e6:.2f}", f"{100 * result['bleu']:.2f}"]
        row.append(" to ".join(f"{100 * x:.1f}" for x in result["bleu_interval"]))
        row += (
            [f"{100 * result['difference']['bleu']:+.2f}", f"{result['difference']['p_value']:.3f}"]
            if others
            else ["", ""]
        )
        rows.append(row)
    header = ["aligner", "links a pair", "million rules", "BLEU", "95 %", f"to {FIRST}", "p"]
    text = (
        f"{o.source}-en, Multi30k: 29,000 pairs are aligned, and nothing but the aligner differs: `extract-grammar"
        f" {' '.join(EXTRACTION)}`, `train-lm -n 5`, `imputed-risk --rounds {o.rounds}` on dev (1,014 sentences; each"
        " system has weights of its own), `translate`, `eval-bleu --paired` on test2016 (1,000 sentences)."
        " `contrastive-align` makes one alignment of both directions, so there is nothing to symmetrize; *nothing"
        " learned* is its start alone. The rules are those that dev and test can use. One run: the noise of learning"
        ' weights alone is about 0.3 (section "Translation"). The authors say of theirs only that it gained modestly.'
    )
    return "\n\n".join([text, report.table(header, rows), report.circumstances(o.threads)])


def _links(systems, o, command, *options):
    texts = ("-s", systems.text(f"train.{o.source}"), "-t", systems.text("train.en"))
    return systems.make("links", command, *texts, *options)


def _fast_align(systems, o, way):
    """Return fast_align's links of both directions, symmetrized."""
    joint = systems.folder / "train.joint"
    if not joint.exists():
        sides = (systems.lines(systems.text(f"train.{x}")) for x in (o.source, "en"))
        systems.write(joint.name, [f"{s} ||| {t}" for s, t in zip(*sides, strict=True)])
    out = systems.folder / f"links.fast_align.{way}"
    if not out.exists():
        ways = []
        for name, more in (("forward", ()), ("reverse", ("-r",))):
            ways.append(systems.folder / f"fast_align.{name}")
            threads = {"OMP_NUM_THREADS": str(o.threads)}
            measuring.run([o.fast_align, "-i", joint, "-d", "-o", "-v", *more], ways[-1], **threads)
        measuring.run(measuring.aligntools("symmetrize", "-c", way, "-i", ways[0], "-j", ways[1], "-o", out))
    return out


def _output(systems, o, links):
    """Return the test text's translation by a system of these links; links a pair; rules."""
    texts = ("-s", systems.text(f"train.{o.source}"), "-t", systems.text("train.en"))
    dev, test = systems.text(f"dev.{o.source}"), systems.text(f"test2016.{o.source}")
    both = systems.write(f"both.{o.source}", systems.lines(dev) + systems.lines(test))
    limits = ("--max-span", SPAN, "--text", both)
    rules = systems.make("rules", "extract-grammar", *texts, "-a", links, *limits, *EXTRACTION)
    lm = systems.language_model("en")
    given = ("--supervised", dev, "--reference", systems.text("dev.en"), "--grammar", rules, "--lm", lm)
    weights = systems.make("weights", "imputed-risk", *given, "--rounds", o.rounds)
    lines = systems.lines(links)
    with open(rules, "rb") as file:
        count = sum(block.count(b"\n") for block in iter(lambda: file.read(1 << 22), b""))
    return systems.translation(test, rules, lm, weights), sum(len(x.split()) for x in lines) / len(lines), count
