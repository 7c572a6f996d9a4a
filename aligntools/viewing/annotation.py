"""Trees, tags, derivations of translations and logs of training to look at, from Python and from files."""

import io
import os
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from aligntools.formats.annotation import text_kinds
from aligntools.formats.annotation.brackets import Tree, outside, plain, refuse_others, trees_given
from aligntools.formats.annotation.conll import Conll, column_place, read_conll
from aligntools.formats.annotation.conll_layouts import COLUMNS
from aligntools.formats.annotation.tagged_text import Tokens, tokens_of_conll
from aligntools.formats.inputs.annotation import encoded, read_annotated
from aligntools.formats.inputs.sentences import Sentence
from aligntools.formats.opening import files
from aligntools.formats.opening.json_text import in_words, is_number, parse_json
from aligntools.formats.opening.recognition import beginning_of_input
from aligntools.formats.text.bitext import name_of
from aligntools.formats.text.text_settings import TagReading
from aligntools.formats.translation.derivations import DerivedSentence, read_derivations
from aligntools.ground.errors import DataError, UsageProblem, visible
from aligntools.ground.progress import Step
from aligntools.metrics.attachment import DependencyTrees
from aligntools.metrics.scorers import BracketScorer, TreeScorer, check_words
from aligntools.metrics.settings import BracketScoring, TreeScoring
from aligntools.viewing.constituents import ConstituentsView
from aligntools.viewing.derivations import DerivationsView
from aligntools.viewing.tags import TagsView
from aligntools.viewing.training import TrainingView
from aligntools.viewing.trees import TreesView
from aligntools.words.vocabulary import split_words


def view_trees(trees: Any, gold: Any = None, *, column: str | int = "upos", title: str | None = None) -> TreesView:
    """Look at dependency trees, alone or beside gold trees of the same words: what is wrong is marked.

    Parameters
    ----------
    trees : str, path, Parses, Parse, Conll, or iterable of Parse
        A CoNLL-X or CoNLL-U file, or what a parser returned.
    gold : the same, optional
    column : str or int
        Column of CoNLL with the tags that are shown.
    title : str, optional
        Of the page.

    Returns
    -------
    View
        ``html()``, ``svg(number)``, ``text()`` and ``save(path)``; notebooks show it, ``str()`` is for terminals.

    Raises
    ------
    DataError
        When a file cannot be read, or the two do not have the same words.

    Examples
    --------
    >>> import aligntools as at
    >>> shown = at.view_trees("data/samples/en.conllu")
    >>> print(shown.text(number=3), end="")
    sentence 3
      ╭──  The  DET det
    ╭─┴  soup  NOUN nsubj
    ├──  is  AUX cop
    ├──  too  ADV advmod
    ┼  hot  ADJ root
    ╰──  .  PUNCT punct
    """
    name = _title(title, trees, "Trees", gold)
    if gold is None:
        return TreesView(_trees_of(trees, column), title=name)
    scorer = TreeScorer(gold if _is_file(gold) else _trees_of(gold, column), TreeScoring(column=column))
    score = scorer.score(str(trees) if _is_file(trees) else _trees_of(trees, column))
    return TreesView(score.hypothesis, score.gold, name, score)


def _trees_of(given: Any, column: str | int) -> DependencyTrees:
    if isinstance(given, DependencyTrees):
        return given
    if _is_file(given):
        given = read_conll(str(given))
        if not len(given):
            raise DataError(given.path, None, "has no sentences; give trees in CoNLL-X or CoNLL-U")
    if isinstance(given, Conll):
        tags, labels = given.column(column_place(column)), given.column(COLUMNS["deprel"])
        heads = given.heads()
        if len(heads) and (heads < 0).all():
            raise DataError(given.path, given.line_of_word(0), "no head in column 7 (_); was the file parsed?")
        return DependencyTrees(heads, given.offsets, labels, given.words, tags, given.sentence_lines())
    if hasattr(given, "source"):  # Parses
        return DependencyTrees(given.heads, given.source.offsets, given.labels, given.source.words, given.tags)
    parses = [given] if hasattr(given, "heads") else list(given)
    columns = [
        list(map(encoded, chain.from_iterable(getattr(parse, name) or () for parse in parses)))
        for name in ("tokens", "tags", "labels")
    ]
    heads = np.concatenate([np.zeros(0, np.int32), *(parse.heads for parse in parses)]).astype(np.int32)
    offsets = np.cumsum([0, *map(len, parses)], dtype=np.int64)
    return DependencyTrees(
        heads, offsets, columns[2] if len(columns[2]) == len(heads) else None, columns[0], columns[1]
    )


def view_constituents(trees: Any, gold: Any = None, *, title: str | None = None) -> ConstituentsView:
    """Look at trees of constituents, alone or beside gold trees of the same words: what is wrong is marked.

    What is wrong is what `score_brackets` counts: functions and traces are left out beside gold trees, and brackets of
    punctuation alone and labels above whole sentences are neither right nor wrong. Alone, trees are shown as they are.

    Parameters
    ----------
    trees : str, path, Tree, or iterable of trees
        A file of trees in brackets; or trees, as `Tree` or as text.
    gold : the same, optional
    title : str, optional
        Of the page.

    Returns
    -------
    View
        ``html()``, ``svg(number)``, ``text()`` and ``save(path)``; notebooks show it, ``str()`` is for terminals.

    Raises
    ------
    DataError
        When a file cannot be read, brackets are not balanced, or the two do not have the same words.

    Examples
    --------
    >>> import aligntools as at
    >>> print(at.view_constituents(["(S (NP (PRP I)) (VP (VBP sleep)) (. .))"]).text(number=1), end="")
    sentence 1
    S
    ├─ NP
    │  ╰─ PRP I
    ├─ VP
    │  ╰─ VBP sleep
    ╰─ . .
    """
    name = _title(title, trees, "Trees", gold)
    trees, gold = ([one] if isinstance(one, Tree) else one for one in (trees, gold))
    if gold is None:
        found, _ = trees_given(trees, "trees")
        if not found:
            raise DataError(_name_of(trees, "<trees>"), None, "has no trees; a tree is (S (NP (DT the) ...) ...)")
        return ConstituentsView([plain(tree, functions=True, traces=True) for tree in found], title=name)
    score = BracketScorer(gold, BracketScoring()).score(trees)
    return ConstituentsView(score.hypothesis, score.gold, name, score)


def _name_of(given: Any, otherwise: str) -> str:
    return Path(given).name if _is_file(given) and str(given) != "-" else otherwise


def _title(given: str | None, shown: Any, kind: str, gold: Any) -> str:
    """Return the title of a page: the one that was given, or the names of the files."""
    names = [_name_of(each, word) for each, word in ((shown, kind), (gold, "gold")) if each is not None]
    return visible(given or " beside ".join(names))


def view_tags(tagged: Any, gold: Any = None, *, column: str | int = "upos", title: str | None = None) -> TagsView:
    """Look at tags, alone or beside gold tags of the same words: which are taken for which, and where.

    Parameters
    ----------
    tagged : str, path, sentences, or what a tagger returned
        A file of any form that `score_tags` reads, or tagged sentences. Empty sentences are left out.
    gold : the same, optional
    column : str or int
        Column of CoNLL with the tags.
    title : str, optional
        Of the page.

    Returns
    -------
    View
        ``html()``, ``svg()`` for the confusion table, ``svg(number)`` for a sentence, ``text()`` and ``save(path)``.

    Raises
    ------
    DataError
        When a file cannot be read, or the two do not have the same words.

    Examples
    --------
    >>> import aligntools as at
    >>> print(at.view_tags(["the_DET dog_VERB"], ["the_DET dog_NOUN"]).text(number=1), end="")
    1  the_DET  dog_VERB ✗NOUN
    """
    tokens = _tokens(tagged, column)
    found = None if gold is None else _tokens(gold, column)
    if found is not None:
        check_words(found, tokens, name_of(gold, "gold"), name_of(tagged, "tagged"), what="sentences with words")
    return TagsView(tokens, found, _title(title, tagged, "Tags", gold))


def _is_file(given: Any) -> bool:
    return isinstance(given, str | os.PathLike)


def _tokens(given: Any, column: str | int) -> Tokens:
    if hasattr(given, "tagset"):  # TaggedSentences
        source = given.source if isinstance(given.source, Tokens) else tokens_of_conll(given.source, None)
        tokens = replace(source, tags=given.tags)
    elif hasattr(given, "tokens") and hasattr(given, "tags"):  # TaggedSentence
        words, tags = (list(map(encoded, values)) for values in (given.tokens, given.tags))
        tokens = Tokens(words, np.array([0, len(words)]), tags, np.ones(1, np.int64), "tagged")
    else:
        tokens = read_annotated(given, TagReading(column=column))
    some = np.diff(tokens.offsets) > 0
    if some.all():
        return tokens
    return replace(tokens, offsets=np.append(tokens.offsets[:-1][some], len(tokens.words)), lines=tokens.lines[some])


#: How a file of trees in brackets begins: brackets and labels, then a leaf; not so the first word of tagged text.
_SPACE, _WORD = r"[ \t\r\n]", r"[^ \t\r\n()]+"
_BRACKETS = re.compile(
    rf"{_SPACE}*\((?![_/])(?:{_SPACE}*(?:{_WORD}{_SPACE}*)?\()*(?:{_SPACE}*{_WORD}{_SPACE}+{_WORD}[^()]*)?\)"
)


def view_annotation(
    paths: Sequence[str], *, tags: bool = False, column: str | int = "upos", title: str | None = None
) -> TagsView | TreesView | ConstituentsView:
    """Look at the trees of a file, or its tags, alone or beside those of a gold file."""
    from aligntools.formats.models.modelfile import is_model

    if len(paths) > 2:
        raise UsageProblem(f"{len(paths)} files; give one with trees or tags, or that and one with gold ones")
    for path in paths:
        if is_model(path):
            raise UsageProblem(f"{path} is a model; give it with `model`")
        if beginning_of_input(path).startswith((b'{"', b"{\n")):
            others = "logs of training go with `log`, derivations with `derivations`, weights with `model`"
            raise UsageProblem(f"{'<stdin>' if path == '-' else path} is JSON: {others}")
    begin = beginning_of_input(paths[0])
    rows = begin.decode("utf-8", "replace").split("\n")
    for number, line in enumerate(rows if not tags else (), 1):
        refuse_others(line, paths[0], number)
        if (bare := outside(line)).strip(" \t\r"):
            if _BRACKETS.match("\n".join([bare, *rows[number:]])):
                return view_constituents(*paths, title=title)
            break
    seen, telling = text_kinds.beginning(io.BytesIO(begin))
    if tags or (telling and not any(b"\t" in seen[k] for k in telling)):  # no CoNLL, which is tabs between columns
        return view_tags(*paths, column=column, title=title)
    return view_trees(*paths, column=column, title=title)


def view_derivations(
    derivations: str | os.PathLike[str] | Iterable[DerivedSentence],
    references: str | os.PathLike[str] | Iterable[Sentence] | None = None,
    *,
    title: str | None = None,
) -> DerivationsView:
    """Look at how translations came about: rules over the source, hypotheses beside the reference.

    Parameters
    ----------
    derivations : path, or iterable of DerivedSentence
        What ``translate --derivations`` wrote, or what `Translator.derivations` yields.
    references : path, or iterable of sentences, optional
        A translation of each sentence.
    title : str, optional
        Of the page.

    Returns
    -------
    View
        ``html()``, ``svg(number)``, ``text()`` and ``save(path)``; notebooks show it.

    Raises
    ------
    DataError
        When a file cannot be read, or there is not one reference for each sentence.

    Examples
    --------
    >>> import aligntools as at
    >>> grammar = at.extract_grammar(["das Haus", "ein Hund"], ["the house", "a dog"], ["0-0 1-1", "0-0 1-1"])
    >>> translator = at.Translator(grammar, at.train_lm(["the house", "a dog", "the dog"], order=2))
    >>> shown = at.view_derivations(translator.derivations(["das Hund"]), ["the dog"])
    >>> shown.text(number=1).splitlines()[:2]
    ['sentence 1  das Hund', ' reference  the dog']
    """
    name = title
    if isinstance(derivations, str | os.PathLike):
        name = name or Path(derivations).name
        sentences = read_derivations(derivations)
    else:
        sentences = list(derivations)
    found = None
    if references is not None:
        lines = files.lines(references) if isinstance(references, str | os.PathLike) else references
        found = [_words(line) for line in lines]
        if len(found) != len(sentences):
            problem = f"{len(found)} lines, but there are {len(sentences)} sentences with derivations"
            raise DataError(name_of(references, "references"), None, f"{problem}; a reference for each is needed")
    return DerivationsView(sentences, found, visible(name or "Derivations"))


def _words(sentence: Sentence | bytes) -> tuple[str, ...]:
    if isinstance(sentence, str):
        sentence = sentence.encode("utf-8", "replace").rstrip(b"\n")
    if not isinstance(sentence, bytes):
        return tuple(sentence)
    return tuple(word.decode("utf-8", "replace") for word in split_words(sentence))


#: A training: the file that ``--log-json`` wrote, or steps, as ``progress=`` gets them.
Training: TypeAlias = str | os.PathLike[str] | Iterable[Step | Mapping[str, Any]]


def view_training(*runs: Training, names: Sequence[str] | None = None, title: str = "Training") -> TrainingView:
    """Look at training: curves of one run or several, time and memory by stage.

    Parameters
    ----------
    *runs : path, or iterable of `Step`
        What ``--log-json`` wrote, or the steps that a callback of ``progress=`` was given.
    names : sequence of str, optional
        What the runs are called; by default files' names.
    title : str
        Of the page.

    Returns
    -------
    View
        ``html()`` and ``svg(number)`` need Matplotlib (the extra ``plots``), ``text()`` does not.

    Raises
    ------
    DataError
        When a file cannot be read, or is no log of training.

    Examples
    --------
    >>> import aligntools as at
    >>> steps = []
    >>> model = at.train_aligner(at.read_bitext("data/samples/de-en.txt"), fast=True, progress=steps.append)
    >>> [title for title, _ in at.view_training(steps).charts]
    ['Log-likelihood', 'Time by stage']
    """
    stems = [Path(run).stem if isinstance(run, str | os.PathLike) else f"run {k}" for k, run in enumerate(runs, 1)]
    labels = stems if names is None else list(map(str, names))
    found, seen = [], Counter[str]()
    for label, run in zip(labels, runs, strict=True):
        seen[label] += 1
        if isinstance(run, str | os.PathLike):
            steps = read_training_log(run)
        else:
            steps = [{"stage": one.stage} | dict(one.figures) if isinstance(one, Step) else dict(one) for one in run]
        found.append((visible(label if seen[label] == 1 else f"{label} ({seen[label]})"), steps))
    return TrainingView(found, visible(title))


def read_training_log(path: str | os.PathLike[str]) -> list[dict[str, Any]]:
    """Read a training's steps, ``stage`` and figures (finite numbers or lists), without a last line cut short."""
    steps: list[dict[str, Any]] = []
    lines = list(files.lines(os.fspath(path)))
    for number, line in enumerate(lines, 1):
        try:
            value = parse_json(line)
        except ValueError:
            if number == len(lines) > 1:
                continue
            problem = "is not JSON; a log of training has an object on each line (see `progress`)"
            raise DataError(path, number, problem) from None
        if not isinstance(value, dict) or not isinstance(value.get("stage"), str):
            found = in_words(value)
            raise DataError(path, number, f"{found}: a step of training has a 'stage' (see `progress`)")
        figures = {
            name: x
            for name, x in value.items()
            if is_number(x) or (isinstance(x, list) and x and all(map(is_number, x)))
        }
        steps.append({"stage": value["stage"]} | figures)
    if not steps:
        raise DataError(path, None, "has no steps of training (see `progress`)")
    return steps
