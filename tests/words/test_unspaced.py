"""Languages whose words no space separates, where raw text is tokenized."""

import logging

import pytest

from aligntools.ground.errors import UsageProblem
from aligntools.words.tokenizers import UNSPACED, languages_of, tokenizers


@pytest.mark.parametrize("language", ["zh", "ja", "th", "lo", "km", "my"])
def test_moses_rules_are_warned_of_and_icu_is_named(caplog, language, monkeypatch):
    monkeypatch.setattr("aligntools.words.tokenizers.Tokenizer", str)  # Moses' rules take a second to load
    with caplog.at_level(logging.WARNING, logger="aligntools"):
        tokenizers(f"{language}-en")
    assert [record.getMessage().split(" has no spaces")[0] for record in caplog.records] == [UNSPACED[language]]
    assert "`tokenizer=icu`" in caplog.text


def test_other_languages_and_icu_are_not(caplog):
    pytest.importorskip("icu4py.breakers", exc_type=Exception)
    with caplog.at_level(logging.WARNING, logger="aligntools"):
        tokenizers("de-en")
        tokenizers("zh-ja", "icu")
        tokenizers("icu")
    assert not caplog.records


def test_a_pair_of_languages_has_a_hyphen_or_a_comma():
    assert languages_of("de-en") == languages_of("de,en") == ("de", "en")
    for pair in ("de", "de en", "de-en-fr", "de,", "DE-EN", "de-GB"):
        with pytest.raises(UsageProblem, match="such as de-en"):
            languages_of(pair)
