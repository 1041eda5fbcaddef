"""What the gallery's pages of the admin share: the frame, and made-up rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from django.contrib import admin
from django.http import HttpRequest

from search.models import Job, KnowledgeBase, Release, Snapshot

Made = tuple[str, dict[str, Any]]
Page = tuple[str, Callable[[HttpRequest], Made]]
WHEN = datetime(2026, 3, 1, 9, 30, tzinfo=UTC)
LONG = "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft"
"""A word without a place to break, longer than a phone is wide."""
ID = UUID(int=1)
GIGABYTE = 1 << 30


def page(template: str, make: Callable[[], Mapping[str, Any]], title: str = "") -> Callable[[HttpRequest], Made]:
    """Return a function that makes a page of the admin: what its frame needs, and the made-up values."""

    def made(request: HttpRequest) -> Made:
        return template, admin.site.each_context(request) | {"title": title} | dict(make())

    return made


def base_of(name: str) -> KnowledgeBase:
    base = KnowledgeBase(pk=2_000_000_000, name=name, title=name)
    snapshot = Snapshot(knowledge_base=base, nodes=61_204, edges=190_311)
    base.active_release = Release(knowledge_base=base, number=3, snapshot=snapshot)
    return base


def job_of(state: str = "running", **values: Any) -> Job:
    given: dict[str, Any] = {
        "pk": ID, "kind": "index", "knowledge_base_name": "films", "state": state, "queue": "jobs", "attempt": 1,
        "created": WHEN, "started": WHEN, "worker_host": "worker-1", "worker_process": 4711,
        "progress": {"share": 0.42, "seconds_left_range": [60, 100]}, "arguments": {},
    }  # fmt: skip
    return Job(**given | values)
