"""Runs every kernel of grammars of constituents once on a few words."""

from aligntools.constituents.inducing.settings import InducedGrammarSettings
from aligntools.constituents.inducing.training import train as induce
from aligntools.constituents.settings import DECODE, GrammarDecisions, GrammarSettings, TreeLists
from aligntools.constituents.training import train
from aligntools.formats.annotation.brackets import parse_trees
from aligntools.ground.parallel import Pool

_TREES = (
    "(S (NP (D a) (N dog)) (VP (V barks)) (P .))",
    "(S (NP (N cats)) (VP (V see) (NP (D the) (N dog))) (P .))",
)


def warm(pool: Pool) -> None:
    """Compile what training grammars and parsing with them use."""
    trees = [tree for _, tree in parse_trees(_TREES, "warming")]
    for estimator in ("em", "vb"):
        found = induce(
            [["D", "N", "V", "N", "P"]], InducedGrammarSettings(symbols=2, iterations=1, estimator=estimator), pool
        )
        assert found is not None
        found[0].parse([list("abc")], [["D", "N", "V"]], pool=pool)
    for latent in (0, 1):
        model = train(trees, GrammarSettings(latent=latent, iterations=1), pool)
        for lists in (TreeLists(n_best=2), TreeLists(samples=1)):
            model.listed([tree.words() for tree in trees], lists, pool=pool)
        for decode in DECODE:
            model.parse([tree.words() for tree in trees], None, GrammarDecisions(decode=decode), pool)  # type: ignore[arg-type]
