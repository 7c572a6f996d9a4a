"""Constituents: grammars of phrase structure, learned from trees or from tags alone, and their trees."""
