"""Stands in for eflomal."""

from aligntools.adapters.eflomal import *  # noqa: F403
