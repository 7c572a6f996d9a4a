"""Files of every kind, two sentences of three words each where it has sentences."""

import gzip
import io
import lzma
import zipfile

SENTENCES = ("The dog sleeps", "A gate squeaks")
TAGS = ("DT NN VBZ", "DT NN VBZ")
_PAIRS = [[pair for pair in zip(s.split(), t.split(), strict=True)] for s, t in zip(SENTENCES, TAGS, strict=True)]


def _rows(row):
    return "".join("".join(row(k, w, t) + "\n" for k, (w, t) in enumerate(s, 1)) + "\n" for s in _PAIRS)


def _conll(k, word, tag):
    return f"{k}\t{word}\t_\t{tag}\t{tag}\t_\t{(3, 3, 0)[k - 1]}\tdep\t_\t_"


TEXT = "".join(f"{s}\n" for s in SENTENCES)
CONLL = _rows(_conll)
CONLLU = CONLL.replace("1\tA", "# sent_id = 2\n1-2\tAgate" + "\t_" * 8 + "\n1\tA")
TREES = "( (S (NP (DT The) (NN dog)) (VP (VBZ sleeps))))\n( (S (NP (DT A) (NN gate)) (VP (VBZ squeaks))))\n"
TARGETS = ("Der Hund schläft", "Ein Tor quietscht")
_BOTH = list(zip(SENTENCES, TARGETS, strict=True))


def _xml(unit):
    return "".join(unit.format(s, t) for s, t in _BOTH)


def _docx():
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as file:
        file.writestr("word/document.xml", "<w:document/>")
    return out.getvalue()


#: By name: the kind, as `aligntools.formats.annotation.text_kinds.KINDS` has it or as messages call it, and bytes.
FILES = {
    "plain text": ("text", TEXT),
    "tagged text with _": ("tagged", "".join(" ".join(f"{w}_{t}" for w, t in s) + "\n" for s in _PAIRS)),
    "tagged text with /": ("tagged", "".join(" ".join(f"{w}/{t}" for w, t in s) + "\n" for s in _PAIRS)),
    "columns": ("columns", _rows(lambda k, w, t: f"{w}\t{t}")),
    "CoNLL-X": ("conll", CONLL),
    "CoNLL-U": ("conll", CONLLU),
    "CoNLL-2009": (
        "conll",
        _rows(
            lambda k, w, t: f"{k}\t{w}\t_\t_\t{t}\t{t}\t_\t_\t{(3, 3, 0)[k - 1]}\t{(3, 3, 0)[k - 1]}\tdep\tdep\t_\t_"
        ),
    ),
    "trees": ("trees", TREES),
    "trees with comments": ("trees", "# a comment\n;; another\n" + TREES),
    "export": (
        "export",
        "#FORMAT 3\n"
        + "".join(
            f"#BOS {n} 0 0 0\n"
            + "".join(f"{w}\t\t{t}\t--\tHD\t500\n" for w, t in s)
            + f"#500\t\tS\t--\t--\t0\n#EOS {n}\n"
            for n, s in enumerate(_PAIRS, 1)
        ),
    ),
    "links": ("links", "0-0 1-1 2-2\n0-0 1-1 2-2\n"),
    "A3": (
        "a3",
        "".join(
            f"# Sentence pair ({n}) source length 3 target length 3 alignment score : 0.1\n{s}\n"
            + "NULL ({ }) "
            + " ".join(f"{w} ({{ {k} }})" for k, w in enumerate(t.split(), 1))
            + "\n"
            for n, (s, t) in enumerate(_BOTH, 1)
        ),
    ),
    "bitext": ("pairs", "".join(f"{s} ||| {t}\n" for s, t in _BOTH)),
    "table": ("table", "".join(f"{s}\t{t}\n" for s, t in _BOTH)),
    "n-best lists": ("fields", "".join(f"{n} ||| {s} ||| -1.5\n" for n, s in enumerate(SENTENCES))),
    "rules": ("rules", "[X] ||| The [X,1] ||| Der [X,1] ||| F=1\n[X] ||| dog ||| Hund ||| F=1\n"),
    "ARPA": ("arpa", "\\data\\\nngram 1=3\n\n\\1-grams:\n-1\t<unk>\n-99\t<s>\n-1\t</s>\n\n\\end\\\n"),
    "TMX": (
        "tmx",
        '<?xml version="1.0"?>\n<tmx version="1.4"><header srclang="en"/><body>\n'
        + _xml('<tu><tuv xml:lang="en"><seg>{}</seg></tuv><tuv xml:lang="de"><seg>{}</seg></tuv></tu>\n')
        + "</body></tmx>\n",
    ),
    "XLIFF": (
        "xliff",
        '<xliff version="1.2"><file source-language="en" target-language="de"><body>\n'
        + _xml("<trans-unit><source>{}</source><target>{}</target></trans-unit>\n")
        + "</body></file></xliff>\n",
    ),
    "HTML": ("html", "<!DOCTYPE html>\n<html><body>\n<p>The dog sleeps</p>\n</body></html>\n"),
    "other XML": ("xml", '<?xml version="1.0"?>\n<corpus><s>The dog sleeps</s></corpus>\n'),
    "gzip": ("text", gzip.compress(TEXT.encode())),
    "xz": ("text", lzma.compress(TEXT.encode())),
    "gzip of trees": ("trees", gzip.compress(TREES.encode())),
    "DOCX": ("a ZIP archive", _docx()),
    "OLE": ("an OLE file", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(504)),
    "PDF": ("a PDF", b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n1 0 obj\n"),
    "a model": ("a file of a model", b'\x40\0\0\0\0\0\0\0{"__metadata__":{}}'),
    "UTF-16": ("UTF-16", TEXT.encode("utf-16")),
    "binary": ("binary", bytes(range(256)) * 8),
}


def content(name):
    """Return a file's bytes."""
    data = FILES[name][1]
    return data if isinstance(data, bytes) else data.encode()
