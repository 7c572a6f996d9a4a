"""Contrastive alignment with non-local features (Liu & Sun 2015): evidence, features, search, learning."""
