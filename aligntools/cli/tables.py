"""Tables as text, the same for all commands."""

from aligntools.metrics.base import aligned

__all__ = ["aligned"]
