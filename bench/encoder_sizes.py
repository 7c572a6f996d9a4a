"""AER and time of ``align --best`` by size of the text, with what an encoder reads of it and without.

Each text is the first pairs of a gold set and so many pairs of training text, evenly spread; the encoder reads what it
reads by default of a text, and of all text LESS pairs too. The map of states is learned from the gold links of other
languages, as for `bench.encoder`.
"""

import time

from bench import code, measuring, report
from bench.encoder import aer, known_of, links, other_text
from bench.encoder_map import Maps, gold_text

ALL, LESS = "all", 5_000
#: The ways: settings of the aligner, and those of the encoder where it reads the text.
WAYS = {
    "align": ("`align`", {}, None),
    "best": ("`--best --no-encoder`", {"best": True}, None),
    "less": (f"`--best`, {LESS:,} read", {"best": True}, {"encoder_pairs": LESS}),
    "encoder": ("`--best`", {"best": True}, {}),
}


def run(o):
    from aligntools.ground.parallel import Pool

    if not o.data:
        raise SystemExit("encoder_sizes needs gold links and text: --data DIR")
    kept, here = measuring.Kept(o.work / "encoder_sizes.json"), code.of(measured, known_of, other_text, gold_text)
    with Pool(o.threads) as pool:
        maps, rows = Maps(o, pool), {}
        for name in o.sets.split(","):
            for size in [ALL if size == ALL else int(size) for size in o.sizes.split(",")]:
                key = f"{name} {size} {here}"
                if o.kept and key not in kept.found:
                    continue
                found = kept.get(key, lambda n=name, s=size: measured(maps, n, s), f"{name}, {size} more")
                if size in (ALL, 0) or found["pairs"] > size:  # else there is no more text than for a smaller size
                    rows[name, found["pairs"]] = found
    return _body(rows)


def measured(maps, name, size):
    """Return a text's pairs, how many the encoder reads, and each way's AER in percent and processor seconds."""
    import aligntools as at
    from aligntools.aligning.aligner_training import train_with
    from aligntools.encoding.settings import EncoderSettings
    from aligntools.formats.text.corpus import in_lower_case

    written, gold = gold_text(maps.o.data, name)
    n = len(written)
    if size:
        written = other_text(maps.o, name, None if size == ALL else size, after=n)
    text, found = in_lower_case(written), {"pairs": len(written)}
    how = {"reading": at.Reading(), "run": at.Run(threads=maps.pool)}
    for way, (_, settings, encoder) in WAYS.items():
        if way == "less" and size != ALL:
            continue
        began, known = time.process_time(), None
        if encoder is not None:
            known = known_of(maps, name, written, EncoderSettings(encoder=True, **encoder))
            text, found["read"] = known.text, known.sources["encoder"].pairs_of(*_sizes(written))
        model = train_with(text, at.AlignerSettings(**settings), known=known, **how)
        found[way] = [aer(links(model, text)[:n], gold), time.process_time() - began]
    return found


def _sizes(text):
    return len(text), len(text.source.tokens) + len(text.target.tokens)


def _body(rows):
    ways = {way: title for way, (title, _, _) in WAYS.items() if any(way in row for row in rows.values())}
    header = ["gold set", "pairs", "read", *ways.values(), "share of the error"]
    header += [f"{title}, s" for title in ways.values()]
    table = [
        [name, f"{pairs:,}", f"{row['read']:,}", *(f"{row[way][0]:.1f}" if way in row else "" for way in ways),
         f"{row['encoder'][0] / row['best'][0]:.2f}", *(f"{row[way][1]:.0f}" if way in row else "" for way in ways)]
        for (name, pairs), row in sorted(rows.items())
    ]  # fmt: skip
    text = (
        "AER in percent of the gold pairs, which stand before training text, and processor seconds of training and"
        " aligning both. *Read*: pairs of which the encoder compares the words by default. The map of states is learned"
        " from gold links of other languages; the network that judges links is the one that ships, and gold links of"
        " Czech, Japanese, Swedish and French with English are among those that taught it. Single runs.\n\n"
    )
    return f"{text}{report.table(header, table)}\n\n{report.circumstances()}"
