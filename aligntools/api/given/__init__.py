"""What functions are given: texts, sentences, annotated text."""
