"""Stands in for systran_align."""

from aligntools.adapters.systran_align import *  # noqa: F403
