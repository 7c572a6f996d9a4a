"""What can be chosen about sentence alignment."""

import os
from dataclasses import dataclass

from aligntools.ground.declaring import Settings, documented, option
from aligntools.ground.errors import UsageProblem
from aligntools.ground.ranges import amounts, counts

_GROUPS, _KNOWN, _READING = "Groups", "What is known beforehand", "Documents"


@documented
@dataclass(frozen=True)
class SentenceSettings(Settings):
    """How the sentences of two documents are aligned."""

    group_size: int = option(
        4,
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
    dictionary: tuple[str, ...] = option(
        (),
        "Start from the entries of a dictionary: lines of a word, a tab and its translations, a dictionary of dictd"
        " (FreeDict's .index or .dict.dz), or Apertium's .dix. Several can be given.",
        group=_KNOWN,
        metavar="FILE",
    )
    split_sentences: str | None = option(
        None,
        "The documents are raw paragraphs of these two languages, such as de-fr: find their sentences. HTML, DOCX and"
        " USFM files are known by their names.",
        group=_READING,
        metavar="SRC-TGT",
    )
    anchors: str | None = option(
        None,
        "Lines of this text alone, such as .EOA, stand at the same places of both documents; ids: each line begins with"
        " an id and a tab, and the same ids belong together.",
        group=_READING,
        metavar="MARK|ids",
    )

    @property
    def paths(self) -> tuple[str, ...]:
        """The dictionaries."""
        one = isinstance(self.dictionary, (str, os.PathLike))
        paths: tuple[str, ...] = (self.dictionary,) if one else self.dictionary  # type: ignore[assignment]
        return tuple(os.fspath(path) for path in paths)

    def rules(self) -> None:
        """Refuse empty names, and anchors by ids in raw paragraphs."""
        if self.anchors == "" or "" in self.paths or self.encoder == "":
            raise UsageProblem("`anchors`, `dictionary` and `encoder` cannot be empty")
        if "-" in self.paths:
            raise UsageProblem("`dictionary` must be a file; standard input cannot be read for it")
        if self.anchors == "ids" and self.split_sentences is not None:
            raise UsageProblem("`anchors=ids` is for lines that are sentences; leave out `split_sentences`")
