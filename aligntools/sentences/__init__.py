"""Sentences of a document and of its translation: which groups of them belong together."""
