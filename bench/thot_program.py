"""Thot's IBM 4 (the package sil-thot) as a program: trains one direction and writes its links.

``python bench/thot_program.py GIVEN OBSERVED GIVEN.classes OBSERVED.classes LINKS``: words of GIVEN generate those of
OBSERVED. The models before it have as many iterations as Moses gives MGIZA's.
"""

import sys
from pathlib import Path

#: Models and their iterations.
STAGES = (("Ibm1", 5), ("Hmm", 5), ("Ibm3", 3), ("Ibm4", 3))


def main():
    from thot import alignment

    paths = [Path(path) for path in sys.argv[1:]]
    given, observed = ([line.split() for line in path.read_text().split("\n")[:-1]] for path in paths[:2])
    classes = [dict(line.split("\t") for line in path.read_text().split("\n")[:-1]) for path in paths[2:4]]
    pairs = [n for n, pair in enumerate(zip(given, observed, strict=True)) if all(pair)]
    model = None
    for name, iterations in STAGES:
        kind = getattr(alignment, f"{name}AlignmentModel")
        model = kind(model) if model is not None else kind()
        if name in ("Hmm", "Ibm4"):
            for word, of in classes[0].items():
                model.map_src_word_to_word_class(word, of)
            for word, of in classes[1].items():
                model.map_trg_word_to_word_class(word, of)
        if name == "Ibm1":
            for n in pairs:
                model.add_sentence_pair(given[n], observed[n])
        model.start_training()
        for _ in range(iterations):
            model.train()
        model.end_training()
    rows = [""] * len(given)
    found = model.get_best_alignments([given[n] for n in pairs], [observed[n] for n in pairs])
    for n, (_, links) in zip(pairs, found, strict=True):
        rows[n] = " ".join(f"{i}-{j}" for i, j in zip(*links.to_numpy().nonzero(), strict=True))
    paths[4].write_text("".join(row + "\n" for row in rows))


if __name__ == "__main__":
    main()
