"""Hidden Markov models: sums and best paths over chains of states, and learning them from untagged text."""
