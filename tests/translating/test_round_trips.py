"""Rule-level composition against enumeration: trees of the reverse system, and all ways to translate each by rules."""

import itertools
import math
from collections import Counter, namedtuple

import numpy as np
import pytest

from aligntools.translating.decoding.decoder import DecoderSettings, System
from aligntools.translating.decoding.system_tables import feature_names
from aligntools.translating.tuning.round_trips import fitting, round_trips, source_sides, tree_symbol
from aligntools.words.vocabulary import Vocabulary
from tests import naive_translating as naive
from tests.translating import systems
from tests.translating.test_decoder import derivations_of

ALL = DecoderSettings(pop_limit=0)
Trips = namedtuple("Trips", "rules trees groups shares")
LINES = ["a b c", "b a", "d c", "", "a a b c", "c a b"]


def inverted(rules, rng):
    """Return rules the other way round, with new features; some are left out, and some have a second target side."""
    found = {}
    for rule in rules:
        gaps = [s for s in rule.target if not isinstance(s, str)]
        new = {gap: -1 - k for k, gap in enumerate(gaps)}
        source = tuple(new.get(s, s) for s in rule.target)
        for more in [(), ("d",)][: int(rng.integers(0, 3))]:
            target = tuple(new.get(s, s) for s in rule.source) + more
            found[source, target] = {n: float(np.float32(-rng.random() * 3)) for n in systems.NAMES}
    if rng.random() < 0.5:  # for words that the reverse system passes through
        found[("a",), ("b",)] = found[("a",), ("c", "a")] = dict.fromkeys(systems.NAMES, -1.0)
    made = [naive.Rule(source, target, features) for (source, target), features in found.items()]
    return sorted(made, key=lambda rule: [str(s) for s in rule.source])


def as_inverse_grammar(rules):
    """Return the grammar of rules from `systems.TARGET` to `systems.SOURCE`."""
    exchanged = systems.as_grammar([naive.Rule(r.target, r.source, r.features) for r in rules])
    return type(exchanged)(
        Vocabulary.from_words(systems.TARGET), Vocabulary.from_words(systems.SOURCE), exchanged.target_offsets,
        exchanged.target, exchanged.source_offsets, exchanged.source, exchanged.features, systems.NAMES,
    )  # fmt: skip


class Trees(naive.Enumeration):
    """Enumeration whose derivations keep their rules in pre-order: numbers, or a word that is passed through."""

    def apply(self, number, rule, parts):
        for way in itertools.product(*parts):
            plain = [[d._replace(rules=())] for d in way]
            for one in super().apply(number, rule, plain):
                yield one._replace(rules=(number, *(r for d in way for r in d.rules)))

    def x(self, begin, end):
        found = super().x(begin, end)
        return [d._replace(rules=(self.words[begin],)) if d.rules == (-1,) else d for d in found]

    def s(self, end):
        found = [naive.Derivation(d.words, naive.add(d.feats, {"glue-unary": 1}), d.rules) for d in self.x(0, end)]
        for middle in range(1, end):
            for a, b in itertools.product(self.s(middle), self.x(middle, end)):
                feats = naive.add(a.feats, b.feats, {"glue-binary": 1})
                found.append(naive.Derivation(a.words + b.words, feats, a.rules + b.rules))
        return found


def fits(back, on):
    """Tell whether a forward rule translates the target side of a reverse one; return the order of its nonterminals."""
    gaps = [s for s in back.target if not isinstance(s, str)]
    return tuple({gap: -1 - k for k, gap in enumerate(gaps)}.get(s, s) for s in back.target) == on.source, gaps


def translations(tree, reverse, forward):
    """Yield (words, features) of every forward derivation that is isomorphic to a tree, glue included."""

    def parse(at):
        """Yield the derivations of the subtree at ``at``; all of them end at the same place."""
        symbol = tree[at]
        if isinstance(symbol, str):
            alone = [r for r in forward if r.source == (symbol,)]
            whole = [(r.target, naive.add(r.features, {"word-penalty": len(r.target), "arity-0": 1})) for r in alone]
            return whole or [((symbol,), {"unknown": 1, "word-penalty": 1})], at + 1
        back, at = reverse[symbol], at + 1
        below = []
        for _ in range(sum(not isinstance(s, str) for s in back.source)):
            ways, at = parse(at)
            below.append(ways)
        found = []
        for on in forward:
            same, gaps = fits(back, on)
            if not same:
                continue
            own = {"word-penalty": sum(isinstance(s, str) for s in on.target), f"arity-{len(gaps)}": 1}
            for way in itertools.product(*below):
                words = []
                for s in on.target:  # nonterminal n of the forward rule is nonterminal gaps[n] of the reverse one
                    words += [s] if isinstance(s, str) else way[-gaps[-s - 1] - 1][0]
                found.append((tuple(words), naive.add(on.features, own, *(feats for _, feats in way))))
        return found, at

    at, whole = 0, [((), {})]
    while at < len(tree):
        ways, end = parse(at)
        glue = {"glue-binary" if at else "glue-unary": 1}
        whole = [(a + b, naive.add(f, g, glue)) for (a, f), (b, g) in itertools.product(whole, ways)]
        at = end
    return whole


@pytest.mark.parametrize("order", [0, 3])
def test_trees_and_their_translations_are_what_enumeration_finds(order, tmp_path):
    seen, unfit = Counter(), 0
    for seed in range(8):
        rng = np.random.default_rng(seed)
        reverse = systems.random_rules(rng, 8)
        forward = inverted(reverse, rng)
        grammar, backward = as_inverse_grammar(forward), systems.as_grammar(reverse)
        weights = systems.random_weights(rng, feature_names(backward))
        system = System(backward, None, weights, ALL)
        sentences = systems.encode(system, LINES)
        passed = sentences.extra
        trips = Trips(*round_trips(system.forest(sentences), system.weights, backward, grammar, 3, 0.7, passed))
        fitted = {k for k, back in enumerate(reverse) if any(fits(back, on)[0] for on in forward)}
        expected = []  # (sentence, tree, score), the best of each string
        for number, line in enumerate(LINES):
            best = {}
            for d in Trees(reverse, line.split(), 10).derivations() if line else []:
                if all(isinstance(r, str) or r in fitted for r in d.rules):
                    value = 0.7 * naive.score(d, weights)
                    best[d.words] = max(best.get(d.words, (-math.inf, ())), (value, d.rules))
                else:
                    unfit += 1
            expected += [(number, tree, value) for value, tree in sorted(best.values(), reverse=True)[:3]]
        trees = [tuple(trips.trees.words[a:b]) for a, b in itertools.pairwise(trips.trees.offsets)]
        written = [tuple(tree_symbol(r) if isinstance(r, int) else r.encode() for r in tree) for _, tree, _ in expected]
        assert (trips.groups.tolist(), trees) == ([n for n, *_ in expected], written)
        totals = Counter()
        for number, _, value in expected:
            totals[number] += math.exp(value)
        assert trips.shares == pytest.approx([math.exp(v) / totals[n] for n, _, v in expected], rel=1e-4)
        if not trees:
            continue
        _check_translations(trips, expected, reverse, forward, order, rng, tmp_path)
        seen.update(len(tree) for tree in trees)
        seen["passed"] += sum(b"a" in tree and ("a",) in {r.source for r in forward} for tree in trees)
    assert unfit > 20
    assert seen.pop("passed") > 3
    assert max(seen) > 2
    assert sum(seen.values()) > 40


def _check_translations(trips, expected, reverse, forward, order, rng, tmp_path):
    """Check the forest of each tree against all its translations: strings, features and their number."""
    lm = systems.random_lm(rng, order, ("a", "b", "c")) if order else None
    model = systems.as_lm(lm, order, tmp_path / f"{order}.arpa") if order else None
    names = feature_names(trips.rules)
    assert names == ["lm", *systems.NAMES, *names[3:]]
    settings = DecoderSettings(
        pop_limit=0, span_limit=int(np.diff(trips.trees.offsets).max(initial=1)), pass_known=False
    )
    composed = System(trips.rules, model, systems.random_weights(rng, names), settings)
    sentences = composed.encode(trips.trees.words, trips.trees.offsets)
    forest, name = composed.forest(sentences), composed.names(sentences)
    for root, (_, tree, _) in zip(forest.roots, expected, strict=True):
        wanted = []
        for words, feats in translations(tree, reverse, forward):
            more = {}
            if lm is not None:
                more = {"lm": naive.lm_score(lm, order, words), "lm-unknown": sum((w,) not in lm for w in words)}
            wanted.append((words, naive.score(naive.Derivation(words, feats | more, ()), NUMBERED)))
        found = [
            (tuple(w.decode() for w in name(d.words)), naive.score(d, NUMBERED))
            for d in derivations_of(forest, root, composed)
        ]
        assert Counter(w for w, _ in found) == Counter(w for w, _ in wanted)
        assert np.sort([v for _, v in found]) == pytest.approx(np.sort([v for _, v in wanted]), rel=1e-5, abs=1e-4)


#: A weight for each feature, all different, so that sums tell features apart.
NUMBERED = {
    name: 1 + 0.37 * k
    for k, name in enumerate(
        ["lm", *systems.NAMES, "word-penalty", "arity-0", "arity-1", "arity-2", "glue-unary", "glue-binary", "unknown",
         "lm-unknown"]
    )
}  # fmt: skip


def test_grammars_that_do_not_meet_and_source_sides():
    rng = np.random.default_rng(0)
    rules = systems.random_rules(rng, 4)
    backward, forward = (
        systems.as_grammar(rules),
        as_inverse_grammar([naive.Rule(("D", "D"), ("a",), rules[0].features)]),
    )
    assert len(fitting(backward, forward)[0]) == 0
    system = System(backward, None, [0.0] * len(feature_names(backward)), ALL)
    sentences = systems.encode(system, ["a b"])
    _, trees, _, shares = round_trips(
        system.forest(sentences), system.weights, backward, forward, 2, passed=sentences.extra
    )
    assert not any(w.startswith(b"[X") for w in trees.words)
    assert len(trees) == len(shares)
    rules = [naive.Rule(("a", -1), (-1, "B"), {n: 0.0 for n in systems.NAMES})]
    sides = source_sides(systems.as_grammar(rules))
    assert sides.words == [tree_symbol(0), b"B"]
    assert sides.offsets.tolist() == [0, 2]
