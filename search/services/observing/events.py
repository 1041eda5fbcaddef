"""Events that observers count or trace. `settings.GRASP_OBSERVERS` names the observers by dotted path."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import structlog
from django.conf import settings
from django.utils.module_loading import import_string

from search.domain.trace import Step
from search.models import Job, SearchRun

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class SearchEnded:
    """A search has ended and its row is written. `ended` are the times at which its steps ended, in ns since 1970."""

    run: SearchRun
    steps: Sequence[Step]
    ended: Sequence[int]


@dataclass(frozen=True, slots=True)
class JobEnded:
    """A process has stopped working on a job. `began` and `ended` are seconds since 1970; `state` is the job's now."""

    job: Job
    state: str
    began: float
    ended: float


@dataclass(frozen=True, slots=True)
class LeaseWasLost:
    """A process no longer owns the job that it works on, because it could not renew its lease in time."""

    kind: str


@dataclass(frozen=True, slots=True)
class ModelCalled:
    """A language model was called. `price` is None if the model has none; an `error` is empty if it answered."""

    model: str
    purpose: str
    tokens: dict[str, int]
    seconds: float
    error: str
    price: float | None = None
    currency: str = ""


@dataclass(frozen=True, slots=True)
class SearchesRefused:
    """Requests were refused: at which door, for which kind of reason, and how many."""

    door: str
    kind: str
    number: int


@dataclass(frozen=True, slots=True)
class SearchEvaluated:
    """An evaluation has asked a question; there may be no row."""

    pipeline: str
    status: str


Event = SearchEnded | JobEnded | LeaseWasLost | ModelCalled | SearchesRefused | SearchEvaluated


def tell(event: Event) -> None:
    """Tell every observer. An observer that fails is logged, and changes nothing for the search or job."""
    for observe in _observers(tuple(settings.GRASP_OBSERVERS)):
        try:
            observe(event)
        except Exception as error:  # noqa: BLE001 -- whoever counts must not harm what is counted
            log.warning("observer failed", observer=repr(observe), error=f"{type(error).__name__}: {error}")


@lru_cache(maxsize=4)
def _observers(paths: tuple[str, ...]) -> tuple[Callable[[Any], None], ...]:
    return tuple(import_string(path) for path in paths)
