"""Hiero grammars: extraction, scores, filtering, the trie that the decoder walks."""
