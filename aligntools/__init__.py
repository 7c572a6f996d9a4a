"""Hidden structure learned from plain text: word alignments, tags, trees, translations."""

__version__ = "0.1.0"
