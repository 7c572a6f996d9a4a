"""``aligntools eval-aer``: alignments scored against gold links."""

import dataclasses
import json as json_module
import sys
from contextlib import closing

import click

from aligntools import __version__
from aligntools.cli import options, tables
from aligntools.formats import goldlinks, pharaoh
from aligntools.ground.errors import DataError, UsageProblem
from aligntools.metrics import aer


@click.command("eval-aer", context_settings=options.SETTINGS)
@click.argument("gold", metavar="GOLD")
@click.argument("hypotheses", metavar="ALIGNMENT...", nargs=-1, required=True)
@click.option(
    "--gold-format",
    type=click.Choice(["auto", *goldlinks.FORMATS]),
    default="auto",
    show_default=True,
    help="pharaoh: i-j sure, i?j or ipj possible. naacl: 'sentence i j [S|P]', counted from 1.",
)
@options.index_base(of="the alignments and in Pharaoh gold")
@options.index_base(name="--gold-base", of="the gold alone", default=None)
@click.option("--first-sentence", type=int, metavar="N", help="naacl: number of the first line's sentence.")
@click.option("-s", "--source", metavar="FILE", help="Source text: links past a sentence's end are refused.")
@click.option("-t", "--target", metavar="FILE", help="Target text, likewise.")
@click.option("--head", is_flag=True, help="Score the first lines of an alignment longer than the gold.")
@click.option("--reverse", is_flag=True, help="The alignments are target-source.")
@click.option("--all-sure", is_flag=True, help="Take possible links as sure.")
@click.option("--ignore-possible", is_flag=True, help="Leave possible links out.")
@options.scoring("AER", "alignment")
@options.output
@options.verbosity
def command(
    gold,
    hypotheses,
    gold_format,
    index_base,
    gold_base,
    first_sentence,
    source,
    target,
    head,
    reverse,
    all_sure,
    ignore_possible,
    bootstrap,
    paired,
    seed,
    json,
    output,
    quiet,
    verbose,
):
    """Score alignments against gold links: AER, precision, recall, F1.

    With A the links of an alignment, S the sure and P the possible gold links (S is part of P): precision is
    |A∩P| / |A|, recall |A∩S| / |S|, AER 1 - (|A∩S| + |A∩P|) / (|A| + |S|) (Och & Ney 2003), summed over the
    corpus. Files count words from 0 unless told otherwise; the last line of the output says what was
    assumed, so that figures can be compared.

    The interval comes from drawing sentences with replacement. --paired adds the difference to the first
    alignment, its interval, and how often exchanging the two outputs at random gives as large a one.

    \b
    Example:
      cut -d' ' -f1-5 data/samples/de-en.wa | tr '?' - | aligntools eval-aer data/samples/de-en.wa -
    """
    if all_sure and ignore_possible:
        raise UsageProblem("--all-sure and --ignore-possible exclude each other")
    if paired and len(hypotheses) < 2:
        raise UsageProblem("--paired compares with the first alignment; give two or more")
    if [gold, *hypotheses, source, target].count("-") > 1:
        raise UsageProblem("standard input ('-') can be only one of the files")

    def read(head=None):
        return [pharaoh.read_pharaoh(path, index_base=index_base, head=head, compiled=False) for path in hypotheses]

    links = None if head else read()
    gold_links = goldlinks.read_gold(
        gold,
        format=gold_format,
        index_base=gold_base if gold_base is not None or not index_base else index_base,
        first_sentence=first_sentence,
        sentences=None if head else len(links[0]),
    )
    n = len(gold_links)
    links = links or read(head=n)
    for k, path in enumerate(hypotheses):
        _check_length(links[k], path, gold, n)
        if reverse:
            links[k] = links[k].inverted()
    _check_texts(gold, gold_links, hypotheses, links, index_base, source, target, reverse)
    if not quiet:
        _warn(gold, gold_links, hypotheses, links, index_base)
    if all_sure:
        gold_links = gold_links.all_sure()
    if ignore_possible:
        gold_links = gold_links.ignore_possible()
    counts = [aer.count(part, gold_links) for part in links]
    results = []
    for k, (path, part) in enumerate(zip(hypotheses, counts, strict=True)):
        result = {"alignment": path, **dataclasses.asdict(aer.score(part))}
        if bootstrap:
            result["aer_interval"] = aer.bootstrap(part, bootstrap, seed)
        if paired and k:
            difference = aer.compare(part, counts[0], bootstrap or 1000, seed)
            result["difference"] = options.difference_as("aer", difference)
        results.append(result)
    signature = {
        "metric": "aer",
        "gold": gold_links.format + ("+allsure" if all_sure else "+sureonly" if ignore_possible else ""),
        "base": f"gold{gold_links.index_base},hyp{index_base}",
        "order": "target-source" if reverse else "source-target",
        "nsent": n,
        **({"first": gold_links.first_sentence} if gold_links.first_sentence != 1 else {}),
        **({"bootstrap": bootstrap, "seed": seed} if bootstrap or paired else {}),
        "version": __version__,
    }
    text = _as_json(results, signature, gold_links) if json else _as_table(results, signature, verbose)
    options.write_text(output, text)


def _check_length(links, path, gold, n):
    """Explain what does not fit, if an alignment has not as many lines as the gold."""
    fits = f"{len(links)} lines, but the gold {gold} has {n} sentence pairs"
    if len(links) < n:
        raise DataError(path, None, fits)
    if len(links) > n:
        raise DataError(path, None, f"{fits} (if they are the first ones, score those with --head)")


def _check_texts(gold, gold_links, hypotheses, links, index_base, source, target, reverse):
    """Check every link against the texts that were given."""
    n = len(gold_links)
    lengths = []
    for path in (source, target):
        words = None
        if path is not None:
            with closing(pharaoh.LineReader(path)) as reader:
                words = pharaoh.count_words(reader.read(n))
            if len(words) < n:
                raise DataError(path, None, f"{len(words)} lines, but the gold {gold} has {n} sentence pairs")
        lengths.append(words)
    pharaoh.check_range(gold_links.possible, *lengths, path=gold, index_base=gold_links.index_base)
    for path, part in zip(hypotheses, links, strict=True):
        if reverse:  # check it as it stands in the file, so that the message shows what is there
            part, sides = part.inverted(), lengths[::-1]
        else:
            sides = lengths
        pharaoh.check_range(part, *sides, path=path, index_base=index_base)


def _warn(gold, gold_links, hypotheses, links, index_base):
    """Say on standard error what looks as if another index base was meant."""
    files = [(gold, gold_links.possible, gold_links.index_base, "--gold-base")]
    files += [(path, part, index_base, "--index-base") for path, part in zip(hypotheses, links, strict=True)]
    for path, part, base, flag in files:
        if base == 0 and len(part) > 4 and len(part.pairs) and part.pairs.min() > 0:
            sys.stderr.write(
                f"warning: {path}: no link has an index 0 in {len(part)} lines;"
                f" if it counts words from 1, say {flag} 1\n"
            )
    if gold_links.null_links:
        sys.stderr.write(f"note: {gold}: {gold_links.null_links} links to NULL left out\n")


def _as_json(results, signature, gold_links):
    shown = {
        "signature": tables.signature(signature),
        "settings": signature,
        "null_links_dropped": gold_links.null_links,
        "results": results,
    }
    return json_module.dumps(shown, indent=2, ensure_ascii=False) + "\n"


def _as_table(results, signature, verbose):
    rows = [["alignment", "AER%", "95% interval", "precision", "recall", "F1", "links", "A∩S", "A∩P"]]
    for r in results:
        rows.append(
            [
                r["alignment"],
                tables.percent(r["aer"]),
                tables.interval(r.get("aer_interval")),
                *(tables.percent(r[name]) for name in ("precision", "recall", "f1")),
                *(str(r[name]) for name in ("links", "links_in_sure", "links_in_possible")),
            ]
        )
    if "aer_interval" not in results[0]:
        rows = [row[:2] + row[3:] for row in rows]
    lines = [*tables.aligned(rows), *tables.differences(results, "alignment", "aer", "AER")]
    first = results[0]
    lines.append(f"gold: {first['sure']} sure and {first['possible']} possible links (sure included)")
    if verbose:
        lines.append("A: links of the alignment, S: sure, P: possible; p: approximate randomization")
    lines.append(f"signature: {tables.signature(signature)}")
    return "\n".join(lines) + "\n"
