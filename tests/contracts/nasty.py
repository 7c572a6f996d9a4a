"""Words, tags and text of any characters: what readers and writers have to hold, refuse, or leave out and count."""

from hypothesis import strategies as st

#: Words that look like a format's own marks, and characters that some programs take for the end of a word or of a line.
WORDS = [
    *("|", "|||", "_", "/", "\\", "#", "-", ":", ";", "'", '"', "&", "<", ">", "&amp;", "<b>", "=", ",", ".", "*", "$"),
    *("1-2", "1.1", "1", "0", "-99", "1_2", "a/b", "a_b", "a:0.5", "#1", "#text=a", "#x", "0-0", "3?4", "3p4", "011"),
    *("<s>", "</s>", "<unk>", "<eps>", "<NULL>", "NULL", "[X,1]", "[X]", "[1]", "\\end\\", "*EPS*", "&#124;&#124;"),
    *("(", ")", "({", "})", "-LRB-", "*0*", "numbers", "left-out[0:1]", "mkcls-mapped-dollar-symbol-$", "x=1", "LEX"),
    *("a\u2028b", "\u2029", "a\x85", "\v", "a\fb", "\x1c", "a\x1db", "\x1e", "\xa0", "a\xa0b", "a\u3000b", "\u200b"),
    *("e\u0301", "\u0301", "\u200f\u05d0", "\u202eabc", "\ue000", "\U0010ffff", "\uffff", "\ufffe", "\ufffd", "\ud7ff"),
    *("\U0001f469\u200d\U0001f469\u200d\U0001f467", "\U0001f3f4\U000e0067\U000e007f", "\u0130", "\u017f", "\xdf", "@@"),
    *("\ufeff", "\ufeffa", "a\ufeff", "x" * 3000, "\u8a9e" * 900, "\r", "a\r", "\ra", "a\rb", "\x7f", "\u2581"),
]


def words(exclude=""):
    """Return a strategy of words: no spaces, tabs and newlines, which part words everywhere."""
    some = st.characters(exclude_categories=["Cs"], exclude_characters=" \t\n\0" + exclude)
    return st.one_of(
        st.sampled_from([word for word in WORDS if not set(word) & set(exclude)]), st.text(some, min_size=1, max_size=4)
    )


def texts(exclude="", most=4):
    """Return a strategy of sentences, some of them without words, as lists."""
    return st.lists(st.lists(words(exclude), max_size=4), max_size=most)
