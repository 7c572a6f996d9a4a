"""Grammars as the decoder takes them: read, filtered to what a text can use, or straight from an extraction."""

from aligntools.formats.bitext import Side
from aligntools.formats.grammar import STANDARD, Grammar, TextFilter, read_grammar, write_grammar
from aligntools.formats.grammar import filtered as _filtered
from aligntools.formats.vocabulary import Vocabulary
from aligntools.translating.grammar.extraction import Extraction, Settings, extract_grammar

__all__ = [
    "STANDARD",
    "Extraction",
    "Grammar",
    "Settings",
    "TextFilter",
    "extract_grammar",
    "filter_grammar",
    "read_grammar",
    "write_grammar",
]


def filter_grammar(grammar: Grammar, text: Side, vocabulary: Vocabulary, span: int | None = None) -> Grammar:
    """Return the rules that may be used on a text: it has every piece of their source sides between nonterminals.

    Parameters
    ----------
    grammar : Grammar
    text : Side
    vocabulary : Vocabulary
        The text's.
    span : int or None
        Keep only what matches within so many words, the span limit of the decoder.

    Returns
    -------
    Grammar
        With the words that its rules have, and no others.
    """
    return _filtered(grammar, TextFilter(text, vocabulary, span=span))
