"""What gold sets teach the network of contrastive-align, by base models of both rounds, languages held out.

In the second round a base model is trained again with the links that a network found. What a set's base models of that
round teach a network must not come of the set itself, nor of the languages that the network is judged on: the links
are found by a *teacher*, a smaller network that was taught by neither group of languages. All is kept between runs.
"""

import multiprocessing
import pickle
from concurrent.futures import ProcessPoolExecutor
from types import SimpleNamespace

from aligntools.aligning.contrastive import network_learning
from bench import code, measuring
from bench import contrastive_start as starting
from bench.contrastive_base import Study, base_hash

#: Pairs of the largest text whose base model is trained again.
LARGEST = 20_000


class Teaching:
    """Networks that are learned from all sets that teach but those of a group of languages.

    Parameters
    ----------
    o : namespace
        The bench's options: ``data``, ``work``, ``threads``, ``pairs``.
    pool : Pool
    names : list of str, optional
        The gold sets that teach [those of `starting.taught`].
    """

    def __init__(self, o, pool, names=None):
        self.o, self.pool = SimpleNamespace(**{k: getattr(o, k) for k in _OPTIONS}), pool
        self.names = starting.taught(o.data, o.work) if names is None else names
        self.groups = starting.groups(self.names)
        self.code = f"{base_hash()}{code.of(Teaching, data=False)}"
        self._first, self._known = {}, {}

    def start(self, pair):
        """Return a network that a pair of languages had no part in, and the start's weights.

        It is the one that comes with the program if the pair taught nothing. Those for all groups are learned at once.
        """
        known = {name: group for group in self.groups for name in map(starting.language, group)}
        if pair not in known:
            return self.shipped(), starting.weights()
        self._learn([(tuple(group),) for group in self.groups], "held")
        return self._network((tuple(known[pair]),), "held"), starting.weights()

    def shipped(self):
        """Return the network that all sets taught."""
        self._learn([()], "start")
        return self._network((), "start")

    def _learn(self, without, kind):
        """Learn the networks of a kind that are not there: without each of these tuples of groups."""
        left = [held for held in without if not self._place(held, kind).exists()]
        if not left:
            return
        if kind != "teacher":
            self._train_again(left)
        lists = [self._parts(held, kind) for held in left]
        measuring.note(f"networks: {len(left)}, {kind}")
        found = network_learning.fit(lists, *_LEARNED[kind], self.pool)
        for held, network in zip(left, found, strict=True):
            _write(self._place(held, kind), network)

    def _parts(self, held, kind):
        """Return what all sets teach but those of some groups: in the first round, and for a start in the second."""
        parts = []
        for name in self.names:
            if not any(name in group for group in held):
                parts += self.first(name)
                parts += [] if kind == "teacher" else self._second(name, held)
        return parts

    def _place(self, held, kind):
        tag = "+".join("-".join(sorted({*map(starting.language, group)})) for group in sorted(held)) or "none"
        return self.o.work / f"contrastive.{tag}.{len(self.names)}.{self.o.pairs}.{self.code}.{kind}"

    def _network(self, held, kind):
        return pickle.loads(self._place(held, kind).read_bytes())

    def studies(self, name):
        """Return a gold set with its whole text, and with less of it."""
        study = Study(self.o, name, self.pool)
        return [study, *(Study(_with(self.o, pairs=n), name, self.pool) for n in starting.smaller(study.text))]

    def first(self, name):
        """Return what a set teaches as its base models of the first round see it."""
        if name not in self._first:
            self._first[name] = [self._candidates(study) for study in self.studies(name)]
        return self._first[name]

    def _candidates(self, study):
        path = self.o.work / f"contrastive.{study.name}.{study.o.pairs}.{self.code}.gold"
        if not path.exists():
            study.base()
            measuring.note(f"{study.name}: candidates")
            _write(path, starting.taught_by(study.finder.find_all(study.gold_text), study.gold))
        return pickle.loads(path.read_bytes())

    def _second(self, name, held):
        paths = [self._again(study, held) for study in self.studies(name) if study.text.n_pairs <= LARGEST]
        return [pickle.loads(path.read_bytes()) for path in paths]

    def _again(self, study, held):
        teacher = self._place(self._judges(study.name, held), "teacher")
        return teacher.with_name(f"{teacher.name}.{study.name}.{study.o.pairs}.gold")

    def _judges(self, name, held):
        """Return the groups that the teacher whose links a set's base models are trained with has not seen."""
        own = next(tuple(group) for group in self.groups if name in group)
        return tuple(sorted({own, *held}))

    def _train_again(self, without):
        """Train the base models of the second round for these tuples of groups, several at a time."""
        jobs = {}
        for held in without:
            for name in (n for n in self.names if not any(n in group for group in held)):
                for study in self.studies(name):
                    if study.text.n_pairs <= LARGEST and not self._again(study, held).exists():
                        study.base()
                        jobs[self._again(study, held)] = (study.o, name, self._judges(name, held))
        self._learn(sorted({job[2] for job in jobs.values()}), "teacher")
        measuring.note(f"{len(jobs)} base models of the second round")
        with ProcessPoolExecutor(self.o.threads, multiprocessing.get_context("spawn")) as pool:
            done = [
                pool.submit(_teach_again, o, name, self._network(held, "teacher"), path)
                for path, (o, name, held) in jobs.items()
            ]
            for one in done:
                one.result()


def second_base(study, judge):
    """Return a study's base model of the second round."""
    from dataclasses import replace

    from aligntools.aligning.contrastive.candidates import CandidateFinder
    from aligntools.aligning.contrastive.rounds import count_found, train_again

    model = study.model
    words = {"source_vocabulary": model.source_vocabulary, "target_vocabulary": model.target_vocabulary}
    text = replace(study.bitext, **words)  # the model knows all words of the text that it was trained on
    found = count_found(CandidateFinder(model, study.pool, judge), text)
    return train_again(found, model.settings, text, study.pool, model.lowercase)


def _teach_again(o, name, judge, path):
    """Train a base model of the second round; keep what the set teaches as it sees it."""
    from aligntools.aligning.contrastive.candidates import CandidateFinder
    from aligntools.ground.parallel import Pool

    with Pool(1) as pool:
        study = Study(o, name, pool)
        finder = CandidateFinder(second_base(study, judge), pool)
        _write(path, starting.taught_by(finder.find_all(study.gold_text), study.gold))


#: Of each kind of network: how many are averaged, and passes. One alone is held out, for time.
_LEARNED = {
    "teacher": (1, starting.TEACHER), "start": (starting.NETWORKS, starting.PASSES), "held": (1, starting.PASSES),
}  # fmt: skip
_OPTIONS = ("data", "work", "threads", "pairs")


def _with(o, **changes):
    return SimpleNamespace(**vars(o) | changes)


def _write(path, what):
    unfinished = path.with_name(path.name + ".part")
    unfinished.write_bytes(pickle.dumps(what))
    unfinished.rename(path)
