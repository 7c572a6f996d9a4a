"""Training a tagger on tagged text: counts, and substates of tags that nobody annotated."""
