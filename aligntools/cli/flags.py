"""Translates names of fields and functions in messages to the command line's options and commands."""

from collections.abc import Mapping

from aligntools.ground.declarations import former
from aligntools.ground.errors import AligntoolsError, named

#: What the command line calls otherwise than Python: files that have short flags.
FLAGS = {
    "joint_file": "-i",
    "joint_pieces": "--pieces",
    "source_pieces": "--pieces",
    "target_pieces": "--pieces",
    "train_source": "-s",
    "train_target": "-t",
    "train_input": "-i",
    "source": "-s",
    "target": "-t",
    "model": "-m",
    "references": "--reference",
    "arc_weights": "--arc-weight",
    "progress": "--log-json",
}

#: Fields without an option of their own, for experiments: ``--set NAME=VALUE`` gives them. They were options, which
#: still work, with a note.
EXPERT = frozenset(
    name
    for names in (
        # align, mre-align
        "agreement alpha encoder_checkpoint encoder_layer encoder_lines encoder_minutes encoder_pairs flavor",
        "ibm1_iterations look_alike mre_iterations mre_null mre_position_smoothing mre_positions mre_smoothing",
        "null_smoothing p_null part_size pegging positions prior_fertility prior_jumps scheme score_form",
        "source_classes subwords sweeps target_classes tension tokenizer view_agreement views word_classes",
        # contrastive-align, teach
        "beam candidates constraint density evidence_share folds forward_table learning_beam lessons networks noise",
        "optimizer pull rate reverse_table source_vcb target_vcb",
        # taggers, parsers, grammars
        "bits crossing decay direct_model direct_share emission_prior entropy epochs horizontal merge min_aligned",
        "min_length preterminals relative_frequencies reward roots smoothing stop terminals tolerance transferred",
        "transition_prior vertical width",
        # translation
        "arc_scores arc_weights bigrams choose lattice_order lattice_prune max_symbols min_hole nonterminals oracle",
        "patience quench reach reverse_gamma source_weights step temperature",
        # scores
        "all_sure first_sentence hyp_column hyp_format ignore_forms ignore_possible smooth smooth_value subtypes",
        # of all commands that load models, pages, columns of CoNLL
        "verify title space",
    )
    for name in names.split(" ")
)

#: What does the same as a function of Python.
COMMANDS = {
    "Aligner.load()": "align -m",
    "Aligner.save()": "align --save-model",
    "ContrastiveAligner.save_weights()": "contrastive-align --save-weights",
    "ConstituentParser.load()": "parse -m",
    "ConstituentParser.save()": "train-grammar -o",
    "Grammar.load()": "translate --grammar",
    "Grammar.save()": "extract-grammar --format binary",
    "InducedConstituentParser.load()": "parse -m",
    "InducedConstituentParser.save()": "train-grammar -o",
    "LanguageModel.load()": "translate --lm",
    "LanguageModel.save()": "train-lm --format binary",
    "Parser.load()": "parse -m",
    "Parser.save()": "train-parser -o",
    "Projection.dictionary()": "project --dictionary",
    "Tagger.load()": "tag -m",
    "Tagger.save()": "train-tagger -o",
    "Tagger.tag_text()": "tag",
    "TranslationWeights.save()": "imputed-risk -o",
    "Translator.derivations()": "translate --derivations",
    "Translator.hypergraphs()": "translate --hypergraphs",
    "View.save()": "view -o",
    "align()": "align",
    "check()": "check",
    "teach()": "teach -o",
    "train_contrastive_aligner()": "contrastive-align",
}


#: The options of the command that runs, by their fields.
_own: dict[str, list[str]] = {}


def of_command(options: Mapping[str, list[str]]) -> None:
    """Take note of the options of the command that runs; those of `FLAGS` may be called otherwise there."""
    _own.clear()
    _own.update(options)


def flag(name: str) -> str:
    """Return the flag of a field: ``--max-length`` of ``max_length``."""
    plain = "--" + name.replace("_", "-")
    short = FLAGS.get(name, plain)
    return plain if plain in _own.get(name, ()) and short not in _own[name] else short


def as_flag(name: str, value: str | None = None) -> str:
    """Return a field with its value as the command line has it: ``--no-labels``; of ``f()`` the command."""
    if name.endswith("()"):
        return f"`aligntools {COMMANDS[name]}`" if name in COMMANDS else name
    if name in EXPERT:
        return f"--set {name}" + (f"={value.lower() if value in ('True', 'False') else value}" if value else "")
    if value in (None, "True"):
        return flag(name)
    return f"--no-{name.replace('_', '-')}" if value == "False" else f"{flag(name)} {value}"


def on_command_line(message: str) -> str:
    """Return a message with the fields that it names as flags, and functions as commands."""
    return named(message, as_flag)


def said(error: BaseException) -> str:
    """Return what an error says, with the fields that it names as flags."""
    return on_command_line(error.message if isinstance(error, AligntoolsError) else str(error))


def renamed(*kinds: type) -> dict[str, str]:
    """Return what options of classes of settings were called, and what they are called now, with their values."""
    found = {}
    for kind in kinds:
        for name, now in former(kind).items():
            field, _, value = now.removeprefix("not ").partition("=")
            value = "False" if now.startswith("not ") else value
            found[flag(name)] = as_flag(field, value or None).replace(" ", "=")
    return found
