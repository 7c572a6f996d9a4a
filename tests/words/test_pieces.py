"""Words and pieces: which pieces each word has, by marks and by letters."""

import itertools
import unicodedata

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aligntools.formats.links.pharaoh import Links
from aligntools.links.pieces import remapped
from aligntools.words import pieces as marks
from aligntools.words.pieces import cut_as_python, cut_by_marks, cut_by_words, recognized, words_of_line
from aligntools.words.tokenizers import raw_words, tokenizer

LETTERS = st.text("abcé語", min_size=1, max_size=6)
WORDS = st.lists(LETTERS, max_size=6)
SCHEMES = ("sentencepiece", "bpe", "wordpiece", "icu")


def parts(word, data):
    """Cut a word at some places."""
    places = sorted(data.draw(st.sets(st.integers(1, len(word) - 1)))) if len(word) > 1 else []
    return [word[a:b] for a, b in itertools.pairwise([0, *places, len(word)])]


def marked(words, scheme, data):
    """Return a line of pieces, and for each piece its word; None for a mark of a space."""
    line, of = [], []
    for number, word in enumerate(words):
        own = parts(word, data)
        if scheme == "bpe":
            own = [f"{piece}@@" for piece in own[:-1]] + own[-1:]
        elif scheme == "wordpiece":
            own = own[:1] + [f"##{piece}" for piece in own[1:]]
        elif scheme == "icu" and number:
            line, of = [*line, "▁"], [*of, None]
        elif scheme == "sentencepiece" and data.draw(st.booleans()):
            own = ["▁", *own]
        elif scheme == "sentencepiece":
            own[0] = "▁" + own[0]
        line, of = line + own, of + [number] * len(own)
    return " ".join(line).encode(), of


def spans(units, sentence):
    own = slice(*units.offsets[sentence : sentence + 2].tolist())
    return list(zip(units.begins[own].tolist(), units.ends[own].tolist(), strict=True))


@given(st.lists(WORDS, max_size=4), st.sampled_from(SCHEMES), st.data())
def test_every_piece_belongs_to_its_word(sentences, scheme, data):
    lines, of = zip(*(marked(words, scheme, data) for words in sentences), strict=True) if sentences else ([], [])
    raw = [" ".join(words).encode() for words in sentences]
    for cut in (cut_by_marks(lines, scheme), cut_by_words(raw, lines, scheme)):
        assert not len(cut.wrong)
        assert cut.pieces_of.lengths().tolist() == [len(words) for words in sentences]
        for n, expected in enumerate(of):
            found = spans(cut.words_of, n)
            assert [(a, b) for a, b in found if a != b] == [(w, w + 1) for w in expected if w is not None]
            assert len(found) == len(expected)
            for word, (begin, end) in enumerate(spans(cut.pieces_of, n)):
                assert end > begin
                assert set(expected[begin:end]) == {word}
                pieces = lines[n].decode().split()
                assert {k for k, w in enumerate(expected) if w == word and pieces[k] != "▁"} == set(range(begin, end))
    assert [words_of_line(line, scheme) for line in lines] == raw


@given(st.lists(st.tuples(WORDS, WORDS), min_size=1, max_size=4), st.sampled_from(SCHEMES), st.data())
def test_words_to_pieces_to_words_changes_nothing(pairs, scheme, data):
    drawn = [
        data.draw(st.sets(st.tuples(st.integers(0, len(s) - 1), st.integers(0, len(t) - 1)))) if s and t else set()
        for s, t in pairs
    ]
    links = Links.from_lists(drawn)
    probabilities = np.linspace(0.1, 0.9, len(links.pairs)).astype(np.float32)
    cuts = [cut_by_marks([marked(pair[side], scheme, data)[0] for pair in pairs], scheme) for side in (0, 1)]
    there, p = remapped(links, *(cut.pieces_of for cut in cuts), probabilities)
    back, q = remapped(there, *(cut.words_of for cut in cuts), p)
    assert back.tolists() == links.tolists()
    assert q.tolist() == probabilities.tolist()
    naive = [
        sorted(
            (a, b)
            for i, j in sentence
            for a in range(*spans(cuts[0].pieces_of, n)[i])
            for b in range(*spans(cuts[1].pieces_of, n)[j])
        )
        for n, sentence in enumerate(drawn)
    ]
    assert there.tolists() == naive


def test_pieces_across_lines_and_spaces():
    cut = cut_by_marks([b"a@@", b"b", b"", b"##"], "bpe")
    assert cut.pieces_of.offsets.tolist() == [0, 1, 2, 2, 3]
    cut = cut_by_marks(["▁in ▁of▁the x".encode()], "sentencepiece")
    assert spans(cut.words_of, 0) == [(0, 1), (1, 3), (2, 3)]
    assert spans(cut.pieces_of, 0) == [(0, 1), (1, 2), (1, 3)]


@pytest.mark.parametrize("pieces", ["▁a ▁c", "▁a", "▁a ▁b ▁c", "▁a ▁<unk> ▁c", "", "\udcff"])
def test_pieces_of_other_words_are_wrong(pieces):
    lines = [b"x", pieces.encode("utf-8", "surrogateescape"), b"z"]
    cut = cut_by_words([b"x", b"a b", b"z"], lines, "sentencepiece")
    assert cut.wrong.tolist() == [1]
    assert cut.pieces_of.offsets.tolist() == [0, 1, 1, 2]


@given(st.lists(st.text(st.sampled_from("ab \t\r\x0b\x1c\x85\xa0\u2003\u2028\u3000"), max_size=8), max_size=3))
def test_words_are_counted_as_python_counts(lines):
    encoded = [line.encode() for line in lines]
    units = cut_as_python(encoded)
    if units is None:
        assert all(set(line.split()) == {w for w in line.replace("\t", " ").split(" ") if w} for line in lines)
        return
    for n, line in enumerate(lines):
        found = spans(units, n)
        ours = [word for word in line.replace("\t", " ").split(" ") if word]
        assert [line.split()[a:b] for a, b in found] == [word.split() for word in ours]


# Characters that are not seen, special tokens, and other schemes


def naive_invisible():
    """Unicode's Default_Ignorable_Code_Point without what is unassigned there, controls and U+FFFD."""
    yield from (chr(c) for c in range(0x100) if unicodedata.category(chr(c)) == "Cc" and chr(c) not in "\t\n")
    for a, b in [(0x200B, 0x200F), (0x2060, 0x206F), (0xFE00, 0xFE0F), (0x180B, 0x180F), (0xE0100, 0xE01EF)]:
        yield from map(chr, range(a, b + 1))
    yield from "\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u202a\u202e\u3164\ufeff\uffa0\ufff0\ufffd\U0001d173"


INVISIBLE = sorted(set(naive_invisible()))


#: Ranges of Unicode's Default_Ignorable_Code_Point, and U+FFFD.
IGNORABLE = """AD 34F 61C 115F-1160 17B4-17B5 180B-180F 200B-200F 202A-202E 2060-206F 3164 FE00-FE0F FEFF FFA0 FFF0-FFF8
    FFFD 1BCA0-1BCA3 1D173-1D17A E0000-E0FFF"""


def test_what_is_not_seen_are_controls_and_what_unicode_says():
    ranges = [[int(end, 16) for end in one.split("-")] for one in IGNORABLE.split()]
    ignorable = {code for ends in ranges for code in range(ends[0], ends[-1] + 1)}
    for code in (*range(0x20000), *range(0xDFFF0, 0xE1010)):
        if chr(code) not in "\t\n" and not 0xD800 <= code < 0xE000:
            found = marks.INVISIBLE.fullmatch(chr(code).encode()) is not None
            assert found == (code in ignorable or unicodedata.category(chr(code)) == "Cc"), hex(code)
    assert all(marks.INVISIBLE.fullmatch(c.encode()) for c in INVISIBLE)


@given(st.lists(WORDS, min_size=1, max_size=4), st.sampled_from(SCHEMES), st.data())
def test_what_is_not_seen_changes_no_cut(sentences, scheme, data):
    lines, _ = zip(*(marked(words, scheme, data) for words in sentences), strict=True)
    raw = [" ".join(words).encode() for words in sentences]
    expected = cut_by_words(raw, lines, scheme)
    some = [
        " ".join(f"{data.draw(st.sampled_from(INVISIBLE))}{word[:1]}{data.draw(st.sampled_from(INVISIBLE))}{word[1:]}"
                 for word in words).encode() for words in sentences
    ]  # fmt: skip
    assert not any(b"\t" in line or b"\n" in line for line in some)
    found = cut_by_words(some, lines, scheme)
    assert not len(found.wrong)
    for units in ("words_of", "pieces_of"):
        assert getattr(found, units).begins.tolist() == getattr(expected, units).begins.tolist()
        assert getattr(found, units).ends.tolist() == getattr(expected, units).ends.tolist()


@pytest.mark.parametrize(
    ("words", "pieces", "scheme", "found"),
    [
        ("Hello, world", "Hello , ▁ world", "icu", [(0, 2), (3, 4)]),
        ("Hello , world", "Hello , ▁ world", "icu", [(0, 1), (1, 2), (3, 4)]),  # its tokens without the spaces
        ("Éa b.", "ea b .", "wordpiece", [(0, 1), (1, 3)]),
        ("ﬁn", "▁f in", "sentencepiece", [(0, 2)]),
        ("a 😀 b", "▁a ▁ <0xF0> <0x9F> ▁b", "sentencepiece", [(0, 1), (2, 4), (4, 5)]),
        ("a b c", "a [UNK] c", "wordpiece", [(0, 1), (1, 2), (2, 3)]),
        ("no\xa0break x", "▁no ▁break ▁x", "sentencepiece", [(0, 2), (2, 3)]),
        ("می\u200cخواهم کتاب\u200cها", "▁می ▁خواهم ▁کتاب ها", "sentencepiece", [(0, 2), (2, 4)]),
        ("a \u200c b", "▁a ▁b", "sentencepiece", [(0, 1), (1, 1), (1, 2)]),  # a word that nobody sees
        ("\ufeffa b\u200b", "\ufeff a b", None, [(1, 2), (2, 3)]),
        ("می\u200cخ x", "▁می <0xE2> <0x80> <0x8C> خ ▁x", "sentencepiece", [(0, 5), (5, 6)]),
        ("né x", "▁n <0xC3> <0xA9> ▁x", "sentencepiece", [(0, 3), (3, 4)]),
        ("❤\ufe0f b", "▁ ❤ ▁b", "sentencepiece", [(1, 2), (2, 3)]),
        ("เก่า x", "เกา x", "wordpiece", [(0, 1), (1, 2)]),  # BERT drops all of Mn
        ("ទឹក\u200bស x", "▁ទឹក ▁ស ▁x", "sentencepiece", [(0, 2), (2, 3)]),
        ("a\x07b \ufffd c", "a ##b c", "wordpiece", [(0, 2), (2, 2), (2, 3)]),
        ("a \u200b <unk>x c", "▁a ▁<unk> ▁c", "sentencepiece", [(0, 1), (1, 1), (1, 2), (2, 3)]),
        ("Hello , world !", "Hel￭ lo ￭, wor￭ ld ￭!", "opennmt", [(0, 2), (2, 3), (3, 5), (5, 6)]),
        ("Hello, world", "hel lo</w> , wor ld</w>", "end-of-word", [(0, 3), (3, 5)]),
        ("Hello, naïve 語", "Hello , Ġna Ã¯ ve Ġè ª ŀ", "byte-level", [(0, 2), (2, 5), (5, 8)]),
        ("Hà_Nội là", "Hà Nội là", None, [(0, 2), (2, 3)]),  # words of syllables
        ("Hà Nội là", "Hà_Nội là", "underscore", [(0, 1), (0, 1), (1, 2)]),
        ("Hà Nội là", "Hà_Nội là", None, [(0, 1), (0, 1), (1, 2)]),
        ("hello , you", "[CLS] hel ##lo , you [SEP] [PAD]", "wordpiece", [(1, 3), (3, 4), (4, 5)]),
        ("hello you", "__en__ ▁hel lo ▁you </s>", "sentencepiece", [(1, 3), (3, 4)]),
        ("hello you", "<2de> hello you", "bpe", [(1, 2), (2, 3)]),
        ("hello you", ">>deu<< ▁hello ▁you", "sentencepiece", [(1, 2), (2, 3)]),
        ("hello you", "▁hello ▁you </s> en_XX", "sentencepiece", [(0, 1), (1, 2)]),
        ("hello you", "eng_Latn ▁hello ▁you </s>", "sentencepiece", [(1, 2), (2, 3)]),
        ("hello you", "<s> hello Ġyou </s>", "byte-level", [(1, 2), (2, 3)]),
        ("a <s> b", "a <s> b", "bpe", [(0, 1), (1, 2), (2, 3)]),  # the text has it too
        ("", "[CLS] [SEP]", "wordpiece", []),
    ],
)
def test_pieces_of_words_of_all_schemes(words, pieces, scheme, found):
    for lines in ([words, "z"], ["z", words]), ([words],):
        for raw in lines:
            own = [pieces if line == words else "z" for line in raw]
            cut = cut_by_words([line.encode() for line in raw], [line.encode() for line in own], scheme)
            assert not len(cut.wrong)
            assert spans(cut.pieces_of, raw.index(words)) == found


@pytest.mark.parametrize(
    ("scheme", "line", "words", "pieces", "text"),
    [
        ("sentencepiece", "▁Hel lo , ▁wor ld", [0, 0, 0, 1, 1], [(0, 3), (3, 5)], None),
        ("sentencepiece", "▁ 北 京 ▁ ▁x ▁", [0, 0, 0, 1, 1, 1], [(1, 3), (4, 5)], None),
        ("sentencepiece", "▁", [None], [], None),
        ("sentencepiece", "no mark", [0, 0], [(0, 2)], None),
        ("icu", "Hello , ▁ world . ▁", [0, 0, None, 1, 1, None], [(0, 2), (3, 5)], None),
        ("icu", "▁ a", [None, 0], [(1, 2)], None),
        ("bpe", "lo@@ w er@@", [0, 0, 1], [(0, 2), (2, 3)], None),
        ("bpe", "@@ x", [0, 1], [(0, 1), (1, 2)], None),
        ("wordpiece", "##a b ##c", [0, 1, 1], [(0, 1), (1, 3)], None),
        ("opennmt", "Hel￭ lo ￭, wor￭ ld ￭!", [0, 0, 0, 1, 1, 1], [(0, 3), (3, 6)], "Hello, world!"),
        ("opennmt", "a ￭ b", [0, 0, 0], [(0, 3)], "ab"),
        ("end-of-word", "lo w</w> x</w> y", [0, 0, 1, 2], [(0, 2), (2, 3), (3, 4)], "low x y"),
        ("byte-level", "<s> Hel lo Ġna Ã¯ ve </s>", [None, 0, 0, 1, 1, 1, None], [(1, 3), (3, 6)], "Hello naïve"),
        ("byte-level", "è ª ŀ Ġx", [0, 0, 0, 1], [(0, 3), (3, 4)], "語 x"),
        ("underscore", "Hà_Nội là _ a_", [(0, 2), 2, 3, 4], [(0, 1), (0, 1), (1, 2), (2, 3), (3, 4)], "Hà Nội là _ a_"),
        ("bpe", "__en__ a@@ b </s>", [None, 0, 0, None], [(1, 3)], "ab"),
        ("wordpiece", "[CLS] a ##b [SEP]", [None, 0, 0, None], [(1, 3)], "ab"),
    ],
)
def test_words_of_pieces_by_their_marks(scheme, line, words, pieces, text):
    cut = cut_by_marks([line.encode()], scheme)
    wanted = [(w, w + 1) if isinstance(w, int) else w for w in words]
    assert [None if a == b else (a, b) for a, b in spans(cut.words_of, 0)] == wanted
    assert spans(cut.pieces_of, 0) == pieces
    assert text is None or words_of_line(line.encode(), scheme).decode() == text


def test_every_byte_has_a_letter_in_the_alphabet():
    """And GPT-2's own table of them, at some of its edges."""
    assert sorted(marks._BYTES.values()) == list(range(256))
    assert {c: marks._BYTES[c] for c in "ĠĊ!~ÿĀŃ"} == {"Ġ": 32, "Ċ": 10, "!": 33, "~": 126, "ÿ": 255, "Ā": 0, "Ń": 173}


@pytest.mark.parametrize(
    ("line", "scheme"),
    [
        ("▁a b ▁", "sentencepiece"), ("a ▁ b", "icu"), ("a@@ b", "bpe"), ("a ##b", "wordpiece"), ("a b", None),
        ("a￭ b", "opennmt"), ("a ￭b", "opennmt"), ("a</w>", "end-of-word"), ("a Ġb", "byte-level"),
        ("b " * 11 + "Ġorġ", None), ("a_b c", None),
    ],
)  # fmt: skip
def test_schemes_are_recognized(line, scheme):
    assert recognized([b"x", line.encode()]) == scheme


EMOJI = [
    *("👨‍👩‍👧‍👦", "👍🏽", "👩🏽‍🚀", "❤️‍🔥", "🤦🏼‍♂️", "🇩🇪", "1️⃣", "#️⃣", "☺︎"),
    "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
]
#: Words with what is not seen in them, with marks, with clusters of other scripts.
CLUSTERS = [
    *(
        *("Sil\u00adben\u00adtren\u00adnung", "\u200fשלום\u200f", "a\u2060b", "می\u200cخواهم", "क्\u200dष"),
        "\u2066abc\u2069",
    ),
    *("Cafe\u0301s", "שָׁלוֹם", "n\u0303", "\ufeffWort", "각", "नमस्ते"),
]
PIECES = [*EMOJI, *CLUSTERS, *" .,('-x7B\u200d\u200e\ufe0f\u0301国กำｶﾞ", "don't", "newText", "😀", "🇩"]


def found(name, text):
    """Return where the words of a text are, found in one of the ways that there are."""
    if name == "raw":
        return raw_words(text)
    pytest.importorskip("sacremoses" if name == "moses" else "icu4py.breakers", exc_type=Exception)
    return tokenizer("en" if name == "moses" else "", name).spans(text)


@pytest.mark.parametrize("name", ["raw", "moses", "icu"])
@pytest.mark.parametrize("word", [*EMOJI, *CLUSTERS], ids=ascii)
def test_each_is_one_word(name, word):
    text = f"({word}) und {word}, {word}"
    words = [text[begin:end] for begin, end in found(name, text)]
    assert words == ["(", word, ")", "und", word, ",", word]
    if name != "raw":
        assert tokenizer("en" if name == "moses" else "", name)(text.encode()).decode().split(" ") == words


@pytest.mark.parametrize("name", ["raw", "moses", "icu"])
@given(text=st.lists(st.sampled_from(PIECES), max_size=12).map("".join))
def test_no_word_ends_within_a_cluster(name, text):
    regex = pytest.importorskip("regex")
    spans = found(name, text)
    ends = {at for span in spans for at in span}
    for cluster in regex.finditer(r"(?!\s)\X", text):
        assert not ends.intersection(range(cluster.start() + 1, cluster.end())), ascii(text)
    assert "".join(text[begin:end] for begin, end in spans) == "".join(text.split())
