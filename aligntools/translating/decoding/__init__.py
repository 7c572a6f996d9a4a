"""Decoding with a grammar and a language model."""
