"""What ``align`` and the fast_align drop-in do with their options: read, train or load, decode, write."""

import contextlib
import json
import resource
import sys
import time

import numpy as np

from aligntools.ground.errors import ResourceError, UsageProblem

#: Bytes that do not grow with the corpus: interpreter, libraries, compiled code.
FIXED = 220 << 20
#: Sentences decoded at a time after training.
PART = 50_000


#: Options that a saved model has settled.
OF_THE_MODEL = {
    "model", "fast", "estimator", "joint", "direction", "look_alike", "views", "ibm1_iterations", "iterations",
    "sweeps", "alpha", "p_null", "tension", "positions", "seed", "case_sensitive",
}  # fmt: skip
#: How reconstruction goes on from a model, and so what may be given with --init-model.
OF_RECONSTRUCTION = {"mre_iterations", "mre_smoothing", "mre_positions", "mre_null"}


class Progress:
    """Standard error: one line a step when verbose, a summary at the end, nothing when quiet."""

    def __init__(self, quiet, verbose, log):
        self.quiet, self.verbose, self.log = quiet, verbose, log
        self.bar = None
        self.stages = {}
        self.began = self.last = time.perf_counter()

    def expect(self, steps):
        """Show a bar of so many steps, where standard error is a terminal and nothing else is printed there."""
        if sys.stderr.isatty() and not self.quiet and not self.verbose:
            from tqdm import tqdm

            self.bar = tqdm(total=steps, unit="step", leave=False, dynamic_ncols=True, file=sys.stderr)

    def advance(self, what):
        """Move the bar by one step."""
        if self.bar is not None:
            self.bar.set_description(what, refresh=False)
            self.bar.update(1)

    def close(self):
        """Take the bar away."""
        if self.bar is not None:
            self.bar.close()
            self.bar = None

    def step(self, figures):
        """Take the figures of a training step; where they have no time, that since the step before."""
        now = time.perf_counter()
        figures.setdefault("seconds", now - self.last)
        self.last = now
        self.advance(figures["stage"])
        stage = figures["stage"]
        figures["peak_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        self.stages[stage] = self.stages.get(stage, 0.0) + figures["seconds"]
        if self.log:
            self.log.write((json.dumps(figures) + "\n").encode())
            self.log.flush()
        if self.verbose:
            view = f"first {figures['view']} letters" if figures["view"] else "whole words"
            text = f"{view}: {stage}"
            if "iteration" in figures:
                text += f" iteration {figures['iteration']}: "
                if "objective" in figures:
                    text += "ln P(x|x) {:.1f} forward, {:.1f} reverse; ".format(*figures["reconstruction"])
                    text += "with the prior {:.1f}, {:.1f}; ".format(*figures["objective"])
                text += "log-likelihood {:.1f} forward, {:.1f} reverse".format(*figures["log_likelihood"])
            if stage == "ibm2" and any(figures["tension"]):
                text += ", tension {:.3f} {:.3f}".format(*figures["tension"])
            if "pairs" in figures:
                text += f": {figures['pairs']} pairs of words"
            self.say(f"{text} ({figures['seconds']:.2f} s, {figures['peak_mb']} MB)")

    @contextlib.contextmanager
    def stage(self, name):
        """Time a stage."""
        began = time.perf_counter()
        yield
        self.stages[name] = self.stages.get(name, 0.0) + time.perf_counter() - began

    def say(self, text):
        """Print a line on standard error."""
        if not self.quiet:
            sys.stderr.write(text + "\n")

    def summary(self, n_pairs, n_links, skipped):
        """Say what was done, and what was passed over."""
        self.close()
        seconds = time.perf_counter() - self.began
        if skipped:
            self.say(f"blank lines written for: {skipped}")
        rate = n_pairs / max(seconds, 1e-9)
        links = "" if n_links is None else f", {n_links} links"
        self.say(f"{n_pairs} pairs{links} in {seconds:.1f} s ({rate:.0f} pairs/s)")
        if self.verbose:
            total = sum(self.stages.values()) or 1.0
            shares = ", ".join(f"{k} {v:.1f} s ({100 * v / total:.0f} %)" for k, v in self.stages.items())
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            self.say(f"{shares}; peak memory {peak:.0f} MB")


class Outputs:
    """The files that decoding writes, opened whole-or-nothing; None for what is not wanted."""

    def __init__(self, stack, o):
        from aligntools.formats.files import writing

        names = ("output", "forward_output", "reverse_output", "scores")
        self.files = [stack.enter_context(writing(o[n])) if o[n] else None for n in names]
        self.main, self.forward, self.reverse, self.scores = self.files

    def __bool__(self):
        return any(f is not None for f in self.files)


class Decoder:
    """Turns posteriors into the lines of every output."""

    def __init__(self, o, applier, pool):
        from aligntools.aligning.applying import kernels_decoding as kd

        self.o, self.applier, self.pool, self.kd = o, applier, pool, kd
        # one view alone is surer of itself than an average of several
        usual = 0.4 if len(applier.members) > 1 else 0.5
        self.threshold = usual if o["threshold"] is None else o["threshold"]
        self.links = 0

    def run(self, bitext, out, flush=False):
        """Decode a text and write its lines."""
        from aligntools.formats.pharaoh import Links, format_pharaoh

        o, kd = self.o, self.kd
        viterbi = o["decode"] == "viterbi"
        one = o["direction"]
        single = {
            "best": (kd.FORWARD_BEST, kd.REVERSE_BEST),
            "viterbi": (kd.FORWARD, kd.REVERSE),
            "posterior": (kd.FORWARD, kd.REVERSE),
        }[o["decode"]]
        threshold = 0.5 if viterbi else self.threshold
        joint = one == "both" and o["symmetrize"] == "joint"
        heuristic = one == "both" and not joint
        parts = self.applier.posteriors(bitext)
        paths = self.applier.posteriors(bitext, viterbi=True) if viterbi else None
        for posteriors in parts:
            chosen = next(paths) if viterbi else posteriors
            decided = {}

            def decide(way, chosen=chosen, decided=decided):
                if way not in decided:
                    from aligntools.aligning.applying.applier import decide

                    pairs, offsets, probabilities = decide(chosen, way, threshold, self.pool)
                    decided[way] = Links(pairs, offsets), probabilities
                return decided[way]

            if joint:
                from aligntools.aligning.applying.applier import decide as decide_links

                pairs, offsets, p = decide_links(posteriors, kd.JOINT, self.threshold, self.pool)
                links, probabilities = Links(pairs, offsets), p
            elif heuristic:
                from aligntools.aligning.links.symmetrize import symmetrize

                f, r = decide(single[0])[0], decide(single[1])[0]
                links, probabilities = symmetrize(f, r, o["symmetrize"], o["flavor"]), None
            else:
                links, probabilities = decide(single[one == "reverse"])
            self.links += len(links.pairs)
            order = o.get("order") or "source"
            text = format_pharaoh(links, order, probabilities if o["link_probabilities"] else None)
            if o.get("append_scores"):
                text = _append_scores(text, o["append_scores"](posteriors))
            if out.main:
                out.main.write(text)
            if out.forward:
                out.forward.write(format_pharaoh(decide(single[0])[0]))
            if out.reverse:
                out.reverse.write(format_pharaoh(decide(single[1])[0]))
            if out.scores:
                out.scores.write(_score_lines(posteriors))
            if flush:
                for f in (out.main, out.forward, out.reverse, out.scores):
                    if f:
                        f.flush()


def _append_scores(text, scores):
    return b"".join(
        line + b" ||| " + (f"{s:.6g}".encode()) + b"\n" for line, s in zip(text.split(b"\n"), scores, strict=False)
    )


def _score_lines(p):
    f, r = p.log_likelihood
    n_j = np.maximum(np.diff(p.target_offsets[p.k0 : p.k1 + 1]), 1)
    n_i = np.maximum(np.diff(p.source_offsets[p.k0 : p.k1 + 1]), 1)
    rows = zip(f, r, f / n_j, r / n_i, strict=True)
    return "".join("\t".join(f"{x:.6g}" for x in row) + "\n" for row in rows).encode()


def settings_from(o):
    """Return the `Settings` that the options ask for."""
    from aligntools.aligning.settings import Settings

    model, views, joint = o["model"], o["views"], o["joint"]
    if o["fast"]:
        model = "hmm" if model == "fertility" else model
        views = views or (5,)
    if o["direction"] != "both":
        model = "hmm" if model == "fertility" else model
        joint = False
    return Settings(
        model=model, estimator=o["estimator"], joint=joint, direction=o["direction"], look_alike=o["look_alike"],
        views=views, ibm_iterations=o["ibm1_iterations"], model_iterations=o["iterations"], sweeps=o["sweeps"],
        alpha=o["alpha"], p_null=o["p_null"], tension=o["tension"], positions=o["positions"], seed=o["seed"],
        optimize_tension=o.get("optimize_tension", True), favor_diagonal=o.get("favor_diagonal", True),
    )  # fmt: skip


def _check(o):
    texts = o["joint_file"] is not None, o["source"] is not None or o["target"] is not None
    if sum(texts) != 1 or (texts[1] and (o["source"] is None or o["target"] is None)):
        raise UsageProblem("give the text as -s FILE -t FILE, or as one file with -i")
    if o["load_model"] and (o["save_model"] or o["init_model"]):
        raise UsageProblem("-m applies a model as it is; to train on from one use --init-model")
    if (
        o["link_probabilities"]
        and (o["symmetrize"] != "joint" or o["decode"] == "viterbi")
        and o["direction"] == "both"
    ):
        raise UsageProblem("--link-probabilities goes with --symmetrize joint")
    fixed = OF_THE_MODEL | OF_RECONSTRUCTION
    if _reconstructs(o) and o["init_model"]:  # which model is trained from the given one may be chosen
        fixed = OF_THE_MODEL - {"model", "positions"}
    fixed = sorted(o.get("given", set()) & fixed)
    if fixed and (o["load_model"] or o["init_model"]):
        flag = "--agreement" if fixed[0] == "joint" else "--" + fixed[0].replace("_", "-")
        raise UsageProblem(f"{flag} is for a new model; a saved one keeps the settings it was trained with")
    other = {"forward": "reverse", "reverse": "forward"}.get(o["direction"])
    if other and o[f"{other}_output"]:
        raise UsageProblem(f"--{other}-output needs that direction trained; leave out --direction {o['direction']}")
    if o["unbuffered"] and not o["load_model"]:
        raise UsageProblem("--unbuffered goes with -m: training needs the whole text")
    files = [
        o[n]
        for n in ("output", "forward_output", "reverse_output", "scores", "save_model", "ttable", "log_json")
        if o[n]
    ]
    if len(set(files)) < len(files):
        raise UsageProblem("two outputs have the same name")


def run(o):
    """Run ``aligntools align`` with its options by name.

    With None as ``output`` no alignment is written: training for ``save_model`` alone. With ``reconstruct``, a
    `Reconstruction`, that goes on from where EM ends, or from ``init_model``.
    """
    _check(o)
    from aligntools.formats.files import writing
    from aligntools.ground.parallel import Pool

    with contextlib.ExitStack() as stack:
        log = stack.enter_context(writing(o["log_json"])) if o["log_json"] else None
        progress = Progress(o["quiet"], o["verbose"], log)
        stack.callback(progress.close)
        out = Outputs(stack, o)
        pool = stack.enter_context(Pool(o["threads"]))
        if o["load_model"]:
            _apply(o, out, pool, progress)
        else:
            _train(o, out, pool, progress)


def _reading(o):
    return {
        "source": o["source"], "target": o["target"], "joint": o["joint_file"], "max_length": o["max_length"],
        "strict": o["strict"], "tab_separates": o.get("tab_separates", False),
    }  # fmt: skip


def _apply(o, out, pool, progress):
    from aligntools.aligning.applying.applier import Applier
    from aligntools.aligning.model import AlignmentModel
    from aligntools.formats.bitext import Skipped, stream_bitext

    with progress.stage("loading"):
        model = AlignmentModel.load(o["load_model"], pool)
    if o["ttable"]:
        _check_ttable(model.settings)
        _write_ttable(model, o["ttable"])
    sizes = (len(model.source_vocabulary), len(model.target_vocabulary))
    applier = Applier(model.members, model.settings, sizes, pool, _cells(o["max_memory"], 0))
    o = {**o, "direction": model.settings.direction}
    decoder = Decoder(o, applier, pool)
    skipped, n = Skipped(), 0
    blocks = stream_bitext(
        **_reading(o), source_vocabulary=model.source_vocabulary, target_vocabulary=model.target_vocabulary,
        lowercase=model.lowercase, unbuffered=o["unbuffered"],
    )  # fmt: skip
    for block in blocks:
        with progress.stage("aligning"):
            decoder.run(block, out, flush=o["unbuffered"])
        skipped.add(block.skipped)
        n += len(block)
    progress.summary(n, decoder.links, skipped.summary())


def _cells(max_memory, needed):
    """How many link-matrix cells may be worked at a time."""
    most = 24_000_000
    if max_memory is None:
        return most
    room = max_memory - FIXED - needed
    cells = int(room // 8)
    if cells < 200_000:
        raise ResourceError(
            f"--max-memory {max_memory >> 20}M is too little: about {(FIXED + needed >> 20) + 3}M are needed"
            " (a part of the text, or --fast, needs less)"
        )
    return min(most, cells)


def _needed(bitext, settings, reconstructs=False):
    """Bytes that training holds beside the chunk: the text and its views, words, and the table (estimated)."""
    tokens = len(bitext.source.tokens) + len(bitext.target.tokens)
    words = len(bitext.source_vocabulary) + len(bitext.target_vocabulary)
    cells = int((bitext.source.lengths().astype(np.float64) * bitext.target.lengths()).sum())
    pairs = min(cells, tokens // 5 + 6 * min(tokens, 400_000))  # growth of co-occurring pairs, as measured
    views = len(settings.views)
    copies = 1 if views == 1 else 2
    a_pair = (14 if settings.joint else 22) * views + (40 if reconstructs else 0)
    return tokens * (4 * copies + 2) + words * 400 * views + pairs * a_pair


def _reconstructs(o):
    return o.get("reconstruct") is not None


def _settings_after(o, old):
    """Return the settings of what is trained from an older model: its own, or those that reconstruction needs."""
    import dataclasses

    settings = old.settings
    if not _reconstructs(o):
        return settings
    given = o.get("given", set())
    model = o["model"] if "model" in given else "ibm2" if settings.model in ("ibm1", "ibm2") else "hmm"
    positions = o["positions"] if "positions" in given else settings.positions
    return dataclasses.replace(settings, model=model, positions=positions if model == "ibm2" else "diagonal")


def _steps(o, settings):
    """How many steps training reports, but for the table's."""
    iterations = settings.ibm_iterations + (settings.model_iterations if settings.model != "ibm1" else 0)
    if _reconstructs(o):
        iterations = o["reconstruct"].iterations + 1 + (0 if o["init_model"] else iterations)
    return len(settings.views) * (iterations + (settings.model == "fertility"))


def _train(o, out, pool, progress):
    from aligntools.aligning.applying.applier import Applier
    from aligntools.aligning.model import AlignmentModel
    from aligntools.aligning.training.stages import collapse, train
    from aligntools.formats.bitext import read_bitext

    old = None
    settings = settings_from(o)
    lowercase = not o["case_sensitive"]
    if o["init_model"]:
        old = AlignmentModel.load(o["init_model"], pool)
        lowercase = old.lowercase
        settings = _settings_after(o, old)
        o = {**o, "direction": settings.direction}
    with progress.stage("reading"):
        bitext = read_bitext(**_reading(o), lowercase=lowercase)
    if not len(bitext.source.tokens):
        progress.say("warning: every line has a blank side; nothing to learn from")
    settings = settings.resolved(len(bitext.source.tokens))
    if o["ttable"]:
        _check_ttable(settings)
    cells = _cells(o["max_memory"], _needed(bitext, settings, _reconstructs(o)))
    ratio = len(bitext.target.tokens) / max(len(bitext.source.tokens), 1)
    if "on_read" in o:
        o["on_read"](bitext)
    parts = -(-len(bitext) // PART) if out else 0
    progress.expect(_steps(o, settings) + parts)
    if len(settings.views) == 1 and settings.views[0]:
        collapse(bitext, settings.views[0])
    step = o.get("on_step", progress.step)
    if old and _reconstructs(o):
        from aligntools.aligning.training.warm_start import adopt

        members = adopt(bitext, old.members, settings, pool)
    else:
        members = train(bitext, settings, pool, cells, step, old.members if old else None)
    if _reconstructs(o):
        from aligntools.aligning.training.reconstruction import reconstruct

        members, settings = reconstruct(bitext, members, settings, pool, cells, o["reconstruct"], step)
    model = AlignmentModel(settings, bitext.source_vocabulary, bitext.target_vocabulary, members, lowercase, ratio)
    if "on_trained" in o:
        o["on_trained"](model)
    if o["save_model"]:
        with progress.stage("saving"):
            model.save(o["save_model"])
    if o["ttable"]:
        _write_ttable(model, o["ttable"])
    if not out:
        progress.summary(len(bitext), None, bitext.skipped.summary())
        return
    sizes = (len(model.source_vocabulary), len(model.target_vocabulary))
    decoder = Decoder(o, Applier(members, settings, sizes, pool, cells), pool)
    with progress.stage("aligning"):
        for part in _parts(bitext):
            decoder.run(part, out)
            progress.advance("aligning")
    progress.summary(len(bitext), decoder.links, bitext.skipped.summary())


def _parts(bitext, sentences=PART):
    """Cut a text into runs of sentences, so that decoding needs no temporaries as long as the text."""
    import dataclasses

    def part(side, a, b):
        offsets = side.offsets[a : b + 1]
        return dataclasses.replace(side, tokens=side.tokens[offsets[0] : offsets[-1]], offsets=offsets - offsets[0])

    for a in range(0, len(bitext), sentences):
        b = min(a + sentences, len(bitext))
        yield dataclasses.replace(bitext, source=part(bitext.source, a, b), target=part(bitext.target, a, b))


def _check_ttable(settings):
    if settings.views[0] != 0:
        raise UsageProblem("--ttable writes whole words, and the model's first view cuts them; use --views 0")


def _write_ttable(model, path):
    """Write ``ln p(target | source)`` of the first member, as fast_align's -p does, every pair that it has."""
    from aligntools.aligning.word_tables_out import ttable_lines
    from aligntools.formats.files import writing

    with writing(path) as file:
        for block in ttable_lines(model):
            file.write(block)
