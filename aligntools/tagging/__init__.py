"""Tagging: hidden Markov models of tags, learned with and without them, and what measures them."""
