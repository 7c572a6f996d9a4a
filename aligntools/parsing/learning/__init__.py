"""Learning a parser's weights: objectives, L-BFGS, checkpoints, and training on a treebank."""
