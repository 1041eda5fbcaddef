"""The retrievers: what they rank by, and how equal scores are ordered."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from search.domain.errors import DeadlineExceeded, StageError
from search.domain.question import Question
from search.domain.ranking import Candidate
from search.domain.trace import Limit
from search.stages.retrieve import Bm25, Dense, Expanded, Hybrid
from search.stages.retrieve_linear import Linear
from tests.fakes import HashEncoder, MemoryText, MemoryVectors
from tests.search.stages.doubles import Cosines, Words

ENCODER = HashEncoder(dimensions=2)
QUESTION = Question("who?")
ASKED = ENCODER.vector("who?")


Retriever = Callable[[MemoryText, MemoryVectors], Any]


def at(cosine: float) -> np.ndarray:
    """A unit vector with that cosine to the question's."""
    across = np.array([-ASKED[1], ASKED[0]])
    return (cosine * ASKED + np.sqrt(1 - cosine**2) * across).astype(np.float32)


def vectors(**cosines: float) -> MemoryVectors:
    """Documents named by letter, whose key is the place of the letter in the alphabet."""
    by_key = {ord(letter) - ord("a"): at(cosine) for letter, cosine in cosines.items()}
    return MemoryVectors({"document+relations": by_key})


def test_words_come_first_and_cosines_only_order_what_is_level() -> None:
    retrieve = Bm25(MemoryText({0: 2.0, 1: 2.0, 2: 5.0}), ENCODER, vectors(a=0.1, b=0.9, c=-0.5))
    assert retrieve(QUESTION, Limit()).keys == (2, 1, 0)


def test_level_words_and_level_cosines_are_ordered_by_id() -> None:
    retrieve = Bm25(MemoryText({2: 1.0, 1: 1.0, 0: 1.0}), ENCODER, vectors(a=0.5, b=0.5, c=0.5))
    assert retrieve(QUESTION, Limit()).keys == (0, 1, 2)


def test_a_document_at_the_cut_stays_for_its_cosine_and_not_for_its_id() -> None:
    retrieve = Bm25(MemoryText({0: 1.0, 1: 1.0}), ENCODER, vectors(a=0.1, b=0.9), depth=1)
    assert retrieve(QUESTION, Limit()).keys == (1,)


def test_of_many_level_documents_the_nearest_are_kept_however_many_there_are() -> None:
    nearness = {letter: place / 30 for place, letter in enumerate("abcdefghijklmnopqrstuvwxyz")}
    retrieve = Bm25(MemoryText(dict.fromkeys(range(26), 1.0)), ENCODER, vectors(**nearness), depth=2)
    assert retrieve(QUESTION, Limit()).keys == (25, 24)


def test_nothing_is_embedded_where_no_scores_are_level() -> None:
    encoder = HashEncoder()
    Bm25(MemoryText({0: 1.0, 1: 2.0}), encoder, MemoryVectors({}))(QUESTION, Limit())
    assert encoder.encoded == []


class AwayVectors(MemoryVectors):
    """Vectors whose engine does not answer; cosines of given nodes are still there."""

    def __init__(self, vectors: MemoryVectors, error: StageError) -> None:
        super().__init__(vectors._vectors)
        self._error = error

    def nearest(self, *_: object, **__: object) -> list[Candidate]:
        raise self._error


LISTS = [
    lambda text, near: Hybrid(text, ENCODER, near, depth=2),
    lambda text, near: Hybrid(text, ENCODER, near, depth=2, method="scores"),
    lambda text, near: Expanded(text, ENCODER, near, depth=2),
    lambda text, near: Linear(text, ENCODER, near, depth=2),
]


@pytest.mark.parametrize("retriever", LISTS)
def test_while_the_engine_of_vectors_is_away_the_words_answer_and_the_list_says_why(retriever: Retriever) -> None:
    near = AwayVectors(vectors(a=0.1, b=0.9, c=-0.5), StageError("vectors", "the vector engine does not answer: gone"))
    found = retriever(MemoryText({2: 5.0, 0: 1.0}), near)(QUESTION, Limit())
    assert found.ranking.keys == (2, 0)
    assert found.status == "degraded"
    assert found.detail == (
        "The vector engine does not answer: gone. Documents are found by their words alone meanwhile."
    )


@pytest.mark.parametrize("retriever", LISTS)
def test_vectors_that_never_can_be_asked_are_a_failure(retriever: Retriever) -> None:
    near = AwayVectors(vectors(a=0.1), StageError("vectors", "no such kind", permanent=True))
    with pytest.raises(StageError, match="no such kind"):
        retriever(MemoryText({0: 1.0}), near)(QUESTION, Limit())


def test_vectors_rank_by_cosine() -> None:
    ranking = Dense(ENCODER, vectors(a=0.1, b=0.9, c=-0.5), depth=2)(QUESTION, Limit())
    assert ranking.keys == (1, 0)
    assert ranking.candidates[0].score == pytest.approx(0.9, abs=1e-6)


def test_the_fusion_of_both_is_the_sum_of_reciprocal_ranks() -> None:
    retrieve = Hybrid(MemoryText({0: 3.0, 1: 2.0}), ENCODER, vectors(b=0.9, c=0.8), k=1)
    fusion = retrieve(QUESTION, Limit())
    ranking = fusion.ranking
    assert [(name, listed.ranking.keys) for name, listed in fusion.rankings.items()] == [
        ("bm25", (0, 1)), ("vss", (1, 2)),
    ]  # fmt: skip
    # 0: 1/(1+1); 1: 1/(1+2) + 1/(1+1); 2: 1/(1+2).
    assert ranking.scores == pytest.approx({1: 1 / 3 + 1 / 2, 0: 1 / 2, 2: 1 / 3})
    assert ranking.keys == (1, 0, 2)


def test_scores_of_both_are_added_up_and_each_document_has_both() -> None:
    words = Words({"red": {0: 0.5, 1: 0.4}, "lamp": {0: 0.5, 2: 0.2}})
    near = Cosines({"document+relations": {"red lamp": {1: 0.9, 2: 0.4, 0: 0.1}}})
    fusion = Hybrid(words, near, near, depth=2, method="scores", words=8.0)(Question("red lamp"), Limit())
    # Both words have an idf of 1. 0 is found by words alone, 2 by vectors alone:
    # 0: 8 × (1.0 / 2)² + 0.1; 1: 8 × (0.4 / 2)² + 0.9; 2: 8 × (0.2 / 2)² + 0.4.
    assert [(one.key, one.score) for one in fusion.ranking.candidates] == [
        (0, pytest.approx(2.1)), (1, pytest.approx(1.22)),
    ]  # fmt: skip
    assert fusion.rankings["bm25"].ranking.scores == pytest.approx({0: 0.25, 1: 0.04, 2: 0.01})
    assert fusion.method == "sum"


def test_one_shared_word_of_many_says_less_than_what_the_question_means() -> None:
    words = Words({"river": {0: 0.9}})
    near = Cosines({"document+relations": {"my phone fell into the river again": {0: 0.1, 1: 0.5}}})
    fusion = Hybrid(words, near, near, method="scores")(Question("my phone fell into the river again"), Limit())
    # No document shares more than one word of seven: 8 × (0.9 / 7)² = 0.13.
    assert fusion.ranking.keys == (1, 0)


def test_what_describes_a_document_counts_where_it_is_nearer_than_the_whole() -> None:
    near = MemoryVectors({
        "document+relations": {0: at(0.5), 1: at(0.6), 2: at(0.55)},
        "prose": {0: at(0.9), 1: at(0.2)},
    })  # fmt: skip
    fusion = Hybrid(Words({}), ENCODER, near, method="scores")(QUESTION, Limit())
    # a: 0.5 and half of the 0.4 by which its prose is nearer. Worse prose takes nothing, and c has none.
    assert fusion.ranking.scores == pytest.approx({0: 0.7, 1: 0.6, 2: 0.55}, abs=1e-6)


def test_scores_are_added_up_where_no_document_has_a_word() -> None:
    near = Cosines({"document+relations": {"lamp": {1: 0.9}}})
    fusion = Hybrid(Words({}), near, near, method="scores")(Question("lamp"), Limit())
    assert fusion.ranking.scores == {1: pytest.approx(0.9)}


def test_level_sums_are_ordered_by_cosine_whichever_list_they_come_from() -> None:
    both = vectors(a=0.2, b=0.9, c=0.3)
    retrieve = Hybrid(MemoryText({0: 3.0}), ENCODER, both, depth=1)
    # Document 0 is first by words, 1 first by vectors: the sums are level, the cosine of 1 is higher.
    assert retrieve(QUESTION, Limit()).ranking.keys == (1,)


def test_a_search_that_is_out_of_time_stops_here() -> None:
    with pytest.raises(DeadlineExceeded):
        Dense(ENCODER, vectors(a=0.1))(QUESTION, Limit(ends=0.0))
