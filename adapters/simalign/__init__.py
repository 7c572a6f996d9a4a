"""Stands in for simalign."""

from aligntools.adapters.simalign import *  # noqa: F403
