"""A multilingual encoder's states of words, computed on the cores at hand: evidence of which words mean the same."""
