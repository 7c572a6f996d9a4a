"""Data on disk that only this package reads: files that appear whole, arrays, objects, maps over blocks, sorting."""
