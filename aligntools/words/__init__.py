"""Text as words: what separates them, their numbers, forms and pieces, and what finds them. Opens no files."""
