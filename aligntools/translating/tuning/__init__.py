"""Learning weights: expected loss, MERT, imputed text."""
