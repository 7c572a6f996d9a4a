"""Treebank text to train and score taggers on."""

from aligntools.formats.annotation.tagged_text import Tokens

#: Texts for induction: files joined.
TEXTS = {
    "ewt": ("ud/en_ewt-train.conllu.gz",),
    "wsj": ("google/en-train.conll.gz", "google/en-dev.conll.gz", "google/en-test.conll.gz"),
}
#: Train and test files for taggers, and the columns to learn.
TAGGED = {
    "ewt": ("ud/en_ewt-train.conllu.gz", "ud/en_ewt-test.conllu.gz", ("upos", "xpos")),
    "wsj": ("google/en-train.conll.gz", "google/en-test.conll.gz", ("upos", "xpos")),
    "sv": ("google/sv-train.conll.gz", "google/sv-test.conll.gz", ("upos",)),
    "id": ("google/id-train.conll.gz", "google/id-test.conll.gz", ("upos",)),
    "ja": ("google/ja-train.conll.gz", "google/ja-test.conll.gz", ("upos",)),
    "ko": ("google/ko-train.conll.gz", "google/ko-dev.conll.gz", ("upos",)),
    "it": ("ud/it_partut-train.conllu.gz", "ud/it_partut-test.conllu.gz", ("upos", "xpos")),
    "fr": ("ud/fr_partut-train.conllu.gz", "ud/fr_partut-test.conllu.gz", ("upos",)),
}


def read(folder, files, column) -> Tokens:
    """Read the words and tags of several files as one text."""
    import numpy as np

    from aligntools.formats.annotation.tagged_text import read_tags

    parts = [read_tags(str(folder / name), column) for name in files]
    offsets = [np.zeros(1, np.int64)]
    for part in parts:
        offsets.append(part.offsets[1:] + offsets[-1][-1])
    words, tags = ([x for part in parts for x in getattr(part, name)] for name in ("words", "tags"))
    offsets = np.concatenate(offsets)
    return Tokens(words, offsets, tags, np.arange(1, len(offsets)), "tagged")


def write(path, text, tags=True):
    """Write a text as word_TAG lines, or its words alone; spaces within words become no-break spaces."""
    from aligntools.formats.annotation.tagged_text import without_spaces

    words = [without_spaces(w) for w in text.words]
    tokens = [w + b"_" + t.replace(b"_", b"-") for w, t in zip(words, text.tags, strict=True)] if tags else words
    lines = [b" ".join(tokens[a:b]) for a, b in zip(text.offsets[:-1], text.offsets[1:], strict=True)]
    path.write_bytes(b"".join(line + b"\n" for line in lines))
