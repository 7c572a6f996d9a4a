"""What a tagger learned, to look at: the words of each tag, and which tags follow each other."""

from typing import Any

import numpy as np

from aligntools.tagging.tagger import TaggerMember, TaggerModel
from aligntools.viewing.models import ModelView, WordList

#: Tags in the table of transitions, at most.
_MOST = 60
#: Probability of a tag given a word from which the word may be one of the tag's own.
_TYPICAL = 0.1


def model_view(model: TaggerModel, title: str, words: int, best: int) -> ModelView:
    """Return what a tagger learned: words of tags, tags that follow each other, tags of the first ``words`` words.

    best: Words given for each tag: those with the largest ``p(tag | word) / p(tag)``.
    """
    member = model.coarse or model.members[0]
    chain, prior, groups = member.chain, member.prior, _groups(model)
    n = len(model.tags)
    settings: list[list[Any]] = [
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
    typical, shares = _typical(model, member, best), tag_prior.tolist()
    table = {
        "caption": "Words that a tag emits most readily",
        "head": ["tag", "share, %", "words"],
        "rows": [
            [model.tags[k], f"{100 * shares[k]:.1f}", " ".join(word for word, _ in typical[k])]
            for k in sorted(range(n), key=lambda k: -shares[k])
        ],
        "words": True,
    }
    names = [model.tags[k] for k in kept.tolist()]
    matrix = ("Tags that follow each other: the next tag's probability in percent", names, names, rows.tolist())
    lists, notes = [], []
    if words:
        known = _word_shares(model, member, min(words, len(model.words)))
        lists = [WordList("known words", "tag", [word for word, _ in known], [pairs for _, pairs in known])]
        if len(known) < len(model.words):
            notes.append(f"{len(known):,} of {len(model.words):,} known words.")
    return ModelView(title, settings, tables=[table], words=lists, matrix=matrix, notes=notes)


def _groups(model: TaggerModel) -> np.ndarray:
    """Return the tag of each state of the coarse model, or of the first one."""
    first = (model.coarse or model.members[0]).chain.first
    if model.anonymous:
        return np.arange(len(model.tags))
    return np.repeat(np.arange(len(first) - 1), np.diff(first))


def _layout(model: TaggerModel, member: TaggerMember) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return for each emission value the word's row, the state, and ``p(state | word)``."""
    _, candidate, state = model.candidates.states(member.chain.first)
    rows = model.candidates.rows()[candidate]
    shares = member.chain.values * member.prior[state]
    return rows, state, shares / np.maximum(np.bincount(rows, shares, len(model.words)), 1e-300)[rows]


def _word_shares(model: TaggerModel, member: TaggerMember, count: int) -> list[list[Any]]:
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


def _typical(model: TaggerModel, member: TaggerMember, best: int) -> list[list[list[Any]]]:
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
