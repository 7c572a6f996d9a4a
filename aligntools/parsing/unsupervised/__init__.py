"""Dependency grammar learned from tags alone."""
