"""Alignment links, gold links, priors and tables of word probabilities."""
