"""The command line: one module a subcommand, named after it; click lives here and nowhere else."""
