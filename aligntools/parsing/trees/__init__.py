"""Inference over dependency trees: sums, best trees, entropies; and the repair of given trees."""
