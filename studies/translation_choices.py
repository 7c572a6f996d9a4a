"""Ways to learn a translation system's weights, compared without the test text: on halves of the development set."""

from pathlib import Path

from bench import report
from bench.translation import ANNEALED, METHODS, REFERRED, Systems

#: Besides the ways of the table of translation.
MORE = {
    "risk, L2 0.01 to the start": ("--prior", "start", "--l2", 0.01),
    "risk, forests, L2 0.01 to the start": ("--forest", "--prior", "start", "--l2", 0.01),
    "likelihood of references, all of the grammar's derivations": (*REFERRED, "--set", "reach=grammar"),
    "MIRA, C = 0.01": ("--method", "mira", "--set", "step=0.01"),
    "MIRA, C = 0.0001": ("--method", "mira", "--set", "step=0.0001"),
    "MIRA, smoothed sentence BLEU": ("--method", "mira", "--loss", "sentence"),
    "perceptron, step 0.01": ("--method", "perceptron", "--set", "step=0.01"),
    "risk, linear BLEU, forests": ("--loss", "linear", "--forest"),
    "risk, linear BLEU, forests, annealed to 4": (*ANNEALED[:-1], 4),
}


def arguments(parser):
    parser.add_argument("--texts", required=True, type=Path, metavar="DIR", help="folder of train.de.gz, dev.de.gz ...")
    parser.add_argument("--languages", default="de", metavar="A,B", help="translated to English [%(default)s]")
    parser.add_argument("--rows", metavar="A;B", help="only these rows")
    parser.add_argument("--rounds", type=int, default=10, metavar="N", help="[%(default)s]")


def run(o):
    systems = Systems(o.texts, o.work / "translation", o.threads)
    ways = {name: how for name, (how, _) in METHODS.items() if how is not None} | MORE
    if o.rows:
        ways = {name: how for name, how in ways.items() if name in o.rows.split(";")}
    languages, rows = o.languages.split(","), []
    for name, how in ways.items():
        found = [_halves(systems, source, (*how, "--rounds", o.rounds)) for source in languages]
        rows.append([name, *(f"{bleu:.2f}" for bleu in found)])
    body = [
        "Weights learned from one half of dev (every other sentence) and scored on the other, both ways: BLEU of all of"
        f" dev translated so, first seed, at most {o.rounds} rounds; otherwise as in the section on translation. Noise"
        " is about 0.3. The test text has no part in this.",
        report.table(["weights", *(f"{source}-en" for source in languages)], rows),
    ]
    return "Translation: ways compared without the test text", "\n\n".join([*body, report.circumstances(o.threads)])


def _halves(systems, source, how):
    """Return BLEU of dev, each half translated under weights learned from the other."""
    dev, test = systems.text(f"dev.{source}"), systems.text(f"test2016.{source}")
    both = systems.write(f"both.{source}", systems.lines(dev) + systems.lines(test))
    rules = systems.filtered(systems.grammar(source, "en"), both)
    lm, parts, outputs = systems.language_model("en"), [], []
    for k in range(2):
        parts.append([
            systems.write(f"half.{k}.{name}", systems.lines(systems.text(f"dev.{name}"))[k::2])
            for name in (source, "en")
        ])  # fmt: skip
    for (text, reference), (other, _) in (parts, parts[::-1]):
        given = ("--supervised", text, "--reference", reference, "--grammar", rules, "--lm", lm)
        weights = systems.make("weights", "imputed-risk", *given, *how)
        outputs += systems.lines(systems.translation(other, rules, lm, weights))
    label = "-".join(map(str, how)).replace("-", "")
    joined = systems.write(f"out.halves.{source}.{label}", outputs)
    wanted = systems.write("half.both.en", systems.lines(parts[1][1]) + systems.lines(parts[0][1]))
    return 100 * systems.bleu(wanted, joined)[0]["bleu"]
