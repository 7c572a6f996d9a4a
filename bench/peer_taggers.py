"""Runs NLTK's taggers and hmmlearn, in the interpreter that has them; a program of its own, called by the benches.

    PYTHON bench/peer_taggers.py tag perceptron|tnt TRAIN TEST OUT     TRAIN is word_TAG lines, TEST plain lines
    PYTHON bench/peer_taggers.py hmm log|scaling IN.npz OUT.npz        one EM iteration from the parameters in IN

It imports nothing of this package. Seconds are printed, without those of reading and writing.
"""

import json
import sys
import time


def read(path):
    with open(path, encoding="utf-8") as file:
        return [line.split(" ") if line.strip() else [] for line in file.read().splitlines()]


def tag(kind, train, test, out):
    import random

    import nltk
    from nltk.tag import tnt
    from nltk.tag.perceptron import PerceptronTagger

    sentences = [[tuple(token.rsplit("_", 1)) for token in line] for line in read(train) if line]
    random.seed(1)
    began = time.perf_counter()
    if kind == "perceptron":
        tagger = PerceptronTagger(load=False)
        tagger.train([list(s) for s in sentences], nr_iter=5)
    else:
        counts = nltk.FreqDist(t for s in sentences for _, t in s)
        unknown = nltk.AffixTagger(
            sentences, affix_length=-3, min_stem_length=1, backoff=nltk.DefaultTagger(counts.max())
        )
        tagger = tnt.TnT(unk=unknown, Trained=True)
        tagger.train(sentences)
    trained = time.perf_counter()
    lines = [" ".join(f"{w}_{t}" for w, t in tagger.tag(words)) if words else "" for words in read(test)]
    ended = time.perf_counter()
    with open(out, "w", encoding="utf-8") as file:
        file.writelines(line + "\n" for line in lines)
    print(json.dumps({"train": trained - began, "tag": ended - trained}))


def hmm(implementation, given, out):
    import numpy as np
    from hmmlearn.hmm import CategoricalHMM

    p = np.load(given)
    model = CategoricalHMM(len(p["start"]), n_iter=1, tol=0, init_params="", implementation=implementation)
    model.n_features = p["emissions"].shape[1]
    model.startprob_, model.transmat_, model.emissionprob_ = p["start"], p["transitions"], p["emissions"]
    tokens, lengths = p["tokens"].reshape(-1, 1), p["lengths"]
    began = time.perf_counter()
    score = model.score(tokens, lengths)
    scored = time.perf_counter()
    model.fit(tokens, lengths)
    ended = time.perf_counter()
    np.savez(out, start=model.startprob_, transitions=model.transmat_, emissions=model.emissionprob_)
    print(json.dumps({"log_likelihood": score, "score": scored - began, "iteration": ended - scored}))


if __name__ == "__main__":
    {"tag": tag, "hmm": hmm}[sys.argv[1]](*sys.argv[2:])
