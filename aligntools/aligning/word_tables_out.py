"""A trained table as text, in fast_align's form."""

import numpy as np

#: Word that fast_align writes for NULL.
NULL = "<eps>"


def ttable_lines(model, rows=2000):
    """Yield blocks of lines ``source TAB target TAB ln p(target | source)``, NULL as ``<eps>``; bytes.

    Every pair of the first member's table is written, by source word, then target word id. A reverse model
    (``direction`` reverse) gives ``target TAB source TAB ln p(source | target)``.
    """
    m = model.members[0]
    reverse = model.settings.direction == "reverse"
    words, others = (m.t_words, m.s_words) if reverse else (m.s_words, m.t_words)
    null = m.s_null if reverse else m.t_null
    lines = [f"{NULL}\t{others[i]}\t{np.log(null[i]):.6g}\n" for i in range(1, len(others))]
    yield "".join(lines).encode()
    table, values = m.table, m.lexicon.reverse if reverse else m.lexicon.forward
    if reverse:
        order = np.lexsort((np.repeat(np.arange(table.n_source), np.diff(table.ptr)), table.ids))
        first = table.ids[order]
        second = np.repeat(np.arange(table.n_source), np.diff(table.ptr))[order]
        logs = np.log(values[order] * m.lexicon.t_inverse[first])
    else:
        first = np.repeat(np.arange(table.n_source), np.diff(table.ptr))
        second = table.ids
        logs = np.log(np.maximum(values * m.lexicon.s_inverse[first], 1e-38))
    for a in range(0, len(first), rows * 50):
        b = a + rows * 50
        yield "".join(
            f"{words[s]}\t{others[t]}\t{x:.6g}\n" for s, t, x in zip(first[a:b], second[a:b], logs[a:b], strict=True)
        ).encode()
