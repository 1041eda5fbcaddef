"""The model of the answer's type gives in a search the probabilities that scikit-learn gave in training."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from search.signals.answer_types import bag, type_signals
from tests.fakes import HashEncoder
from training.learning.answer_type_fit import fit_types, inputs

TEXTS = [f"which {thing} {verb} {at}" for thing in ("film", "person", "place") for verb in ("is", "has") for at in "ab"]
NAMES = ["genre", "film", "person", "place"]


@pytest.mark.parametrize("kinds", [2, 3])
def test_probabilities_are_those_of_scikit_learn(kinds: int) -> None:
    texts = TEXTS[: 4 * kinds]
    labels = 1 + np.arange(len(texts)) // 4
    vectors = HashEncoder().encode(texts)
    read = inputs(texts, vectors)
    fitted = fit_types(read, labels, NAMES, 10.0)
    expected = LogisticRegression(C=10.0, max_iter=200).fit(read, labels).predict_proba(read)
    assert fitted.types == tuple(NAMES[1 : 1 + kinds])
    for text, vector, row in zip(texts, vectors, expected, strict=True):
        assert fitted.probabilities(text, vector).tolist() == pytest.approx(row.tolist(), abs=1e-4)


def test_a_single_type_is_certain() -> None:
    fitted = fit_types(inputs(TEXTS, HashEncoder().encode(TEXTS)), np.ones(len(TEXTS), np.int64), NAMES, 10.0)
    assert fitted.types == ("film",)
    assert fitted.probabilities("anything at all", HashEncoder().encode(["x"])[0]).tolist() == [1.0]


def test_words_and_pairs_of_words_count_once_and_a_text_without_words_has_none() -> None:
    found, values = bag("Road, road to Rome")
    assert len(found) == 6, "road, to, rome; road road, road to, to rome"
    assert float(values @ values) == pytest.approx(1)
    assert bag("?!")[0].tolist() == []


def test_a_type_that_was_never_an_answer_has_no_probability() -> None:
    types = np.array([0, 1, 2, 3, 1], dtype=np.int16)
    columns = type_signals({"film": 0.75, "place": 0.25}, NAMES, types, np.array([0, 1, 3, 4], np.int32))
    assert columns["type:probability"].tolist() == [0, 0.75, 0.25, 0.75]
    assert columns["type:place"].tolist() == [3, 1, 2, 1]
