"""Parallel text as the aligners see it: views, the co-occurrence table, link matrices."""
