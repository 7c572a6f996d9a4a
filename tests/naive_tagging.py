"""Taggers' sums and best paths by going through all paths. Imports nothing that it checks."""

import itertools

# A model is a dict: start, stop [states], transitions [states][states]; a sentence is a list of tokens, each a list of
# candidates (group, {state: emission}).


def paths(model, sentence):
    """Yield (states, candidates' places, probability) of every way through a sentence."""
    choices = [
        [(place, state, e) for place, (_, emissions) in enumerate(token) for state, e in emissions.items()]
        for token in sentence
    ]
    for way in itertools.product(*choices):
        p = model["start"][way[0][1]] * model["stop"][way[-1][1]]
        for _, _, e in way:
            p *= e
        for (_, a, _), (_, b, _) in itertools.pairwise(way):
            p *= model["transitions"][a][b]
        yield tuple(s for _, s, _ in way), tuple(c for c, _, _ in way), p


def total(model, sentence):
    """Return a sentence's probability."""
    return sum(p for _, _, p in paths(model, sentence)) if sentence else 1.0


def posteriors(model, sentence, by_state=False):
    """Return for each token a dict of place (or state) to posterior."""
    found = [{} for _ in sentence]
    all_ = total(model, sentence)
    for states, places, p in paths(model, sentence):
        for t, key in enumerate(states if by_state else places):
            found[t][key] = found[t].get(key, 0.0) + p / all_
    return found


def pair_posteriors(model, sentence):
    """Return for each token but the first a dict of (place before, place) to posterior."""
    found = [{} for _ in sentence]
    all_ = total(model, sentence)
    for _, places, p in paths(model, sentence):
        for t in range(1, len(sentence)):
            key = places[t - 1 : t + 1]
            found[t][key] = found[t].get(key, 0.0) + p / all_
    return found


def is_best(model, sentence, states):
    """Tell whether no path is more probable than these states, but for rounding (paths can have equal factors)."""
    reached = {way: p for way, _, p in paths(model, sentence)}
    return reached[tuple(states)] >= max(reached.values()) * (1 - 1e-9)


def best_chain_score(model, sentence, places):
    """Return the product of ``p(place | place before, sentence)`` along some places."""
    single, double = posteriors(model, sentence), pair_posteriors(model, sentence)
    p = single[0][places[0]]
    for t in range(1, len(sentence)):
        p *= double[t][places[t - 1 : t + 1]] / single[t - 1][places[t - 1]]
    return p


def expected(model, sentence):
    """Return dicts of expected counts: of starts, moves, stops and (token, state)."""
    start, moves, stop, emissions = {}, {}, {}, {}
    all_ = total(model, sentence)
    for states, _, p in paths(model, sentence):
        q = p / all_
        start[states[0]] = start.get(states[0], 0.0) + q
        stop[states[-1]] = stop.get(states[-1], 0.0) + q
        for t, s in enumerate(states):
            emissions[t, s] = emissions.get((t, s), 0.0) + q
        for a, b in itertools.pairwise(states):
            moves[a, b] = moves.get((a, b), 0.0) + q
    return start, moves, stop, emissions


def merged_probability(model, sentence, t, one, two, share):
    """Return a sentence's probability if states ``one`` and ``two`` were a single state at token ``t`` alone.

    That state is entered as either, emits and goes on as ``one`` with probability ``share``.
    """
    n = len(model["start"])
    into = {one: share, two: 1 - share}
    emissions = {s: e for _, candidate in sentence[t] for s, e in candidate.items()}
    result = 0.0
    for states, _, p in paths(model, sentence):
        if states[t] not in into:
            result += p
    # the merged state: all neighbours, each with its own path weight up to there
    for before in range(n) if t else [None]:
        if t:
            left = _prefix(model, sentence[:t], before)
            enter = left * sum(model["transitions"][before][s] for s in into)
        else:
            enter = sum(model["start"][s] for s in into)
        emit = sum(w * emissions[s] for s, w in into.items())
        if t == len(sentence) - 1:
            leave = sum(w * model["stop"][s] for s, w in into.items())
        else:
            leave = sum(
                w * model["transitions"][s][after] * _suffix(model, sentence[t + 1 :], after)
                for s, w in into.items()
                for after in range(n)
            )
        result += enter * emit * leave
    return result


def _prefix(model, sentence, last):
    open_end = {**model, "stop": [float(s == last) for s in range(len(model["start"]))]}
    return total(open_end, sentence)


def _suffix(model, sentence, first):
    fixed = {**model, "start": [float(s == first) for s in range(len(model["start"]))]}
    return total(fixed, sentence)
