"""``aligntools train-tagger``: what ``train-hmm`` does with text that has tags, or that is to get some."""

from aligntools.cli import options, train_hmm

#: What only alignments of parallel text need.
_ALIGNING = train_hmm.USES["parallel text"] - train_hmm.USES["--text"] - train_hmm.USES["--tagged"]


command = options.Command(
    "train-tagger",
    params=[p for p in train_hmm.command.params if p.name not in _ALIGNING],
    callback=train_hmm.command.callback,
    basic="tagged text output format column partial dictionary preset latent classes tokens states save_classes"
    " save_paths threads seed quiet",
    help="""Train a tagger: from text with tags (--tagged), with tags for some of its words (--partial), or without
    tags (--text).

    The same as train-hmm, without what aligns parallel text.

    \b
    Example:
      aligntools train-tagger -q --tagged data/samples/en.tagged -o /tmp/en.tagger
      aligntools tag -m /tmp/en.tagger data/samples/en.txt
    """,
)
