"""Packed derivations (hypergraphs): semirings, best, k-best and sampled derivations."""
