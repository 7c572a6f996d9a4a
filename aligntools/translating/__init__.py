"""Translation: language models, grammars, decoding, and tuning by expected loss."""
