"""Tagging: training taggers, applying them, word classes."""
