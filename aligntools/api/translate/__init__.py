"""Translation: grammars, language models, systems and their weights."""
