"""What can be chosen about sentence alignment."""

import os
from dataclasses import dataclass

from aligntools.ground.declarations import Settings, documented, option
from aligntools.ground.errors import UsageProblem
from aligntools.ground.ranges import amounts, counts
from aligntools.words.tokenizers import languages_of

_GROUPS, _KNOWN, _READING = "Groups", "What is known beforehand", "Documents"


@documented
@dataclass(frozen=True)
class SentenceSettings(Settings):
    """How the sentences of two documents are aligned."""

    group_size: int = option(
        5,
        "Most sentences of a group on either side; both sides together have two more at most.",
        allowed=counts(1, 20),
        group=_GROUPS,
    )
    moved: bool = option(True, "Find sections that stand elsewhere in the other document.", group=_GROUPS)
    min_score: float = option(
        0.0,
        "Leave out groups that are less probable than this; their sentences count as without a partner.",
        allowed=amounts(0, 1),
        group=_GROUPS,
    )
    encoder: str | bool | os.PathLike[str] | None = option(
        None,
        "Compare sentences by their vectors: those of the extra aligntools[encoder] or, with DIR, of an encoder in a"
        " folder with config.json, tokenizer.json and model.safetensors or model.onnx.",
        otherwise="the extra's, where it is installed",
        group=_KNOWN,
        metavar="[DIR]",
    )
    dictionary: tuple[str | os.PathLike[str], ...] = option(
        (),
        "Start from the words of a dictionary, in any of its known forms. May be given several times.",
        group=_KNOWN,
        metavar="FILE",
    )
    priors: tuple[str | os.PathLike[str], ...] = option(
        (),
        "Start from counts of linked words in other text, in eflomal's form. May be given several times.",
        group=_KNOWN,
        metavar="FILE",
    )
    vectors: tuple[str, str] | None = option(
        None,
        "Start from vectors of source and target words in one space: text files as fastText, word2vec (.vec) and GloVe"
        " write them.",
        group=_KNOWN,
        metavar="FILE FILE",
    )
    anchors: str | None = option(
        None,
        "Lines that are this alone, such as <p> or .EOA, are no sentences; they stand at the same places of both"
        " documents.",
        group=_READING,
        metavar="TEXT",
    )

    split_sentences: str | None = option(
        None,
        "The documents are raw paragraphs in these languages: cut them into sentences. Lines without a blank line"
        " between are one paragraph; in text without blank lines each line is one.",
        group=_READING,
        metavar="SRC-TGT",
    )

    def rules(self) -> None:
        """Refuse empty names, and what names no languages."""
        if self.anchors is not None and not self.anchors.strip(" \t"):
            raise UsageProblem("`anchors`: a line that has nothing on it marks nothing; blank lines are paragraphs")
        if self.split_sentences is not None:
            languages_of(self.split_sentences, "`split_sentences` takes")
        if self.vectors is not None and (isinstance(self.vectors, str) or len(self.vectors) != 2):
            raise UsageProblem("`vectors` takes two files: vectors of source words and of target words")
        if self.encoder == "":
            raise UsageProblem("`encoder`: the name is empty")
