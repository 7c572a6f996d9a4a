"""Grammars, language models, lattices and derivations of translations."""
