"""Word alignment: IBM models, HMM, agreement, fertility sampling, symmetrization, evaluation."""
