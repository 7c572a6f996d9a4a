"""A multilingual encoder's states of words, computed on the cores at hand: evidence of which words mean the same."""

from aligntools.encoding.encoder import Encoder, load
from aligntools.encoding.mapping import Linked, WordMap, learn
from aligntools.encoding.similarities import Similarities, compare

__all__ = ["Encoder", "Linked", "Similarities", "WordMap", "compare", "learn", "load"]
