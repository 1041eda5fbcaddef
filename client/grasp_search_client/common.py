"""What the sync and the async client share: the generated client, bodies, errors, and events."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar
from uuid import UUID

import httpx

from grasp_search_client.generated.client import AuthenticatedClient, Client
from grasp_search_client.generated.models.json_object import JsonObject
from grasp_search_client.generated.models.problem import Problem
from grasp_search_client.generated.models.search import Search
from grasp_search_client.generated.models.search_request import SearchRequest
from grasp_search_client.generated.types import UNSET, Response

LONGEST_WAIT = 30.0
"""Seconds that one request waits for the end of a search."""
POLL = 0.5
"""Seconds between two looks at a search."""
ENDED = frozenset({"done", "failed", "cancelled"})
MOST_LOST = 5
"""How many times in a row a lost stream of events is taken up again."""
PAGE = 100

T = TypeVar("T")
AnyClient = Client | AuthenticatedClient


class GraspError(Exception):
    """The site refused a request; `status` is the HTTP status, `problem` the problem details if there are any."""

    def __init__(self, message: str, status: int, problem: Problem | None = None) -> None:
        self.status, self.problem = status, problem
        super().__init__(message)


class TooMany(GraspError):
    """The limit of the caller or of the queue is reached; `seconds` later it may ask again."""

    def __init__(self, message: str, status: int, problem: Problem | None, seconds: float) -> None:
        self.seconds = seconds
        super().__init__(message, status, problem)


class NotFinished(GraspError):
    """A search did not end in time; it goes on at the site. `search` is its last known state."""

    def __init__(self, search: Search, seconds: float) -> None:
        self.search = search
        super().__init__(f"The search {search.id} has not ended within {seconds:g} seconds; it goes on.", 202)


@dataclass(frozen=True, slots=True)
class Event:
    """A server-sent event: `plan`, `linked`, `paths`, `candidates`, `fused`, `reranked`, `problem` or `done`."""

    kind: str
    data: Any
    id: str = ""


class PageOf(Protocol[T]):
    """A page of a list."""

    next_: str | None
    results: list[T]


def client_of(url: str, token: str | None, timeout: float, httpx_args: Mapping[str, Any] | None) -> AnyClient:
    """Return the generated client for a site, with a token if there is one."""
    base, limit, more = url.rstrip("/"), httpx.Timeout(timeout), dict(httpx_args or {})
    if token:
        return AuthenticatedClient(base_url=base, token=token, prefix="Token", timeout=limit, httpx_args=more)
    return Client(base_url=base, timeout=limit, httpx_args=more)


def request_body(
    question: str,
    knowledge_base: str | None,
    pipeline: str | None,
    k: int,
    plan: Mapping[str, Any] | None,
    settings: Mapping[str, Any] | None,
    follows: UUID | str | None,
) -> SearchRequest:
    """Return the body of a request for a search."""
    return SearchRequest(
        question=question,
        knowledge_base=knowledge_base if knowledge_base is not None else UNSET,
        pipeline=pipeline if pipeline is not None else UNSET,
        k=k,
        plan=JsonObject.from_dict(plan) if plan is not None else UNSET,
        settings=JsonObject.from_dict(settings) if settings is not None else UNSET,
        follows=UUID(str(follows)) if follows is not None else UNSET,
    )


def parsed(response: Response[T | Problem]) -> T:
    """Return what a generated function read. Raises GraspError, or TooMany, for anything but success."""
    found = response.parsed
    status = int(response.status_code)
    if found is not None and not isinstance(found, Problem) and status < 300:
        return found
    raise error_of(status, response.headers, found if isinstance(found, Problem) else None)


def error_of(status: int, headers: Mapping[str, str], problem: Problem | None) -> GraspError:
    """Return the error for an answer that is no success."""
    faults = [f"{fault.pointer} {fault.message}".strip() for fault in problem.errors] if problem else []
    message = " ".join(faults) or (problem.detail or problem.title if problem else "") or f"HTTP status {status}."
    wait = headers.get("Retry-After") or headers.get("retry-after")
    if status in (429, 503) and wait is not None and wait.isdigit():
        return TooMany(message, status, problem, float(wait))
    return GraspError(message, status, problem)


@dataclass
class EventLines:
    """Reads server-sent events from lines (HTML standard, section 9.2.6)."""

    last: str = ""
    """The id of the last event, to continue behind it."""
    _kind: str = ""
    _data: list[str] = field(default_factory=list)

    def read(self, line: str) -> Iterator[Event]:
        """Yield the event that an empty line ends, if there is one."""
        if line:
            name, _, value = line.partition(":")
            value = value.removeprefix(" ")
            if name == "event":
                self._kind = value
            elif name == "data":
                self._data.append(value)
            elif name == "id":
                self.last = value
            return
        if self._data:
            yield Event(self._kind or "message", json.loads("\n".join(self._data)), self.last)
        self._kind, self._data = "", []
