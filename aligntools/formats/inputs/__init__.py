"""What the public functions take: files, text and annotation in memory, and what the readers return."""
