"""Translation tables and shortlists of a text in files and its links."""

from pathlib import Path

from aligntools.aligning.text_files import TextFiles
from aligntools.formats.inputs.sentences import InputFormat, Split
from aligntools.ground.errors import UsageProblem
from aligntools.links.settings import ShortlistSettings as ShortlistSettings
from aligntools.links.settings import TableWriting as TableWriting


def write_lexicon(
    alignments: str,
    text: TextFiles,
    writing: TableWriting,
    *,
    output: str | None = None,
    shortlist: str | None = None,
    top: int = ShortlistSettings.top,
    split: Split | None = None,
    input_format: InputFormat = "auto",
    languages: str | None = None,
    index_base: int = 0,
    skip_bad_links: bool = False,
) -> str:
    """Count links; write tables (OUTPUT.f2e, .e2f) and a shortlist; return how much that is, in words."""
    if not output and writing != TableWriting():
        raise UsageProblem("`min_share` and `null=False` are about the tables; give `output` as well as `shortlist`")
    text.check_text()
    from aligntools.links.alignments import as_written
    from aligntools.links.translation_tables import extract_lexicon

    first, second = text.text if len(text.text) == 2 else (text.joint_file, None)
    assert first is not None  # as was checked
    bitext = as_written(first, second, split, input_format, languages)
    tables = extract_lexicon(bitext, None, Path(alignments), index_base=index_base, skip_bad_links=skip_bad_links)
    if output:
        tables.save(output, writing)
    if shortlist:
        tables.shortlist(top).save(shortlist)
    return f"{len(bitext)} sentence pairs, {tables.links} links, {tables}"
