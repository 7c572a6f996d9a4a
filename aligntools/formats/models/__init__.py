"""Model files, encoders that others made, and the logs of training."""
