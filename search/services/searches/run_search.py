"""run_search: execute a recorded search. The Celery task, the command `ask` and the evaluation all call it."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import nullcontext
from functools import partial
from typing import Any
from uuid import UUID

import orjson
from django.db import InterfaceError, OperationalError
from django.db.models import F
from django.utils import timezone

from search import wiring
from search.domain.errors import SearchCancelled, SearchError, StageError
from search.domain.trace import Limit, Trace
from search.models import SearchRun
from search.models.endpoints import ENDPOINT_ACTIVE, endpoint_known
from search.models.knowledge import BuildStatus
from search.models.timeouts import bounded
from search.services.language_models.budgets import new_budget
from search.services.observing.events import SearchEnded, tell
from search.services.searches import pace
from search.services.searches.load_models import LOADING_SECONDS, load
from search.services.searches.log_search import log_search
from search.services.searches.overdue import WATCH
from search.services.searches.read_follow_up import read_follow_up
from search.services.searches.record_search import Recorder, close_run, written
from search.services.searches.request_search import question_of
from search.services.searches.storable import storable_text
from search.services.searches.watch_search import notices

OVERSTAYED = "The search did not stop at its time limit and was ended. Ask in other words."
CANCEL_LOOK = 0.25
"""Shortest time in seconds between two queries that read whether the row has a cancel request."""


_CLAIM = (
    "UPDATE search_searchrun SET status = %s, started = %s, changes = changes + 1 WHERE id = %s AND status = %s "
    "RETURNING *, (SELECT status FROM search_release WHERE id = release_id) AS release_status, "
    f"{ENDPOINT_ACTIVE} AS endpoint_active"
)


def run_search(run_id: UUID | str, *, live: bool = False, awaited: bool = False) -> SearchRun:
    """Execute the search and return its row, done, failed or cancelled.

    With `live` each step is written as it finishes, so that a page can follow; otherwise all are written at the end.
    With `awaited` the notice of the end contains the described search, for the process that waits for it.
    A search that is not queued any more is returned unchanged, so a task that is delivered twice does no harm.

    Raises StageError for a temporary failure, which the row records too; the caller may ask again. Raises
    django.db.OperationalError when Postgres stays unreachable; `end_abandoned` then ends the row later.
    """
    taken = time.perf_counter()
    claimed = claim_run(run_id)
    if claimed is None:
        return SearchRun.objects.get(pk=run_id)
    run, endpoint_active = claimed
    recorder = Recorder(run, live, awaited)
    # Default outcome, written in `finally` when an unexpected exception escapes.
    failure: StageError | None = _fail(
        run, "search", "An unexpected error stopped the search; the worker's log has it."
    )
    try:
        watched = WATCH.over(run.pk, partial(end_overstayed, run.pk)) if live else nullcontext()
        with watched, endpoint_known(endpoint_active):
            failure = attempt(run, recorder, _cancel_asked(run.pk))
    finally:
        run.seconds = time.perf_counter() - recorder.began
        close_run(run, recorder)
    if live:
        pace.note(time.perf_counter() - taken)
        log_search(run, recorder.steps)
    tell(SearchEnded(run, recorder.steps, recorder.ended))
    if failure is not None and not failure.permanent:
        raise failure
    return run


def claim_run(run_id: UUID | str) -> tuple[SearchRun, bool] | None:
    """Mark a queued search as running, in one statement; None if it is not queued.

    Returns its row, and whether an endpoint of the admin is in use. A release that this process has opened is not read
    again, unless it was dropped since then.
    """
    taken = SearchRun.objects.raw(_CLAIM, [SearchRun.Status.RUNNING, timezone.now(), run_id, SearchRun.Status.QUEUED])
    run: Any = next(iter(taken), None)
    if run is not None and (release := wiring.opened(run.release_id)) and release.status == run.release_status:
        run.release = release
    return None if run is None else (run, run.endpoint_active)


def end_overstayed(run_id: UUID) -> None:
    """End the row of a search that did not stop at its time limit, unless it has ended, and tell those who wait."""
    error = {"title": "The search failed", "detail": OVERSTAYED, "stage": "search"}
    ended = SearchRun.objects.filter(pk=run_id, status=SearchRun.Status.RUNNING).update(
        status=SearchRun.Status.FAILED, error=error, finished=timezone.now(), changes=F("changes") + 1
    )
    if ended:
        notices().tell(str(run_id), b"")


def attempt(run: SearchRun, recorder: Recorder, cancelled: Callable[[], bool]) -> StageError | None:
    """Run the search and set status and error on `run`; return the failure, None if done or cancelled."""
    try:
        _answer(run, recorder, cancelled)
    except SearchCancelled:
        run.status, run.error = SearchRun.Status.CANCELLED, None
    except StageError as error:
        return _fail(run, error.stage, error.reason, error)
    except (OperationalError, InterfaceError) as error:
        reason = "Postgres stopped answering during the search; ask again in a moment."
        failure = _fail(run, "database", reason)
        failure.__cause__ = error
        return failure
    except OSError as error:
        reason = f"A file of {run.release_name}'s indexes cannot be read ({error}); index the knowledge base again."
        return _fail(run, "index", reason, StageError("index", reason, permanent=True))
    except SearchError as error:
        return _fail(run, "search", str(error), StageError("search", str(error), permanent=True))
    return None


def _answer(run: SearchRun, recorder: Recorder, cancelled: Callable[[], bool]) -> None:
    """Run the pipeline over the release, with the settings, that were active when the search was requested."""
    if run.release is None or run.release.status == BuildStatus.DROPPED:
        raise StageError("search", "The release that this search was requested for has been dropped.", permanent=True)
    WATCH.allow(run.pk, LOADING_SECONDS)
    trace = Trace(Limit.seconds(LOADING_SECONDS, cancelled), recorder.observe)
    tools, pipeline, stages = load(run, trace)
    recorder.nodes = tools.nodes
    # Time is measured from here, so that the first search of a process does not include loading its models.
    WATCH.allow(run.pk, run.time_limit)
    recorder.began = time.perf_counter()
    budget = new_budget()
    trace.limit = Limit.seconds(run.time_limit, cancelled, budget)
    try:
        with bounded("search", trace.limit):
            question = read_follow_up(question_of(run, tools.schema), tools, trace)
            ranking = pipeline.search(question, stages, trace)
    finally:
        run.answer = {"model_use": budget.to_json()} if budget.use else None
    ranked = {"ranking": orjson.loads(written(ranking.to_json(), tools.nodes))}
    run.answer = ranked | (run.answer or {})
    run.status, run.error = SearchRun.Status.DONE, None


def _fail(run: SearchRun, stage: str, reason: str, error: StageError | None = None) -> StageError:
    run.status = SearchRun.Status.FAILED
    run.error = {"title": "The search failed", "detail": storable_text(reason), "stage": stage}
    return error or StageError(stage, reason)


def _cancel_asked(run_id: UUID) -> Callable[[], bool]:
    """Return a callable that says whether cancellation was requested, with one query per `CANCEL_LOOK` s at most."""
    looked, known = time.monotonic(), False

    def asked() -> bool:
        nonlocal looked, known
        now = time.monotonic()
        if not known and now - looked >= CANCEL_LOOK:
            looked = now
            known = SearchRun.objects.filter(pk=run_id, cancel_requested=True).exists()
        return known

    return asked


def ranking_of(run: SearchRun) -> list[tuple[str, float]]:
    """Return up to 100 pairs (id, score) of a finished run, best first; empty if the run has no answer."""
    ranking = (run.answer or {}).get("ranking") or {"ids": [], "scores": []}
    return list(zip(ranking["ids"], ranking["scores"], strict=True))
