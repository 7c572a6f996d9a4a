"""What everything stands on: compile policy, threads, numerical optimization, resampling."""
