"""Translation tables and shortlists of a text in files and its links."""

from dataclasses import dataclass
from pathlib import Path

from aligntools.aligning.links.settings import ShortlistSettings as ShortlistSettings
from aligntools.aligning.links.settings import TableWriting as TableWriting
from aligntools.api.align.text_files import TextFiles
from aligntools.api.given.texts import InputFormat, Split
from aligntools.ground.errors import UsageProblem


@dataclass(frozen=True)
class LexiconFiles:
    """Files that are read and written; None for what is not.

    alignments: Links, one line for each sentence pair.
    source, target, joint_file: The text: two sides, or one file with both.
    output: What the names of the tables' files begin with: ``OUTPUT.f2e`` and ``OUTPUT.e2f``.
    shortlist: The best translations of each source word.
    """

    alignments: str
    source: str | None = None
    target: str | None = None
    joint_file: str | None = None
    output: str | None = None
    shortlist: str | None = None

    def check(self, writing: TableWriting) -> None:
        """Refuse what does not go together."""
        if not self.output and writing != TableWriting():
            raise UsageProblem(
                "`min_share` and `null=False` are about the tables; give `output` as well as `shortlist`"
            )
        if [self.source, self.target, self.joint_file, self.alignments].count("-") > 1:
            raise UsageProblem("standard input ('-') can be only one of the files")


def write_lexicon(
    files: LexiconFiles,
    writing: TableWriting,
    *,
    top: int = ShortlistSettings.top,
    split: Split | None = None,
    input_format: InputFormat = "auto",
    languages: str | None = None,
    index_base: int = 0,
    skip_bad_links: bool = False,
) -> str:
    """Count links and write what is wanted of them; return how much that is, in words.

    Raises UsageProblem when files and options do not go together. Raises DataError when a file cannot be read or
    written.
    """
    files.check(writing)
    text = TextFiles(files.source, files.target, files.joint_file)
    text.check_text()
    from aligntools.api.convert.links import as_written, extract_lexicon

    first, second = text.text if len(text.text) == 2 else (files.joint_file, None)
    assert first is not None  # as was checked
    bitext = as_written(first, second, split, input_format, languages)
    links = Path(files.alignments)
    tables = extract_lexicon(bitext, None, links, index_base=index_base, skip_bad_links=skip_bad_links)
    if files.output:
        tables.save(files.output, writing)
    if files.shortlist:
        tables.shortlist(top).save(files.shortlist)
    return f"{len(bitext)} sentence pairs, {tables.links} links, {tables}"
