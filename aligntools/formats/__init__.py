"""Text on disk to arrays in memory and back."""
