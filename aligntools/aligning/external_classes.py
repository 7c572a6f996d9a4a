"""Classes of words that are given with a text, for the models that go by classes."""

import os
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from aligntools.formats.annotation.class_lists import ClassList, WordLookup
    from aligntools.formats.text.corpus import Bitext

#: Classes as functions take them: a list, the path of one, or none.
SomeClasses: TypeAlias = "ClassList | str | os.PathLike[str] | None"


def with_word_classes(bitext: "Bitext", source: SomeClasses = None, target: SomeClasses = None) -> "Bitext":
    """Return a text with classes of its words, by which an aligner that is trained on it goes.

    IBM 4 tells distances apart by classes, and ``hmm-classes`` jumps (Och & Ney 2003). Without these they learn the
    classes of a side from the text.

    Parameters
    ----------
    bitext : Bitext
    source, target : ClassList, str, path or None
        Of each side: a list, or a file of lines ``word TAB class`` as mkcls and ``train-classes`` write it, of any
        compression. Of a word's several classes the most frequent one counts. Words that are not there are looked up
        in lower case, and have no class if they are not there either.

    Returns
    -------
    Bitext

    Raises
    ------
    DataError
        When a file cannot be read or has no words, or a line is not such.

    Examples
    --------
    >>> import aligntools as at
    >>> text = at.read_bitext("data/samples/de-en.de", "data/samples/de-en.en")
    >>> classes = at.train_classes("data/samples/de-en.de", number=10)
    >>> model = at.train_aligner(at.with_word_classes(text, source=classes.class_list()), model_type="ibm4")
    """
    return replace(bitext, classes=(_lookup(source), _lookup(target)))


def _lookup(classes: SomeClasses) -> "WordLookup | None":
    if classes is None:
        return None
    from aligntools.formats.annotation.class_lists import ClassList, WordLookup, read_classes

    return WordLookup.of(classes if isinstance(classes, ClassList) else read_classes(classes))
