"""What each rule matches, worked out by hand; and what a queue holds of it."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest

from search.domain.errors import InvalidRequest
from search.models import Feedback, KnowledgeBase, SearchRun
from search.models.knowledge import BuildStatus
from tests.training.annotating import asked_evaluation
from training.models import AnnotationQueue, Evaluation
from training.services.annotation import candidates
from training.services.annotation.make_queue import make_queue, plan_queue

pytestmark = pytest.mark.django_db

F1, F2, F3, ADA = "film/1", "film/2", "film/3", "person/1"
QUESTIONS = {"one?": [F1, F2], "two?": [F3], "three?": [F1]}


@pytest.fixture
def evaluation(films: KnowledgeBase) -> Evaluation:
    """Pipeline a answers the first question, loses the second at the plan and fails at the third; b is another one."""
    return asked_evaluation(films, QUESTIONS, {
        "a": [
            {"ids": [F1, F2, F3], "scores": [0.9, 0.5, 0.4]},
            {"ids": [F1, F2, F3], "scores": [0.50, 0.49, 0.1], "lost_at": "planned"},
            {"ids": [], "state": "error", "lost_at": "failed"},
        ],
        "b": [
            {"ids": [F2, F1, ADA], "scores": [3.0, 2.0, 1.0]},
            {"ids": [F2, ADA, F3], "scores": [1.0, 1.0, 1.0], "lost_at": "ranked"},
            {"ids": [F1, F2], "scores": [2.0, 1.0]},
        ],
    })  # fmt: skip


def made(films: KnowledgeBase, rule: str, limit: int = 100, seed: int = 5, **arguments: Any) -> AnnotationQueue:
    plan = plan_queue(knowledge_base=films, rule=rule, arguments=arguments, seed=seed, limit=limit)
    return make_queue(plan, name=f"{rule} {AnnotationQueue.objects.count()}")


def held(queue: AnnotationQueue) -> set[tuple[str, str]]:
    """Return the pairs of question and node that a queue holds; it holds each once."""
    rows = list(queue.items.values_list("question", "node_id"))
    assert len(rows) == len(set(rows)) == queue.items_count
    return set(rows)


def test_lost_answers_by_stage_with_what_stood_first_instead(films: KnowledgeBase, evaluation: Evaluation) -> None:
    of = [str(evaluation.pk)]
    # In the top 2, a lost film 3 at the plan and shows film 1 instead; b lost it by rank and shows film 2.
    assert held(made(films, "lost", evaluations=of, stages=["planned"], depth=2)) == {("two?", F3), ("two?", F1)}
    assert held(made(films, "lost", evaluations=of, stages=["ranked"], depth=2)) == {("two?", F3), ("two?", F2)}
    # In the top 3 nothing is lost; only what stands first in its place is to be judged.
    assert held(made(films, "lost", evaluations=of, stages=["planned"], depth=3)) == {("two?", F1)}
    # Any stage: the third question failed and found nothing, so there is only the answer that it lost. Of one question
    # and kind, one candidate is kept: of film 1 and film 2 that with the smaller hash.
    [instead] = sorted((F1, F2), key=lambda node: hashlib.md5(f"5{node}".encode()).hexdigest())[:1]
    assert held(made(films, "lost", evaluations=of, depth=2)) == {("two?", F3), ("two?", instead), ("three?", F1)}


def test_disagreement_is_what_some_have_at_the_top_and_others_have_not(
    films: KnowledgeBase, evaluation: Evaluation
) -> None:
    of = [str(evaluation.pk)]
    # Top 1 of the first: film 1 against film 2; of the second: film 1 against film 2. A failed search says nothing.
    expected = {("one?", F1), ("one?", F2), ("two?", F1), ("two?", F2)}
    assert held(made(films, "disagreement", evaluations=of, depth=1)) == expected
    # Top 3: film 3 and Ada of the first; film 1 and Ada of the second.
    queue = made(films, "disagreement", evaluations=of, depth=3)
    assert held(queue) == {("one?", F3), ("one?", ADA), ("two?", F1), ("two?", ADA)}
    item = queue.items.get(question="one?", node_id=F3)
    assert item.origin["pipelines"]["a"] == {"rank": 3, "score": 0.4, "run": None, "lost_at": ""}
    assert item.origin["pipelines"]["b"]["rank"] is None
    assert (item.node_name, item.node_type, item.answers) == ("Birch Street", "film", [F1, F2])
    with pytest.raises(InvalidRequest, match="One pipeline alone disagrees with nobody"):
        made(films, "disagreement", evaluations=of, pipelines=["a"])


def test_two_evaluations_disagree_by_question_whatever_their_order(
    films: KnowledgeBase, evaluation: Evaluation
) -> None:
    other = asked_evaluation(films, {"two?": [F3], "one?": [F2, F1]}, {"a": [{"ids": [F1]}, {"ids": [F3]}]})
    both = [str(evaluation.pk), str(other.pk)]
    # Both have film 1 first for the second question; for the first, one has film 1 and the other film 3.
    assert held(made(films, "disagreement", evaluations=both, pipelines=["a"], depth=1)) == {("one?", F1), ("one?", F3)}


def test_small_margins_are_relative_to_the_spread_of_the_scores(films: KnowledgeBase, evaluation: Evaluation) -> None:
    # a: 0.4/0.5 = 0.8 and 0.01/0.4 = 0.025; b: 1/2 = 0.5, equal scores 0, and 1/1 = 1.
    assert held(made(films, "margin", evaluations=[str(evaluation.pk)], margin=0.02)) == {("two?", F2), ("two?", ADA)}
    assert held(made(films, "margin", evaluations=[str(evaluation.pk)], pipelines=["a"], margin=0.03)) == {
        ("two?", F1), ("two?", F2),
    }  # fmt: skip
    # With a limit the smallest margins are taken.
    assert held(made(films, "margin", limit=2, evaluations=[str(evaluation.pk)], margin=1)) == {
        ("two?", F2), ("two?", ADA),
    }  # fmt: skip


def test_a_random_sample_is_drawn_by_the_seed_alone(films: KnowledgeBase, evaluation: Evaluation) -> None:
    of = [str(evaluation.pk)]
    pool = {("one?", F1), ("one?", F2), ("one?", F3), ("one?", ADA), ("two?", F1), ("two?", F2), ("two?", F3),
            ("two?", ADA), ("three?", F1), ("three?", F2)}  # fmt: skip
    assert held(made(films, "random", evaluations=of)) == pool
    hashes = dict(evaluation.asked.values_list("text", "hash"))
    drawn = sorted(pool, key=lambda one: hashlib.md5(f"5{hashes[one[0]]}{one[1]}".encode()).hexdigest())[:4]
    queue = made(films, "random", limit=4, evaluations=of)
    assert held(queue) == set(drawn)
    assert (queue.matched, queue.items_count) == (10, 4)
    again = made(films, "random", limit=4, evaluations=of)
    in_order = [list(one.items.values_list("question", "node_id")) for one in (queue, again)]
    assert in_order[0] == in_order[1]


def test_feedback_is_one_item_however_often_it_was_said(films: KnowledgeBase) -> None:
    for text, node, kind in [("Who?", F1, "right"), ("who? ", F1, "wrong"), ("who", F2, "missing"), ("", F3, "wrong")]:
        run = SearchRun.objects.create(question=text, knowledge_base=films, pipeline="text")
        Feedback.objects.create(run=run, node_id=node, kind=kind, rank=1)
    queue = made(films, "feedback")
    assert {(text.lower().strip("? "), node) for text, node in held(queue)} == {("who", F1), ("who", F2)}
    assert {node for _, node in held(made(films, "feedback", kinds=["missing"]))} == {F2}


def test_two_searches_of_one_question_disagree(films: KnowledgeBase) -> None:
    runs = [
        SearchRun.objects.create(
            question="q", knowledge_base=films, pipeline=name, status="done", release=films.active_release,
            release_name="films-1", answer={"ranking": {"ids": ids, "scores": [2.0, 1.0], "total": 2}},
        )
        for name, ids in (("text", [F1, F2]), ("path", [F2, F3]))
    ]  # fmt: skip
    of = [str(run.pk) for run in runs]
    queue = made(films, "disagreement", searches=of, depth=2)
    assert held(queue) == {("q", F1), ("q", F3)}
    assert queue.items.get(node_id=F1).origin["pipelines"]["text"] == {
        "rank": 1, "score": 2.0, "run": of[0], "lost_at": "",
    }  # fmt: skip


def test_a_rule_that_matches_nothing_makes_no_queue_and_says_so(films: KnowledgeBase, evaluation: Evaluation) -> None:
    plan = plan_queue(knowledge_base=films, rule="lost", arguments={"evaluations": [str(evaluation.pk)],
                                                                    "stages": ["fused"]})  # fmt: skip
    assert plan.sentence.startswith("The rule matches nothing")
    with pytest.raises(InvalidRequest, match="matches nothing"):
        make_queue(plan, name="nothing")
    assert not AnnotationQueue.objects.exists()


def test_a_base_whose_results_nobody_has_marked_is_told_as_that(films: KnowledgeBase, evaluation: Evaluation) -> None:
    plan = plan_queue(knowledge_base=films, rule="feedback", arguments={})
    assert "Nobody has marked results of this knowledge base" in plan.sentence


def test_more_than_can_be_counted_is_a_sentence_and_loads_nothing(
    films: KnowledgeBase, evaluation: Evaluation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(candidates, "MOST_COUNTED", 9)
    plan = plan_queue(knowledge_base=films, rule="random", arguments={"evaluations": [str(evaluation.pk)]}, limit=2)
    assert plan.matched.count == 10
    assert plan.sentence == "The rule matches more than 9 candidates; the queue takes 2, drawn by the seed."


def test_a_queue_of_a_dropped_release_or_with_a_taken_name_is_refused_with_every_fault(
    films: KnowledgeBase, evaluation: Evaluation
) -> None:
    of = [str(evaluation.pk)]
    made(films, "random", evaluations=of)
    assert films.active_release is not None
    films.active_release.status = BuildStatus.DROPPED
    films.active_release.save()
    plan = plan_queue(knowledge_base=films, rule="random", arguments={"evaluations": of})
    with pytest.raises(InvalidRequest) as raised:
        make_queue(plan, name="random 0", overlap=0)
    assert [fault.pointer for fault in raised.value.faults] == ["/name", "/overlap", "/arguments/evaluations"]
