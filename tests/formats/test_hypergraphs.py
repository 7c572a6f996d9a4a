"""Hypergraphs as JSON lines."""

import json

import numpy as np

from aligntools.formats.translation import derivations
from tests.translating.making import WORDS, arrays, forest

NAMES = ["lm", "p(e|f)", "tm, log", "größe"]
TEXT = ["", *(f"w{k}" for k in range(1, WORDS)), "größer"]


def test_what_is_written_has_every_node_and_edge():
    rng = np.random.default_rng(1)
    h = arrays([forest(rng), None, forest(rng)])
    assert json.loads(derivations.format_hypergraph_header(NAMES))["features"] == NAMES
    found = [json.loads(line) for line in derivations.format_lines(h, NAMES, TEXT.__getitem__)]
    assert found[1] == {"root": None, "nodes": []}
    begin = 0
    for sentence, root in zip(found, h.roots.tolist(), strict=True):
        assert sentence["root"] == (None if root < 0 else root - begin)
        for v, node in enumerate(sentence["nodes"], begin):
            length = int(h.lengths[v])
            assert node["left"] == [TEXT[w] for w in h.left[v, :length]]
            assert node["right"] == [TEXT[w] for w in h.right[v, 4 - length :]]
            assert len(node["edges"]) == h.edge_offsets[v + 1] - h.edge_offsets[v]
            for e, edge in enumerate(node["edges"], h.edge_offsets[v]):
                assert [begin + t for t in edge["tails"]] == [t for t in h.tails[e].tolist() if t >= 0]
                assert edge["rule"] == h.rules[e]
                target = h.words[slice(*h.word_offsets[[e, e + 1]])].tolist()
                assert edge["target"] == [TEXT[w] if w > 0 else w for w in target]
                own = slice(*h.feature_offsets[[e, e + 1]])
                assert list(edge["features"]) == [NAMES[f] for f in h.feature_ids[own]]
                assert np.array_equal(np.array(list(edge["features"].values()), np.float32), h.feature_values[own])
        begin += len(sentence["nodes"])


def test_no_sentences_are_no_lines():
    assert list(derivations.format_lines(arrays([]), NAMES, TEXT.__getitem__)) == []
