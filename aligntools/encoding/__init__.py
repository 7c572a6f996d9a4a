"""A multilingual encoder's states of words, computed on the processor: evidence of which words mean the same."""
