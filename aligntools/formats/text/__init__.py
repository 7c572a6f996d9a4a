"""Parallel and one-sided text, from files, from memory, or from a live pipe."""
