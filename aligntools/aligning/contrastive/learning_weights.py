"""Weights of features learned together with evidence: other aligners' links, and what sources know of places."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aligntools.aligning.contrastive.other_links import Evidence, check_count, in_step
from aligntools.aligning.contrastive.settings import MOST_FILES, ContrastiveSettings
from aligntools.aligning.evidence import Known
from aligntools.ground.errors import DataError
from aligntools.ground.progress import Step

if TYPE_CHECKING:
    from aligntools.aligning.contrastive.candidates import CandidateFinder
    from aligntools.aligning.contrastive.evidence_tasks import EvidenceFile
    from aligntools.aligning.contrastive.tasks import GoldLearning
    from aligntools.aligning.contrastive.weights import Weights
    from aligntools.formats.text.corpus import Bitext


class Others:
    """Evidence for a text: each file's links in its runs of pairs, and what they are worth."""

    def __init__(
        self,
        finder: "CandidateFinder",
        texts: "list[Bitext]",
        evidence: Sequence[Evidence],
        plan: Any,
        known: Known | None,
    ) -> None:
        from aligntools.aligning.contrastive import evidence_tasks

        check_count(evidence, len(evidence), MOST_FILES)
        self.links, self.known, self._finder = [given for _, given in in_step(texts, evidence)], known, finder
        self.tables: list[Any] = []
        self._files: list[EvidenceFile] = []
        if evidence:
            self.tables, self._files = evidence_tasks.judge_files(finder, texts, self.links, plan)

    def weights(self, weights: "Weights", share: float | None) -> "Weights":
        """Return weights with those of the files, and of what is known of places."""
        from aligntools.aligning.contrastive.evidence_tasks import with_evidence, with_known, with_second_looks

        if self._files:
            weights = with_evidence(weights, self.tables, self._files, share)
        if self.known is None:
            return weights
        return with_second_looks(with_known(weights, self.known), self.known, self._finder)

    def told(self, weights: "Weights", aers: Sequence[float] = ()) -> "list[EvidenceFile]":
        """Return what is known of the files."""
        first = len(weights.values) - len(weights.tables)
        own = weights.values[first : first + len(self._files)].tolist()
        known: list[float | None] = [*aers[: len(own)]] or [None] * len(own)
        return [replace(f, weight=w, aer=a) for f, w, a in zip(self._files, own, known, strict=True)]


def learn_from_gold(
    finder: "CandidateFinder",
    texts: "list[Bitext]",
    given: Any,
    plan: Any,
    settings: ContrastiveSettings,
    tell: Any,
    evidence: Others | None,
) -> "GoldLearning":
    """Learn weights from the gold links of the text's first pairs."""
    from aligntools.aligning.contrastive import tasks
    from aligntools.aligning.contrastive.noise import pick
    from aligntools.formats.links.pharaoh import check_range
    from aligntools.metrics.scorers import gold_of

    name = str(given) if isinstance(given, str | Path) else "gold"
    n = sum(map(len, texts))
    gold = gold_of(given, {"sentences": n})
    if gold.reach > n:
        problem = f"{len(gold)} sentence pairs" if gold.numbers is None else f"links of line {gold.reach}"
        raise DataError(name, None, f"{problem}, but the text has {n}")
    if gold.reach > len(texts[0]):
        raise DataError(name, None, f"{gold.reach} sentence pairs; the first {len(texts[0])} are enough")
    text = pick(texts[0], gold.rows)
    lengths = text.source.lengths(), text.target.lengths()
    check_range(gold.possible, *lengths, path=name, index_base=gold.index_base)

    def learned(figures: dict[str, Any]) -> None:
        tell(Step("learning", figures["round"], None, figures))

    how = settings.method, settings.folds, learned
    if evidence is None:
        return tasks.learn_from_gold(finder, text, gold, plan, *how)
    from aligntools.aligning.contrastive.evidence_tasks import plan_with_evidence

    links, tables = [x[gold.rows] for x in evidence.links[0]], list(evidence.tables)
    with_files = plan_with_evidence(plan, len(tables), settings.evidence_share)
    for places in evidence.known.places.values() if evidence.known is not None else ():
        with_files = plan_with_evidence(with_files, 1, 1.0)
        links.append(places.given[: len(texts[0])][gold.rows])
        tables.append(places.table)
    found = tasks.learn_from_gold(finder, text, gold, with_files, *how, links, tables)
    if evidence.known is not None:
        about = {name: evidence.known.header[name] for name in evidence.known.places}
        found = replace(found, weights=replace(found.weights, knowers=about))
        if not evidence.tables:
            return found
    if found.validated is None:
        return found
    return replace(found, without=tasks.learn_from_gold(finder, text, gold, plan, *how[:2]).validated)
