"""Queues of saved searches and of lists: what they hold, what is searched first, and that nothing is half written."""

from __future__ import annotations

from uuid import UUID

import pytest
from django.contrib.auth.models import User
from pytest_django.fixtures import Settings

from search.domain.errors import InvalidRequest, StageError
from search.models import Job, KnowledgeBase, SearchRun
from search.services.jobs.launch import launch_job
from search.services.jobs.run_here import run_here
from tests.search import small, strange
from training.data.tasks import read_tasks
from training.models import AnnotationItem, AnnotationQueue
from training.services.annotation.fill_queue import filling_sentence
from training.services.annotation.hand_out import Handed, hand_out
from training.services.annotation.make_queue import QueuePlan, make_queue, plan_queue

pytestmark = pytest.mark.django_db
F1, F2, F3 = "film/1", "film/2", "film/3"


def planned(films: KnowledgeBase, text: str, **arguments: object) -> QueuePlan:
    return plan_queue(knowledge_base=films, rule="tasks", arguments=arguments, tasks=read_tasks(text))


def run_of(films: KnowledgeBase, question: str, *ids: str) -> SearchRun:
    return SearchRun.objects.create(
        question=question, knowledge_base=films, pipeline="text", status="done", release=films.active_release,
        answer={"ranking": {"ids": list(ids), "scores": [3.0 - at for at in range(len(ids))], "total": len(ids)}},
    )  # fmt: skip


def held(queue: AnnotationQueue) -> set[tuple[str, str]]:
    return set(queue.items.values_list("question", "node_id"))


def test_results_of_a_list_are_items_at_once(films: KnowledgeBase) -> None:
    plan = planned(films, '{"question": "Who?", "result": ["film/1", "film/2"], "id": "q7", "answers": "film/2"}')
    assert plan.sentence == "The rule matches 2 candidates; the queue takes all of them."
    queue = make_queue(plan, name="list")
    assert (queue.state, queue.items_count, held(queue)) == ("open", 2, {("Who?", F1), ("Who?", F2)})
    item = queue.items.get(node_id=F1)
    assert (item.question_identifier, item.answers, item.node_name != "") == ("q7", [F2], True)
    assert not Job.objects.exists()


def test_a_result_that_the_base_has_not_is_told_by_its_line_and_no_queue_is_made(films: KnowledgeBase) -> None:
    with pytest.raises(InvalidRequest) as raised:
        planned(films, "Who?\tfilm/1\nWhere?\tfilm/99\n" + "x" * 10_000)
    told = [fault.message for fault in raised.value.faults]
    assert told[0] == "Line 2: films-1 has no entity with the id 'film/99'."
    assert told[1].startswith("Line 3: The question has 10,000 characters")
    assert not AnnotationQueue.objects.exists()


def test_questions_without_results_are_searched_by_a_job_before_anybody_judges(
    films: KnowledgeBase, settings: Settings
) -> None:
    settings.GRASP_PIPELINES, settings.GRASP_DEFAULT_PIPELINE = strange.PIPELINES, "walking"
    plan = planned(films, "film/2 please\nWho?\tfilm/1", depth=2)
    assert plan.sentence == (
        "1 result is given; 1 question is searched first, and up to 2 results of each are to be judged."
    )
    queue = make_queue(plan, name="asked")
    assert (queue.state, held(queue)) == ("filling", {("Who?", F1)})
    ada = User.objects.create_user("ada")
    assert hand_out(queue=queue, user=ada, tab=UUID(int=1), number=5) == Handed(())
    assert filling_sentence(queue) == "1 question is being searched; then there is something to judge."
    job = Job.objects.get(kind="fill_queue")
    assert (job.arguments, job.user) == ({"queue_id": queue.pk}, None)
    told = run_here(job)
    queue.refresh_from_db()
    assert (told["searched"], told["failed"], queue.state, filling_sentence(queue)) == (1, 0, "open", "")
    run = SearchRun.objects.get(question="film/2 please")
    found = run.answer["ranking"]["ids"][:2]
    assert F2 in found
    assert held(queue) == {("Who?", F1)} | {("film/2 please", one) for one in found}
    assert (queue.items_count, told["items"]) == (1 + len(found), len(found))
    item = queue.items.get(node_id=F2)
    assert item.origin["pipelines"]["walking"]["run"] == str(run.pk)
    # What is open is not searched again.
    with pytest.raises(InvalidRequest, match="whose questions wait for a search"):
        launch_job(kind="fill_queue", knowledge_base="films", arguments={"queue_id": queue.pk})


def test_a_question_that_cannot_be_searched_is_counted_and_the_others_are_judged(
    films: KnowledgeBase, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(limit: object) -> None:
        raise StageError("wander", "the street is closed")

    settings.GRASP_PIPELINES, settings.GRASP_DEFAULT_PIPELINE = strange.PIPELINES, "walking"
    monkeypatch.setitem(small.HOOKS, "graph: film/3 please", away)
    queue = make_queue(planned(films, "film/2 please\nfilm/3 please"), name="one of two")
    assert run_here(Job.objects.get(kind="fill_queue"))["failed"] == 1
    queue.refresh_from_db()
    assert queue.state == "open"
    assert {text for text, _ in held(queue)} == {"film/2 please"}
    assert filling_sentence(queue) == "1 question could not be searched."


def test_a_search_that_ended_badly_says_so_beside_the_queue(films: KnowledgeBase) -> None:
    queue = make_queue(planned(films, "Who?"), name="asked")
    Job.objects.update(state="failed", reason="The worker was stopped.")
    assert filling_sentence(queue) == (
        "Its questions could not be searched: The worker was stopped. An admin can resume the job."
    )


def test_a_queue_of_saved_searches_holds_their_first_results_once(films: KnowledgeBase) -> None:
    runs = [run_of(films, "Who?", F1, F2, F3), run_of(films, "who", F2, "film/gone"), run_of(films, "Where?", F3)]
    plan = plan_queue(knowledge_base=films, rule="saved", seed=3,
                      arguments={"saved": [str(run.pk) for run in runs], "depth": 2})  # fmt: skip
    queue = make_queue(plan, name="saved")
    # "Who?" and "who" are one question; film 2 of both is one item, and what today's release has not is left out.
    assert {(text.lower().strip("?"), node) for text, node in held(queue)} == {
        ("who", F1), ("who", F2), ("where", F3),
    }  # fmt: skip
    assert queue.items_count == AnnotationItem.objects.count() == 3
    assert queue.items.get(node_id=F3).origin["pipelines"]["text"] == {
        "rank": 1, "score": 3.0, "run": str(runs[2].pk), "lost_at": "",
    }  # fmt: skip


def test_searches_that_cannot_be_judged_are_refused_by_name(films: KnowledgeBase) -> None:
    waiting = run_of(films, "Who?", F1)
    SearchRun.objects.update(status="queued")
    with pytest.raises(InvalidRequest, match=f"{waiting.pk} has not been answered"):
        plan_queue(knowledge_base=films, rule="saved", arguments={"saved": [str(waiting.pk)]})
    with pytest.raises(InvalidRequest, match="at least one saved search"):
        plan_queue(knowledge_base=films, rule="saved", arguments={})
