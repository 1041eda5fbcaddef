"""Vectors of short texts are computed once, and not kept without end."""

import numpy as np

from search.stages.plan.knowledge.vectors import TextVectors
from tests.fakes import HashEncoder


def test_a_text_is_encoded_once() -> None:
    encoder = HashEncoder()
    vectors = TextVectors(encoder)
    vectors.learn(["a", "b", "a"])
    assert np.array_equal(vectors.of(["b", "a", "b"]), encoder.encode(["b", "a", "b"]))
    assert encoder.encoded[:2] == ["a", "b"]
    assert len(encoder.encoded) == 5


def test_no_text_has_no_rows() -> None:
    assert TextVectors(HashEncoder(dimensions=4)).of([]).shape == (0, 4)


def test_what_was_not_used_for_longest_is_forgotten_and_still_answered() -> None:
    encoder = HashEncoder()
    vectors = TextVectors(encoder, capacity=2)
    vectors.of(["a", "b"])
    vectors.of(["a"])
    vectors.of(["c"])
    encoder.encoded.clear()
    vectors.of(["a", "c"])
    assert encoder.encoded == []
    rows = vectors.of(["a", "b", "c", "d"])
    assert np.array_equal(rows, np.stack([encoder.vector(text) for text in "abcd"]))
