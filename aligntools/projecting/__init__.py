"""Annotation carried over word alignments, from the sentences of one language to their translations."""
