"""Alignment of text of any size, in parts that are worked one by one, here or on a cluster.

A part has its own words, its own table and its own link matrices, all of bounded size. What the parts count is summed
by *shards* of the table, runs of source words that fit into memory; these estimate, and give each part its values.
Parts and shards meet in files alone. Sums are taken in the order of the parts, so neither the number of workers nor
the bound on memory shows in the result.
"""
