"""The language model's part of a hypothesis: what words that are yet to come on either side have to know.

A hypothesis covers some source words and has a translation, of which the words further left are not known yet. With a
model of order ``n`` and ``m = n - 1`` its state is a row of integers

    0                  ``open``: number of left words, plus 256 once the left is closed
    1                  number of right words
    2 .. 2 + m         left words (ids of the model), the first ones of the translation, 0 behind them
    2 + m .. 2 + 2m    right words, in order, 0 behind them
    2 + 2m             (where whole states are kept) words of the translation, at most 4
    3 + 2m .. 7 + 2m   its first 4 words (target ids), 0 behind them
    7 + 2m .. 11 + 2m  its last 4 words, 0 before them

and of floats: the left words' log-probabilities so far (each after those before it), and the backoffs of the contexts
that the last 1, 2, ... right words are. The left closes where a word's n-gram that begins at the first word is not in
the model: more words on the left only add backoffs of contexts that end in the left words. The right words are the
longest context that the model continues. (Both as in Heafield, Hoang, Koehn, Kiso & Federico 2011: "Left language
model state for syntactic machine translation", which also says why nothing is lost.)
"""

import numpy as np

from aligntools.ground.compiling import kernel
from aligntools.translating.lm.kernels_lm import BEGIN, extend, find

#: Added to the number of left words once no further word can become one.
CLOSED = 256
#: Words at each end that whole states keep.
KEPT = 4


@kernel(inline=True, fast=False)
def after_context(unigrams, keys, values, context, backoffs, fresh, n_context, word, room, result):
    """Score a word after a context and make the context that it leaves.

    Parameters
    ----------
    context : int32, in place
        The context's words, in order, from place 0.
    backoffs : float32, in place
        Of the contexts that the last 1, 2, ... words are.
    fresh : float32 [room + 1]
        For its own use.
    n_context : int
    word : int
    room : int
        Most words that a context has: the order less 1.
    result : int64 [2], output
        Order of the longest n-gram found, and the new number of words.

    Returns
    -------
    float64
        Natural logarithm.
    """
    score = np.float64(unigrams[word, 0])
    fresh[0] = unigrams[word, 1]
    left = 1 if fresh[0] != 0 and room > 0 else 0
    code = extend(np.uint64(0), word)
    matched = 0  # words of the context
    while matched < n_context:
        code = extend(code, context[n_context - 1 - matched])
        place = find(keys, code)
        if place < 0:
            break
        matched += 1
        score = np.float64(values[place, 0])
        fresh[matched] = values[place, 1]
        if matched == left and matched < room and fresh[matched] != 0:
            left += 1
    for k in range(matched, n_context):
        score += np.float64(backoffs[k])
    if left > 0:
        skip = n_context - left + 1
        for k in range(left - 1):
            context[k] = context[skip + k]
        context[left - 1] = word
        for k in range(left):
            backoffs[k] = fresh[k]
    result[0] = matched + 1
    result[1] = left
    return score


@kernel(inline=True, fast=False)
def combine(
    target, begin, end, passed, begins, tails, lm_ids, unigrams, keys, values, room, whole,
    states, floats, context, backoffs, fresh, result, state, extra,
):  # fmt: skip
    """Put a rule's words and its tails' translations together: the language model's gain, and the new state.

    Parameters
    ----------
    target : int32
        The rule's target side is ``target[begin:end]``: words, -1 and -2 for the first and second tail, 0 the end of
        the sentence.
    passed : int
        The word that is meant where ``begin`` is negative (then ``target`` is not read).
    begins : bool
        The translation is the sentence's beginning.
    tails : int64 [2]
        Rows of ``states`` and ``floats``.
    lm_ids : int32
        Target id to the model's; ``lm_ids[0]`` is the end of the sentence.
    room : int
        Most words that a context has: the order less 1.
    whole : bool
        Keep the first and last 4 words as well.
    context, backoffs, fresh, result
        As `after_context` has them: room for the order's number of elements.
    state : int32, output
    extra : float32, output
        The new row and the new floats.

    Returns
    -------
    float64
        What the words add to the log-probability beyond what the tails' own scores have of it. Left words count there
        with as much context as there is.
    """
    gain = 0.0
    n_left, n_context = 0, 0
    closed = room == 0
    untouched = True  # nothing yet: what comes first is taken over as it is
    for k in range(state.shape[0]):
        state[k] = 0
    for k in range(extra.shape[0]):
        extra[k] = np.float32(0.0)
    if begins:
        closed, untouched = True, False
        if room > 0:
            context[0], backoffs[0], n_context = BEGIN, unigrams[BEGIN, 1], 1
    length = 0
    span = end - begin if begin >= 0 else 1
    for s in range(span):
        symbol = np.int64(target[begin + s]) if begin >= 0 else np.int64(passed)
        tail, inside = np.int64(-1), 1
        if symbol < 0:
            tail = tails[-1 - symbol]
            inside = np.int64(states[tail, 0] & (CLOSED - 1))
        if whole:
            at = 2 + 2 * room
            more = 1 if tail < 0 else np.int64(states[tail, at])
            last = more if tail < 0 or more < KEPT else KEPT
            if symbol != 0:
                for k in range(more):
                    if length + k < KEPT:
                        state[at + 1 + length + k] = symbol if tail < 0 else states[tail, at + 1 + k]
                for k in range(KEPT - last):
                    state[at + 5 + k] = state[at + 5 + k + last]
                for k in range(last):
                    state[at + 5 + KEPT - last + k] = symbol if tail < 0 else states[tail, at + 5 + KEPT - last + k]
                length = min(length + more, KEPT)
                state[at] = length
        if tail >= 0 and untouched:
            n_left = inside
            closed = states[tail, 0] >= CLOSED
            for k in range(inside):
                state[2 + k] = states[tail, 2 + k]
                extra[k] = floats[tail, k]
        else:
            on = True  # the words further left still matter
            for k in range(inside):
                if not on:
                    closed = True
                    break
                if tail < 0:
                    word, had = np.int64(lm_ids[symbol]), np.float32(0.0)
                else:
                    word, had = np.int64(states[tail, 2 + k]), floats[tail, k]
                score = np.float32(
                    after_context(unigrams, keys, values, context, backoffs, fresh, n_context, word, room, result)
                )
                n_context = result[1]
                gain += np.float64(score) - np.float64(had)
                if not closed:
                    if result[0] == n_left + 1:
                        state[2 + n_left] = word
                        extra[n_left] = score
                        n_left += 1
                        closed = n_left == room
                    else:
                        closed = True
                on = n_context > k + 1 or tail < 0
            if tail >= 0 and states[tail, 0] >= CLOSED:
                closed = True
                for k in range(inside, n_context):  # the word behind the left ones backs off from longer contexts
                    gain += np.float64(backoffs[k])
        if tail >= 0 and (untouched or states[tail, 0] >= CLOSED or n_context <= inside):
            n_context = np.int64(states[tail, 1])
            for k in range(n_context):
                context[k] = states[tail, 2 + room + k]
                backoffs[k] = floats[tail, room + k]
        untouched = False
    state[0] = n_left + (CLOSED if closed else 0)
    state[1] = n_context
    for k in range(n_context):
        state[2 + room + k] = context[k]
        extra[room + k] = backoffs[k]
    return gain


@kernel(fast=False)
def estimate_rules(
    begin, end, target_offsets, target, lm_ids, unigrams, keys, values, order, estimates, words, unknown
):  # fmt: skip
    """Score the words of rules' target sides, each after those of the rule that stand directly before it.

    Parameters
    ----------
    begin, end : int
        Rules.
    estimates : float32 [rules], output
        Sums of log-probabilities.
    words, unknown : int32 [rules], output
        Words, and those of them that the model does not have.
    """
    room = order - 1
    context, backoffs, fresh = np.zeros(order, np.int32), np.zeros(order, np.float32), np.zeros(order, np.float32)
    result = np.zeros(2, np.int64)
    for rule in range(begin, end):
        total, n_context, n_words, n_unknown = 0.0, 0, 0, 0
        for k in range(target_offsets[rule], target_offsets[rule + 1]):
            if target[k] < 0:
                n_context = 0
                continue
            word = np.int64(lm_ids[target[k]])
            total += after_context(unigrams, keys, values, context, backoffs, fresh, n_context, word, room, result)
            n_context = result[1]
            n_words += 1
            n_unknown += word == 0
        estimates[rule], words[rule], unknown[rule] = total, n_words, n_unknown
