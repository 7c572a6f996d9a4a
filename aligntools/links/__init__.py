"""Links of words: read in any form, symmetrized, between words and pieces of them, and counted into tables."""
