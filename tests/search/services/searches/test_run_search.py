"""A recorded search is executed once, and always ends: with an answer, or with the reason why there is none."""

from __future__ import annotations

import threading
from typing import Any

import orjson
import psycopg
import pytest
from django.db import OperationalError, connection
from hypothesis import given
from hypothesis import strategies as st

from search.adapters.llm_openai import ConfiguredLanguageModel
from search.domain.errors import SearchCancelled, StageError
from search.domain.trace import Limit
from search.models import KnowledgeBase, Release, SearchRun, SearchStep
from search.models.knowledge import BuildStatus
from search.services.language_models.llm_calls import RecordedCalls
from search.services.searches import record_search
from search.services.searches.cancel_search import cancel_search
from search.services.searches.record_search import written
from search.services.searches.request_search import request_search
from search.services.searches.run_search import claim_run, ranking_of, run_search
from search.services.searches.storable import stored_json
from search.services.searches.watch_search import notices
from tests.search import small

pytestmark = pytest.mark.django_db
QUESTION = "Who made Amber Road?"
PATIENCE = 20.0
STEPS = ["plan", "link", "traverse", "rescore", "retrieve", "fuse", "check", "rerank", "explain"]


def recorded(**asked: Any) -> SearchRun:
    return request_search(**{"knowledge_base": "films", "question": QUESTION, "enqueue": False} | asked)


def raising(error: Exception):
    def hook(limit: Limit) -> None:
        raise error

    return hook


def test_a_search_leaves_its_answer_its_steps_and_its_seconds(films: KnowledgeBase) -> None:
    run = SearchRun.objects.get(pk=run_search(recorded().pk).pk)
    assert (run.status, run.error) == ("done", None)
    assert [step.name for step in run.steps.all()] == STEPS
    # 2/(5+1) + 1/(5+1) for film/1, 2/(5+2) + 1/(5+2) for film/2, 1/(5+3) for film/3.
    assert ranking_of(run) == [
        ("film/1", pytest.approx(3 / 6)), ("film/2", pytest.approx(3 / 7)), ("film/3", pytest.approx(1 / 8)),
    ]  # fmt: skip
    assert run.seconds is not None
    assert run.started is not None
    assert run.finished is not None
    assert run.started <= run.finished


def test_lists_of_steps_hold_ids_for_keys_mean_nothing_once_the_snapshot_is_gone(films: KnowledgeBase) -> None:
    run = run_search(recorded().pk)
    fused = run.steps.get(name="fuse").output
    assert fused["rankings"]["text"]["ids"] == ["film/1", "film/2", "film/3"]
    assert "keys" not in str(fused)


def test_a_search_delivered_twice_runs_once(films: KnowledgeBase) -> None:
    run = run_search(recorded().pk)
    again = run_search(run.pk, live=True)
    assert again.finished == SearchRun.objects.get(pk=run.pk).finished
    assert SearchStep.objects.filter(run=run).count() == len(STEPS)


def test_what_is_returned_is_the_row_also_where_somebody_else_closed_it(films: KnowledgeBase) -> None:
    def settled(limit: Limit) -> None:
        SearchRun.objects.update(status="failed", error={"title": "The worker is gone"}, changes=7)

    assert run_search(recorded().pk).changes == 2
    small.HOOKS[QUESTION] = settled
    run = run_search(recorded().pk)
    assert (run.status, run.error, run.changes) == ("failed", {"title": "The worker is gone"}, 7)


@pytest.mark.django_db(transaction=True)
def test_a_live_search_shows_its_finished_steps_while_it_runs(films: KnowledgeBase) -> None:
    run, told = recorded(), threading.Event()

    def look(limit: Limit) -> None:
        with notices().heard(str(run.pk), lambda _: told.set()):
            while list(SearchStep.objects.filter(run=run).values_list("name", flat=True)) != STEPS[:4]:
                assert told.wait(PATIENCE), "nobody was told of the steps"
                told.clear()

    small.HOOKS[QUESTION] = look
    run_search(run.pk, live=True)
    assert [step.name for step in run.steps.all()] == STEPS


@pytest.mark.django_db(transaction=True)
def test_a_quick_search_is_written_once_with_all_its_steps(
    films: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(record_search, "STEP_DELAY", PATIENCE)
    run, written = recorded(), []

    def noted(execute: Any, sql: str, *rest: Any) -> Any:
        written.append(sql.split()[0])
        return execute(sql, *rest)

    with connection.execute_wrapper(noted):
        run_search(run.pk, live=True)
    assert "INSERT" not in written, "a step was written on its own"
    run.refresh_from_db()
    # Taken by a worker, then written with its end.
    assert (run.status, run.changes) == ("done", 2)
    assert [step.name for step in run.steps.all()] == STEPS


def test_a_graph_that_fails_leaves_the_text_to_answer_and_says_why(films: KnowledgeBase) -> None:
    small.HOOKS[f"graph: {QUESTION}"] = raising(StageError("rescore", "the engine is away"))
    run = run_search(recorded().pk, live=True)
    assert run.status == "done"
    step = run.steps.get(name="rescore")
    assert (step.status, step.detail) == ("degraded", "the engine is away; text only")
    assert [node for node, _ in ranking_of(run)] == ["film/1", "film/2", "film/3"]


def test_a_failure_that_may_pass_is_in_the_row_and_raised_for_the_caller(films: KnowledgeBase) -> None:
    small.HOOKS[QUESTION] = raising(StageError("retrieve", "the index is away"))
    run = recorded()
    with pytest.raises(StageError, match="the index is away"):
        run_search(run.pk)
    run.refresh_from_db()
    assert run.status == "failed"
    assert run.error == {"title": "The search failed", "detail": "the index is away", "stage": "retrieve"}
    assert run.steps.get(name="retrieve").status == "failed"


def test_a_failure_that_stays_is_in_the_row_alone(films: KnowledgeBase) -> None:
    small.HOOKS[QUESTION] = raising(StageError("retrieve", "no such field", permanent=True))
    assert run_search(recorded().pk).status == "failed"


def test_what_nobody_foresaw_ends_the_row_too(films: KnowledgeBase) -> None:
    small.HOOKS[QUESTION] = raising(ZeroDivisionError("a bug"))
    run = recorded()
    with pytest.raises(ZeroDivisionError):
        run_search(run.pk)
    run.refresh_from_db()
    assert run.status == "failed"
    assert "unexpected" in str(run.error)
    assert "a bug" not in str(run.error)


def test_a_missing_file_of_the_index_is_named(films: KnowledgeBase) -> None:
    small.HOOKS[QUESTION] = raising(FileNotFoundError(2, "No such file or directory", "bm25/data.npy"))
    run = run_search(recorded().pk)
    assert run.error is not None
    assert "bm25/data.npy" in run.error["detail"]
    assert "index the knowledge base again" in run.error["detail"]


# Not inside one transaction: a statement that the limit cancels would end it for all later ones.
@pytest.mark.django_db(transaction=True)
def test_the_time_limit_ends_a_search(films: KnowledgeBase) -> None:
    run = run_search(recorded(time_limit=1e-6).pk)
    assert run.status == "failed"
    assert "time limit" in str(run.error)


def test_a_dropped_release_is_said(films: KnowledgeBase) -> None:
    run = recorded()
    Release.objects.update(status=BuildStatus.DROPPED)
    assert "dropped" in str(run_search(run.pk).error)


def test_a_queued_search_that_was_cancelled_does_not_run(films: KnowledgeBase) -> None:
    run = cancel_search(recorded(), user=None)
    assert run.status == "cancelled"
    assert run_search(run.pk).status == "cancelled"
    assert not run.steps.exists()


def test_a_running_search_that_was_cancelled_stops_at_its_next_check(films: KnowledgeBase) -> None:
    run = recorded()

    def cancel(limit: Limit) -> None:
        assert cancel_search(run, user=None).status == "running"
        stopped = threading.Event()
        while not limit.cancelled():
            stopped.wait(0.02)

    small.HOOKS[QUESTION] = cancel
    assert run_search(run.pk, live=True).status == "cancelled"
    run.refresh_from_db()
    assert (run.status, run.error) == ("cancelled", None)


def test_cancelling_what_has_ended_changes_nothing(films: KnowledgeBase) -> None:
    assert cancel_search(run_search(recorded().pk), user=None).status == "done"


def test_the_plan_of_the_asker_is_run(films: KnowledgeBase) -> None:
    plan = small.PLAN.to_json() | {"anchors": [{"var": "a", "text": "Ada", "label": "person"}]}
    run = run_search(recorded(plan=plan).pk)
    [entry] = run.steps.get(name="plan").output
    assert entry["source"] == "user"
    assert entry["plan"]["anchors"][0]["text"] == "Ada"


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_a_score_that_is_no_number_does_not_keep_the_row_from_being_written(films: KnowledgeBase, value: float) -> None:
    small.SCORES[QUESTION] = value
    run = run_search(recorded(pipeline="text").pk, live=True)
    assert SearchRun.objects.get(pk=run.pk).status == "done"


@pytest.mark.django_db(transaction=True)
def test_a_connection_that_breaks_in_mid_search_fails_it_and_the_next_one_works(films: KnowledgeBase) -> None:
    def kill(limit: Limit) -> None:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_terminate_backend(pg_backend_pid())")

    small.HOOKS[QUESTION] = kill
    run = recorded()
    with pytest.raises(StageError, match="Postgres") as raised:
        run_search(run.pk, live=True)
    assert isinstance(raised.value.__cause__, OperationalError)
    run.refresh_from_db()
    assert run.status == "failed"
    assert "Postgres" in str(run.error)
    assert list(run.steps.values_list("name", flat=True)) == STEPS[:5]
    small.HOOKS.clear()
    assert run_search(recorded().pk).status == "done"


@pytest.mark.django_db(transaction=True)
def test_steps_that_could_not_be_written_on_the_way_are_written_at_the_end(films: KnowledgeBase) -> None:
    def lose(limit: Limit) -> None:
        with pytest.raises(OperationalError), connection.cursor() as cursor:
            cursor.execute("SELECT pg_terminate_backend(pg_backend_pid())")

    small.HOOKS[QUESTION] = lose
    run = run_search(recorded().pk, live=True)
    assert run.status == "done"
    assert [step.name for step in run.steps.all()] == STEPS


def test_a_search_that_was_ended_by_others_stays_ended(films: KnowledgeBase) -> None:
    run = recorded()

    def end(limit: Limit) -> None:
        SearchRun.objects.filter(pk=run.pk).update(status="failed", error={"title": "given up"})

    small.HOOKS[QUESTION] = end
    run_search(run.pk)
    run.refresh_from_db()
    assert (run.status, run.error) == ("failed", {"title": "given up"})


def test_cancelled_is_no_failure(films: KnowledgeBase) -> None:
    small.HOOKS[QUESTION] = raising(SearchCancelled())
    run = run_search(recorded().pk)
    assert (run.status, run.error) == ("cancelled", None)


def test_a_search_is_taken_and_read_by_one_statement(films: KnowledgeBase, django_assert_num_queries: Any) -> None:
    run = recorded()
    with django_assert_num_queries(1):
        claimed = claim_run(run.pk)
    assert claimed is not None
    taken, endpoint_active = claimed
    assert not endpoint_active
    assert (taken.pk, taken.status, taken.changes) == (run.pk, "running", 1)
    assert taken.specification == SearchRun.objects.get(pk=run.pk).specification
    assert claim_run(run.pk) is None


@pytest.mark.django_db(transaction=True)
def test_a_search_waits_for_postgres_twice_beside_what_its_stages_read(
    films: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is taken and its end is written; the stages of these films read nothing, and look for a language model."""

    def look(limit: Limit) -> None:
        assert not ConfiguredLanguageModel(RecordedCalls()).configured()

    small.HOOKS[QUESTION] = look
    run_search(recorded().pk, live=True)
    run, synced = recorded(), 0
    wait = psycopg.Connection.wait

    def counted(self: Any, gen: Any, *given: Any) -> Any:
        nonlocal synced
        # In a pipeline the statements before its end are only sent.
        synced += not getattr(self, "_pipeline", None) or gen.__name__ in ("_exit_gen", "_sync_gen")
        return wait(self, gen, *given)

    monkeypatch.setattr(psycopg.Connection, "wait", counted)
    run_search(run.pk, live=True)
    assert synced == 2


NUMBERS = st.lists(st.integers() | st.floats(allow_nan=False) | st.text() | st.none())
OUTPUTS = st.recursive(
    NUMBERS | st.fixed_dictionaries({"keys": st.lists(st.integers(0, 9)), "scores": NUMBERS}),
    lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(["a", "b", "rankings"]), inner),
)


class Numbered:
    """Nodes whose id is the letter n and their key."""

    def ids(self, keys: list[int]) -> list[str]:
        return [f"n{key}" for key in keys]


def plainly(output: Any) -> Any:
    """Replace keys by ids, looking at every single value."""
    if isinstance(output, list):
        return [plainly(item) for item in output]
    if not isinstance(output, dict):
        return output
    return {
        ("ids" if name == "keys" else name): Numbered().ids(value) if name == "keys" else plainly(value)
        for name, value in output.items()
    }


@given(output=OUTPUTS)
def test_keys_become_ids_wherever_they_are(output: Any) -> None:
    found = orjson.loads(written(output, Numbered()))  # type: ignore[arg-type]
    assert found == orjson.loads(stored_json(plainly(output)))
