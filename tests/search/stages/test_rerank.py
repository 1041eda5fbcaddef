"""The reranker's order joins the order before by reciprocal ranks; time is kept, and failures leave the order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from search import wiring
from search.domain.conditions import CheckedConditions
from search.domain.errors import DeadlineExceeded, SearchCancelled, StageError
from search.domain.fusion import Fusion
from search.domain.graph import Node
from search.domain.question import Question
from search.domain.ranking import by_key
from search.domain.signals import Reranked
from search.domain.trace import Limit
from search.stages.light_then_neural import LightThenNeural
from search.stages.rerank import Rerank
from search.text import DocumentForm
from tests.rankings import ranked
from tests.search.stages.doubles import Cosines

WHO = Question("who?")
BEFORE = Fusion.of({"text": ranked({1: 0.9, 2: 0.8, 3: 0.7, 4: 0.6})}, {"text": 1.0}, 1.0, by_key)


@dataclass
class Nodes:
    """Nodes named by their keys (the part of interfaces.NodeStore that rerankers read)."""

    def nodes(self, keys: Sequence[int], limit: Limit | None = None) -> list[Node]:
        return [Node(key, str(key), "film", f"n{key}", fields={"plot": "one two three four"}) for key in keys]

    def neighbour_names(self, key: int, limit: int = 10) -> dict[str, list[str]]:
        return {"HAS_GENRE": ["drama", "noir"][:limit]}


@dataclass
class ByNumber:
    """Scores a document by the number in its name (interfaces.Scorer); `of` gives the scores of one call."""

    of: Callable[[Sequence[str]], Sequence[float]] = lambda documents: [float(d.split("n", 1)[1][0]) for d in documents]
    name: str = "by number"
    at_once: int = 10
    form: DocumentForm | None = None
    mix: tuple[float, float] | None = None
    calls: list[Sequence[str]] = field(default_factory=list)

    def score(self, question: str, documents: Sequence[str], limit: Limit) -> NDArray[np.float64]:
        limit.check("rerank")
        self.calls.append(documents)
        return np.array(self.of([d.split("] ", 1)[1] for d in documents]))

    def get(self, scorer: str = "", artifact: str = "") -> ByNumber:
        return self


def stage(scorer: Any, **options: Any) -> Rerank:
    known = Cosines({"document+relations": {"who?": {}}})
    return Rerank(scorers=scorer, nodes=Nodes(), encoder=known, vectors=known, **options)  # type: ignore[arg-type]


def rerank(scorer: Any, fusion: Fusion = BEFORE, limit: Limit | None = None, **options: Any) -> Any:
    return stage(scorer, **options)(WHO, fusion, [], CheckedConditions(), limit or Limit.seconds(60))


def test_both_orders_are_fused_by_static_reciprocal_ranks() -> None:
    found = rerank(ByNumber(), weight=0.5, k=2.0, neural_depth=3)
    # The reranker reads 1, 2, 3 and orders them 3, 2, 1; before, they were 1, 2, 3, 4.
    expected = {1: 0.5 / 5 + 0.5 / 3, 2: 0.5 / 4 + 0.5 / 4, 3: 0.5 / 3 + 0.5 / 5, 4: 0.5 / 6}
    assert found.ranking.scores == pytest.approx(expected)
    assert found.ranking.keys == (1, 3, 2, 4)
    assert found.rankings["reranker"].scores == {3: 3.0, 2: 2.0, 1: 1.0}
    assert (found.status, found.detail) == ("ok", "")
    shares = found.leaves(3)
    assert {name: share.rank for name, share in shares.items()} == {"reranker": 1, "text": 3}
    assert sum(share.contribution for share in shares.values()) == pytest.approx(expected[3])


def test_what_was_chosen_in_training_is_used_unless_an_option_says_otherwise() -> None:
    learned = ByNumber(mix=(1.0, 7.0), form=DocumentForm(2, 1))
    found = rerank(learned, field_words=1, names=0)
    assert (found.weights, found.k) == ({"reranker": 1.0, "fused": 0.0}, 7.0)
    assert found.ranking.keys == (4, 3, 2, 1)
    assert learned.calls[0][0] == "[film] n1\n[plot] one two\n[has genre] drama"
    assert rerank(learned, weight=0.25, k=3.0).weights == {"reranker": 0.25, "fused": 0.75}
    untold = ByNumber()
    assert rerank(untold, field_words=1, names=0).weights == {"reranker": 0.5, "fused": 0.5}
    assert untold.calls[0][0] == "[film] n1\n[plot] one"


def test_a_reranker_without_weight_changes_nothing() -> None:
    assert rerank(ByNumber(mix=(0.0, 2.0))).ranking.keys == BEFORE.ranking.keys


def test_when_time_is_short_the_first_candidates_are_reranked_and_the_step_says_so() -> None:
    """Each call takes all the time that is left."""

    class Slow(ByNumber):
        def score(self, question: str, documents: Sequence[str], limit: Limit) -> NDArray[np.float64]:
            found = super().score(question, documents, limit)
            while limit.remaining() > 0:
                pass
            return found

    found = rerank(Slow(at_once=2), weight=1.0, neural_seconds=0.02)
    assert found.rankings["reranker"].keys == (2, 1)
    said = "by number read only the first 2 of 4 possible answers; more did not fit into 0.02 seconds."
    assert (found.status, found.detail) == ("degraded", said)


def raising(error: Exception) -> Callable[[Sequence[str]], Sequence[float]]:
    def of(documents: Sequence[str]) -> Sequence[float]:
        raise error

    return of


@pytest.mark.parametrize(
    ("of", "said"),
    [
        (raising(StageError("rerank", "the server is away")), "The order before stays: the server is away."),
        (raising(DeadlineExceeded("rerank")), "The order before stays: none could be reranked in 3 seconds."),
        (
            lambda d: [float("nan")] * len(d),
            "The order before stays: by number gave no number for some of 4 documents.",
        ),
    ],
)
def test_a_failure_leaves_the_order_before(of: Any, said: str) -> None:
    found = rerank(ByNumber(of=of))
    assert (found.ranking, found.rankings) == (BEFORE.ranking, BEFORE.rankings)
    assert (found.status, found.detail) == ("degraded", said)


def test_a_sure_graph_and_an_empty_list_are_not_reranked() -> None:
    scorer = ByNumber()
    sure = Fusion.of(dict(BEFORE.rankings), dict(BEFORE.weights), 1.0, by_key, leads=True)
    found = rerank(scorer, sure)
    assert (found.ranking, found.leads, found.status) == (sure.ranking, True, "ok")
    assert rerank(scorer, Fusion.of({"text": ranked({})}, {"text": 1.0}, 1.0, by_key)).ranking.keys == ()
    assert not scorer.calls
    assert rerank(scorer, sure, weight=1.0, keep_lead=False).ranking.keys == (4, 3, 2, 1)


def test_a_cancelled_search_ends() -> None:
    with pytest.raises(SearchCancelled):
        rerank(ByNumber(), limit=Limit(cancelled=lambda: True))


@dataclass(frozen=True)
class Turned:
    """A light ranker that turns the order round, and may say that something is missing (LightRank)."""

    detail: str = ""

    def __call__(self, question: Question, fusion: Fusion, *others: Any) -> Reranked:
        keys = fusion.ranking.keys
        light = ranked({key: float(place) for place, key in enumerate(keys)})
        fused = Fusion.of({"light": light, "fused": fusion}, {"light": 1.0, "fused": 0.0}, 1.0, by_key)
        return Reranked(**{**vars(fused), "detail": self.detail, "probability": 0.75})


def test_the_neural_reranker_reads_what_the_light_one_puts_first() -> None:
    """The light order is 4, 3, 2, 1; the reranker puts the first two of it, 4 and 3, the other way round."""
    negated = ByNumber(of=lambda documents: [-float(d.split("n", 1)[1][0]) for d in documents])
    both = LightThenNeural(Turned("The ranker is away."), stage(negated, neural_depth=2, weight=1.0))  # type: ignore[arg-type]
    found = both(WHO, BEFORE, [], CheckedConditions(), Limit.seconds(60))
    assert [document.split()[1] for document in negated.calls[0]] == ["n4", "n3"]
    assert found.ranking.keys[:2] == (3, 4)
    assert (found.status, found.detail) == ("degraded", "The ranker is away.")
    assert found.probability is None, "the light ranker knows its own list only"
    assert {"reranker", "light", "text"} <= set(found.leaves(3))


def test_where_the_graph_leads_only_the_light_ranker_decides() -> None:
    scorer = ByNumber()
    sure = Fusion.of(dict(BEFORE.rankings), dict(BEFORE.weights), 1.0, by_key, leads=True)
    both = LightThenNeural(Turned(), stage(scorer))  # type: ignore[arg-type]
    found = both(WHO, sure, [], CheckedConditions(), Limit.seconds(60))
    assert (found.ranking.keys, found.probability) == ((4, 3, 2, 1), 0.75)
    assert not scorer.calls


def test_a_neural_reranker_that_fails_leaves_the_probability_of_the_light_list() -> None:
    away = ByNumber(of=raising(StageError("rerank", "the server is away")))
    both = LightThenNeural(Turned(), stage(away))  # type: ignore[arg-type]
    found = both(WHO, BEFORE, [], CheckedConditions(), Limit.seconds(60))
    assert (found.ranking.keys, found.probability) == ((4, 3, 2, 1), 0.75)


def test_the_pipeline_has_the_options_of_both() -> None:
    options = wiring.pipeline("grasp").specification({"rerank": "light_neural"})["stages"]["rerank"]["OPTIONS"]
    assert {"light_artifact", "neural_artifact", "light_depth", "neural_depth", "weight", "k"} <= set(options)
