"""What is known of the tags of a text where they are not all given: tags, sets of tags, and a dictionary."""

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, TypeAlias

from aligntools.formats.annotation.tag_sets import likely, read_dictionary, sets_of
from aligntools.formats.annotation.tagged import Tokens
from aligntools.formats.inputs.annotation import PathLike, encoded
from aligntools.formats.text.memory_text import name_of
from aligntools.ground.errors import DataError

if TYPE_CHECKING:
    from aligntools.tagging.supervised.partial import Observation

#: A file of words, tags and weights, or the same in memory.
Dictionary: TypeAlias = PathLike | Mapping[str, Mapping[str, float]]


def types_of(
    text: object, tokens: Tokens, dictionary: Dictionary | None, min_share: float
) -> dict[bytes, tuple[bytes, ...]]:
    """Return the tags that words of a text can have by a dictionary, heaviest first.

    Raises DataError when the dictionary cannot be read, or no word of the text is in it.
    """
    if dictionary is None:
        return {}
    if isinstance(dictionary, (str, os.PathLike)):
        name, weights = dictionary, read_dictionary(os.fspath(dictionary))
    else:
        name = "<dictionary>"
        weights = {encoded(w): {encoded(t): n for t, n in tags.items()} for w, tags in dictionary.items() if tags}
    words = set(tokens.words)
    types = {word: tuple(likely(tags, min_share)) for word, tags in weights.items() if word in words}
    if not types:
        raise DataError(name, None, f"has no word of {name_of(text)}: is it the dictionary of another language?")
    return types


def observe_text(
    text: object, tokens: Tokens, dictionary: Dictionary | None, min_share: float
) -> "tuple[Observation, dict[str, int]]":
    """Return which tags the words of a text may have, and how many may have one, several and any.

    Raises DataError when a set of tags is not clear, the dictionary cannot be read, or nothing is known of any word.
    """
    from aligntools.tagging.supervised.partial import observe

    types = types_of(text, tokens, dictionary, min_share)
    labels = tokens.tags or []
    sets = sets_of(tokens, name_of(text), {tag for tags in types.values() for tag in tags})
    observed = observe(tokens.words, labels, sets, types)
    widths = observed.widths
    if not observed.names:
        raise DataError(name_of(text), None, "no word has a tag (_ stands for none); tags or a dictionary are needed")
    free = sum(not sets[label] and word not in types for word, label in zip(tokens.words, labels, strict=True))
    one = int((widths == 1).sum())
    known = {"given": one, "several": len(widths) - one - free, "free": free, "dropped": observed.dropped}
    return observed, known
