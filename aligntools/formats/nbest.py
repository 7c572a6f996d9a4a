"""Lists of candidate translations as text: ``sentence ||| words ||| name=value ... ||| score``, as Moses has them."""


def format_nbest(first, lists, feature_names) -> bytes:
    """Format candidates, one a line.

    Parameters
    ----------
    first : int
        Number of the first sentence; they count from 0.
    lists : sequence
        For each sentence its candidates: ``(words, ids, values, score)`` with the words as a list of bytes, and the
        numbers and values of the features that are not 0.
    feature_names : sequence of str

    Returns
    -------
    bytes
        Features in the order of their numbers; a sentence without candidates has no line.
    """
    names = [name.encode() for name in feature_names]
    lines = []
    for number, candidates in enumerate(lists, first):
        for words, ids, values, score in candidates:
            pairs = sorted(zip(ids, values, strict=True))
            features = b" ".join(names[k] + b"=%.6g" % value for k, value in pairs)
            lines.append(b"%d ||| %s ||| %s ||| %.6f\n" % (number, b" ".join(words), features, score))
    return b"".join(lines)
