"""What a tagger learned, in numbers to look at: the words of each tag, and which tags follow each other."""

from typing import TYPE_CHECKING, Any

import numpy as np

from aligntools.tagging.tagger import TaggerModel

if TYPE_CHECKING:
    from aligntools.tagging.tagger import TaggerMember

#: Tags in the table of transitions, at most.
_MOST = 60
#: Probability of a tag given a word from which the word may be one of the tag's own.
_TYPICAL = 0.1


def described(model: TaggerModel, words: int, best: int) -> dict[str, Any]:
    """Return what the model learned.

    words: Known words that are given with their tags, the first ones.
    best: Words given for each tag.
    Returns ``settings``: rows of name and value. ``tags``: list of str; ``prior``: their probabilities. ``typical``:
    for each tag words with the largest ``p(tag | word) / p(tag)``. ``transitions`` [tags, tags]: ``p(next | tag)``, of
    ``transition_tags``. ``words``: known words with ``[[tag, p(tag | word)]..]``.
    """
    member = model.coarse or model.members[0]
    chain, prior, groups = member.chain, member.prior, _groups(model)
    n = len(model.tags)
    shares = _word_shares(model, member, min(words, len(model.words)))
    typical = _typical(model, member, best)
    settings = [
        ["tags", n],
        ["known words", len(model.words)],
        ["models that are averaged", len(model.members)],
        ["states", ", ".join(str(len(m.prior)) for m in model.members)],
    ]
    between = np.zeros((n, n))
    share = prior / np.maximum(np.bincount(groups, prior, n), 1e-300)[groups]
    np.add.at(between, (groups[:, None], groups[None, :]), share[:, None] * chain.transitions)
    tag_prior = np.bincount(groups, prior, n)
    kept = np.sort(np.argsort(-tag_prior, kind="stable")[:_MOST])
    rows = between[np.ix_(kept, kept)]
    rows /= np.maximum(rows.sum(axis=1, keepdims=True), 1e-300)
    return {
        "settings": settings,
        "tags": list(model.tags),
        "prior": tag_prior.tolist(),
        "typical": typical,
        "transitions": rows.tolist(),
        "transition_tags": [model.tags[k] for k in kept.tolist()],
        "words": shares,
    }


def _groups(model: TaggerModel) -> np.ndarray:
    """Return the tag of each state of the coarse model, or of the first one."""
    first = (model.coarse or model.members[0]).chain.first
    if model.anonymous:
        return np.arange(len(model.tags))
    return np.repeat(np.arange(len(first) - 1), np.diff(first))


def _layout(model: TaggerModel, member: "TaggerMember") -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return for each emission value the word's row, the state, and ``p(state | word)``."""
    _, candidate, state = model.candidates.states(member.chain.first)
    rows = model.candidates.rows()[candidate]
    shares = member.chain.values * member.prior[state]
    return rows, state, shares / np.maximum(np.bincount(rows, shares, len(model.words)), 1e-300)[rows]


def _word_shares(model: TaggerModel, member: "TaggerMember", count: int) -> list[list[Any]]:
    rows, state, shares = _layout(model, member)
    groups = _groups(model)
    end = int(np.searchsorted(rows, count))
    found: list[dict[str, float]] = [{} for _ in range(count)]
    for row, tag, p in zip(rows[:end].tolist(), groups[state[:end]].tolist(), shares[:end].tolist(), strict=True):
        name = model.tags[tag]
        found[row][name] = found[row].get(name, 0.0) + p
    result = []
    for word, own in zip(model.words, found, strict=False):
        pairs = [[tag, p] for tag, p in sorted(own.items(), key=lambda pair: -pair[1]) if p >= 1e-4]
        result.append([word.decode("utf-8", "surrogateescape"), pairs])
    return result


def _typical(model: TaggerModel, member: "TaggerMember", best: int) -> list[list[list[float | str]]]:
    """Return for each tag the words whose emissions are the largest compared with those of other tags."""
    rows, state, shares = _layout(model, member)
    tags = _groups(model)[state]
    prior = np.bincount(_groups(model), member.prior, len(model.tags))
    result = []
    for tag in range(len(model.tags)):
        own = np.flatnonzero(tags == tag)
        words, inverse = np.unique(rows[own], return_inverse=True)
        p = np.bincount(inverse, shares[own], len(words)) if len(own) else np.zeros(0)
        order = np.argsort(-p, kind="stable")[:best]
        order = order[p[order] >= _TYPICAL]
        lift = p[order] / max(float(prior[tag]), 1e-300)
        names = [model.words[k].decode("utf-8", "surrogateescape") for k in words[order].tolist()]
        result.append([list(pair) for pair in zip(names, lift.tolist(), strict=True)])
    return result
