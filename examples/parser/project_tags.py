"""Carry tags over word alignments: ``project_tags.py SOURCE.tagged TARGET LINKS > TARGET.tagged``.

Each target word type gets the tag that most of its links say (Yarowsky & Ngai 2001); marks that are no letters or
digits are PUNCT. Sentences with a word that no link speaks for are left out, so that the tagger learns nothing wrong.
"""

import sys
from collections import Counter, defaultdict


def read(path):
    """Return a file's lines, split into words."""
    with open(path, encoding="utf-8") as file:
        return [line.split() for line in file]


def main(source, target, links):
    """Print the target sentences whose words all got a tag."""
    votes = defaultdict(Counter)
    sentences = read(target)
    for tagged, words, pairs in zip(read(source), sentences, read(links), strict=True):
        tags = [word.rpartition("_")[2] for word in tagged]
        for pair in pairs:
            i, j = map(int, pair.split("-"))
            votes[words[j]][tags[i]] += 1
    best = {word: counts.most_common(1)[0][0] for word, counts in votes.items()}
    for words in sentences:
        tags = [best.get(w) if any(c.isalnum() for c in w) else "PUNCT" for w in words]
        if words and all(tags):
            print(" ".join(f"{word}_{tag}" for word, tag in zip(words, tags, strict=True)))


if __name__ == "__main__":
    main(*sys.argv[1:])
