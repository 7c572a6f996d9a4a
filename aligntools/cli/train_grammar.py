"""``aligntools train-grammar``: a grammar of constituents from a treebank, or from tags or words alone."""

import sys
from pathlib import Path
from typing import Any

import click

from aligntools import GrammarSettings, InducedGrammarSettings, TagReading
from aligntools.cli import declarations, options, training
from aligntools.ground.progress import Step

_TAGS = ("column", "format", "separator", "predicted_columns")
#: The options of each use of the command, apart from those that both have.
USES = {
    "--treebank": {"treebanks", *GrammarSettings.names()},
    "--text": {"text", *InducedGrammarSettings.names(), *_TAGS},
}
#: What is of one kind of induction alone.
_COUNTED, _NETWORKS = {"prior", "tolerance", "iterations"}, {"preterminals", "width", "epochs"}
_WITHOUT = "Without trees (--text)"


@click.command(
    "train-grammar",
    cls=options.Command,
    basic="treebanks text output latent members functions symbols estimator brackets column format log_json threads"
    " seed quiet",
)
@options.group(
    "Common options",
    options.file(
        "--treebank",
        "treebanks",
        multiple=True,
        help="Trees in brackets, one on a line or over several; can be given several times.",
    ),
    options.file(
        "--text",
        help="Learn without trees instead, from CoNLL, lines of word_TAG or, with --set terminals=words, plain"
        " text; labels"
        " are X0, X1.",
    ),
    training.output,
    declarations.group(GrammarSettings, "latent", title="Common options"),
)
@declarations.group(GrammarSettings, without=("latent", "iterations", "seed"))
@options.group(
    _WITHOUT,
    declarations.group(InducedGrammarSettings, without=("iterations", "seed"), title=_WITHOUT),
    declarations.group(TagReading, *_TAGS, title=_WITHOUT),
)
@options.group(
    "Resources and messages",
    declarations.option(
        GrammarSettings,
        "iterations",
        default=None,
        help="Iterations of EM at most: after symbols are split; half as many after they are merged.  [default: 20; 100"
        " with --text]",
    ),
    training.log_json,
    options.threads,
    declarations.option(GrammarSettings, "seed"),
    options.verbosity,
)
def command(**o: Any) -> None:
    """Learn a grammar of constituents from trees, or without them (--text).

    A tree is made binary; symbols know their siblings and what is above them (Klein & Manning 2003). With --latent 1 to
    6 they are split, trained by EM and merged in as many rounds instead (Petrov, Barrett, Thibaux & Klein 2006), which
    finds better trees and takes minutes; --members learns several such grammars, which find better trees together.
    Traces are left out, and functions (NP-SBJ) unless --functions is given. `aligntools parse` finds trees with the
    grammar, of words with or without tags.

    With --text there are no trees: rules between symbols without names are learned from tags by EM (Lari & Young 1990)
    or variational Bayes, of trees in brackets without crossing them (--brackets; Pereira & Schabes 1992). With
    --estimator neural, networks make the rules, of tags or words; in a compound PCFG rules
    also depend on a latent vector of the sentence (Kim, Dyer & Rush 2019). `parse` needs text with tags where the
    grammar was learned from tags.

    \b
    Example:
      aligntools train-grammar -q --treebank data/samples/en.mrg -o /tmp/en.pcfg
      aligntools parse -m /tmp/en.pcfg data/samples/en.txt
      aligntools train-grammar -q --text data/samples/en.tagged --symbols 5 -o /tmp/induced.pcfg
    """
    from aligntools.constituents.parsers import induce_grammar, train_grammar

    asked = {"--treebank": bool(o["treebanks"]), "--text": o["text"] is not None}
    which = "give one: --treebank for a grammar from trees, or --text for one from tags"
    use = training.check_use(o, USES, asked, which)
    with training.reporting(o, _line) as (steps, result):
        if use == "--treebank":
            own = GrammarSettings(**declarations.chosen(GrammarSettings, o))
            paths = [name if name == "-" else Path(name) for name in o["treebanks"]]  # never taken for a tree
            found = declarations.call(train_grammar, o, treebanks=paths, settings=own, progress=steps)
        else:
            other = InducedGrammarSettings(**declarations.chosen(InducedGrammarSettings, o))
            others = _COUNTED if other.networks else _NETWORKS
            declarations.refuse(others, f"`estimator={other.estimator}`")
            found = declarations.call(induce_grammar, o, settings=other, progress=steps)
        found.save(o["output"])
    if not o["quiet"]:
        _tell(result)


def _line(step: Step) -> str:
    own = step.figures
    if step.stage == "induce":
        return f"iteration {own['step']}: objective {own['objective']:.1f}"
    what = {"split": "split", "merged": "after merging", "smoothed": "smoothed"}.get(step.stage, step.stage)
    member = f"member {own['member']}, " if "member" in own else ""
    return (
        f"{member}round {own['round']}, {what}, iteration {own['iteration']}: log-likelihood {own['objective']:.1f},"
        f" {own['substates']} substates"
    )


def _tell(found: dict[str, Any]) -> None:
    training.say_counts(found.get("skipped") or {}, "left out")
    if found.get("empty"):
        sys.stderr.write(f"{found['empty']} trees without words left out\n")
    said = f"{found['sentences']} sentences, {found['words']} words"
    if "rules" in found:
        said += f"; {found['symbols']} symbols, {found['substates']} substates, {found['rules']} rules"
    else:
        known = f"{found['types']} words known" if "types" in found else f"{found['tags']} tags"
        said += f", {known}; objective {found['objective']:.1f} after {found['steps']} steps"
        said += f" ({found['message']})"
    sys.stderr.write(said + "\n")
