"""Tables of scores as text, the same for all commands that score."""


def percent(value):
    """Return a fraction in percent; ``-`` for None."""
    return "-" if value is None else f"{100 * value:.2f}"


def interval(bounds):
    """Return a pair of fractions in percent, or an empty text for None."""
    return "" if bounds is None else "-".join(map(percent, bounds))


def aligned(rows):
    """Return lines of columns: the first to the left, the others to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]).rstrip() for row in rows]


def differences(results, system, figure, name):
    """Return a line for each further result that has a ``difference`` from the first.

    Parameters
    ----------
    results : list of dict
    system, figure : str
        Under what a result has its system's name, and its difference the figure (`options.difference_as`).
    name : str
        What the figure is called.
    """
    lines = []
    for r in results[1:]:
        if "difference" in r:
            d = r["difference"]
            low, high = (f"{100 * x:+.2f}" for x in d["interval"])
            lines.append(
                f"{r[system]} minus {results[0][system]}: {name} {100 * d[figure]:+.2f} (95% {low} to {high}),"
                f" p = {d['p_value']:.4f}"
            )
    return lines


def signature(settings):
    """Return settings as one line, to be cited with a score."""
    return "|".join(f"{name}:{value}" for name, value in settings.items())
