"""Parallel and one-sided text, from files, from memory, or as it comes."""
