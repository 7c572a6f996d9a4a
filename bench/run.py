#!/usr/bin/env python3
"""Measure quality, speed, memory, start-up and settings; each command rewrites its section of RESULTS.md.

python bench/run.py quality --data DIR --fast-align F --atools A --eflomal E
python bench/run.py curve --data DIR --eflomal E
python bench/run.py gains --data DIR --checkout OLDER
python bench/run.py best --data DIR
python bench/run.py priors --data DIR --eflomal E --atools A
python bench/run.py speed --data DIR --fast-align F --atools A --eflomal E --runs 5
python bench/run.py memory --data DIR --fast-align F
python bench/run.py startup
python bench/run.py threads
python bench/run.py large_text --data DIR --pairs 10000000
python bench/run.py large --data DIR --sizes 10000000,30000000 --bound 4G
python bench/run.py soak --requests 10000000
python bench/run.py settings --data DIR
python bench/run.py filtering --data DIR --fast-align F --eflomal E
python bench/run.py mre --data DIR --pairs 20000
python bench/run.py chains --treebanks DIR --peer-python PYTHON
python bench/run.py induction --treebanks DIR
python bench/run.py taggers --treebanks DIR --peer-python PYTHON
python bench/run.py classes --data DIR --treebanks DIR
python bench/run.py multiword --treebanks DIR
python bench/run.py projection --data DIR --treebanks DIR
python bench/run.py parsing --treebanks DIR
python bench/run.py transfer --data DIR --treebanks DIR
python bench/run.py contrastive --data DIR --peer-results FILE
python bench/run.py encoder --data DIR
python bench/run.py encoder_map --data DIR
python bench/run.py evidence --data DIR --fast-align F --atools A --eflomal E
python bench/run.py teach --data DIR --out FILE
python bench/run.py contrastive_speed --data DIR
python bench/run.py unsupervised --treebanks DIR
python bench/run.py translation --texts DIR
python bench/run.py translation_aligners --texts DIR --fast-align F
python bench/run.py translation_speed --texts DIR --data DIR
python bench/run.py abuse --seed 1
python bench/run.py eflomal_form --data DIR --atools A --eflomal E
python bench/run.py fast_align_form --data DIR --fast-align F
python bench/run.py clients --clients SOURCES --client-python PYTHON --data DIR --eflomal E

DIR holds gold links and text as ``<pair>/<set>.wa``, ``<set>.en``, ``<set>.<other>`` (or .gz); ALIGNTOOLS_REALDATA
names it too. The other aligners are found where the options say; without them their columns stay out. Texts and
what was measured already lie in --work, so that a command that was stopped goes on where it was.
"""

import argparse
import importlib
import os
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench import report

#: Every command, with the module that runs it and its line of help.
COMMANDS = {
    "quality": "AER on every gold set, beside the other aligners' best",
    "gains": "AER on every gold set beside an older checkout's, over several seeds, with paired tests",
    "curve": "AER, precision and recall by size of the text, beside eflomal's, and by word frequency",
    "best": "align --best beside the default on large text",
    "priors": "AER of small texts with priors of large ones, and of large texts in parts",
    "speed": "wall time of whole runs, interleaved with the other aligners",
    "against": "time and memory beside an older checkout of this project",
    "memory": "peak memory for four sizes of a corpus",
    "large_text": "a text of any length made of a real one, its vocabulary growing on",
    "large": "text in parts: memory, time and AER, worker processes, faults",
    "view": "pages of many sentence pairs: size, time to make, time to first view",
    "startup": "the first run on a new machine, later runs, --help",
    "threads": "the same bytes for any number of threads",
    "soak": "services under millions of requests: memory, time, answers",
    "settings": "AER with one setting changed at a time",
    "filtering": "real pairs told from noise by alignment scores, beside the other aligners'",
    "mre": "AER of reconstruction beside the EM that it starts from",
    "chains": "an EM iteration of tag induction, beside hmmlearn's",
    "induction": "tags induced by EM and by reconstruction",
    "taggers": "accuracy and speed of taggers, beside NLTK's",
    "classes": "word classes of plain text as features of taggers and parsers of few sentences",
    "multiword": "tags of surface text, whose tokens may stand for several words",
    "projection": "taggers learned from English tags over word alignments",
    "parsing": "parsers from treebanks: features, learning, inference, memory",
    "transfer": "parsers transferred from English, beside simpler ways and supervised ones",
    "contrastive": "AER of contrastive-align on every gold set, beside its base and the other aligners",
    "encoder": "AER of small texts with what an encoder knows beforehand, and without",
    "encoder_map": "what the encoder links by itself, languages held out; the map that ships",
    "evidence": "AER of contrastive-align with other aligners' links as evidence",
    "teach": "a start of contrastive-align taught by large text without gold, languages held out",
    "contrastive_speed": "what contrastive alignment costs, by sentence length and beam",
    "unsupervised": "parsers from tags alone, on short sentences, beside transferred ones",
    "translation": "BLEU, time and memory of a translation system, weights by risk and by MERT",
    "translation_aligners": "BLEU by aligner: align, contrastive-align, fast_align",
    "translation_speed": "decoding against the pop limit; language models and grammars of large text",
    "abuse": "what is promised under damaged inputs, senseless options, faults and kills",
    "eflomal_form": "eflomal-align and its stand-in on every gold set: AER and time",
    "fast_align_form": "fast_align and its stand-in: links, tension, time and memory",
    "clients": "programs that call other aligners, run with our stand-ins",
}


def main():
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--data", default=os.environ.get("ALIGNTOOLS_REALDATA"), type=Path, metavar="DIR")
    common.add_argument(
        "--work",
        type=Path,
        default=Path(tempfile.gettempdir()) / f"aligntools-bench-{os.getuid()}",
        metavar="DIR",
        help="texts and figures kept between runs [%(default)s]",
    )
    common.add_argument("--results", type=Path, default=report.RESULTS, metavar="FILE", help="[%(default)s]")
    common.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)), metavar="N")
    peers = argparse.ArgumentParser(add_help=False)
    for name in ("fast-align", "atools", "eflomal"):
        peers.add_argument(f"--{name}", metavar="PATH", help=f"the program {name}")
    parser = argparse.ArgumentParser(
        description=__doc__.split("\n\n")[0], epilog=__doc__.split("\n\n", 1)[1],
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    commands = parser.add_subparsers(dest="command", required=True)
    for name, text in COMMANDS.items():
        module = importlib.import_module(f"bench.{name}")
        module.arguments(commands.add_parser(name, parents=[common, peers], help=text, description=text))
    o = parser.parse_args()
    o.work.mkdir(parents=True, exist_ok=True)
    module = importlib.import_module(f"bench.{o.command}")
    title, body = module.run(o)
    report.write_section(o.results, o.command, title, body)


if __name__ == "__main__":
    main()
