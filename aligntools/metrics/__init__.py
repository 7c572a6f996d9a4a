"""Scores of alignments, tags, trees and translations, with intervals and paired tests."""
