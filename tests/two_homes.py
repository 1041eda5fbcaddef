"""Two machines as two homes of one database: the one that has built index files, and one that has none."""

from __future__ import annotations

from pathlib import Path

import orjson
from pytest_django.fixtures import Settings

from search import wiring
from search.adapters.index_files import faults
from search.models import SearchRun
from search.services.searches.describe_search import describe_search
from search.services.searches.request_search import request_search
from search.services.searches.run_search import run_search

QUESTION = "Which film has Ada Holm?"
OF_ONE_RUN = ("id", "created", "seconds", "steps")


def move(settings: Settings, home: Path, fetched_from: Path | str = "") -> None:
    """Go on as a process of another machine."""
    home.mkdir(exist_ok=True)
    settings.GRASP_HOME = home
    settings.GRASP_FILES_FROM = str(fetched_from)
    faults.forget()
    wiring.forget()


def asked() -> bytes:
    run = request_search(
        knowledge_base="films", question=QUESTION, origin=SearchRun.Origin.COMMAND, enqueue=False
    )  # fmt: skip
    shown = describe_search(run_search(run.pk))
    return orjson.dumps({key: value for key, value in shown.items() if key not in OF_ONE_RUN})


def refused() -> str:
    """Ask, and return the sentence of the search, which must have failed."""
    asked()
    run = SearchRun.objects.latest("created")
    assert run.status == SearchRun.Status.FAILED
    assert run.error is not None
    return str(run.error["detail"])


def file_of(home: Path, name: str = "bm25/types.npy") -> Path:
    [path] = home.glob(f"indexes/snapshot-*/{name}")
    return path
