"""Text with tags or trees as commands take it: in parts, or sentence by sentence as it comes."""

from aligntools.formats.annotation.conll import column_place as column_place
from aligntools.formats.annotation.raw_text import stream_raw as stream_raw
from aligntools.formats.annotation.tagged import stream_sentences as stream_sentences
from aligntools.formats.annotation.tagged import stream_tags as stream_tags
from aligntools.formats.text.reading import check_predicted as check_predicted
from aligntools.formats.text.requests import Request as Request
from aligntools.formats.text.requests import stream_requests as stream_requests
from aligntools.words.white_space import split_as as split_as
