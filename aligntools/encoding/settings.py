"""Whether an encoder takes part in training, which, and how."""

import os
from dataclasses import dataclass
from typing import ClassVar

from aligntools.ground.declaring import Settings, documented, option
from aligntools.ground.errors import UsageProblem
from aligntools.ground.ranges import counts

_GROUP = "An encoder that knows words beforehand"


@documented
@dataclass(frozen=True)
class EncoderSettings(Settings):
    """Whether an encoder takes part in training, which, and how."""

    CHANGES: ClassVar = "training"

    encoder: str | bool | os.PathLike[str] | None = option(
        None,
        "Start from what a multilingual encoder knows of the words: that of the extra aligntools[encoder] or, with DIR,"
        " one in a folder with config.json, tokenizer.json and model.safetensors (BERT, XLM-R).",
        otherwise="none",
        group=_GROUP,
        metavar="[DIR]",
    )
    encoder_layer: int | None = option(
        None,
        "Compare words by their states after this layer.",
        allowed=counts(0, 1000),
        otherwise="6 and 7 together of the extra's, 7 of others",
        group=_GROUP,
    )
    encoder_pairs: int = option(
        50_000,
        "Sentence pairs that the encoder reads; of a larger text as many, evenly spread.",
        allowed=counts(1),
        group=_GROUP,
    )

    @property
    def asked(self) -> bool:
        """Whether an encoder takes part."""
        return self.encoder is not None and self.encoder is not False

    @property
    def folder(self) -> str | None:
        """The folder of the encoder; None for the extra's."""
        return None if self.encoder is None or isinstance(self.encoder, bool) else os.fspath(self.encoder)

    def rules(self) -> None:
        """Refuse an empty name, and what is about an encoder where there is none."""
        if self.folder == "":
            raise UsageProblem("`encoder`: the name is empty")
        if not self.asked and self != type(self)(encoder=self.encoder):
            raise UsageProblem("`encoder_layer` and `encoder_pairs` are about an encoder; add `encoder`")
