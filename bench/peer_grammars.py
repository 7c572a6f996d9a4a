"""Runs NLTK's treebank grammar and its Viterbi parser, in the interpreter that has them; called by the bench.

    PYTHON bench/peer_grammars.py TRAIN TEXT OUT     TRAIN is trees, one a line, TEXT plain lines

It imports nothing of this package. Seconds are printed as JSON, without those of reading and writing. Words that occur
once in training are one word, which words that training does not have are, too.
"""

import json
import sys
import time
from collections import Counter

#: What rare and unknown words are. No word has spaces in it.
UNKNOWN = "unknown word"


def main(train, text, out):
    from nltk import Nonterminal, Tree, induce_pcfg
    from nltk.parse import ViterbiParser

    with open(train, encoding="utf-8") as file:
        trees = [Tree.fromstring(line, remove_empty_top_bracketing=True) for line in file]
    began = time.perf_counter()
    counts = Counter(word for tree in trees for word in tree.leaves())
    rules = []
    for tree in trees:
        for place in tree.treepositions("leaves"):
            if counts[tree[place]] == 1:
                tree[place] = UNKNOWN
        top = Tree("TOP", [tree])
        top.collapse_unary()
        top.chomsky_normal_form(horzMarkov=2, vertMarkov=1)
        rules += top.productions()
    grammar = induce_pcfg(Nonterminal("TOP"), rules)
    parser = ViterbiParser(grammar, max_time=None)
    trained = time.perf_counter()
    with open(text, encoding="utf-8") as file:
        sentences = [line.split() for line in file]
    lines = []
    for words in sentences:
        known = [word if counts[word] > 1 else UNKNOWN for word in words]
        tree = next(iter(parser.parse(known)), None)
        if tree is None:
            lines.append("(())")
            continue
        tree = Tree.convert(tree)
        tree.un_chomsky_normal_form()
        for place, word in zip(tree.treepositions("leaves"), words, strict=True):
            tree[place] = word
        lines.append(tree.pformat(margin=1 << 30))
    ended = time.perf_counter()
    with open(out, "w", encoding="utf-8") as file:
        file.writelines(line + "\n" for line in lines)
    found = {"train": trained - began, "parse": ended - trained, "rules": len(grammar.productions())}
    print(json.dumps(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
