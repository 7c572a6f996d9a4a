"""Applying alignment models: posteriors of any text, and decisions on links."""
