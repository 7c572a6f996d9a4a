"""What one part of the program writes, another reads: as it was, or refused with a line, or left out and counted.

`WAYS` has a function for each format that goes through its writer and its reader.
"""

import logging
import re
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple
from xml.sax.saxutils import escape

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import aligntools as at
from aligntools.adapters.eflomal import text as numbered_sentences
from aligntools.formats.annotation import class_lists, conll, tag_lists, tagged_text
from aligntools.formats.annotation.conll_tokens import NO_BREAK, expanded, lines_of, surface_of
from aligntools.formats.links import findings, giza, glossaries, pharaoh
from aligntools.formats.links import priors as priors_files
from aligntools.formats.links.goldlinks import read_gold
from aligntools.formats.links.ttable import read_ttable, read_vocabulary
from aligntools.formats.text import giza_trainings
from aligntools.formats.translation import derivations, plf
from aligntools.ground.errors import AligntoolsError
from aligntools.tools.checks import FoundSpan, PairCheck
from aligntools.tools.checks import row as check_row
from tests.contracts.nasty import texts, words

KEPT = settings(suppress_health_check=list(HealthCheck))


class Counted(logging.Handler):
    """How many things the program said that it left out."""

    def __init__(self):
        super().__init__()
        self.number = 0

    def emit(self, record):
        if found := re.match(r"(\d+) \w+ left out", record.getMessage()):
            self.number += int(found[1])


@pytest.fixture
def counted():
    handler = Counted()
    logging.getLogger("aligntools").addHandler(handler)
    yield handler
    logging.getLogger("aligntools").removeHandler(handler)


def one_line(error):
    assert "\n" not in str(error)


class Text(NamedTuple):
    """Sentences, and a tag for each word."""

    sentences: list
    tags: list

    @property
    def words(self):
        return [word.encode() for row in self.sentences for word in row]

    @property
    def offsets(self):
        return np.cumsum([0, *map(len, self.sentences)]).astype(np.int64)

    def distinct(self):
        return list(dict.fromkeys(self.words))


@st.composite
def tagged_texts(draw):
    sentences = draw(texts())
    size = sum(map(len, sentences))
    return Text(sentences, [tag.encode() for tag in draw(st.lists(words(), min_size=size, max_size=size))])


def put(path, data):
    """Write as commands do, and return the file's name."""
    from aligntools.formats.opening.files import writing

    with writing(path) as out:
        out.write(data)
    return str(path)


def _tagged(separator):
    def go(path, text):
        data = tagged_text.format_tagged(text.words, text.offsets, text.tags, separator)
        found = tagged_text.read_tags(put(path, data), format="tagged", separator=separator)
        return (text.words, text.offsets.tolist(), text.tags), (found.words, found.offsets.tolist(), found.tags)

    return go


def _words(path, text):
    found = tagged_text.read_words(put(path, lines_of(text.words, text.offsets, NO_BREAK)), format="text")
    return (text.words, text.offsets.tolist()), (found.words, found.offsets.tolist())


def _columns(path, text):
    some = [n for n in np.diff(text.offsets).tolist() if n]
    text = text._replace(
        tags=[tag.rstrip(b"\r") or b"_" for tag in text.tags]
    )  # others' files: it is of the line's end
    tokens, data = zip(text.words, text.tags, strict=True), b""
    for n in some:
        data += b"".join(b"%s\t%s\n" % next(tokens) for _ in range(n)) + b"\n"
    found = tagged_text.read_tags(put(path, data), format="columns")
    return (text.words, some, text.tags), (found.words, np.diff(found.offsets).tolist(), found.tags)


def _conll(path, text):
    found = conll.read_conll(put(path, conll.format_conll(text.words, text.offsets, {3: text.tags, 9: text.tags})))
    wanted = text.words, text.offsets.tolist(), text.tags, text.tags
    return wanted, (found.words, found.offsets.tolist(), found.column(3), found.column(9))


def _conllu(path, text):
    """Ranges, empty nodes and comments stay, to the byte, also where columns are replaced and put back."""
    lines, tags = [], iter(text.tags)
    for row in text.sentences:
        lines += [b"# sent_id = " + b"".join(word.encode() for word in row)]
        for k, word in enumerate(row, 1):
            tag = next(tags)
            if k % 2 and k < len(row):
                lines.append(b"\t".join([b"%d-%d" % (k, k + 1), tag, *[b"_"] * 7, b"Some=" + word.encode()]))
            lines.append(b"\t".join([b"%d" % k, word.encode(), tag, tag, *[b"_"] * 5, b"SpacesAfter=" + word.encode()]))
            lines.append(b"\t".join([b"%d.1" % k, word.encode(), *[b"_"] * 8]))
        lines.append(b"")
    data = b"".join(line + b"\n" for line in lines)
    read = conll.read_conll(put(path, data))
    changed = conll.read_conll(put(path, read.format({4: text.tags, 2: [b"_"] * len(text.tags)})))
    assert changed.column(4) == text.tags
    back = changed.format({4: [b"_"] * len(text.tags), 2: text.tags})
    surface_of(read)
    return (data, data, text.words), (read.format(), back, read.words)


def _conll_2009(path, text):
    lines, tags = [], iter(text.tags)
    for row in text.sentences:
        for k, word in enumerate(row, 1):
            tag = next(tags)
            middle = [
                word.encode(),
                tag,
                tag,
                tag,
                tag,
                b"_",
                b"_",
                b"%d" % (k - 1),
                b"%d" % (k - 1),
                tag,
                tag,
                b"_",
                tag,
            ]
            lines.append(b"\t".join([b"%d" % k, *middle]))
        lines += [b""] if row else []
    data = b"".join(line + b"\n" for line in lines)
    read = conll.read_conll(put(path, data))
    back = read.format({3: text.tags, 2: text.tags})
    return (data, data, text.words), (read.format(), back, read.words)


def _split_tokens(path, text):
    """`tag --split-tokens` makes ranges of words."""
    whole = conll.parse_conll("-", conll.format_conll(text.words, text.offsets).splitlines(keepends=True))
    pieces = [[tag, tag] if k % 2 else None for k, tag in enumerate(text.tags)]
    found = conll.read_conll(put(path, expanded(whole, pieces).format()))
    wanted = [one for word, made in zip(text.words, pieces, strict=True) for one in (made or [word])]
    return (wanted, text.words), (found.words, surface_of(found).column(1))


def _posteriors(path, text):
    cells, values = np.arange(len(text.words) + 1), np.ones(len(text.words))
    data = tag_lists.format_posteriors(text.words, text.offsets, cells, text.tags, values)
    found = tag_lists.read_posteriors(put(path, data))
    pairs = list(zip(text.words, text.tags, strict=True))
    edges = text.offsets.tolist()
    wanted = [[(w, {t: 1.0}) for w, t in pairs[a:b]] for a, b in pairwise(edges)]
    return wanted, found


class Sequence(NamedTuple):
    """Tags of a sentence."""

    tags: list
    log_probability: float


def _sequences(path, text):
    rows = [[word for word in row] for row in text.sentences if row]
    data = put(path, tag_lists.format_sequences(0, [[Sequence(row, -1.5)] for row in rows]))
    lines = Path(data).read_bytes().decode().split("\n")[:-1]
    parts = [(line.partition(" ||| ")[0], line.partition(" ||| ")[2].rpartition(" ||| ")) for line in lines]
    return [(str(n), row, "-1.500000") for n, row in enumerate(rows)], [(n, p[0].split(" "), p[2]) for n, p in parts]


def _tag_dictionary(path, text):
    pairs = dict(zip(text.words, text.tags, strict=True))
    data = tag_lists.format_dictionary({word.decode(): {tag.decode(): 2.0} for word, tag in pairs.items()})
    return {word: {tag: 2.0} for word, tag in pairs.items()}, tag_lists.read_dictionary(put(path, data)) if data else {}


def _classes(paths):
    def go(path, text):
        own = text.distinct()
        names = [format(k, "08b").encode() if paths else b"c%d" % k for k in range(len(own))]
        if not own:
            return [], []
        class_lists.ClassList(own, names, np.arange(1, len(own) + 1), paths).save(path)
        wanted = dict(zip(own, names, strict=True))
        if not Path(path).stat().st_size:
            return wanted, {}
        found = class_lists.read_classes(path)
        assert found.paths == paths
        return wanted, dict(zip(found.words, found.classes, strict=True))

    return go


def _mkcls(path, text):
    own = [*text.distinct(), b"word"]  # where all words are of 0 and 1, other programs take it for paths too
    found = class_lists.read_classes(put(path, class_lists.format_classes(own, np.full(len(own), 7))))
    return dict.fromkeys(own, b"7"), dict(zip(found.words, found.classes, strict=True))


def _giza_classes(path, text):
    own = text.distinct()
    giza.write_classes(path, own, np.arange(1, len(own) + 1))
    return set(own), set(giza.read_word_classes(path))


def _vcb(path, text):
    own = text.distinct()
    put(path, giza_trainings.format_vcb(own, [3] * len(own)))
    found = giza_trainings.read_vcb(path)
    assert {int(k): w for k, w in read_vocabulary(path).items() if int(k)} == found
    return own, list(found.values())


def _numbered(path, text):
    own = text.distinct()
    ids = [np.array([own.index(w.encode()) for w in row], np.int32) for row in text.sentences]
    put(path, b"".join(numbered_sentences.format_numbered(ids, len(own), [w.decode() for w in own])))
    _, vocabulary, named = numbered_sentences.read_numbered(path)
    return [w.decode() for w in own], vocabulary.words()[1:] if named else []


def _giza_links(path, text):
    lines = [" ".join([*row, ""]).encode() for row in text.sentences]
    links = pharaoh.Links.from_lists([[(k, k) for k in range(len(row))] for row in text.sentences])
    data = giza.format_giza_a3(links, b"\n".join(lines), b"\n".join(lines))
    found, _ = giza.read_giza_a3(put(path, data))
    return links.tolists(), found.tolists()


def _links(path, text):
    lists = [sorted({(k, len(word) % 7) for k, word in enumerate(row)}) for row in text.sentences]
    links = pharaoh.Links.from_lists(lists)
    shares = np.linspace(0, 1, len(links.pairs))
    found, values = pharaoh.read_with_probabilities(put(path, pharaoh.format_pharaoh(links, probabilities=shares)))
    plain = pharaoh.read_pharaoh(put(path, pharaoh.format_pharaoh(links)))
    assert values is None or np.allclose(values, shares, atol=6e-5)
    gold = read_gold(path).possible.tolists() if any(lists) else lists
    marked = read_gold(put(path, pharaoh.format_pharaoh(links).replace(b"-", b"?"))) if any(lists) else None
    assert marked is None or (marked.possible.tolists(), any(marked.sure.tolists())) == (lists, False)
    return (lists, lists, lists), (found.tolists(), plain.tolists(), gold)


def _priors(path, text):
    own = text.distinct()
    given = [(w.decode(), w.decode(), 2) for w in own if w != b"<NULL>"]
    priors_files.write_priors(path, priors_files.priors_of(given, [(w, 1, 3) for w, _, _ in given], [], [(0, 1)], []))
    found = priors_files.read_priors(path)
    return {w for w, _, _ in given}, set(found.source_vocabulary.words()[1:])


def _ttable(path, text):
    from aligntools.links.translation_tables import count_links

    lines = [" ".join(row) for row in text.sentences if row] or ["a"]
    bitext = at.read_bitext(lines, lines, case_sensitive=True)
    links = pharaoh.Links.from_lists([[(k, k) for k in range(n)] for n in bitext.source.lengths().tolist()])
    tables = count_links(bitext, links)
    tables.write(path, "source")
    own = set(bitext.source_vocabulary.words()[1:])
    found = read_ttable(path)
    short = tables.shortlist()
    short.save(path)
    read_ttable(path)
    nulls = {"NULL", "<eps>"}
    given, observed = ({word.decode() for word in side} - nulls for side in (found.given, found.words))
    assert given == observed
    return own - nulls, given


def _glossary(form):
    def go(path, text):
        rows = [" ".join(row) for row in text.sentences if row]
        rows = list(dict.fromkeys(rows))
        if form == "tbx":
            entries = [([term, "an example"], [term, ""], "note") for term in rows]
            data = "".join(glossaries.format_tbx(entries, ["de", "en"]))
        else:
            data = glossaries.format_table([[t, t, "1", "0", "0", "1", "", t, t + "\tx"] for t in rows], form == "csv")
        has_terms = "<term>" in data if form == "tbx" else data.count("\n") > 1
        found = glossaries.read_glossary(put(path, data.encode())) if has_terms else []
        assert all(a == b for a, b in found)
        return rows, [a for a, _ in found]

    return go


def _findings(form):
    def go(path, text):
        pairs = []
        for number, sentence in enumerate(text.sentences, 1):
            spans = [FoundSpan(0, len(sentence), 1.0, " ".join(sentence))] if sentence else []
            pairs.append(PairCheck(number, 1.0, 0.5, True, 0.0, 0.0, spans, spans, [], ["10"], [], [], ["{0}"]))
        lines = [check_row(pair, "a", "b", form).encode() + b"\n" for pair in pairs]
        return [pair.finding for pair in pairs], findings.read_findings(put(path, b"".join(lines)))

    return go


class Candidate(NamedTuple):
    """A translation."""

    words: list
    features: dict
    score: float


def _nbest(path, text):
    rows = [row for row in text.sentences if row]
    data = derivations.format_nbest(0, [[Candidate(row, {"lm": 1.0}, -2.0)] for row in rows]).decode()
    found = [line.split(" ||| ") for line in data.split("\n")[:-1]]
    escaped = [[word if word != "|||" else "&#124;&#124;&#124;" for word in row] for row in rows]
    return escaped, [fields[1].split(" ") for fields in found if len(fields) == 4]


def _lattices(path, text):
    rows = [[(word,) for word in row] for row in text.sentences]
    wanted = [plf.WordLattice(tuple((plf.Arc(word, (0.5,)),) for (word,) in row)) for row in rows]
    put(path, "".join(f"{lattice}\n" for lattice in wanted).encode())
    return wanted, list(plf.stream_lattices(path, "plf"))


def _derivations(path, text):
    from aligntools.formats.translation.derivations import Derivation, DerivedSentence, RuleUse

    made = []
    for row in text.sentences:
        use = RuleUse("X", tuple(row), tuple(row), (0, len(row)), (), -1.0, {"lm": -1.0}) if row else None
        made.append(DerivedSentence(tuple(row), (Derivation(tuple(row), -1.0, (use,)),) if use else ()))
    put(path, derivations.format_header() + b"".join(derivations.format_sentences(made)))
    return made, derivations.read_derivations(path)


def _no_xml(text):
    """Return sentences without what XML has no form for, nor words of its white space."""
    return [
        ["".join(c for c in word if c >= " " and c not in "\uffff\ufffe") for word in row] for row in text.sentences
    ]


def _exchange(kind):
    def go(path, text):
        rows = [[word for word in row if word] for row in _no_xml(text)]
        sides = [f"{escape(' '.join(row))}" for row in rows]
        if kind == "tmx":
            units = "".join(
                f'<tu><tuv xml:lang="de"><seg>{side}</seg></tuv><tuv xml:lang="en"><seg>{side}</seg></tuv></tu>\n'
                for side in sides
            )
            data = f'<tmx version="1.4"><header srclang="de"/><body>{units}</body></tmx>'
        else:
            units = "".join(
                f'<trans-unit id="{n}"><source>{side}</source><target>{side}</target></trans-unit>\n'
                for n, side in enumerate(sides)
            )
            head = '<file source-language="de" target-language="en">'
            data = f'<xliff version="1.2">{head}<body>{units}</body></file></xliff>'
        if not sides:
            return [], []
        put(path, data.encode())
        found = at.read_bitext(path, languages="de,en", case_sensitive=True)
        edges = found.source.offsets.tolist()
        ids = [found.source.tokens[a:b].tolist() for a, b in pairwise(edges)]
        return rows, [[found.source_vocabulary.word(k) for k in row] for row in ids]

    return go


def _arpa(path, text):
    model = at.train_lm([" ".join(row) for row in text.sentences] + ["word"], order=2, skip_symbols=True, threads=1)
    model.save(path, "arpa")
    again = at.LanguageModel.load(path)
    lines = [" ".join(row) for row in text.sentences]
    return [len(model), *(round(model.score(x), 2) for x in lines)], [
        len(again),
        *(round(again.score(x), 2) for x in lines),
    ]


def _grammar(style):
    def go(path, text):
        lines = [" ".join([*row, "x"]) for row in text.sentences] or ["x"]
        links = [[(k, k) for k in range(len(row) + 1)] for row in text.sentences] or [[(0, 0)]]
        grammar = at.extract_grammar(lines, lines, pharaoh.Links.from_lists(links), threads=1)
        grammar.save(path, style)
        return sorted(map(sides, grammar)), sorted(map(sides, at.Grammar.load(path)))

    return go


def sides(rule):
    return str(rule).split(" ||| ")[1:3]


#: Formats whose writer leaves out what they cannot hold, and counts it.
LEAVING_OUT = {
    *("dictionary of tags", "classes", "paths", "mkcls"),
    *("priors", "tables of words", "terms, TSV", "terms, CSV", "terms, TBX"),
}
WAYS = {
    "word_TAG": _tagged(b"_"),
    "word/TAG": _tagged(b"/"),
    "words": _words,
    "columns": _columns,
    "CoNLL-X": _conll,
    "CoNLL-U": _conllu,
    "CoNLL-2009": _conll_2009,
    "ranges of split tokens": _split_tokens,
    "posteriors of tags": _posteriors,
    "lists of tags": _sequences,
    "dictionary of tags": _tag_dictionary,
    "classes": _classes(False),
    "paths": _classes(True),
    "mkcls": _mkcls,
    "GIZA++ classes": _giza_classes,
    "GIZA++ vocabulary": _vcb,
    "GIZA++ alignments": _giza_links,
    "numbered sentences": _numbered,
    "Pharaoh": _links,
    "priors": _priors,
    "tables of words": _ttable,
    "terms, TSV": _glossary("tsv"),
    "terms, CSV": _glossary("csv"),
    "terms, TBX": _glossary("tbx"),
    "check, TSV": _findings("tsv"),
    "check, JSON": _findings("json"),
    "n-best lists": _nbest,
    "lattices": _lattices,
    "TMX": _exchange("tmx"),
    "XLIFF": _exchange("xliff"),
    "ARPA": _arpa,
    "grammars, Hiero": _grammar("hiero"),
    "grammars, Moses": _grammar("moses"),
    "derivations": _derivations,
}


@pytest.mark.parametrize("name", WAYS)
def test_it_comes_back(name, tmp_path, counted):

    @KEPT
    @given(tagged_texts())
    def there_and_back(text):
        counted.number = 0
        (tmp_path / "file").unlink(missing_ok=True)
        try:
            wanted, found = WAYS[name](str(tmp_path / "file"), text)
        except AligntoolsError as error:
            if (tmp_path / "file").exists():
                raise  # what was written is to be read
            one_line(error)
            return
        if name in LEAVING_OUT and wanted != found:
            assert len(wanted) > len(found)
            assert all(one in wanted for one in found)
            assert counted.number, "what is missing was not counted"
        else:
            assert found == wanted

    there_and_back()
