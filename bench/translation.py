"""A Hiero system from bitext, its weights learned by risk and by MERT: BLEU, time and memory of each stage."""

from bench import report
from bench.translation_stages import Stages

#: What was chosen on halves of the development set: learned on one, scored on the other.
EXTRACTION = ("--phrases", "outer", "--features", "full")
#: Linear BLEU over forests, from a flat distribution to a sharp one.
ANNEALED = ("--loss", "linear", "--forest", "--gamma", 0.25, "--set", "quench=2")
#: Held to the start: other weights prefer derivations that the first forests do not have.
REFERRED = ("--method", "likelihood", "--forest", "--prior", "start", "--l2", 0.1)
#: Those that use random numbers.
DRAWN = ("MERT", "MIRA", "perceptron")
#: Ways to learn weights: options, and whether for every seed or for the first alone.
METHODS = {
    "MERT": (("--method", "mert", "--restarts", 3), True),
    "MIRA": (("--method", "mira"), True),
    "perceptron": (("--method", "perceptron"), False),
    "risk": ((), True),
    "risk, held to the start": (("--prior", "start", "--l2", 0.001), True),
    "risk, sentences": (("--loss", "sentence"), False),
    "likelihood": (("--method", "likelihood"), False),
    "likelihood of references": (REFERRED, False),
    "likelihood of references or the nearest": ((*REFERRED, "--set", "oracle=true"), False),
    "risk, forests": (("--forest",), True),
    "risk, linear BLEU, forests, annealed": (ANNEALED, False),
    "untuned": (None, True),
}
#: Text of the language model besides the training text, by the name of its rows; the ways that are tried with it.
MORE = {"": (), ", LM of captions too": ("mono.en",)}
WITH_MORE = ("risk",)
SPAN = 10


class Systems(Stages):
    """Grammars, language models and weights from the texts."""

    def language_model(self, language, *more):
        """Return the model of a training text and perhaps of others."""
        texts = [self.text(name) for name in (f"train.{language}", *more)]
        return self.make(f"lm.{language}", "train-lm", "-n", 5, *texts)

    def links(self, source, target, seed=1):
        """Return an alignment of the training text."""
        texts = ("-s", self.text(f"train.{source}"), "-t", self.text(f"train.{target}"))
        seeds = () if seed == 1 else ("--seed", seed)
        return self.make("links", "align", *texts, "--symmetrize", "grow-diag-final-and", *seeds)

    def grammar(self, source, target, seed=1, extraction=EXTRACTION):
        """Return the whole grammar."""
        texts = ("-s", self.text(f"train.{source}"), "-t", self.text(f"train.{target}"))
        links = self.links(source, target, seed)
        return self.make("grammar", "extract-grammar", *texts, "-a", links, "--format", "binary", *extraction)

    def filtered(self, grammar, text):
        """Return what of a grammar a text can use."""
        return self.make("rules", "filter-grammar", "--grammar", grammar, "--text", text, "--span", SPAN)

    def translation(self, text, grammar, lm, weights, *more):
        """Return a text's translation."""
        given = () if weights is None else ("-w", weights)
        return self.make("out", "translate", text, "--grammar", grammar, "--lm", lm, *given, *more)


def run(o):
    systems = Systems(o.texts, o.work / "translation", o.threads)
    body, usages = [], {}
    for source in o.languages.split(","):
        seeds = [int(s) for s in o.seeds.split(",")][: 1 if source in o.once.split(",") else None]
        rows = []
        for more in MORE:
            for name, (how, always) in METHODS.items():
                if o.rows and name + more not in o.rows.split(";"):
                    continue
                if not more or name in WITH_MORE:
                    some = seeds if always and not more else seeds[:1]
                    row = _row(systems, source, name, how, MORE[more], some, usages, not o.rows or "MERT" in o.rows)
                    rows.append([name + more, *row[0], *[""] * (len(seeds) - len(some)), *row[1]])
        header = ["weights", *(f"seed {s}" for s in seeds), "mean", "95 % (seed 1)", "to MERT", "p"]
        body += [f"{source}-en, BLEU on test2016:", report.table(header, rows)]
    body += [
        "What each stage took, one thread; other work ran on the machine, which affects CPU seconds least (means):",
        _stages(usages),
    ]
    return "\n\n".join([*_text(), *body, report.circumstances(o.threads)])


def _text():
    return (
        "All with the commands and their defaults, with these options: `align --symmetrize grow-diag-final-and`,"
        " `train-lm -n 5`,"
        f" `extract-grammar {' '.join(EXTRACTION)}`, `filter-grammar --span {SPAN}`, `imputed-risk` on dev (1,014"
        " sentences; risk of the corpus, or as the row says, `--loss sentence`, `--forest`; MERT: `--restarts 3`;"
        f" annealed: `{' '.join(map(str, ANNEALED))}`;"
        f" likelihood of references: `{' '.join(map(str, REFERRED))}`, with `--oracle` where the nearest stand in),"
        " `translate`, `eval-bleu` (sacrebleu's, tokenization none, text in lower case). The seed is that of the"
        " aligner's sampler, of MERT's restarts and of the order of sentences in MIRA and the perceptron;"
        " risk uses no random numbers, but its grammar depends on the seed."
        " Empty cells were not run.",
        "Chosen without the test text, by learning from one half of dev and scoring on the other, both ways (German;"
        " BLEU, noise about 0.3): tight phrases with standard features 40.2, with full ones 40.2; outer phrases 40.5,"
        " with full features 41.0; loose and full 40.8; outer and full with 50 rules a source side 40.7, with holes of"
        " two words and more 39.9, from `grow-diag` 40.5. French: 48.0 tight and standard, 48.7 outer and full. These"
        " weights were learned by risk of sentences, with at most 6 rounds and at most 2 without a gain.",
        "With outer and full, 6 rounds, German and French: MERT 40.7, 49.6, by default options 41.1, 49.3; risk of the"
        " corpus 41.4, 49.6, with gamma 2 40.9, 49.3, with L2 0.00001 41.0, 49.5; risk of forests 40.6, 49.9; of"
        " sentences 40.8, 49.3, with references a word longer in the brevity penalty (Nakov, Guzman & Vogel 2012) 41.0,"
        " 48.9. Risk and MERT are within each other's noise.",
    )


def _row(systems, source, name, how, more, seeds, usages, compared):
    """Return BLEU by seed; and its mean, the first seed's interval, the mean difference to MERT, and each seed's p."""
    results = []
    for seed in seeds:
        outputs = [_output(systems, source, name, how, more, seed, usages)]
        if name != "MERT" and compared:
            outputs.insert(0, _output(systems, source, "MERT", METHODS["MERT"][0], (), seed, usages))
        results.append(systems.bleu(systems.text("test2016.en"), *outputs)[-1])
    bleu = [100 * r["bleu"] for r in results]
    rest = [f"{sum(bleu) / len(bleu):.2f}", " to ".join(f"{100 * x:.1f}" for x in results[0]["bleu_interval"])]
    if name == "MERT" or not compared:
        return [f"{b:.2f}" for b in bleu], [*rest, "", ""]
    change = [100 * r["difference"]["bleu"] for r in results]
    rest += [f"{sum(change) / len(change):+.2f}", ", ".join(f"{r['difference']['p_value']:.3f}" for r in results)]
    return [f"{b:.2f}" for b in bleu], rest


def _output(systems, source, name, how, more, seed, usages):
    """Return the test text's translation under weights learned in one way."""
    whole = systems.grammar(source, "en", seed)
    dev, test = systems.text(f"dev.{source}"), systems.text(f"test2016.{source}")
    both = systems.write(f"both.{source}", systems.lines(dev) + systems.lines(test))
    rules = systems.filtered(whole, both)
    lm = systems.language_model("en", *more)
    weights = None
    if how is not None:
        given = ("--supervised", dev, "--reference", systems.text("dev.en"), "--grammar", rules, "--lm", lm)
        seeded = ("--seed", seed) if name in DRAWN else ()
        weights = systems.make("weights", "imputed-risk", *given, *how, *seeded)
        rounds = sum(line.startswith("round") for line in systems.usage(weights)["said"])
        usages.setdefault(f"imputed-risk, {name}", {})[weights.name] = (systems.usage(weights), rounds)
    out = systems.translation(test, rules, lm, weights)
    made = {
        "train-lm": lm, "align": systems.links(source, "en", seed), "extract-grammar": whole,
        "filter-grammar": rules, "translate": out,
    }  # fmt: skip
    for stage, path in made.items():
        label = f"{stage}, train and captions" if more and stage == "train-lm" else stage
        usages.setdefault(label, {})[path.name] = (systems.usage(path), None)
    return out


def _stages(usages):
    rows = []
    for stage, runs in usages.items():
        found = [u for u, _ in runs.values()]
        rounds = [r for _, r in runs.values() if r]
        mean = sum(u["seconds"] for u in found) / len(found)
        a_round = f"{sum(u['seconds'] for u in found) / sum(rounds):.1f}" if rounds else ""
        rows.append([
            stage, len(found), f"{mean:.1f}", f"{sum(u['cpu'] for u in found) / len(found):.1f}", a_round,
            f"{max(u['peak'] for u in found) / 1e6:,.0f}", f"{max(u['size'] for u in found) / 1e6:,.1f}",
        ])  # fmt: skip
    return report.table(["stage", "runs", "seconds", "CPU s", "s a round", "peak MB", "written MB"], rows)
