"""Scores of alignments, tags, trees and translations."""
