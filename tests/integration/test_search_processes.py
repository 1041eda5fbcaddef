"""A real search worker whose processes get stuck or are killed: each is replaced, and only its own search is lost."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pytest_django.fixtures import Settings

from grasp_site.embedded.home import PROJECT, Home
from grasp_site.embedded.programs import search_worker
from grasp_site.heartbeat import worker_state, worker_states
from search.models import KnowledgeBase, SearchRun
from search.services.searches.request_search import request_search
from search.services.searches.run_search import OVERSTAYED
from tests.deaf import FOR_EVER
from tests.guarded import guarded
from tests.search import small
from tests.search.conftest import films, small_pipelines

__all__ = ["films", "small_pipelines"]
PATIENCE = 90.0

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "worker.log"


@pytest.fixture
def worker(
    films: KnowledgeBase, settings: Settings, web_environment: dict[str, str], services: Home, log: Path
) -> Iterator[subprocess.Popen[bytes]]:
    """Yield a worker with two processes, in which a search may be asked that never ends."""
    path = small.PIPELINES["path"]
    deaf = {**path["STAGES"], "retrieve": {"BACKEND": "tests.deaf.Deaf"}}
    settings.GRASP_PIPELINES = {**small.PIPELINES, "path": {**path, "STAGES": deaf}}
    environment = {**web_environment, "DJANGO_SETTINGS_MODULE": "tests.followed_site", "PYTHONPATH": str(PROJECT)}
    with log.open("ab") as output:
        process = guarded(
            search_worker(processes=2).command, cwd=PROJECT, env=environment, stdout=output, stderr=output
        )
    try:
        until(lambda: len(processes()) == 2, log)
        yield process
    finally:
        process.kill()
        process.wait()
        until(lambda: worker_state("search") is None, log)


def processes() -> dict[str, int]:
    """Return the names of the processes that report themselves, with their ids."""
    return {state["worker"].partition("@")[0]: state["pid"] for state in worker_states("search")}


def until(reached: Callable[[], bool], log: Path) -> None:
    deadline = time.monotonic() + PATIENCE
    while not reached():
        assert time.monotonic() < deadline, log.read_text()
        time.sleep(0.1)


def asked(question: str) -> SearchRun:
    return request_search(knowledge_base="films", question=question, time_limit=1)


def ended(run: SearchRun, log: Path) -> str:
    def over() -> bool:
        run.refresh_from_db()
        return run.finished is not None

    until(over, log)
    return run.status


def test_a_stuck_search_ends_its_process_and_the_other_answers(worker: subprocess.Popen[bytes], log: Path) -> None:
    before = processes()
    endless, quick = asked(FOR_EVER), asked("Who made Amber Road?")
    assert ended(quick, log) == "done"
    assert ended(endless, log) == "failed"
    assert endless.error is not None
    assert endless.error["detail"] == OVERSTAYED
    until(lambda: len(before.items() - processes().items()) == 1 and len(processes()) == 2, log)
    assert "this process ends, and another takes its place" in log.read_text()
    assert [ended(asked("Who made Amber Road?"), log) for _ in range(3)] == ["done"] * 3


def test_a_killed_process_is_replaced_and_none_outlives_the_first(worker: subprocess.Popen[bytes], log: Path) -> None:
    before = processes()
    os.kill(before["search-2"], signal.SIGKILL)
    until(lambda: processes().get("search-2", before["search-2"]) != before["search-2"], log)
    assert processes()["search-1"] == before["search-1"]
    assert [ended(asked("Who made Amber Road?"), log) for _ in range(3)] == ["done"] * 3
    worker.kill()
    until(lambda: worker_state("search") is None, log)


def test_asked_to_stop_it_ends_with_its_processes(worker: subprocess.Popen[bytes], log: Path) -> None:
    worker.terminate()
    assert worker.wait(PATIENCE) == 0, log.read_text()
    until(lambda: worker_state("search") is None, log)
