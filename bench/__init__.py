"""Measurements of the whole commands, against gold links and against other aligners; see ``run.py``."""
