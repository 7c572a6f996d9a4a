"""Table 5 of Liu & Sun (2015) with the column that it lacks: its baselines and ours on texts of one size, paired tests.

MGIZA is trained as Moses has it, its tables kept: they are what contrastive alignment starts from. The Berkeley aligner
is not run; the HMM of both directions trained jointly by EM, as Liang, Taskar & Klein (2006) have it, is in its row.
"""

import os
import tempfile
from pathlib import Path
from typing import NamedTuple

from bench import code, giza, measuring, peers, report, texts
from bench.giza import HEURISTIC


class System(NamedTuple):
    """A row: its title, and what the paper says, French-English and Chinese-English, AER in percent."""

    title: str
    paper: tuple[str, str] = ("", "")


SYSTEMS = {
    "mgiza": System("MGIZA's IBM 4, symmetrized", ("6.36", "21.92")),
    "ibm4": System("`align --model-type ibm4`, symmetrized"),
    "ibm4-joint": System("`align --model-type ibm4`, joint decision"),
    "hmm-em": System("joint HMM by EM, 5 iterations after 5 of IBM 1, whole words", ("5.34", "21.67")),
    "hmm": System("`align --model-type hmm`"),
    "fast_align": System("fast_align, symmetrized", ("15.20", "28.44")),
    "start": System("contrastive over MGIZA's tables, the paper's start"),
    "contrastive": System("contrastive over MGIZA's tables, learned", ("5.01", "20.24")),
    "align": System("`align`"),
}  # fmt: skip
#: Those that are held against all others.
TESTED = ("contrastive", "align")
#: Pairs of languages that the paper has, in the order of its columns.
LANGUAGES = ("en-fr", "en-zh")
#: Berkeley's joint training: whole words, maximum likelihood, nothing known of how words look.
BERKELEY = (
    *("--model-type", "hmm", "--estimator", "em", "--views", 0, "--subwords", 0, "--set", "look_alike=false"),
    *("--set", "ibm1_iterations=5", "--iterations", 5),
)
#: MGIZA's settings as Moses has them, but tables are written: the last ones alone.
TABLES = [
    *(x for pair in zip(giza.MOSES[::2], giza.MOSES[1::2], strict=True)
      if pair[0] not in ("-nodumps", "-onlyaldumps", "-model1dumpfrequency") for x in pair),
    *("-model1dumpfrequency", 0),
]  # fmt: skip
DIRECTIONS = ("forward", "reverse")


def run(o):
    if not (o.data and o.mgiza and o.fast_align):
        raise SystemExit("table5 needs gold links and the other aligners: --data DIR --mgiza DIR --fast-align F")
    named = [(name, giza.beginning(o, name)) for name in o.sets.split(",")]
    found = {name: {system: score(text, path) for system, path in _links(o, text).items()} for name, text in named}
    return "\n\n".join(
        [
            "Liu & Sun's systems on the texts that are here. AER in percent, single runs, lower-cased text; `:n` is a"
            f" text's first n pairs, {_sizes(named)}. The paper trained its baselines on 1.1 million French and 1.5"
            " million Chinese pairs and has other test sets, of 447 and 500 pairs (en-fr.dev is its validation set):"
            " its figures show the order of its systems, and are not to be compared with ours one by one. MGIZA has"
            f" Moses' settings. Its directions, fast_align's and, in one row, IBM 4's are symmetrized by {HEURISTIC},"
            " as in the paper. The Berkeley aligner is not run; the paper's figures of it stand beside a joint HMM"
            " trained in the same way. Contrastive alignment has the paper's 16 features over MGIZA's t-tables: *the"
            " paper's start* has learned nothing, *learned* is from 500 pairs of the text against shuffled copies. No"
            " system saw a gold link; defaults of `align` were chosen on many sets, among them en-fr.dev and"
            " en-zh.gold.",
            _table(found),
            "Paired tests over the sentences with gold links: the difference in points of AER, below 0 where the system"
            " of the column is better than that of the row, its 95 % interval by bootstrap, and p by approximate"
            " randomization.",
            _tests(found),
            report.circumstances(o.threads),
        ]
    )


def _sizes(named):
    return " and ".join(f"{text.n_gold} of them with gold links in {name}" for name, text in named)


def _table(found):
    """Return the table of AER, the paper's figures beside those of its pairs of languages."""
    header, columns = ["aligner"], []
    for name in found:
        language = name.split(".")[0]
        if language in LANGUAGES:
            header.append(f"the paper, {language}")
            at = LANGUAGES.index(language)
            columns.append(lambda system, at=at: SYSTEMS[system].paper[at])
        header.append(name)
        columns.append(lambda system, name=name: f"{100 * found[name][system].aer:.1f}")
    return report.table(header, [[SYSTEMS[s].title, *(column(s) for column in columns)] for s in SYSTEMS])


def _tests(found):
    """Return the table of differences of TESTED to each system."""
    header = ["less that of", *(f"{name}: {SYSTEMS[ours].title}" for name in found for ours in TESTED)]
    rows = []
    for system in SYSTEMS:
        cells = ["" if ours == system else shown(scores[ours].minus(scores[system]))
                 for scores in found.values() for ours in TESTED]  # fmt: skip
        rows.append([SYSTEMS[system].title, *cells])
    return report.table(header, rows)


def shown(difference):
    """Return a difference in points, its interval and its p-value."""
    value, low, high = (100 * x for x in (difference.value, *difference.interval))
    return f"{value:+.1f} ({low:+.1f} to {high:+.1f}), p {difference.p_value:.3f}"


def score(text, path):
    """Return the score of a file of links, of the pairs with gold links."""
    from aligntools.formats.links.goldlinks import read_gold
    from aligntools.formats.links.pharaoh import read_pharaoh
    from aligntools.metrics.aer import Aer

    links = read_pharaoh(str(path), head=text.n_gold, compiled=False)
    return Aer().score(read_gold(str(text.gold), format="pharaoh"), links)


def _links(o, text):
    """Return the files of links of each of SYSTEMS; those that are there stay."""
    theirs = code.place(o.work, "mgiza", _mgiza, texts.text, giza.beginning) / Path(text.source).stem
    _kept(theirs, "tables", lambda folder: _mgiza(o, text, folder))
    tables = theirs / "tables"
    made = {
        "mgiza": lambda out: _symmetrized(tables, out),
        "fast_align": lambda out: _fast_align(o, text, out),
        "ibm4": lambda out: _ibm4(o, text, out),
        "hmm-em": lambda out: _align(o, text, out, *BERKELEY),
        "hmm": lambda out: _align(o, text, out, "--model-type", "hmm"),
        "align": lambda out: _align(o, text, out),
        "start": lambda out: _contrastive(o, text, tables, out, "--passes", 0),
        "contrastive": lambda out: _contrastive(o, text, tables, out),
    }
    ours = code.place(o.work, "table5", _links) / theirs.name
    for name, make in made.items():
        _kept(ours, name, make)
    return {name: ours / "ibm4" / "joint" if name == "ibm4-joint" else ours / name / "links" for name in SYSTEMS}


def _kept(place, name, make):
    """Make a folder unless it is there; it appears whole."""
    if not (place / name).exists():
        measuring.note(f"{place.name}: {name}")
        place.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=place) as unfinished:
            (Path(unfinished) / name).mkdir()
            make(Path(unfinished) / name)
            os.replace(Path(unfinished) / name, place / name)


def _mgiza(o, text, folder):
    """Train MGIZA in both directions; write its tables and its links."""
    from aligntools.formats.links.pharaoh import format_pharaoh

    s, t, _ = giza.prepared(o, text, folder)
    for name, a, b in (("forward", s, t), ("reverse", t, s)):
        giza.trained(o, folder, name, a, b, TABLES)
        (folder / name).write_bytes(format_pharaoh(giza.links_of(text, folder, name, name == "reverse")))


def _symmetrized(place, out):
    files = "-i", place / "forward", "-j", place / "reverse"
    measuring.run(measuring.aligntools("symmetrize", "-c", HEURISTIC, *files), out / "links")


def _fast_align(o, text, out):
    peers.align("fast_align", o, text, out)
    _symmetrized(out, out)


def _align(o, text, out, *options):
    files = "-s", text.source, "-t", text.target, "-o", out / "links"
    measuring.run(measuring.aligntools("align", "-q", "--threads", o.threads, *files, *options))


def _ibm4(o, text, out):
    single = "--forward-output", out / "forward", "--reverse-output", out / "reverse"
    _align(o, text, out, "--model-type", "ibm4", *single)
    (out / "links").rename(out / "joint")
    _symmetrized(out, out)


def _contrastive(o, text, tables, out, *options):
    both = [x for d in DIRECTIONS for x in (f"--{d}-table", tables / f"{d}.t3.final")]
    vocabularies = "--source-vcb", tables / "s.vcb", "--target-vcb", tables / "t.vcb"
    paper = "--features", "paper", "--start", "paper", "--no-encoder"
    files = "-s", text.source, "-t", text.target, "-o", out / "links"
    command = ["contrastive-align", "-q", "--threads", o.threads, *files, *both, *vocabularies, *paper, *options]
    measuring.run(measuring.aligntools(*command))
