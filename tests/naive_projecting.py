"""Carrying annotation over links, one word at a time."""


def choose(links, source_length, target_length):
    """Return {target: source} and {source: target} of one pair's links ``{(i, j): weight}``, the best of each."""
    fans = {}
    for i, _ in links:
        fans[i] = fans.get(i, 0) + 1

    def rank(i, j):
        distance = abs((i + 0.5) / source_length - (j + 0.5) / target_length)
        return -links[i, j], fans[i], distance, j, i

    partner = {}
    for j in {j for _, j in links}:
        partner[j] = min((rank(i, k), i) for i, k in links if k == j)[1]
    image = {}
    for i in set(partner.values()):
        image[i] = min((rank(i, j), j) for j in partner if partner[j] == i)[1]
    return partner, image


def tree(heads, image, target_length):
    """Return the heads (from 1; None for none) of target words, of one pair; ``heads`` has 0 for a root."""
    found = [None] * target_length
    for i, j in image.items():
        if heads[i] == 0:
            found[j] = 0
        elif heads[i] > 0 and heads[i] - 1 in image:
            found[j] = image[heads[i] - 1] + 1
    return found


def constituents(spans, links, target_length):
    """Return (begin, end, label) of the top, and of the spans (label, begin, end) consistent with links (i, j)."""
    found = []
    for label, a, b in spans[1:]:
        inside = [j for i, j in links if a <= i < b]
        if inside:
            stretch = range(min(inside), max(inside) + 1)
            if all(a <= i < b for i, j in links if j in stretch):
                found.append((stretch.start, stretch.stop, label))
    return [(0, target_length, spans[0][0]), *found]
