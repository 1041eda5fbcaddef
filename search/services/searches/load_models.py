"""load_models: loads what a search needs before its clock starts, so that loading takes none of the search's time."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Iterator
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from search import wiring
from search.composition import Pipeline
from search.domain.errors import DeadlineExceeded, StageError
from search.domain.trace import Limit, Step, Trace
from search.models import SearchRun
from search.models.timeouts import bounded

STEP = "load"
ANY_TEXT = "What is there?"
LOADING_SECONDS = 120.0
"""Time limit of loading: a large model of a slow disk needs a minute."""
TOO_SLOW = f"the models were not loaded within {LOADING_SECONDS:.0f} seconds; ask again, for what was loaded is kept"
SHOWN_SECONDS = 1.0
"""Loading that takes less is no step of the trace."""
_loaded: WeakKeyDictionary[wiring.Tools, set[str]] = WeakKeyDictionary()
"""Tools of this process → hashes of the specifications whose stages were loaded with them."""


class Loaded(NamedTuple):
    """What a search runs with."""

    tools: wiring.Tools
    pipeline: Pipeline
    stages: Any


def load(run: SearchRun, trace: Trace) -> Loaded:
    """Return the tools and stages of a search, their models loaded; loading that takes long is a step of the trace.

    `trace.limit` is the limit of loading. A single statement may not take longer than the search itself.

    Raises DeadlineExceeded with a reason of its own, SearchCancelled, and StageError if something is not there.
    """
    assert run.release is not None
    began, step, known = time.perf_counter(), Step(STEP, "other", status="failed"), False
    try:
        with bounded(STEP, trace.limit, statement=run.time_limit):
            tools = wiring.tools(run.release, run.settings_version)
            pipeline = wiring.pipeline(run.pipeline)
            stages = pipeline.compose(run.specification, tools)
            known = run.specification_hash in _loaded.setdefault(tools, set())
            _load(stages, trace.limit)
            _loaded[tools].add(run.specification_hash)
    except StageError as error:
        step.detail = error.reason
        raise
    else:
        step.status, step.detail = "ok", "Models and indexes were loaded; this is not a part of the search's time."
        return Loaded(tools, pipeline, stages)
    finally:
        step.seconds = time.perf_counter() - began
        if step.detail and (step.status == "failed" or (step.seconds >= SHOWN_SECONDS and not known)):
            trace.add(step)


def _load(stages: Any, limit: Limit) -> None:
    """Load the models of all stages."""
    for declared in dataclasses.fields(stages):
        for part in _parts(getattr(stages, declared.name)):
            try:
                limit.check(STEP)
            except DeadlineExceeded as error:
                raise DeadlineExceeded(STEP, TOO_SLOW) from error
            encoder, load_own = getattr(part, "encoder", None), getattr(part, "load", None)
            if encoder is not None:
                # The first text that a process encodes takes longest. This one is remembered and costs nothing later.
                encoder.encode([ANY_TEXT])
            if load_own is not None:
                load_own()


def _parts(stage: Any) -> Iterator[Any]:
    """Yield a stage and its parts."""
    yield stage
    for declared in dataclasses.fields(stage) if dataclasses.is_dataclass(stage) else ():
        if "part" in declared.metadata:
            yield from _parts(getattr(stage, declared.name))
