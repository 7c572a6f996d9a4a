"""What ``align``, ``mre-align`` and the fast_align drop-in share: read, train or load, align, write."""

import contextlib
import re
from dataclasses import replace

import numpy as np

from aligntools.aligning.settings import JOINTLY, Decisions
from aligntools.cli import ahead, declared, options
from aligntools.cli.alignment_options import check_decisions, given
from aligntools.cli.moses import MosesModel
from aligntools.cli.reporting import reporting
from aligntools.cli.serving import until_terminated
from aligntools.encoding.settings import EncoderSettings
from aligntools.formats.text.reading import Reading
from aligntools.ground.errors import UsageProblem
from aligntools.ground.running import Run

#: Links written from where on it is worth the compiler.
MANY_LINKS = 1_000_000


def text_paths(o):
    """Return the text that the options name, as the API takes it."""
    if o["joint_file"] is not None:
        return options.text_path(o["joint_file"], o["split"]), None
    return options.text_path(o["source"], o["split"]), options.text_path(o["target"], o["split"])


def reading_encoder(reporter):
    """Return what shows how far an encoder has read a text, called with more pairs and all pairs."""
    begun = False

    def tell(more, pairs):
        nonlocal begun
        if not begun:
            begun = True
            reporter.begin("encoder", pairs, "pair")
        reporter.advance("encoder", more)

    return tell


class Outputs:
    """The files that aligning writes, opened whole-or-nothing; None for what is not wanted."""

    def __init__(self, stack, o):
        from aligntools.formats.opening.files import writing

        names = ("output", "forward_output", "reverse_output", "scores")
        self.files = [stack.enter_context(writing(o[n])) if o[n] else None for n in names]
        self.main, self.forward, self.reverse, self.scores = self.files
        self.word_pairs = stack.enter_context(writing(o["word_pairs"])) if o.get("word_pairs") else None
        self.tsv = o.get("output_format") == "tsv"
        self.probabilities = o["link_probabilities"]
        self.costs = o["score_form"] == "eflomal"
        self.single = ([], [])  # links of both directions, which costs are counted over
        self.links = 0
        self.moses = MosesModel(stack, o) if o["moses_dir"] else None
        self.shape = None

    def __bool__(self):
        return any(f is not None for f in [*self.files, self.word_pairs, self.moses])

    @property
    def directions(self):
        """Whether a single direction is written."""
        return self.forward is not None or self.reverse is not None or self.costs

    def write(self, block, flush=False):
        """Write the lines of an `Alignments`."""
        from aligntools.formats.links.pharaoh import format_pharaoh

        if self.costs:
            for tables, table in zip(self.single, (block.forward_table, block.reverse_table), strict=True):
                tables.append(table)
        block, sides = self.shape.next(block) if self.shape else (block, None)
        compiled = True if self.links >= MANY_LINKS else None
        self.links += len(block.table.pairs)
        if self.main:
            probabilities = block.probabilities if self.probabilities else None
            links = format_pharaoh(block.table, "source", probabilities, compiled)
            self.main.write(tab_separated(sides, links) if sides and self.tsv else links)
        if self.word_pairs:
            self.word_pairs.write(word_pairs(block, sides, self.tsv))
        if self.forward:
            self.forward.write(format_pharaoh(block.forward_table, compiled=compiled))
        if self.reverse:
            self.reverse.write(format_pharaoh(block.reverse_table, compiled=compiled))
        if self.scores and not self.costs:
            self.scores.write(score_lines(block.scores))
        if self.moses:
            self.moses.write(block)
        if flush:
            for file in [*self.files, self.word_pairs]:
                if file:
                    file.flush()

    def write_costs(self, bitext, pool, **how):
        """Write costs on eflomal's scale, once all links are known."""
        from aligntools.api.align.costs import link_costs
        from aligntools.formats.links.pharaoh import concatenate

        links = [None if None in tables else concatenate(tables) for tables in self.single]
        self.scores.write(score_lines(link_costs(bitext, *links, threads=pool, **how).T))


def word_pairs(block, sides, python: bool) -> bytes:
    """Return a line ``source TAB target TAB probability`` for each link, and a blank line after each pair's.

    Parameters
    ----------
    block : Alignments
    sides : list of lists of bytes
        The sentences that links are between.
    python : bool
        Whether links count words as `str.split` does.
    """
    out, probabilities = [], iter(block.probabilities.tolist())
    for links, *pair in zip(block.table.tolists(), *sides, strict=True):
        lines = [line.decode("utf-8", "replace") for line in pair]
        s, t = ([w for w in (line.split() if python else re.split("[ \t]", line)) if w] for line in lines)
        out += [f"{s[i]}\t{t[j]}\t{next(probabilities):.4g}\n" for i, j in links]
        out.append("\n")
    return "".join(out).encode()


def tab_separated(sides, links: bytes) -> bytes:
    """Return lines of source, target and links with tabs between."""
    rows = zip(*sides, links.split(b"\n")[:-1], strict=True)
    return b"".join(b"\t".join(row) + b"\n" for row in rows)


def score_lines(scores: np.ndarray) -> bytes:
    """Return a line for each row, its numbers separated by tabs."""
    return "".join("\t".join(f"{x:.6g}" for x in row) + "\n" for row in scores).encode()


def shape_of(o):
    """Return the `Reshaping` that the options ask for, or None, and the text as readers take it."""
    pieces = {name: o.get(f"{name}_pieces") for name in ("source", "target", "joint")}
    cut = any(path is not None for path in pieces.values())
    with_text = o.get("output_format") == "tsv"
    with_words = bool(o.get("word_pairs"))
    if not (cut or with_text or with_words or o.get("to_words") or o.get("tokenize")):
        return None, text_paths(o)
    from aligntools.api.align.reshaping import Reshaping
    from aligntools.formats.text.raw_pairs import RawPairs
    from aligntools.formats.text.tokenized import TokenizedPairs
    from aligntools.words.white_space import split_as

    kept = "memory" if o["model"] else "disk"
    sides = [split_as(o[name], o["split"]) for name in ("source", "target", "joint_file")]
    raw = RawPairs(*sides[:2], joint=sides[2], keep=kept, input_format=o["input_format"])
    pieces = {name: split_as(path, o["split"]) for name, path in pieces.items()}
    tokens = TokenizedPairs(raw, o["tokenize"], kept, o["tokenizer"]) if o["tokenize"] else None
    shape = Reshaping(
        raw, RawPairs(**pieces) if cut else None, tokens=tokens, to_words=o["to_words"], scheme=o["scheme"],
        with_text=with_text, with_words=with_words, strict=o["strict"], service=o["unbuffered"],
    )  # fmt: skip
    return shape, tuple(
        options.text_path(text, o["split"]) if isinstance(text, str) else text for text in (tokens or raw).inputs
    )


def run(o, train, first_view, finds_links=False, encoder=EncoderSettings(encoder=False)):  # noqa: B008
    """Align as the options say.

    Parameters
    ----------
    o : dict
        Options by name.
    train : callable
        Called with a Bitext and the common arguments of the training functions; returns an `Aligner`.
    first_view : callable
        Called with the number of source words; returns the first view that would be trained.
    finds_links : bool
        Whether ``train`` takes ``links`` and ``known``, as `train_aligner` does.
    encoder : EncoderSettings
    """
    from aligntools.api.running.threads import pool_of

    with contextlib.ExitStack() as stack:
        reporter = stack.enter_context(reporting(o))
        out = Outputs(stack, o)
        pool = stack.enter_context(pool_of(o["threads"]))
        aligner = load_aligner(o, pool, reporter) if o["model"] else None
        out.shape, text = shape_of(o)
        if out.shape:
            stack.enter_context(contextlib.closing(out.shape))
        if aligner:
            _apply(o, aligner, text, out, pool, reporter)
        else:
            with ahead.compiling_for(o):
                _train(o, text, out, pool, reporter, train, first_view, finds_links, encoder)
        if out.moses:
            out.moses.finish(text_paths(o), declared.settings(Reading, o))


def _how(o, out, run):
    """Return how links are decided on, and where, as `Aligner.align_blocks` takes it."""
    return {"decisions": declared.settings(Decisions, o), "directions": out.directions, "run": run}


def load_aligner(o, pool, reporter):
    """Load the aligner of ``-m``; text is split as its training text was, unless ``--split`` says how."""
    from aligntools.api.align.aligner import Aligner

    with reporter.stage("loading"):
        aligner = Aligner.load(o["model"], threads=pool, verify=o["verify"], encoder=o.get("encoder"))
    if o.get("encoder") and (aligner.weights is None or aligner.weights.knower is None):
        raise UsageProblem(f"{o['model']} asks no encoder; --encoder is for training")
    if "split" not in given():
        o["split"] = aligner.model.split
    return aligner


def _apply(o, aligner, text, out, pool, reporter):
    from aligntools.formats.text.corpus import Skipped

    direction = aligner.settings.direction
    check_decisions(o, direction)
    single = direction != "both" or o["symmetrize"] not in JOINTLY or out.directions
    if o["decode"] != Decisions.decode and not single:
        raise UsageProblem(
            f"--decode chooses links of single directions, and --symmetrize {o['symmetrize']} writes none"
        )
    for name in ("forward", "reverse"):
        if direction not in ("both", name) and o[f"{name}_output"]:
            raise UsageProblem(f"{o['model']} has the {direction} direction alone, and nothing for --{name}-output")
    if o["ttable"]:
        check_whole_words(aligner.settings.views[0])
        write_ttable(aligner, o["ttable"])
    skipped, n, counter = Skipped(), 0, _counter(o, direction)
    blocks = aligner.align_blocks(
        *text, **_how(o, out, declared.settings(Run, o, threads=pool)), reading=declared.settings(Reading, o),
        unbuffered=o["unbuffered"], counter=counter,
    )  # fmt: skip
    with until_terminated(o["unbuffered"]):
        with reporter.stage("aligning"):
            for block in blocks:
                out.write(block, flush=o["unbuffered"])
                skipped.add(block.skipped)
                n += len(block)
                reporter.lines.tell(f"aligning: {n} pairs")
            if out.shape:
                out.shape.end()
        _save_priors(o, counter)
        _tell_shape(reporter, out.shape)
        reporter.summary(n, out.links, skipped.summary())


def _tell_shape(reporter, shape):
    """Say what reshaping had to change."""
    if shape is None:
        return
    if left := shape.mismatched.summary():
        reporter.say(f"no links written for pairs: {left}")
    if shape.tabs:
        reporter.say(f"tabs within sentences written as spaces: {shape.tabs}")


def _train(o, text, out, pool, reporter, train, first_view, finds_links, encoder):
    from aligntools.api.align.aligner import PART, Aligner
    from aligntools.api.align.alignment import known_text, read_bitext

    run = Run(threads=pool, max_memory=o["max_memory"])
    start = Aligner.load(o["init_model"], threads=pool, verify=o["verify"]) if o["init_model"] else None
    check_decisions(o, start.settings.direction if start else o["direction"])
    with reporter.stage("reading"):
        reading = declared.settings(Reading, o)
        if start:
            reading = replace(reading, case_sensitive=not start.model.lowercase)
        if not encoder.asked:
            bitext, more = read_bitext(*text, reading=reading), {}
    if encoder.asked:
        with reporter.stage("encoder"):
            bitext, known = known_text(*text, encoder, reading, run, reading_encoder(reporter))
        reporter.close()
        reporter.say(known.summary)
        more = {"known": known}
    if not len(bitext.source.tokens):
        reporter.say("warning: every line has a blank side; nothing to learn from")
    if o["ttable"]:
        check_whole_words(start.settings.views[0] if start else first_view(len(bitext.source.tokens)))
    counter = _counter(o, start.settings.direction if start else o["direction"])
    if out or counter:
        reporter.go_over(len(bitext), PART)
    found = _Found(o, out, reporter, counter) if finds_links and (out or counter is not None) else None
    aligner = train(
        bitext, init_model=start, reading=reading, run=run,
        keep_text=counter is not None or out.costs, progress=reporter, **({"links": found.links} if found else {}),
        **more,
    )  # fmt: skip
    if o["save_model"]:
        with reporter.stage("saving"):
            aligner.save(o["save_model"])
    if o["ttable"]:
        write_ttable(aligner, o["ttable"])
    if not out and counter is None:
        reporter.summary(len(bitext), None, bitext.skipped.summary())
        return
    with reporter.stage("aligning"):
        if found and found.links.found:
            found.count(bitext)
        else:
            for block in aligner.align_blocks(bitext, **_how(o, out, run), counter=counter):
                out.write(block)
                reporter.passed("aligning", len(block))
        if out.costs:
            out.write_costs(bitext, pool, case_sensitive=reading.case_sensitive, priors=_priors(o))
        if out.shape:
            out.shape.end()
    _save_priors(o, counter)
    _tell_shape(reporter, out.shape)
    reporter.summary(len(bitext), out.links, bitext.skipped.summary())


class _Found:
    """Takes the links that training finds on its way through a large text."""

    def __init__(self, o, out, reporter, counter):
        from aligntools.api.align.training_links import TrainingLinks

        directions = out.directions or counter is not None
        self.links = TrainingLinks(self.take, declared.settings(Decisions, o), directions=directions)
        self.out, self.reporter, self.counter, self.counted = out, reporter, counter, []

    def take(self, block):
        """Write the lines of an `Alignments`."""
        self.out.write(block)
        if self.counter is not None:
            self.counted.append((block.forward_table, block.reverse_table))
        self.reporter.passed("sampler and links", len(block))

    def count(self, bitext):
        """Count priors, where they are asked for."""
        from aligntools.formats.links.pharaoh import concatenate

        if self.counter is not None:
            self.counter.add(bitext, *(concatenate(column) for column in zip(*self.counted, strict=True)))


def _priors(o):
    """Return the priors that the options name, if they do."""
    if not o.get("priors"):
        return None
    from aligntools.api.align.priors import read_priors

    return read_priors(o["priors"])


def _counter(o, direction):
    """Return what counts priors, if they are asked for."""
    if not o.get("save_priors"):
        return None
    from aligntools.aligning.links.prior_counts import PriorCounter

    if direction != "both":
        raise UsageProblem(f"--save-priors counts links of both directions, and {direction} alone is trained")
    return PriorCounter()


def _save_priors(o, counter):
    if counter is not None:
        from aligntools.formats.links.priors import write_priors

        write_priors(o["save_priors"], counter.finish())


def check_whole_words(view):
    """Refuse to write a table of words that a view cuts."""
    if view != 0:
        raise UsageProblem("--ttable writes whole words, and the model's first view cuts them; use --views 0")


def write_ttable(aligner, path, beam=None):
    """Write ``ln p(target | source)`` of the first view, as fast_align's -p does; without its beam, every pair."""
    from aligntools.aligning.word_tables import ttable_lines
    from aligntools.formats.opening.files import writing

    with writing(path) as file:
        for block in ttable_lines(aligner.model, beam):
            file.write(block)
