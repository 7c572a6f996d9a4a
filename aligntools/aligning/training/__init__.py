"""Training alignment models: expectation, maximization, sampling, reconstruction."""
