"""Training a tagger on tagged text: counts, and unobserved substates of the tags."""
