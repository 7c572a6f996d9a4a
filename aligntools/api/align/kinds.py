"""The alignment models that there are, by their names."""

from aligntools.aligning.models.registry import reconstructed as reconstructed
