"""The English treebank to transfer from: Google's, with its other treebanks' tags, and UD's EWT in the same scheme.

Google's English treebank tags complementizers as prepositions and relative pronouns as determiners; those of the other
languages tag them as conjunctions and pronouns. EWT's trees are turned into that scheme: prepositions and copulas
govern, coordinators hang on the first conjunct, names and fixed expressions on their last word. Its punctuation is
attached, and its rare crossing edges are lifted, by a parser trained on Google's trees, all other heads given.
"""

import gzip
import itertools

import numpy as np

#: Dependents that follow the clause to its copula, and those that do so on the copula's left or of nouns.
CLAUSAL = {"aux", "cop", "mark", "expl", "discourse", "vocative", "parataxis", "advcl", "dislocated", "punct", "cc"}
LOOSE = {"advmod", "obl", "obl:unmarked", "obl:agent"}
#: Subordinators that are prepositions before gerunds.
BEFORE_GERUNDS = {
    "of", "by", "in", "for", "from", "with", "after", "on", "at", "without", "about", "before", "over", "into",
    "like", "to", "through", "than", "as", "upon", "despite", "since",
}  # fmt: skip
#: Adverbs between copula and predicate that belong to the clause.
SENTENTIAL = {"not", "n't", "n\u2019t", "also", "still", "already", "now", "probably", "never", "always"}
#: Relations that a demonstrative or a relative word has as a pronoun.
PRONOUN = {
    "nsubj", "obj", "nsubj:pass", "obl", "nmod", "conj", "root", "iobj", "xcomp", "nsubj:outer", "ccomp", "appos",
    "parataxis", "dobj", "adpobj", "nsubjpass", "attr", "rel", "poss", "ROOT",
}  # fmt: skip
#: What a given head adds to its score: more than all features together.
GIVEN = 200.0


class _Tree:
    """One sentence of UD: words from 1, heads and relations that the steps below change in place."""

    def __init__(self, rows):
        self.n = len(rows)
        self.words, self.upos, self.xpos, self.relations = (
            ["", *(row[k].lower() if k == 1 else row[k] for row in rows)] for k in (1, 3, 4, 7)
        )
        self.heads = [0, *(int(row[6]) for row in rows)]
        self.given = list(self.relations)

    def children(self, head):
        return [j for j in range(1, self.n + 1) if self.heads[j] == head]

    def promote(self, new, old, relation):
        """Put a dependent in its head's place, which becomes its dependent."""
        self.heads[new], self.relations[new] = self.heads[old], self.relations[old]
        self.heads[old], self.relations[old] = new, relation

    def last_word(self, kind, relation, of=None):
        """Let the last of the words that a relation joins govern the others."""
        for i in range(1, self.n + 1):
            parts = [j for j in self.children(i) if self.relations[j].split(":")[0] == kind]
            if not parts or max(parts) < i or (of and self.upos[i] not in of):
                continue
            for j in self.children(i):
                self.heads[j] = max(parts)
            self.heads[max(parts)] = i
            self.promote(max(parts), i, relation)

    def coordinators(self):
        for j in range(1, self.n + 1):
            if self.relations[j] == "cc" and self.relations[self.heads[j]] == "conj":
                self.heads[j] = self.heads[self.heads[j]]

    def _clausal(self, j):
        own = [self.relations[k] for k in self.children(j)]
        return self.upos[j] in ("VERB", "AUX") or any(r == "cop" or r.startswith("nsubj") for r in own)

    def copulas(self):
        for c in range(1, self.n + 1):
            p = self.heads[c]
            if self.relations[c] != "cop" or p == 0:
                continue
            own = self.children(p)
            if c != [j for j in own if self.relations[j] == "cop"][-1]:
                continue
            phrasal = any(self.relations[j] == "conj" and not self._clausal(j) for j in own)
            moved = [j for j in own if j != c and self._moves(j, c, p, phrasal)]
            self.promote(c, p, "attr")
            for j in moved:
                self.heads[j] = c
            self.upos[c] = "VERB"

    def _moves(self, j, c, p, phrasal):
        """Say whether a dependent of the predicate ``p`` goes to its copula ``c``."""
        kind, word = self.relations[j], self.words[j]
        nominal = self.upos[p] in ("NOUN", "PROPN", "PRON", "NUM", "SYM")
        if kind == "cc" and phrasal:
            return False
        if kind in CLAUSAL or kind.split(":")[0] in ("nsubj", "csubj", "aux"):
            compared = kind == "advcl" and j > p and any(
                self.relations[k] == "mark" and self.words[k] == "as" for k in self.children(j)
            )  # fmt: skip
            return nominal or not compared
        if kind in LOOSE:
            between = word in SENTENTIAL and j < p
            return j < c or between or (nominal and (j > p or kind != "advmod")) or (j > p and kind == "obl:unmarked")
        return (kind == "conj" and self._clausal(j)) or (kind == "ccomp" and nominal)

    def _preposition(self, j, i):
        if self.relations[j] == "case":
            return self.xpos[j] != "POS" and j < i
        gerund = self.relations[j] == "mark" and self.xpos[j] == "IN" and self.xpos[i] == "VBG"
        return gerund and j < i and self.words[j] in BEFORE_GERUNDS

    def prepositions(self):
        for i in range(1, self.n + 1):
            chain = [j for j in self.children(i) if self._preposition(j, i)]
            if not chain:
                continue
            first = chain[0]
            self.heads[first], self.relations[first] = self.heads[i], "adpmod"
            for before, j in itertools.pairwise(chain):
                self.heads[j], self.relations[j] = before, "adpcomp"
            self.heads[i], self.relations[i] = chain[-1], "adpobj"
            for j in self.children(i):
                if j < first and self.relations[j] in ("advmod", "punct", "cc"):
                    self.heads[j] = first

    def tag(self, k):
        """Return a word's tag of the twelve."""
        from aligntools.parsing.text import PENN

        tag = PENN.get(self.xpos[k].encode(), b"X")
        given = self.given[k]
        if given == "mark" and self.relations[k] == "mark" and self.upos[k] == "SCONJ" and tag == b"ADP":
            return b"CONJ"
        pronoun = (self.xpos[k] == "WDT" and given != "det") or (self.xpos[k] == "DT" and given in PRONOUN)
        return b"PRON" if pronoun else tag


def convert(rows):
    """Return tags, heads and relations of a sentence of UD, given as lists of the ten columns, in Google's scheme."""
    tree = _Tree(rows)
    tree.last_word("flat", "compound", ("PROPN", "NOUN"))
    tree.coordinators()
    tree.copulas()
    tree.prepositions()
    tree.last_word("fixed", "mwe")
    words = range(1, tree.n + 1)
    return [tree.tag(k) for k in words], tree.heads[1:], tree.relations[1:]


def google(path):
    """Read Google's English trees, with tags as its other treebanks have them; see `ewt`."""
    sentences = []
    for rows in _sentences(path):
        tags = []
        for row in rows:
            tag, relation = row[3], row[7]
            if tag == "ADP" and relation == "mark":
                tag = "CONJ"
            if tag == "DET" and relation in PRONOUN:
                tag = "PRON"
            tags.append(tag.encode())
        sentences.append(([row[1].replace(" ", "\u00a0") for row in rows], tags, [int(row[6]) for row in rows]))
    return sentences


def ewt(path, parser, pool):
    """Read EWT in Google's scheme.

    Returns
    -------
    list of (words, tags, heads), a sentence each
    """
    from aligntools.parsing.trees import inference

    found = []
    for rows in _sentences(path):
        tags, heads, relations = convert(rows)
        free = np.array([r == "punct" and t == b"." for r, t in zip(relations, tags, strict=True)])
        found.append(([row[1].replace(" ", "\u00a0") for row in rows], tags, heads, free))
    offsets = np.concatenate([[0], np.cumsum([len(x[0]) for x in found])]).astype(np.int64)
    words, tags = [w.encode() for x in found for w in x[0]], [t for x in found for t in x[1]]
    sentences = parser.sentences(words, tags, offsets)
    scores = parser.scores(sentences, pool)
    for s, (own, _, heads, free) in enumerate(found):
        table = scores[sentences.edges[s] : sentences.edges[s + 1]].reshape(len(own), len(own) + 1)
        kept = np.flatnonzero(~free)
        table[kept, np.array(heads)[kept]] += GIVEN
    best = inference.best_trees(scores, offsets, parser.constraints, pool)[0]
    parts = zip(found, offsets[:-1], offsets[1:], strict=True)
    return [(x[0], x[1], best[a:b].tolist()) for x, a, b in parts]


def _sentences(path):
    rows = []
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for line in file:
            row = line.rstrip("\n").split("\t")
            if len(row) == 10 and row[0].isdigit():
                rows.append(row)
            elif rows and not line.strip():
                yield rows
                rows = []
    if rows:
        yield rows


def write(bank, text, sentences):
    """Write sentences as CoNLL and as word_TAG lines."""
    with open(bank, "w", encoding="utf-8") as file, open(text, "w", encoding="utf-8") as lines:
        for words, tags, heads in sentences:
            for k, (word, tag, head) in enumerate(zip(words, tags, heads, strict=True), 1):
                file.write(f"{k}\t{word}\t_\t{tag.decode()}\t_\t_\t{head}\t_\t_\t_\n")
            file.write("\n")
            lines.write(" ".join(f"{w}_{t.decode()}" for w, t in zip(words, tags, strict=True)) + "\n")
