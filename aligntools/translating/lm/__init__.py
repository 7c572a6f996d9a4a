"""N-gram language models: counting, smoothing, look-up."""
