"""Dependency parsing: training, transfer, induction, and applying parsers."""
