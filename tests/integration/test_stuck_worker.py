"""A real worker with a search that never ends: the search is ended, and the worker ends to be started again."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path

import pytest
from django.db import close_old_connections
from pytest_django.fixtures import Settings

from grasp_site.embedded.home import PROJECT, Home
from grasp_site.embedded.programs import search_worker
from grasp_site.health import search_worker as health
from grasp_site.heartbeat import worker_state
from grasp_site.leaving import EXIT_STUCK
from search.models import KnowledgeBase, SearchRun
from search.services.searches.request_search import request_search
from search.services.searches.run_search import OVERSTAYED
from tests.deaf import FOR_EVER
from tests.search import small
from tests.search.conftest import films, small_pipelines

__all__ = ["films", "small_pipelines"]
PATIENCE = 90.0

pytestmark = pytest.mark.django_db(transaction=True)


def asked(question: str) -> SearchRun:
    return request_search(knowledge_base="films", question=question, time_limit=1)


def test_the_search_is_ended_and_the_worker_too_when_the_others_are_done(
    films: KnowledgeBase, settings: Settings, web_environment: dict[str, str], services: Home, tmp_path: Path
) -> None:
    path = small.PIPELINES["path"]
    deaf = {**path["STAGES"], "retrieve": {"BACKEND": "tests.deaf.Deaf"}}
    settings.GRASP_PIPELINES = {**small.PIPELINES, "path": {**path, "STAGES": deaf}}
    environment = {**web_environment, "DJANGO_SETTINGS_MODULE": "tests.followed_site", "PYTHONPATH": str(PROJECT)}
    log = tmp_path / "worker.log"
    with log.open("ab") as output:
        worker = subprocess.Popen(
            search_worker(threads=2).command, cwd=PROJECT, env=environment, stdout=output, stderr=output
        )
    try:
        deadline = time.monotonic() + PATIENCE
        while worker_state("search") is None:
            assert worker.poll() is None, log.read_text()
            assert time.monotonic() < deadline, log.read_text()
            time.sleep(0.1)
        endless, quick = asked(FOR_EVER), asked("Who made Amber Road?")
        assert worker.wait(PATIENCE) == EXIT_STUCK, log.read_text()
    finally:
        worker.kill()
        worker.wait()
    close_old_connections()
    endless.refresh_from_db()
    quick.refresh_from_db()
    assert (endless.status, quick.status) == ("failed", "done"), log.read_text()
    assert endless.error is not None
    assert endless.error["detail"] == OVERSTAYED
    assert "this worker takes no more searches" in log.read_text()
    deadline = time.monotonic() + PATIENCE
    while worker_state("search") is not None:
        assert time.monotonic() < deadline, "the heartbeat of a worker that has ended is still there"
        time.sleep(0.1)
    assert not health().ok
