"""Tags of rare and unknown words, from their letters."""
