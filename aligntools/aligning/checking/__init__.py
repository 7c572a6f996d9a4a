"""What a translation leaves out or adds: words without a counterpart, repetitions, numbers and placeholders."""
