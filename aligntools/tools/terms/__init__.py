"""Term pairs: phrases that no link leaves, their counts and scores, stop words, consistency with a glossary."""
