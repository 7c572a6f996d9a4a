"""N-gram look-up with backoff: open addressing over 64-bit hashes of word ids, state of at most order - 1 words.

The hash of an n-gram is built from its last word to its first, so that the n-grams that end in the same word share
their beginnings, and looking up ever longer ones costs one step each. A table holds every n-gram's suffixes and
prefixes (`insert` ensures this), so that a look-up may stop at the first that is missing. A context that some n-gram
continues has a backoff other than 0 (`TINY` for a weight of 1), and so have its suffixes: where it is 0 the words need
not be remembered.
"""

import numpy as np

from aligntools.ground.compiler import kernel

UNKNOWN = 0
BEGIN = 1
END = 2
#: Stands for a log backoff of 0 where the context is continued; lost in any sum with a log-probability.
TINY = np.float32(1e-30)
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_ONE = np.uint64(1)
_HALF = np.uint64(32)
_SHIFT = np.uint64(29)


@kernel(inline=True)
def extend(code, word):
    """Return the hash of an n-gram with one more word on its left; the empty one's is 0."""
    code = (code ^ np.uint64(np.int64(word) + 1)) * _MULTIPLIER
    code = (code ^ (code >> _HALF)) * _FIRST
    return (code ^ (code >> _SHIFT)) | _ONE


@kernel(inline=True)
def find(keys, code):
    """Return where a hash is, or -1."""
    mask = np.uint64(keys.size - 1)
    place = (code >> _ONE) & mask
    while True:
        key = keys[place]
        if key == code:
            return np.int64(place)
        if key == 0:
            return np.int64(-1)
        place = (place + _ONE) & mask


@kernel(inline=True)
def score_and_state(unigrams, keys, values, order, context, n_context, word):
    """Return a word's log-probability after a context, and how many words to remember after it.

    unigrams, keys, values: The model's arrays; see `language_model.NgramModel`.
    context (int32): Words before it, the last one last.
    n_context (int): How many of them count, from the end.
    Returns score (np.float32): Natural logarithm.
    Returns remembered: Words of ``context`` with ``word`` behind it, from its end, that later scores depend on.
    Returns matched: Order of the longest n-gram in the model, 1 or more.
    """
    n_context = min(n_context, order - 1)
    last = context.size - 1
    score = unigrams[word, 0]
    remembered = 0
    if unigrams[word, 1] != 0 and order > 1:
        remembered = 1
    code = extend(np.uint64(0), word)
    matched = 0
    while matched < n_context:
        code = extend(code, context[last - matched])
        place = find(keys, code)
        if place < 0:
            break
        score = values[place, 0]
        matched += 1
        if matched == remembered and matched < order - 1 and values[place, 1] != 0:
            remembered = matched + 1
    if matched < n_context:
        code = np.uint64(0)
        for k in range(n_context):
            code = extend(code, context[last - k])
            if k == 0:
                if matched == 0:
                    score += unigrams[context[last], 1]
            elif k >= matched:
                place = find(keys, code)
                if place < 0:
                    break
                score += values[place, 1]
    return score, remembered, matched + 1


@kernel
def score_sentences(unigrams, keys, values, order, tokens, offsets, begin, end, begins, scores, matched):
    """Score sentences ``begin..end``, each word and the end of each sentence.

    tokens (int32 [words]): Ids in the model.
    offsets (int64 [sentences + 1]).
    begins (bool): Each comes after the beginning of a sentence; else after nothing.
    scores (float32 [words + sentences]): Filled with natural logarithms; sentence ``n`` begins at ``offsets[n] + n``.
    matched (int8 [words + sentences]): Filled with the order of the n-gram that was found.
    """
    state = np.empty(order + 1, np.int32)
    last = order
    for n in range(begin, end):
        state[last] = BEGIN
        kept = min(1, order - 1) if begins else 0
        first = offsets[n]
        length = offsets[n + 1] - first
        for i in range(length + 1):
            word = END
            if i < length:
                word = tokens[first + i]
            score, remembered, found = score_and_state(unigrams, keys, values, order, state, kept, word)
            scores[first + n + i] = score
            matched[first + n + i] = found
            for k in range(last):
                state[k] = state[k + 1]
            state[last] = word
            kept = remembered


@kernel(inline=True)
def _enter(keys, values, code, score, backoff):
    """Put an n-gram in; return 1 if it is new."""
    mask = np.uint64(keys.size - 1)
    place = (code >> _ONE) & mask
    while keys[place] != 0 and keys[place] != code:
        place = (place + _ONE) & mask
    new = 1 if keys[place] == 0 else 0
    keys[place] = code
    values[place, 0], values[place, 1] = score, backoff
    return new


@kernel(inline=True)
def _code(ids, row, begin, end):
    code = np.uint64(0)
    for k in range(end - 1, begin - 1, -1):
        code = extend(code, ids[row, k])
    return code


@kernel(inline=True)
def _mark(unigrams, keys, values, ids, row, begin, end):
    """Note that words ``begin..end`` are continued; tell whether they are in the table."""
    if end - begin == 1:
        if unigrams[ids[row, begin], 1] == 0:
            unigrams[ids[row, begin], 1] = TINY
        return True
    place = find(keys, _code(ids, row, begin, end))
    if place < 0:
        return False
    if values[place, 1] == 0:
        values[place, 1] = TINY
    return True


@kernel
def insert(unigrams, keys, values, order, ids, logs, row, used):
    """Enter n-grams of one order, all lower ones being in; stop where the table has to grow.

    Missing parts of an n-gram are added with the probabilities that backing off gives them.

    unigrams, keys, values: The model's arrays, filled.
    order (int): The model's.
    ids (int32 [n, k]): First word first; k is 2 or more.
    logs (float32 [n, 2]): Natural logarithms: probability, backoff.
    row (int): First row to enter.
    used (int64 [1]): N-grams in the table; updated.
    Returns the row to continue with; ``len(ids)`` when done. ``-1 - row`` for an n-gram that is in already.
    """
    k = ids.shape[1]
    context = np.empty(order + 1, np.int32)
    while row < ids.shape[0]:
        if 3 * (used[0] + k * k) > 2 * keys.size:
            return row
        whole = k == 2 or find(keys, _code(ids, row, 1, k)) >= 0
        if not whole or not _mark(unigrams, keys, values, ids, row, 0, k - 1):
            for length in range(2, k):
                for begin in range(k - length + 1):
                    code = _code(ids, row, begin, begin + length)
                    if find(keys, code) < 0:
                        for j in range(length - 1):
                            context[context.size - length + 1 + j] = ids[row, begin + j]
                        word = ids[row, begin + length - 1]
                        score, _, _ = score_and_state(unigrams, keys, values, order, context, length - 1, word)
                        used[0] += _enter(keys, values, code, score, np.float32(0))
                        _mark(unigrams, keys, values, ids, row, begin, begin + length - 1)
            _mark(unigrams, keys, values, ids, row, 0, k - 1)
        if not _enter(keys, values, _code(ids, row, 0, k), logs[row, 0], logs[row, 1]):
            return -1 - row
        used[0] += 1
        if logs[row, 1] != 0:  # else what is remembered would end before these words
            for begin in range(1, k):
                _mark(unigrams, keys, values, ids, row, begin, k)
        row += 1
    return row


@kernel
def regrow(keys, values, new_keys, new_values):
    """Move everything to a larger, empty table."""
    for place in range(keys.size):
        if keys[place] != 0:
            _enter(new_keys, new_values, keys[place], values[place, 0], values[place, 1])
