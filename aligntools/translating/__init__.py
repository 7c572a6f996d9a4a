"""Translation with synchronous grammars: language model, grammar, decoder, tuning."""
