"""Grammars of constituents learned from tags alone."""
