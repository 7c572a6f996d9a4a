"""The kinds of evidence that there are: the list, and the classes of settings that ask for them."""

from aligntools.aligning.dictionaries import DICTIONARY
from aligntools.aligning.encoders import ENCODER
from aligntools.aligning.evidence import EvidenceKind, register, source_kinds
from aligntools.aligning.evidence import EvidenceOptions as EvidenceOptions
from aligntools.aligning.word_vectors import VECTORS, WORD_ENCODER

register(ENCODER)
register(WORD_ENCODER)
register(VECTORS)
register(DICTIONARY)
# Kinds with ways of their own into a model
register(EvidenceKind("look-alikes", "words that look alike", "look_alike"))  # tiers of priors, estimated in training
register(EvidenceKind("priors", "priors of other text", "priors"))  # with fertilities and jumps, in memory
register(  # tables of what readings of their links are worth, in weights
    EvidenceKind("links", "other aligners' links", "evidence", types=False, places=True, in_parts=False, again=True)
)

#: The classes of settings of those that are asked, for `aligntools.ground.declarations.taking`.
SETTINGS = tuple(kind.settings for kind in source_kinds())
