"""A multilingual encoder's states of words, computed on the cores at hand: evidence of which words mean the same."""

from aligntools.encoding.encoder import Encoder, load

__all__ = ["Encoder", "load"]
