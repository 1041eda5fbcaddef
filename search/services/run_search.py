"""run_search: execute a recorded search. The task, `ask` and the evaluation all come here."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any
from uuid import UUID

from django.db import DatabaseError, InterfaceError, OperationalError, transaction
from django.utils import timezone

from search import wiring
from search.domain.errors import SearchCancelled, SearchError, StageError
from search.domain.ranking import Ranking
from search.domain.trace import Limit, Step, Trace
from search.interfaces import NodeStore
from search.models import SearchRun, SearchStep
from search.services.request_search import question_of

CANCEL_LOOK = 0.25
"""Seconds between two looks at the row for a cancel request."""


def run_search(run_id: UUID | str, *, live: bool = False) -> SearchRun:
    """Execute the search and return its row, done, failed or cancelled.

    With `live` each step is written as it finishes, so that a page can follow; otherwise all are written at the end.
    A search that is not queued any more is returned as it is, so that a task delivered twice does no harm.

    Raises StageError for a failure that may pass (the row says so too), so that a task may try again; and
    django.db.OperationalError when Postgres itself is gone.
    """
    claimed = SearchRun.objects.filter(pk=run_id, status=SearchRun.Status.QUEUED).update(
        status=SearchRun.Status.RUNNING, started=timezone.now()
    )
    run = SearchRun.objects.select_related("release__snapshot", "release__knowledge_base").get(pk=run_id)
    if not claimed:
        return run
    began = time.perf_counter()
    failure: StageError | None = None
    recorder = _Recorder(run, live)
    try:
        _answer(run, recorder)
    except SearchCancelled:
        run.status = SearchRun.Status.CANCELLED
    except StageError as error:
        failure = None if error.permanent else error
        _fail(run, error.stage, error.reason)
    except (OperationalError, InterfaceError) as error:
        failure = StageError("database", "Postgres stopped answering in mid-search; ask again in a moment.")
        _fail(run, failure.stage, failure.reason)
        failure.__cause__ = error
    except SearchError as error:
        _fail(run, "search", str(error))
    run.seconds = time.perf_counter() - began
    run.finished = timezone.now()
    _close(run, recorder)
    if failure is not None:
        raise failure
    return run


def _answer(run: SearchRun, recorder: _Recorder) -> None:
    """Run the pipeline over the release that was active when the search was requested."""
    if run.release is None:
        raise StageError("search", "the release that this search asked for has been dropped", permanent=True)
    tools = wiring.tools(run.release)
    recorder.nodes = tools.nodes
    pipeline = wiring.pipeline(run.pipeline)
    stages = pipeline.compose(run.specification, tools)
    trace = Trace(Limit.seconds(run.time_limit, _cancel_asked(run.pk)), recorder.observe)
    ranking = pipeline.search(question_of(run), stages, trace)
    run.answer = {"ranking": _with_ids(ranking.to_json(), tools.nodes)}
    run.status = SearchRun.Status.DONE


def _fail(run: SearchRun, stage: str, reason: str) -> None:
    run.status = SearchRun.Status.FAILED
    run.error = {"title": "The search failed", "detail": reason, "stage": stage}


def _close(run: SearchRun, recorder: _Recorder) -> None:
    """Write what is left of the run, once more over a fresh connection when the old one is gone."""
    for last in (False, True):
        try:
            with transaction.atomic():
                recorder.flush()
                run.save(update_fields=["status", "answer", "error", "seconds", "finished"])
            return
        except (OperationalError, InterfaceError):
            transaction.get_connection().close()
            if last:
                raise


class _Recorder:
    """Turns steps into rows, with ids instead of keys, for a key means nothing once the snapshot is gone."""

    def __init__(self, run: SearchRun, live: bool) -> None:
        self.run, self.live = run, live
        self.nodes: NodeStore | None = None
        self.rows: dict[int, SearchStep] = {}
        self._position: dict[int, int] = {}
        self._unwritten: set[int] = set()

    def observe(self, step: Step) -> None:
        """Take a finished step, or a step again whose status changed."""
        position = self._position.setdefault(id(step), len(self._position))
        known = self.rows.get(position)
        self.rows[position] = SearchStep(
            pk=known.pk if known else None, run=self.run, position=position, name=step.name, backend=step.backend,
            status=step.status, seconds=step.seconds, detail=step.detail,
            output=known.output if known else _with_ids(step.output, self.nodes),
            prompt_fingerprint=step.prompt_fingerprint, tokens=step.tokens,
        )  # fmt: skip
        self._unwritten.add(position)
        if self.live:
            try:
                self.flush()
            except DatabaseError:
                self.live = False
                transaction.get_connection().close()

    def flush(self) -> None:
        """Write the rows that have not been written yet."""
        fresh = [self.rows[p] for p in sorted(self._unwritten) if self.rows[p].pk is None]
        for position in self._unwritten:
            if self.rows[position].pk is not None:
                self.rows[position].save()
        SearchStep.objects.bulk_create(fresh)
        self._unwritten.clear()


def _with_ids(output: Any, nodes: NodeStore | None) -> Any:
    """Return a step's output with every list of keys replaced by a list of ids."""
    if nodes is None:
        return output
    if isinstance(output, list):
        return [_with_ids(item, nodes) for item in output]
    if not isinstance(output, dict):
        return output
    return {
        ("ids" if name == "keys" else name): nodes.ids(value) if name == "keys" else _with_ids(value, nodes)
        for name, value in output.items()
    }


def _cancel_asked(run_id: UUID) -> Callable[[], bool]:
    """Return a cheap question after the row's cancel request: it looks at most a few times a second."""
    state = {"looked": time.monotonic(), "asked": False}

    def asked() -> bool:
        now = time.monotonic()
        if not state["asked"] and now - state["looked"] >= CANCEL_LOOK:
            state["looked"] = now
            state["asked"] = SearchRun.objects.filter(pk=run_id, cancel_requested=True).exists()
        return bool(state["asked"])

    return asked


def ranking_of(run: SearchRun) -> list[tuple[str, float]]:
    """Return the ids and scores of a finished run, up to 100 deep."""
    ranking = (run.answer or {}).get("ranking", Ranking().to_json() | {"ids": []})
    return list(zip(ranking["ids"], ranking["scores"], strict=True))
