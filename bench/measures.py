"""What the bench measures: a table of each measure's command, its section, what it stands beside, and its sizes.

`run.py` has a command for each row, RESULTS.md a section for each that was run, under its title and in this order; the
tests of the bench hold both against the table. A measure is a module of its name with a function ``run(o)``: ``o`` has
the options of its row and those of all measures, and what is returned is the section's text.
"""

import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from bench.texts import MILLION

GOLD_SETS = "only these gold sets, such as en-es.gold [all]"
#: Programs that figures stand beside, with the options of ``run.py`` that say where they are.
PROGRAMS = {
    "fast_align": "--fast-align F --atools A",
    "eflomal": "--eflomal E",
    "mkcls": "--mkcls M",
    "hmmlearn": "--peer-python PYTHON",
    "NLTK": "--peer-python PYTHON",
    "the Berkeley parser": "--berkeley JAR",
    "an older checkout": "--checkout OLDER",
}


class Option(NamedTuple):
    """An option: its default (or its type, where it has none), its help and what argparse takes beside these."""

    default: Any
    about: str = ""
    more: dict[str, Any] = {}  # noqa: RUF012 - never written to

    def add(self, parser, name):
        """Add it to a parser."""
        if self.default is bool:
            parser.add_argument(f"--{name}", action="store_true", help=self.about)
            return
        kind = self.default if isinstance(self.default, type) else type(self.default)
        default = {} if isinstance(self.default, type) else {"default": self.default}
        metavar = {int: "N", Path: "FILE", str: "A,B"}.get(kind, kind.__name__.upper())
        shown = f"{self.about} [%(default)s]".lstrip() if default and self.default != "" else self.about
        given = {"type": kind, "metavar": metavar, "help": shown} | default | self.more
        parser.add_argument(f"--{name}", **given)


#: What is read, beside ``--data``: the options for it, which are required.
READS = {
    "treebanks": Option(Path, "folder of ud/ and google/", {"metavar": "DIR", "required": True}),
    "markup": Option(Path, "folder of en-de.en, en-de.de ...", {"metavar": "DIR", "required": True}),
    "documents": Option(Path, "folder of de-fr.dev.de, de-fr.dev.gold ...", {"metavar": "DIR", "required": True}),
    "texts": Option(Path, "folder of train.de.gz, dev.de.gz ...", {"metavar": "DIR", "required": True}),
    "checkout": Option(Path, "the older state of the code", {"metavar": "DIR", "required": True}),
}
PEER_RESULTS = Option(
    Path,
    "figures measured before, as tab-separated variant, tool, symmetrization, AER, precision, recall; may come twice",
    {"action": "append", "default": []},
)
MOST_PAIRS = Option(10**9, "pairs to train base models on at most")
FROM_GOLD = Option("", "sets to learn weights from gold on, too")


@dataclass(frozen=True)
class Measure:
    """A measure.

    Attributes
    ----------
    name : str
        Its command, the end of its module's name, and the name between the markers of its section.
    title : str
        Its section's.
    about : str
        Its line of help.
    reads : tuple of str
        ``data`` (gold links and text) and of `READS`.
    beside : tuple of str
        What its figures are compared with.
    sizes : dict of str to Option
        What it runs on and how much of it, with the defaults that RESULTS.md is of.
    module : str
        Empty where ``run.py`` has no command for it.
    """

    name: str
    title: str
    about: str
    reads: tuple[str, ...]
    beside: tuple[str, ...]
    sizes: dict[str, Option]
    module: str

    @property
    def usage(self) -> str:
        """How it is called."""
        read = [f"--{name} DIR" for name in self.reads if name != "checkout"]
        programs = dict.fromkeys(PROGRAMS[name] for name in self.beside if name in PROGRAMS)
        return " ".join(["python bench/run.py", self.name, *read, *programs])

    def arguments(self, parser) -> None:
        """Add its options to a parser."""
        for name, option in ({n: READS[n] for n in self.reads if n in READS} | self.sizes).items():
            option.add(parser, name.replace("_", "-"))


def _option(given):
    return given if isinstance(given, Option) else Option(*given) if isinstance(given, tuple) else Option(given)


def _m(name, title, about, reads="", beside="", module=None, **sizes):
    cut = [tuple(part.strip() for part in given.split(",") if part) for given in (reads, beside)]
    sizes = {size: _option(given) for size, given in sizes.items()}
    return Measure(name, title, about, *cut, sizes, f"bench.{name}" if module is None else module)


ALIGNERS = "fast_align, eflomal"
MEASURES = (
    _m("quality", "Quality", "AER on every gold set, beside the other aligners' best", "data", ALIGNERS,
       sets=(str, GOLD_SETS), peer_results=PEER_RESULTS),
    _m("curve", "Error rate by size of the text",
       "AER, precision and recall by size of the text, beside eflomal's, and by word frequency", "data", "eflomal",
       pairs=(str, "pairs of languages [all with training text]"), sizes=(str, "training pairs [0 to all]"),
       systems=("align,eflomal", "run only these")),
    _m("priors", "Priors, and text in parts",
       "AER of small texts with priors of large ones, and of large texts in parts", "data", ALIGNERS,
       sets=("en-cs.gold,en-sv.gold,en-zh.gold,en-fr.dev,en-es.gold,en-de.gold", "gold sets"),
       cut=("en-fr.dev,en-cs.gold,en-sv.gold", "sets whose text is cut into parts"),
       lines=(25_000_000, "of a file whose reading is timed; 0: none"),
       kept=(bool, "measure nothing; write the figures that there are")),
    _m("speed", "Speed", "wall time of whole runs, interleaved with the other aligners", "data", ALIGNERS,
       runs=(1, "of each system"), sets=f"en-fr.dev,{MILLION}",
       source=(Path, "measure on these two files instead"), target=Path),
    _m("against", "Against the state before", "time and memory beside an older checkout of this project",
       "data, checkout", "an older checkout",
       python=(sys.executable, "that it runs with", {"metavar": "PYTHON"}), runs=(3, "of each"),
       only=("", "commands whose names have this", {"metavar": "TEXT"})),
    _m("memory", "Memory", "peak memory for four sizes of a corpus", "data", "fast_align",
       set=(MILLION, "text whose beginnings are taken"), sizes=(str, "pairs [an eighth, a quarter, half, all]"),
       source=(Path, "measure on these two files instead"), target=Path),
    _m("large_text", "Large text, made", "a text of any length made of a real one, its vocabulary growing on", "data",
       set=(MILLION, "text that is copied"), first=(int, "copy only its first pairs [all]"),
       pairs=(10_000_000, "to make"), seed=1, output=(Path, "joint file, .zst or plain [in --work]")),
    _m("large", "Text in parts", "text in parts: memory, time and AER, worker processes, faults", "data",
       "memory alone",
       only=(str, "measure these of memory, workers, model, faults, parts, init-model, jobs, maps; the others as they"
             " were [all]"),
       set=(MILLION, "text that is copied"), first=(int, "copy only its first pairs [all]"),
       sizes=("10000000,30000000", "pairs"), bound=("4G", "--max-memory", {"metavar": "SIZE"}),
       part_size=(int, "pairs of a part [align's own]"), workers=("1,2,4,8", "processes"),
       worker_pairs=(1_000_000, "of the text for workers"), fault_pairs=(100_000, "for faults"),
       fault_parts=(10, "parts of it"), kills=(20, "runs with kills"),
       sets=("en-cs.gold,en-de.gold,en-es.gold,en-fr.graca,en-it.wiki,en-ja.gold", "gold sets to cut"),
       init_pairs=(10_000_000, "of the text that is aligned part by part"), init_parts=(10, "its parts"),
       job_pairs=(600_000, "lines of text for other jobs than align's"), seed=(1, "of made text and of kills"),
       texts=(Path, "for maps: folder of train.de.gz, dev.de.gz ...", {"metavar": "DIR"}),
       jobs=("translate,imputed-risk,contrastive-align,align,extract-grammar", "for maps"),
       sentences=(2000, "to translate"), extracted=(8000, "pairs for rules")),
    _m("startup", "Start-up", "the first run on a new machine, later runs, --help", runs=(5, "of what is warm")),
    _m("markup", "Tags carried over to translations", "tags of help texts, beside a script over others' links",
       "data, markup", ALIGNERS, languages="de,fr,ja", pairs=(60_000, "to learn links from besides the segments")),
    _m("serve", "Serving", "one pair and lists over HTTP, and memory over many requests", "data", "",
       trained=(300_000, "pairs that a model is trained on"), requests=(4_000, "of each figure"),
       soaked=(1_000_000, "requests over which memory is looked at")),
    _m("chains", "Chains", "an EM iteration of tag induction, beside hmmlearn's", "treebanks", "hmmlearn",
       peer_python=(str, "an interpreter that has hmmlearn", {"metavar": "PYTHON"}), runs=(5, "of each figure")),
    _m("induction", "Tag induction", "tags induced by EM and by reconstruction", "treebanks", "EM",
       texts="ewt,wsj", states="10,20,30,40,50", seeds=(5, "random starts each")),
    _m("taggers", "Taggers", "accuracy and speed of taggers, beside NLTK's", "treebanks", "NLTK",
       sets="ewt,wsj,sv,id,ja,ko,it,fr", latent="1,2,4,8,16",
       peer_python=(str, "an interpreter that has nltk", {"metavar": "PYTHON"})),
    _m("mre", "Maximum reconstruction", "AER of reconstruction beside the EM that it starts from", "data", "EM",
       sets=(str, GOLD_SETS), pairs=(20_000, "pairs trained on at most")),
    _m("contrastive", "Contrastive alignment",
       "AER of contrastive-align on every gold set, beside its base and the other aligners", "data", "the base model",
       sets=(str, GOLD_SETS), pairs=MOST_PAIRS, supervised=FROM_GOLD, peer_results=PEER_RESULTS,
       ship=(bool, "learn the start that comes with the program, and stop")),
    _m("contrastive_speed", "Contrastive alignment: cost",
       "what contrastive alignment costs, by sentence length and beam", "data",
       pairs=(100_000, "to train the base"), learn=(1000, "pairs to learn from"), each=(300, "pairs of each length"),
       apply=(10_000, "pairs to apply weights to")),
    _m("encoder", "Small texts with an encoder",
       "AER of small texts with what an encoder knows beforehand, and without", "data", "the default",
       sets=(str, GOLD_SETS)),
    _m("encoder_sizes", "The encoder by size of the text",
       "AER and time of align --best by size of the text, with the encoder and without", "data", "the default",
       sets=("en-zh.gold,en-ja.gold,en-it.wiki,en-es.gold,en-fr.dev,en-cs.gold,en-sv.gold,en-de.gold", "gold sets"),
       sizes=("0,5000", "pairs of training text"),
       kept=(bool, "measure nothing; write the figures that there are")),
    _m("encoder_all", "The encoder in all text",
       "AER and time of align --best on all text, with more and less of it read", "data", "the default",
       module="bench.encoder_sizes", sets=("en-ja.gold,en-it.wiki,en-fr.dev,en-cs.gold,en-de.gold", "gold sets"),
       sizes=("all", "pairs of training text"), kept=(bool, "measure nothing; write the figures that there are")),
    _m("new_text", "New text by a saved model",
       "AER of gold pairs as new text by a model of other text: -m, --adapt, and without a model", "data", "no model",
       sets=("en-zh.gold,en-it.wiki,en-sv.gold,en-de.gold,en-es.gold,en-fr.dev,en-cs.gold,en-ja.gold", "gold sets"),
       pairs=(5_000, "pairs of other text at most")),
    _m("sentences", "Sentences of two documents",
       "strict and lax F1 of sentence groups, with the encoder and without", "data, documents",
       "no encoder, Vecalign, hunalign, Gale-Church",
       vecalign=(Path, "folder of Vecalign's checkout, built in place"), hunalign=(Path, "the program hunalign"),
       galechurch=(Path, "the program galechurch")),
    _m("encoder_map", "The encoder alone",
       "what the encoder links by itself, languages held out; the map that ships", "data", "no map",
       sets=(str, GOLD_SETS), out=(Path, "learn the map of all languages, put it here, and stop")),
    _m("second_look", "A second look at places",
       "AER by both looks at places, languages held out; the weights that ship", "data", "the first look",
       sets=(str, GOLD_SETS), sizes=(str, "pairs of training text, with commas"),
       unread=(bool, "base models that learned without the encoder"),
       out=(Path, "learn the weights of all languages, put them here, and stop")),
    _m("parsing", "Parsing", "parsers from treebanks: features, learning, inference, memory", "treebanks",
       sentences=(12_544, "of EWT's training part"), iterations=(60, "of L-BFGS"),
       peers=(Path, "a table of other programs' figures, tab-separated, header first"), runs=(5, "of each time")),
    _m("transfer", "Parsers for languages without treebanks",
       "parsers transferred from English, beside simpler ways and supervised ones", "data, treebanks",
       "direct and projected transfer, a supervised parser",
       languages="de,es,fr,it,sv", pairs=5000, sizes=("500,1000,2000,5000,10000,20000", "pairs of table 5"),
       measured=(bool, "write what was measured before, and - for the rest"),
       sizes_of=("de,es", "languages of table 5")),
    _m("constituents", "Grammars of constituents",
       "F1, time to train and to parse of grammars from trees, by rounds of latent annotations", "treebanks",
       "the Berkeley parser, NLTK",
       languages=("wsj,es", "texts: constituents/NAME-train.mrg ..."), rounds=("2,3,4", "of latent annotations"),
       products=("3x4", "rounds and members of products of grammars"),
       berkeley=(Path, "the Berkeley parser 1.7", {"metavar": "JAR"}),
       peer_python=(str, "an interpreter that has nltk", {"metavar": "PYTHON"}),
       nltk_words=(10, "longest sentence beside NLTK"), longest=(0, "words of a sentence at most; 0: all")),
    _m("translation", "Translation", "BLEU, time and memory of a translation system, weights by risk and by MERT",
       "texts", "MERT",
       languages=("de,fr", "translated to English"), seeds="1,2,3",
       rows=(str, "only these rows; without MERT nothing is compared with it", {"metavar": "A;B"}),
       once=("fr", "languages of the first seed alone")),
    _m("translation_aligners", "BLEU by aligner", "BLEU by aligner: align, contrastive-align, fast_align", "texts",
       "fast_align", source=("de", "translated to English", {"metavar": "LANGUAGE"}), rounds=(4, "of imputed-risk")),
    _m("translation_speed", "Translation: cost",
       "decoding against the pop limit; language models and grammars of large text", "data, texts",
       limits=("1,3,10,30,100,300,1000", "pop limits")),
    _m("soak", "Soak", "services under millions of requests: memory, time, answers",
       requests=(10_000_000, "of each service"), services="align,tag,parse,translate",
       soak_seed=(1, "of the requests")),
    _m("abuse", "What is promised under abuse", "what is promised under damaged inputs, senseless options, faults and"
       " kills", module="bench.abuse.table",
       seed=1, jobs=(2, "processes at once"),
       parts=("inputs,options,faults,kills", "", {
           "nargs": "+", "choices": ("inputs", "options", "faults", "kills", "none"),
           "default": ("inputs", "options", "faults", "kills"), "metavar": "PART"}),
       lines=(int, "of lines.txt [all]", {"nargs": "+"}), random=(100, "random damages an input"),
       contents=(60, "for models, with the checksum right"), faults=500, kills=(3600.0, "", {"metavar": "SECONDS"}),
       cases=(Path, "write every case here, as JSON lines; parts that are not run now are taken from it")),
    _m("bounds", "Checked indexes", "the kernels' tests and damaged models, compiled with checked indexes:"
       " python -m bench.abuse.bounds", module=""),
    _m("clients", "Clients", "programs that call other aligners, run with our stand-ins", "data", "eflomal",
       clients=(Path, "fetched sources of the clients (ALIGNTOOLS_CLIENTS)", {
           "metavar": "DIR", "default": os.environ.get("ALIGNTOOLS_CLIENTS")}),
       client_python=(sys.executable, "that has the clients' packages, and what aligntools needs",
                      {"metavar": "PYTHON"}),
       only=("", "only clients whose line has this word", {"metavar": "WORD"})),
)  # fmt: skip
BY_NAME = {measure.name: measure for measure in MEASURES}
