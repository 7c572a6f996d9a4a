"""What a service answers to one request: links, checks, tags carried over. Of HTTP it knows status codes alone."""

import re
import threading
from collections.abc import Callable, Hashable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import asdict, dataclass
from functools import cache, lru_cache, partial
from itertools import chain
from typing import Any, Generic, TypeAlias, TypeVar

from aligntools.aligning.aligner import Aligner
from aligntools.aligning.alignments import Alignment
from aligntools.aligning.settings import CheckSettings
from aligntools.formats.markup.segments import Segment
from aligntools.formats.text.text_settings import Tokenizing
from aligntools.ground.declarations import Settings, documented, option
from aligntools.ground.errors import AligntoolsError, UsageProblem
from aligntools.ground.ranges import amounts, counts
from aligntools.projecting.markup.markup_transfer import (
    MarkupTransfer,
    checked_pair,
    finders,
    parsed,
    tokenizing_finders,
)
from aligntools.projecting.markup.words import RawSentence
from aligntools.tools.checks import Checker
from aligntools.tools.text_work import qualities

#: The words of both sides of a pair.
_Words: TypeAlias = tuple[list[str], list[str]]
#: Returns where the words of a text begin and end.
Find: TypeAlias = Callable[[str], list[tuple[int, int]]]
#: Pairs of different requests that are aligned at once, at most: with more, the first would wait for the last.
_TOGETHER = 64
#: How many ways to find words are kept.
_WAYS = 64
_FIELDS = {"model", "source", "target", "pairs", "tokenized", "tokenize", "tokenizer"}


@documented
@dataclass(frozen=True)
class ServiceLimits(Settings):
    """How much a service takes at a time."""

    max_body: int = option(1 << 20, "Bytes of a request; more gets status 413.", allowed=counts(1), group="Limits")
    max_pairs: int = option(1000, "Pairs of a request; more get status 413.", allowed=counts(1), group="Limits")
    max_words: int = option(
        500,
        "Words of a side, tags not counted; a pair with more gets an error in its place.",
        allowed=counts(1),
        group="Limits",
    )
    max_seconds: float = option(
        10.0,
        "Seconds for an answer, waiting included; later is status 503. A head, a body and the reading of an answer have"
        " as long each, then the connection ends.",
        allowed=amounts(0.001),
        group="Limits",
    )
    max_waiting: int = option(
        64, "Requests that are worked at or wait; more get status 429.", allowed=counts(1), group="Limits"
    )


class Refused(Exception):
    """A request that is not answered: the HTTP status and why."""

    def __init__(self, status: int, why: str) -> None:
        super().__init__(why)
        self.status, self.why = status, why


@dataclass(frozen=True)
class Sentence:
    """One side of a pair: words and their places in characters, of the segment's text where it has tags."""

    text: str
    words: list[str]
    spans: list[tuple[int, int]]
    segment: Segment

    def as_dict(self) -> dict[str, Any]:
        """Return it for JSON."""
        return {"words": self.words, "spans": self.spans}


_Pairs: TypeAlias = Sequence[tuple[Sentence, Sentence]]


class Answers:
    """Answers to requests, by models of which the first is the default; ``threads`` look for links at a time."""

    def __init__(self, models: Mapping[str, Aligner], limits: ServiceLimits, threads: int = 1) -> None:
        self.models, self.limits = dict(models), limits
        self._finders = lru_cache(_WAYS)(self._finders_of)
        self._transfer = lru_cache(_WAYS)(lambda name, how: MarkupTransfer(self.models[name], tokenizing=how))
        self._checker = cache(lambda name: Checker(self.models[name], CheckSettings()))
        self._links: Gathering[_Words, Alignment] = Gathering(self._found, threads, _TOGETHER)

    def warm(self) -> None:
        """Answer a request of each kind, so that the first user does not wait for what is prepared once."""
        for name in self.models:
            pair = {"model": name, "source": "a b", "target": "a b"}
            for answer in (self.align, self.check):
                answer(pair)
            self.transfer_markup(pair | {"source": "<b>a</b> b"})

    def align(self, body: Any) -> dict[str, Any]:
        """Return the links of pairs, with probabilities, and the words with their places; raise `Refused`."""
        threshold = body.get("threshold") if isinstance(body, dict) else None
        if threshold is not None and (
            isinstance(threshold, bool) or not isinstance(threshold, int | float) or not 0 <= threshold <= 1
        ):
            raise Refused(422, "'threshold' is a probability, a number from 0 to 1")

        def answer(name: str, pairs: _Pairs, _: Tokenizing) -> list[dict[str, Any]]:
            found = []
            words = [(source.words, target.words) for source, target in pairs]
            aligned: list[Alignment] = []
            for begin in range(0, len(words), _TOGETHER):  # in turn with the pairs of others
                aligned.extend(self._links((name, threshold), words[begin : begin + _TOGETHER]))
            for pair, one in zip(pairs, aligned, strict=True):
                links = [
                    {"source": i, "target": j, "probability": round(p, 4)}
                    for (i, j), p in zip(one.links, one.probabilities.tolist(), strict=True)
                ]
                found.append({"source": pair[0].as_dict(), "target": pair[1].as_dict(), "links": links})
            return found

        return self._answered(body, answer, {"threshold"})

    def _found(self, key: Any, pairs: Sequence[_Words]) -> list[Alignment]:
        """Return the links of pairs of words, by a model and a threshold."""
        name, threshold = key
        given: Any = {} if threshold is None else {"threshold": float(threshold)}
        sides = ([pair[side] for pair in pairs] for side in (0, 1))
        blocks = self.models[name].align_blocks(*sides, threads=1, directions=False, **given)
        return list(chain.from_iterable(blocks))

    def check(self, body: Any) -> dict[str, Any]:
        """Return what translations leave out, add or repeat; see `aligntools.check`. Raises as `align` does."""

        def answer(name: str, pairs: _Pairs, _: Tokenizing) -> list[dict[str, Any]]:
            model = self.models[name]
            checker, at = self._checker(name).again(), 0
            words = [[pair[side].words for pair in pairs] for side in (0, 1)]
            for block in qualities(model, *words, threads=1):
                here = slice(at, at + len(block))
                at += len(block)
                raw = [[pair[side].text for pair in pairs[here]] for side in (0, 1)]
                checker.add(block, [side[here] for side in words], raw)
            found = []
            for pair, one in zip(pairs, checker.judged(), strict=True):
                about = one.as_dict()
                for field, side in (("left_out", 0), ("added", 1), ("repeated", 1)):
                    for span in about[field]:
                        places = pair[side].spans[span["start"] : span["end"]]
                        span["begin_character"], span["end_character"] = places[0][0], places[-1][1]
                del about["line"], about["below"]
                found.append(about)
            return found

        return self._answered(body, answer)

    def _finders_of(self, name: str, how: Tokenizing) -> list[Find]:
        """Return what finds the words of both sides: a tokenizer as it is, else words as a model knows them."""
        own = zip(tokenizing_finders(how), finders(how, self.models[name]), strict=True)
        return [tokenize or partial(_places_by, find) for tokenize, find in own]

    def transfer_markup(self, body: Any) -> dict[str, Any]:
        """Return translations with the tags of their sources; see `MarkupTransfer`. Raises as `align` does."""

        def answer(name: str, pairs: _Pairs, how: Tokenizing) -> list[dict[str, Any]]:
            found, good = list[dict[str, Any]](), []
            for source, target in pairs:
                try:
                    good.append(checked_pair(source.segment, target.text, ("source", "target"), 1))
                    found.append({})
                except AligntoolsError as error:
                    found.append({"error": str(error.message)})
            placed = self._transfer(name, how).transfer_pairs(good)
            for one in found:
                if not one:
                    marked = next(placed)
                    tags = [asdict(tag) for tag in marked.tags]
                    for tag in tags:
                        tag |= {"confidence": round(tag["confidence"], 4), "linked": round(tag["linked"], 4)}
                    one |= {"target": marked.text, "tags": tags, "missing": marked.missing, "added": marked.added}
            return found

        return self._answered(body, answer, tags=True)

    def _answered(
        self,
        body: Any,
        answer: Callable[[str, _Pairs, Tokenizing], list[dict[str, Any]]],
        more: frozenset[str] | set[str] = frozenset(),
        tags: bool = False,
    ) -> dict[str, Any]:
        """Answer those pairs of a request that can be, with or without tags; the others get an ``error``."""
        if not isinstance(body, dict):
            raise Refused(422, "a request is a JSON object with 'source' and 'target', or with 'pairs'")
        if unknown := body.keys() - _FIELDS - more:
            raise Refused(422, f"there is no '{min(unknown)[:40]}' in a request of this kind")
        if not isinstance(body.get("tokenized", False), bool):
            raise Refused(422, "'tokenized' is true or false")
        name, one = body.get("model", next(iter(self.models))), "pairs" not in body
        if not isinstance(name, str) or name not in self.models:
            raise Refused(422, f"there is no such model; there are {', '.join(self.models)}")
        if one and ("source" not in body or "target" not in body):
            raise Refused(422, "a request has 'source' and 'target', or 'pairs'")
        pairs = [body] if one else body["pairs"]
        if not one and ("source" in body or "target" in body or not isinstance(pairs, list)):
            raise Refused(422, "'pairs' is a list of objects with 'source' and 'target', and stands in their place")
        if len(pairs) > self.limits.max_pairs and not one:
            raise Refused(413, f"{len(pairs)} pairs, over {self.limits.max_pairs}; send fewer at a time")
        given = {field: body[field] for field in ("tokenize", "tokenizer") if body.get(field) is not None}
        if given and body.get("tokenized", False):
            raise Refused(422, f"'{min(given)}' is for raw text; leave it or 'tokenized' out")
        for field, value in given.items():
            if not isinstance(value, str):
                raise Refused(422, f"'{field}' is a string")
        try:
            how = Tokenizing(**given).checked()
            self._finders(name, how)
        except UsageProblem as error:
            raise Refused(422, str(error.message).replace("`", "'")) from None
        found, good = list[dict[str, Any] | None](), []
        for pair in pairs:
            try:
                if not isinstance(pair, dict) or "source" not in pair or "target" not in pair:
                    raise Refused(422, "a pair is an object with 'source' and 'target'")
                find = [_between_spaces] * 2 if body.get("tokenized", False) else self._finders(name, how)
                sides = zip(("source", "target"), find, strict=True)
                source, target = (self._sentence(pair[side], side, own, tags) for side, own in sides)
                good.append((source, target))
                found.append(None)
            except Refused as error:
                found.append({"error": error.why})
        answers = iter(answer(name, good, how) if good else [])
        all_found = [next(answers) if entry is None else entry for entry in found]
        if not one:
            return {"model": name, "pairs": all_found}
        if "error" in all_found[0]:
            raise Refused(422, all_found[0]["error"])
        return {"model": name, **all_found[0]}

    def _sentence(self, given: Any, side: str, find: Find, tags: bool) -> Sentence:
        if isinstance(given, list) and all(isinstance(word, str) for word in given):
            if any(word.split() != [word] for word in given):
                raise Refused(422, f"a word of '{side}' is empty or has a space in it")
            text, find = " ".join(given), _between_spaces
        elif isinstance(given, str):
            text = given
        else:
            raise Refused(422, f"'{side}' is a string, or a list of words")
        if any("\ud800" <= c <= "\udfff" for c in text):
            raise Refused(422, f"'{side}' has half a surrogate pair, which is no character")
        if not text.strip():
            raise Refused(422, f"'{side}' has no words")
        try:
            segment = parsed(text, side, 1) if tags else Segment(text)
        except AligntoolsError as error:
            raise Refused(422, str(error.message)) from None
        spans = find(segment.text)
        if len(spans) > self.limits.max_words:
            raise Refused(422, f"'{side}' has {len(spans)} words, over {self.limits.max_words}")
        return Sentence(text, [segment.text[begin:end] for begin, end in spans], spans, segment)


def _between_spaces(text: str) -> list[tuple[int, int]]:
    return [found.span() for found in re.finditer(r"[^ \t\n\r]+", text)]


def _places_by(find: Callable[[str], RawSentence], text: str) -> list[tuple[int, int]]:
    """Return where the words of a sentence begin and end, whose pieces are found."""
    raw = find(text)
    found: list[tuple[int, int]] = []
    for (begin, end), word in zip(raw.spans, raw.word_of, strict=True):
        if word == len(found):
            found.append((begin, end))
        else:
            found[word] = (found[word][0], end)
    return found


_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


#: What a thread asks for, and what comes of it.
_Request: TypeAlias = tuple[Sequence[_Item], Future[Sequence[_Result]]]


class Gathering(Generic[_Item, _Result]):
    """Calls a function for the items of all threads that wait with the same key, so often at a time.

    work: Returns a result for each item, which does not depend on the others; ``most`` of them in a call of several.
    """

    def __init__(self, work: Callable[[Hashable, Sequence[_Item]], Sequence[_Result]], turns: int, most: int) -> None:
        self._work, self._most = work, most
        self._turn, self._lock = threading.Semaphore(turns), threading.Lock()
        self._waiting: dict[Hashable, list[_Request[_Item, _Result]]] = {}

    def __call__(self, key: Hashable, items: Sequence[_Item]) -> Sequence[_Result]:
        """Return a result for each item, or raise what the function raises for these items."""
        own: _Request[_Item, _Result] = items, Future()
        with self._lock:
            self._waiting.setdefault(key, []).append(own)
        with self._turn:
            taken = self._taken(key, own)
            if taken:
                self._answer(key, taken)
        return own[1].result()

    def _taken(self, key: Hashable, own: _Request[_Item, _Result]) -> list[_Request[_Item, _Result]]:
        """Take a request with those that fit into its call; none when it is in the call of another thread."""
        with self._lock:
            waiting = self._waiting.get(key, [])
            if own not in waiting:
                return []
            taken, size = [own], len(own[0])
            left: list[_Request[_Item, _Result]] = []
            for one in waiting:
                if one is own:
                    continue
                fits = size + len(one[0]) <= self._most
                size += len(one[0]) * fits
                (taken if fits else left).append(one)
            self._waiting[key] = left
            if not left:
                del self._waiting[key]
            return taken

    def _answer(self, key: Hashable, requests: list[_Request[_Item, _Result]]) -> None:
        try:
            results = self._work(key, [item for items, _ in requests for item in items])
        except BaseException as error:
            if len(requests) == 1:
                requests[0][1].set_exception(error)
                return
            for one in requests:  # whose fault it was shows when each is alone
                self._answer(key, [one])
            return
        at = 0
        for items, found in requests:
            found.set_result(results[at : at + len(items)])
            at += len(items)
