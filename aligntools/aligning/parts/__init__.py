"""Alignment of text of any size in *parts*, which are worked one by one, here or on a cluster.

A part is a run of sentence pairs with its own words, table and link matrices. A *shard* is a run of source words of the
whole text's table. Shards sum what the parts count, estimate the table, and give each part its values, all in files.
Sums are taken in the order of the parts, so the result depends neither on workers nor on the bound on memory.
"""
