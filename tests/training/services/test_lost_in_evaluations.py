"""An evaluation stores where each answer was lost with the outcome, and sums it up in its report."""

from __future__ import annotations

import pytest

from search.domain.errors import StageError
from search.domain.run_context import RunCancelled, RunContext
from search.domain.trace import Limit
from search.models import KnowledgeBase, SearchRun
from search.services.searches.search_batch import FinishedSearch
from tests.search import small
from training.data.examples import Example
from training.evaluation.lost import Attribution, LostStage
from training.evaluation.runner import QuestionOutcome
from training.models import Evaluation, Outcome
from training.services import evaluate as service
from training.services.attribution import attribute
from training.services.evaluate import evaluate, resume_evaluation
from training.services.evaluations.ask import attributed, is_lost
from training.services.evaluations.describe import describe_evaluation
from training.services.list_titles import list_titles

# The pipeline `text` finds film/1, film/2, film/3 in this order.
EXAMPLES = [
    Example("q1", "first", ("film/1",)),
    Example("q2", "third", ("film/3",)),
    Example("q3", "nowhere", ("person/1",)),
    Example("q4", "unknown", ("film/9", "film/2")),
    Example("q5", "first too", ("film/1", "film/8")),
]


def evaluated(*pipelines: str, examples: list[Example] = EXAMPLES, attribute: bool = True) -> Evaluation:
    report = evaluate(
        knowledge_base="films", examples=examples, split=None, pipelines=pipelines or ("text",), settings={},
        attribute=attribute,
    )  # fmt: skip
    return Evaluation.objects.get(pk=report["evaluation"])


def lost_of(evaluation: Evaluation) -> dict[str, tuple[str, object]]:
    rows = Outcome.objects.filter(evaluation=evaluation)
    return {f"{row.question.identifier} {row.pipeline}": (row.lost_at, row.lost) for row in rows}


def test_each_lost_answer_is_stored_with_its_outcome(films: KnowledgeBase) -> None:
    evaluation = evaluated("text", "path")
    found = lost_of(evaluation)
    assert {name: at for name, (at, _) in found.items() if name.endswith("text")} == {
        "q1 text": "", "q2 text": "ranked", "q3 text": "retrieved", "q4 text": "ranked", "q5 text": "",
    }  # fmt: skip
    assert found["q1 text"][1] is None
    # The first place is right, but an answer is not in the top: it is examined too.
    assert Attribution.from_json(found["q5 text"][1]).lost == {LostStage.UNKNOWN: 1}  # type: ignore[arg-type]


def test_it_is_the_same_as_the_attribution_of_the_stored_search(films: KnowledgeBase) -> None:
    for outcome in Outcome.objects.filter(evaluation=evaluated("text", "path")).exclude(lost=None):
        run = SearchRun.objects.get(pk=outcome.run)
        assert attribute(run, outcome.question.answers).to_json() == outcome.lost


def test_the_report_has_the_stages_in_the_order_of_the_flow_and_the_answers_that_are_left(
    films: KnowledgeBase,
) -> None:
    report = describe_evaluation(evaluated())["report"]["pipelines"]["text"]
    assert report["lost_at"] == {"retrieved": 1, "ranked": 2}
    funnel = report["funnel"]
    # Seven answers are expected: film/8 and film/9 do not exist, person/1 is in no list.
    assert [(one["stage"], one["lost"], one["left"]) for one in funnel["stages"]] == [
        ("unknown", 2, 5), ("retrieved", 1, 4),
    ]  # fmt: skip
    assert (funnel["questions"], funnel["expected"], funnel["found"]) == (5, 7, 4)
    assert funnel["examined"] == {"questions": 4, "expected": 6}
    # q1 was not examined, so its film is in no sum.
    [listed] = funnel["lists"]
    assert (listed["name"], listed["title"], listed["top"], listed["held"]) == ("retrieve", "Text", 3, 3)


def test_an_order_of_counts_is_not_the_order_of_the_flow(films: KnowledgeBase) -> None:
    report = describe_evaluation(evaluated())["report"]["pipelines"]["text"]
    order = [stage.value for stage in LostStage]
    assert list(report["lost_at"]) == sorted(report["lost_at"], key=order.index)


def test_it_can_be_left_out(films: KnowledgeBase) -> None:
    evaluation = evaluated(attribute=False)
    assert set(lost_of(evaluation).values()) == {("", None)}
    report = describe_evaluation(evaluation)["report"]["pipelines"]["text"]
    assert (report["lost_at"], report["funnel"]) == (None, None)


def test_an_interrupted_evaluation_finds_the_rest_when_it_goes_on(
    films: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service, "A_BATCH", 1)
    whole = evaluated("text", "path")
    asked: list[bool] = []
    small.HOOKS["nowhere"] = lambda limit: asked.append(True)
    with pytest.raises(RunCancelled):
        evaluate(
            knowledge_base="films", examples=EXAMPLES, split=None, pipelines=["text", "path"], settings={},
            run=RunContext(limit=Limit(cancelled=lambda: bool(asked))),
        )  # fmt: skip
    small.HOOKS.clear()
    stopped = Evaluation.objects.exclude(pk=whole.pk).get()
    assert stopped.outcomes.count() == 2
    report = resume_evaluation(stopped.pk)
    assert lost_of(stopped) == lost_of(whole)
    assert whole.report is not None
    for label in ("text", "path"):
        for name in ("lost_at", "funnel"):
            assert report["pipelines"][label][name] == whole.report["pipelines"][label][name]


def test_a_search_that_failed_lost_its_answers_there(films: KnowledgeBase) -> None:

    def fail(limit: Limit) -> None:
        raise StageError("retrieve", "the index is away")

    small.HOOKS["third"] = fail
    evaluation = evaluated(examples=EXAMPLES[:2])
    at, lost = lost_of(evaluation)["q2 text"]
    assert at == "failed"
    assert Attribution.from_json(lost).not_first.why == "the index is away"  # type: ignore[arg-type, union-attr]


class _Unreadable:
    """A finished search whose steps cannot be read."""

    run = SearchRun(status=SearchRun.Status.DONE)

    def unstored_steps(self, without: object) -> list[object]:
        raise RuntimeError("the steps are gone")


def test_an_attribution_that_fails_is_undecided_and_says_why(caplog: pytest.LogCaptureFixture) -> None:
    outcome = QuestionOutcome((("film/1", 1.0), ("film/2", 0.5)))
    found: FinishedSearch = _Unreadable()  # type: ignore[assignment]
    attribution = attributed(found, outcome, ("film/2", "film/3"), lambda: False)
    assert attribution is not None
    assert (attribution.lost_at, dict(attribution.lost)) == ("undecided", {LostStage.UNDECIDED: 1})
    assert attribution.not_first is not None
    assert attribution.not_first.why == "The search cannot be examined: RuntimeError: the steps are gone"
    assert "the steps are gone" in caplog.text


def test_a_question_is_examined_if_the_first_place_or_an_answer_of_the_top_is_missing() -> None:
    ranking = QuestionOutcome(tuple((f"n{at}", 1.0) for at in range(1, 31)))
    assert not is_lost(ranking, ("n1",))
    assert is_lost(ranking, ("n2",))
    # 19 nodes that are not expected stand before n21, and 20 before n22.
    assert not is_lost(ranking, ("n1", "n21"))
    assert is_lost(ranking, ("n1", "n22"))
    assert is_lost(QuestionOutcome(), ("n1",))
    assert not is_lost(QuestionOutcome(), ())


def test_lists_have_titles_for_people() -> None:
    assert list_titles("grasp", ["rescore", "retrieve/bm25", "retrieve", "fuse", "rerank"]) == {
        "rescore": "Graph paths", "retrieve/bm25": "Words (BM25)", "retrieve": "Document text", "fuse": "Fuse",
        "rerank": "Rerank",
    }  # fmt: skip
    assert list_titles("gone", ["retrieve/bm25", "my_list"]) == {"retrieve/bm25": "Bm25", "my_list": "My list"}
