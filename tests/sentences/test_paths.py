"""Paths of groups and what they score, against enumeration; the lexicon's counts, against plain sums."""

from functools import cache
from itertools import pairwise, product
from math import log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aligntools.formats.links.ladder import SentenceGroup, format_ladder, read_ladder
from aligntools.ground.parallel import Pool
from aligntools.sentences import band as bands
from aligntools.sentences import kernels_groups, kernels_lexicon, lexicon, model
from aligntools.sentences.alignment import align
from aligntools.sentences.text import Text, text_of, words_of

_WORDS = st.lists(st.sampled_from(["Haus", "maison", "12", "Berg", "mont", ".", "x"]), max_size=4)
_LINES = st.lists(_WORDS.map(" ".join), min_size=1, max_size=4)
_KINDS = model.kinds_of(2, 2, 4)


def _model(source: list[str], target: list[str]) -> model.Model:
    texts = text_of(source), text_of(target)
    known = lexicon.look_alikes(*texts)
    learned = lexicon.learn(*texts, np.empty((0, 4), np.int64), np.empty(0), known)
    return model.Model(*texts, _KINDS, model.WITHOUT, learned)


def _ratio(direction: lexicon.Direction, s: int, t: int) -> float:
    row = slice(direction.ptr[s], direction.ptr[s + 1])
    return float(direction.ratios[row][direction.ids[row] == t].sum())


def _words_score(given_words: list[int], words: list[int], direction: lexicon.Direction) -> float:
    total = 0.0
    for t in words:
        known, unknown = sum(_ratio(direction, s, t) for s in given_words), float(direction.unknown[t])
        total += log(unknown + (1 - unknown) * known / len(given_words)) if known else log(unknown)
    return total


def _score(m: model.Model, i: int, i2: int, j: int, j2: int) -> float:
    """Return the score of a group as `kernels_groups.group_score` describes it."""
    assert m.lexicon is not None
    words = [
        text.side.tokens[text.side.offsets[a] : text.side.offsets[b]].tolist()
        for text, a, b in ((m.source, i, i2), (m.target, j, j2))
    ]
    lexical = _words_score(*words, m.lexicon[0]) + _words_score(*words[::-1], m.lexicon[1])
    lexicon_weight, length_weight, background, _ = m.weights
    scale = max(1.0, m.target.sizes.sum()) / max(1.0, m.source.sizes.sum())
    sizes = m.source.sizes[i:i2].sum(), m.target.sizes[j:j2].sum()
    ratio = log((sizes[1] + 1) / (scale * sizes[0] + 1))
    variance = kernels_groups.VARIANCE + kernels_groups.PER_SIZE * (1 / (sizes[0] + 1) + 1 / (sizes[1] + 1))
    length = 0.5 * (log(background / variance) - ratio**2 * (1 / variance - 1 / background))
    return lexicon_weight * lexical + length_weight * max(length, kernels_groups.LOWEST)


def _paths(n: int, m: int) -> list[list[tuple[int, int, int, int]]]:
    @cache
    def after(i: int, j: int) -> tuple[tuple[tuple[int, int, int, int], ...], ...]:
        if (i, j) == (n, m):
            return ((),)
        return tuple(
            ((i, i + a, j, j + b), *rest)
            for a, b in _KINDS.tolist()
            if i + a <= n and j + b <= m
            for rest in after(i + a, j + b)
        )

    return [list(path) for path in after(0, 0)]


@given(_LINES, _LINES)
def test_the_best_path_and_chances_are_those_of_enumeration(source: list[str], target: list[str]) -> None:
    m = _model(source, target)
    n_s, n_t = len(source), len(target)
    priors = {tuple(kind): prior for kind, prior in zip(_KINDS.tolist(), m.priors.tolist(), strict=True)}

    def total(path: list[tuple[int, int, int, int]]) -> float:
        return sum(
            priors[g[1] - g[0], g[3] - g[2]] + (_score(m, *g) if g[1] > g[0] and g[3] > g[2] else 0.0) for g in path
        )

    paths = _paths(n_s, n_t)
    weights = np.array([total(path) for path in paths])
    shares = np.exp(weights - weights.max())
    log_sum = weights.max() + log(shares.sum())
    shares /= shares.sum()
    chances: dict[tuple[int, int, int, int], float] = {}
    for path, share in zip(paths, shares.tolist(), strict=True):
        for group in path:
            chances[group] = chances.get(group, 0.0) + share
    found, found_chances, found_total = model.best_path(m, bands.around(np.empty((0, 2), np.int64), n_s, n_t))
    alone = priors[1, 0] * n_s + priors[0, 1] * n_t
    assert found_total == pytest.approx(log_sum - alone, abs=1e-3)
    groups = [tuple(g) for g in found.tolist()]
    assert found_chances == pytest.approx([chances[g] for g in groups], abs=1e-3)
    gains = [sum(chances[g] - model.TOLL for g in path) for path in paths]
    assert sum(chances[g] - model.TOLL for g in groups) == pytest.approx(max(gains), abs=1e-3)


@given(_LINES, _LINES, st.data())
def test_forced_paths_go_through_their_places(source: list[str], target: list[str], data: st.DataObject) -> None:
    n, m = len(source), len(target)
    i, j = data.draw(st.integers(0, n - 1)), data.draw(st.integers(0, m - 1))
    band = bands.forced(bands.around(np.empty((0, 2), np.int64), n, m), np.array([(i, j)]), m)
    assert (band.end[i], band.begin[i + 1]) == (j + 1, j + 1)
    assert (band.begin[0], band.end[n]) == (0, m + 1)


def test_expected_links_are_posteriors_of_ibm_1() -> None:
    source, target = text_of(["a b", "a"]), text_of(["x y", "x"])
    groups = np.array([(0, 1, 0, 1), (1, 2, 1, 2)])
    keys, slots = np.empty(5, np.int64), np.empty(5, np.int32)
    s, t = source.side, target.side
    table = np.full(16, -1, np.int32)
    found = kernels_lexicon.word_pairs(s.tokens, s.offsets, t.tokens, t.offsets, groups, 2, keys, table, slots)
    assert found == 4
    ratios = np.array([2.0, 0.5, 1.0, 3.0], np.float32)
    reverse = np.array([1.5, 1.0, 0.5, 2.0], np.float32)
    counts, belief, e = np.zeros(4), np.array([1.0, 0.5]), 0.1
    kernels_lexicon.expected_links(
        s.tokens, s.offsets, t.tokens, t.offsets, groups, belief, slots, ratios, reverse, e, counts
    )
    number = {(int(k) // 2, int(k) % 2): n for n, k in enumerate(keys[:found])}
    expected = np.zeros(4)
    for (sources, targets), weight in zip([((0, 1), (0, 1)), ((0,), (0,))], belief, strict=True):
        for a, b in product(sources, targets):
            forward = sum(ratios[number[x, b]] for x in sources)
            back = sum(reverse[number[a, y]] for y in targets)
            for ratio, total, size in ((ratios, forward, len(sources)), (reverse, back, len(targets))):
                own = (1 - e) / size * ratio[number[a, b]]
                expected[number[a, b]] += 0.5 * weight * own / (e + (1 - e) / size * total)
    assert counts == pytest.approx(expected)


@given(
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), unique_by=(lambda p: p[0], lambda p: p[1]), max_size=7)
)
def test_the_chain_is_a_longest_one(points: list[tuple[int, int]]) -> None:
    anchors = np.array(sorted(points), np.int64).reshape(-1, 2)
    found = bands.chain(anchors)
    assert all((b > a).all() for a, b in pairwise(found))
    longest = 0
    for chosen in product((False, True), repeat=len(anchors)):
        part = anchors[np.array(chosen, bool)] if len(anchors) else anchors
        if all((b > a).all() for a, b in pairwise(part)):
            longest = max(longest, len(part))
    assert len(found) == longest


def _book(order: list[int]) -> tuple[list[str], list[str]]:
    names = [f"N{k}ord{chr(97 + k % 26)} {k} {k * 7 % 101} Zug{k}" for k in range(60)]
    return names, [f"le {names[k]} ." for k in order]


def test_every_sentence_is_in_one_group_and_a_section_that_moved_is_found() -> None:
    order = [*range(10), *range(20, 50), *range(10, 20), *range(50, 60)]
    source, target = _book(order)
    (groups, _, moved), _ = align(text_of(source), text_of(target), kinds=_KINDS, pool=Pool(1))
    assert sorted(k for a, b, _, _ in groups.tolist() for k in range(a, b)) == list(range(60))
    assert sorted(k for _, _, a, b in groups.tolist() for k in range(a, b)) == list(range(60))
    pairs = {(a, c) for a, b, c, d in groups.tolist() if (b - a, d - c) == (1, 1)}
    assert pairs == {(k, order.index(k)) for k in range(60)}
    assert {int(a) for a, *_ in groups[moved].tolist()} == set(range(10, 20))


def test_blocks_lead_through_documents_whose_words_are_all_frequent() -> None:
    """No word is in fewer than 60 of these lines, many lines are the same, and a section stands elsewhere."""
    rng = np.random.default_rng(5)
    words = [f"{chr(97 + k)}ord{chr(97 + k)}{chr(97 + k)}" for k in range(26)]
    source = [" ".join(rng.choice(words, 3)) if rng.random() < 0.6 else "vide ." for _ in range(1200)]
    assert min(" ".join(source).split().count(word) for word in words) > bands.RARE
    order = [*range(300), *range(450, 800), *range(300, 450), *range(800, 1200)]
    target = [f"{source[k]} il" for k in order]
    texts = text_of(source), text_of(target)

    def led(*texts: Text) -> list[tuple[np.ndarray, np.ndarray]] | None:
        known = lexicon.look_alikes(*texts)
        return bands.around_blocks(*texts, lexicon.learn(*texts, np.empty((0, 4), np.int64), np.empty(0), known))

    where = led(*texts)
    assert where is not None
    inverse = np.argsort(order)
    for (centre, reach), true in zip(where, (inverse, np.array(order)), strict=True):
        assert (np.abs(centre - true) <= reach).mean() > 0.98
        assert np.median(reach) < 60
    assert led(texts[0], text_of([" ".join(rng.choice(words, 3)) for _ in range(1200)])) is None
    (groups, *_), _ = align(*texts, kinds=_KINDS, pool=Pool(1))
    both = {(a, c) for a, b, c, d in groups.tolist() if (b - a, d - c) == (1, 1)}
    said = {(k, int(inverse[k])) for k in range(1200) if source[k] != "vide ."}
    assert len(both & said) > 0.97 * len(said)


@given(st.integers(0, 1000))
def test_every_sentence_is_in_one_group_whatever_moved(seed: int) -> None:
    rng = np.random.default_rng(seed)
    sides = []
    for numbers in (np.arange(60), np.concatenate([*rng.permutation(np.arange(60).reshape(10, 6))])):
        kept = numbers[rng.random(60) < 0.9]
        sides.append([f"{k}{rng.integers(3)} {1000 + k} . {rng.integers(9)}" for k in kept.tolist()])
    (groups, *_), _ = align(text_of(sides[0]), text_of(sides[1]), kinds=_KINDS, pool=Pool(1))
    for side, first in zip(sides, (0, 2), strict=True):
        own = [k for row in groups.tolist() for k in range(row[first], row[first + 1])]
        assert sorted(own) == list(range(len(side)))


@pytest.mark.parametrize("lines", [([], []), (["a"], []), ([], ["b"]), (["", ""], [""]), (["a b"], ["a b"] * 9)])
def test_documents_that_are_hardly_there(lines: tuple[list[str], list[str]]) -> None:
    (groups, *_), _ = align(text_of(lines[0]), text_of(lines[1]), kinds=_KINDS, pool=Pool(1))
    sizes = groups[:, [1, 3]] - groups[:, [0, 2]]
    assert sizes.sum(0).tolist() == [len(lines[0]), len(lines[1])]


@pytest.mark.parametrize("form", ["vecalign", "hunalign", "xces"])
def test_ladders_come_back(form: str, tmp_path: object) -> None:
    groups = [
        SentenceGroup((0, 1), (0,), 0.5),
        SentenceGroup((2,), (), 0.25),
        SentenceGroup((), (1,), 0.25),
        SentenceGroup((3,), (2, 3), 0.75),
    ]
    path = f"{tmp_path}/ladder"
    with open(path, "w", encoding="utf-8") as file:
        file.write(format_ladder(groups, form))  # type: ignore[arg-type]
    found = read_ladder(path)
    assert [g[:2] for g in found] == [g[:2] for g in groups]
    if form != "xces":
        assert [g.score for g in found] == [g.score for g in groups]


def test_words_are_cut_as_scripts_need() -> None:
    assert words_of("Die Höhle, 1956") == ["die", "hohle", ",", "1956"]
    assert words_of("中文句") == ["中文", "文句", "句"]
