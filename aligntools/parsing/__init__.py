"""Dependency parsing: edge-factored log-linear models over trees, inference, features, learning, scores."""
