"""The language model's part of a hypothesis: what the words that are yet to come on either side need to know.

A hypothesis covers some source words and has a translation, of which the words further left are not known yet. With a
model of order ``n`` and ``m = n - 1`` its state is a row of integers

    0                  ``open``: number of left words, plus 256 once the left is closed
    1                  number of right words
    2 .. 2 + m         left words (ids of the model), the first ones of the translation, then 0
    2 + m .. 2 + 2m    right words, in order, then 0
    2 + 2m             (where whole states are kept) words of the translation, at most 4
    3 + 2m .. 7 + 2m   its first 4 words (target ids), then 0
    7 + 2m .. 11 + 2m  its last 4 words, 0 before them

and of floats: the left words' log-probabilities so far (each after those before it), and the backoffs of the contexts
that the last 1, 2, ... right words are. The left closes where a word's n-gram that begins at the first word is not in
the model: more words on the left only add backoffs of contexts that end in the left words. The right words are the
longest context that the model continues. (Both as in Heafield, Hoang, Koehn, Kiso & Federico 2011: "Left language
model state for syntactic machine translation", which also says why nothing is lost.)
"""

import numpy as np

from aligntools.ground.compiler import kernel
from aligntools.translating.lm.kernels_lm import BEGIN, extend, find

#: Added to the number of left words once no further word can become one.
CLOSED = 256
#: Words at each end that whole states keep.
KEPT = 4


@kernel(inline=True, fast=False, owning=False)
def after_context(model, context, n_context, word):
    """Score a word after a context and make the context that it leaves.

    model (ModelTables).
    context: Its words and their backoffs, in place; as many elements as the model's order, and one.
    Returns float64: natural logarithm; ``context.result`` has the order of the longest n-gram found, and the new number
    of words.
    """
    words, backoffs, fresh, most = context.words, context.backoffs, context.fresh, context.words.shape[0] - 2
    score = np.float64(model.unigrams[word, 0])
    fresh[0] = model.unigrams[word, 1]
    left = 1 if fresh[0] != 0 and most > 0 else 0
    code = extend(np.uint64(0), word)
    matched = 0  # words of the context
    while matched < n_context:
        code = extend(code, words[n_context - 1 - matched])
        place = find(model.keys, code)
        if place < 0:
            break
        matched += 1
        score = np.float64(model.values[place, 0])
        fresh[matched] = model.values[place, 1]
        if matched == left and matched < most and fresh[matched] != 0:
            left += 1
    for k in range(matched, n_context):
        score += np.float64(backoffs[k])
    if left > 0:
        skip = n_context - left + 1
        for k in range(left - 1):
            words[k] = words[skip + k]
        words[left - 1] = word
        for k in range(left):
            backoffs[k] = fresh[k]
    context.result[0] = matched + 1
    context.result[1] = left
    return score


@kernel(inline=True, owning=False)
def keep_ends(state, at, length, symbol, tail, states):
    """Append a word, or what a tail yields, to the first and last 4 words; return how many there are, at most 4."""
    more = 1 if tail < 0 else np.int64(states[tail, at])
    last = more if tail < 0 or more < KEPT else KEPT
    for k in range(more):
        if length + k < KEPT:
            state[at + 1 + length + k] = symbol if tail < 0 else states[tail, at + 1 + k]
    for k in range(KEPT - last):
        state[at + 5 + k] = state[at + 5 + k + last]
    for k in range(last):
        state[at + 5 + KEPT - last + k] = symbol if tail < 0 else states[tail, at + 5 + KEPT - last + k]
    length = min(length + more, KEPT)
    state[at] = length
    return length


@kernel(inline=True, fast=False, owning=False)
def combine(target, side, begins, tails, model, context, whole, hypotheses, items, item):
    """Put a rule's words and its tails' translations together: the language model's gain, and the new state.

    target (int32): The rule's target side is ``target[begin:end]``: words, -1 and -2 for the first and second tail, 0
        the end of the sentence.
    side: ``begin``, ``end``, and the word that is meant where ``begin`` is negative (then ``target`` is not read).
    begins (bool): The translation is the sentence's beginning.
    tails (int64 [2]): Hypotheses.
    model (ModelTables).
    context: Working memory.
    whole (bool): Keep the first and last 4 words as well.
    items, item: Where the new row of states and of floats is written.
    Returns float64: what the words add to the log-probability beyond what the tails' own scores have of it. Left words
    count there with as much context as there is.
    """
    begin, end, passed = side
    states, floats, state, extra = hypotheses.states, hypotheses.floats, items.states[item], items.floats[item]
    words, backoffs, most = context.words, context.backoffs, context.words.shape[0] - 2
    gain = 0.0
    n_left, n_context, length = 0, np.int64(0), np.int64(0)
    closed = most == 0
    untouched = True  # nothing yet: what comes first is taken over as it is
    for k in range(state.shape[0]):
        state[k] = 0
    for k in range(extra.shape[0]):
        extra[k] = np.float32(0.0)
    if begins:
        closed, untouched = True, False
        if most > 0:
            words[0], backoffs[0], n_context = BEGIN, model.unigrams[BEGIN, 1], np.int64(1)
    for s in range(end - begin if begin >= 0 else 1):
        symbol = np.int64(target[begin + s]) if begin >= 0 else np.int64(passed)
        tail, inside = np.int64(-1), 1
        if symbol < 0:
            tail = tails[-1 - symbol]
            inside = np.int64(states[tail, 0] & (CLOSED - 1))
        if whole and symbol != 0:
            length = keep_ends(state, 2 + 2 * most, length, symbol, tail, states)
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
                    word, had = np.int64(model.ids[symbol]), np.float32(0.0)
                else:
                    word, had = np.int64(states[tail, 2 + k]), floats[tail, k]
                score = np.float32(after_context(model, context, n_context, word))
                n_context = context.result[1]
                gain += np.float64(score) - np.float64(had)
                if not closed:
                    if context.result[0] == n_left + 1:
                        state[2 + n_left] = word
                        extra[n_left] = score
                        n_left += 1
                        closed = n_left == most
                    else:
                        closed = True
                on = n_context > k + 1 or tail < 0
            if tail >= 0 and states[tail, 0] >= CLOSED:
                closed = True
                for k in range(inside, n_context):  # the word after the left ones backs off from longer contexts
                    gain += np.float64(backoffs[k])
        if tail >= 0 and (untouched or states[tail, 0] >= CLOSED or n_context <= inside):
            n_context = np.int64(states[tail, 1])
            for k in range(n_context):
                words[k] = states[tail, 2 + most + k]
                backoffs[k] = floats[tail, most + k]
        untouched = False
    state[0] = n_left + (CLOSED if closed else 0)
    state[1] = n_context
    for k in range(n_context):
        state[2 + most + k] = words[k]
        extra[most + k] = backoffs[k]
    return gain


@kernel(fast=False, owning=False)
def estimate_rules(begin, end, target_offsets, target, model, context, estimates, words, unknown):
    """Score the words of rules' target sides, each after those of the rule that stand directly before it.

    begin, end (int): Rules.
    target_offsets, target: As in `RuleTables`.
    model (ModelTables).
    context: Working memory.
    estimates (float32 [rules], output): Sums of log-probabilities.
    words, unknown (int32 [rules], output): Words, and those of them that the model does not have.
    """
    for rule in range(begin, end):
        total, n_context, n_words, n_unknown = 0.0, np.int64(0), 0, 0
        for k in range(target_offsets[rule], target_offsets[rule + 1]):
            if target[k] < 0:
                n_context = np.int64(0)
                continue
            word = np.int64(model.ids[target[k]])
            total += after_context(model, context, n_context, word)
            n_context = context.result[1]
            n_words += 1
            n_unknown += word == 0
        estimates[rule], words[rule], unknown[rule] = total, n_words, n_unknown
