"""Contrastive alignment with non-local features (Liu & Sun 2015): candidates, features, search, learning."""
