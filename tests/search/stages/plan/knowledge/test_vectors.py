"""Vectors of short texts come from the encoder, which alone remembers them."""

import numpy as np

from search.neural.encoders import CachedEncoder
from search.stages.plan.knowledge.vectors import TextVectors
from tests.fakes import HashEncoder


def test_a_text_is_encoded_once_whoever_asks_for_it() -> None:
    inner = HashEncoder()
    encoder = CachedEncoder(inner)
    vectors = TextVectors(encoder)
    vectors.learn(["a", "b", "a"])
    assert np.array_equal(vectors.of(["b", "a", "b"]), np.stack([inner.vector(text) for text in "bab"]))
    TextVectors(encoder).of(["a"])
    encoder.encode(["b"])
    assert inner.encoded == ["a", "b"]


def test_no_text_has_no_rows() -> None:
    assert TextVectors(HashEncoder(dimensions=4)).of([]).shape == (0, 4)


def test_what_the_encoder_forgot_is_answered_all_the_same() -> None:
    inner = HashEncoder()
    vectors = TextVectors(CachedEncoder(inner, size=2))
    vectors.learn(["a", "b", "c"])
    assert np.array_equal(vectors.of(["a", "b", "c", "d"]), np.stack([inner.vector(text) for text in "abcd"]))
