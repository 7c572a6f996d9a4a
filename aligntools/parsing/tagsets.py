"""Tables from treebanks' tags to the twelve universal ones (Petrov, Das & McDonald 2012)."""

from collections.abc import Sequence

#: The twelve; ``.`` is punctuation.
UNIVERSAL = (
    b"NOUN",
    b"VERB",
    b"ADJ",
    b"ADV",
    b"PRON",
    b"DET",
    b"ADP",
    b"NUM",
    b"CONJ",
    b"PRT",
    b".",
    b"X",
)

#: Universal Dependencies' UPOS.
UPOS = {
    b"PROPN": b"NOUN",
    b"AUX": b"VERB",
    b"SCONJ": b"CONJ",
    b"CCONJ": b"CONJ",
    b"PART": b"PRT",
    b"PUNCT": b".",
    b"SYM": b"X",
    b"INTJ": b"X",
    b"_": b"X",
}

#: Penn Treebank tags, with those that UD's English treebanks add.
PENN = {
    **dict[bytes, bytes].fromkeys([b"NN", b"NNS", b"NNP", b"NNPS"], b"NOUN"),
    **dict[bytes, bytes].fromkeys([b"MD", b"VB", b"VBD", b"VBG", b"VBN", b"VBP", b"VBZ"], b"VERB"),
    **dict[bytes, bytes].fromkeys([b"JJ", b"JJR", b"JJS", b"AFX"], b"ADJ"),
    **dict[bytes, bytes].fromkeys([b"RB", b"RBR", b"RBS", b"WRB"], b"ADV"),
    **dict[bytes, bytes].fromkeys([b"PRP", b"PRP$", b"WP", b"WP$", b"EX"], b"PRON"),
    **dict[bytes, bytes].fromkeys([b"DT", b"PDT", b"WDT"], b"DET"),
    **dict[bytes, bytes].fromkeys([b"RP", b"TO", b"POS"], b"PRT"),
    **dict[bytes, bytes].fromkeys(
        [b".", b",", b":", b"``", b"''", b"(", b")", b"-LRB-", b"-RRB-", b"#", b"$", b"HYPH", b"NFP"], b"."
    ),
    **dict[bytes, bytes].fromkeys([b"FW", b"LS", b"SYM", b"UH", b"ADD", b"GW", b"XX"], b"X"),
    b"IN": b"ADP",
    b"CD": b"NUM",
    b"CC": b"CONJ",
}

TABLES = {"upos": UPOS, "penn": PENN}


def universal(tags: Sequence[bytes], table: dict[bytes, bytes] | str = "upos") -> list[bytes]:
    """Map tags to the twelve.

    table: What is not in it stays if it is one of the twelve already, and becomes X otherwise.
    """
    known = TABLES[table] if isinstance(table, str) else table
    full = {tag: known.get(tag, tag if tag in UNIVERSAL else b"X") for tag in set(tags)}
    return [full[tag] for tag in tags]
