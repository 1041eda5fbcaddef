"""Two machines over one Postgres and one Valkey, as two homes: one builds index files, the other one's worker searches.

The worker begins with an empty home. It has nothing but the addresses of Postgres, Valkey, and the site or a store.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import fsspec
import pytest
from pytest_django.fixtures import Settings

from grasp_site.embedded.home import Home
from grasp_site.embedded.programs import search_worker as search_worker_program
from grasp_site.embedded.programs import web as web_program
from grasp_site.heartbeat import worker_state, worker_states
from search import wiring
from search.adapters.index_files.listing import listed
from search.models import SearchRun
from search.services.knowledge.import_snapshot import import_snapshot
from search.services.searches.describe_search import describe_search
from search.services.searches.request_search import request_search
from search.services.searches.run_search import run_search
from tests import hash_site
from tests.conftest import PROJECT, WORKER_START_SECONDS
from tests.guarded import guarded
from tests.job_workers import until
from tests.s3_server import S3Server
from tests.search.ingest import bundles

pytestmark = pytest.mark.django_db(transaction=True)
QUESTION = "Which film has Ada Holm?"


@contextmanager
def process(command: list[str], environment: dict[str, str], log: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Run a process until the end of the block."""
    with log.open("ab") as output:
        started = guarded(command, cwd=PROJECT, env=environment, stdout=output, stderr=output)
    try:
        yield started
    finally:
        started.terminate()
        try:
            started.wait(timeout=15)
        except subprocess.TimeoutExpired:
            started.kill()
            started.wait()


def machine(web_environment: dict[str, str], services: Home, home: Path, **more: str) -> dict[str, str]:
    """Return the environment of a process on a machine with a home of its own."""
    home.mkdir(exist_ok=True)
    shared = {"REDIS_URL": services.redis_url, "SECRET_KEY": "one for all machines"}
    named = {"DJANGO_SETTINGS_MODULE": hash_site.__name__, "GRASP_HOME": str(home)}
    return {**os.environ, **web_environment, **shared, **named, **more}


def asked_over(site: str) -> Any:
    body = json.dumps({"knowledge_base": "films", "question": QUESTION}).encode()
    asked = urllib.request.Request(f"{site}/api/v1/searches/?wait=30", body, {"Content-Type": "application/json"})
    with urllib.request.urlopen(asked, timeout=40) as answer:
        return json.loads(answer.read())


def answers(site: str) -> bool:
    try:
        with urllib.request.urlopen(f"{site}/api/v1/healthz/", timeout=2):
            return True
    except OSError:
        return False


def content_of(path: Path) -> bytes:
    """Return what is in a file; nothing while its folder is being exchanged."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return b""


@pytest.fixture(params=["site", "store"])
def store(
    request: pytest.FixtureRequest, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[dict[str, str], Path] | None]:
    """An object store that this process sends to: its variables, and the folder of its objects; or none."""
    if request.param == "site":
        yield None
        return
    server: S3Server = request.getfixturevalue("s3_server")
    for name, value in server.environment.items():
        monkeypatch.setenv(name, value)
    settings.GRASP_INDEX_STORE = "s3://two-machines/site"
    fsspec.get_filesystem_class("s3").clear_instance_cache()
    yield {**server.environment, "GRASP_INDEX_STORE": settings.GRASP_INDEX_STORE}, server.bucket("two-machines")
    fsspec.get_filesystem_class("s3").clear_instance_cache()


def test_a_worker_of_another_machine_fetches_the_files_and_answers_alike(
    web_environment: dict[str, str],
    services: Home,
    tmp_path: Path,
    settings: Settings,
    store: tuple[dict[str, str], Path] | None,
) -> None:
    builder, other = tmp_path / "builder", tmp_path / "other"
    builder.mkdir()
    settings.GRASP_HOME = builder
    settings.GRASP_TOOLS = hash_site.GRASP_TOOLS
    wiring.forget()
    import_snapshot(source=bundles.write(tmp_path / "bundle"))
    run = run_search(
        request_search(
            knowledge_base="films", question=QUESTION, origin=SearchRun.Origin.COMMAND, enqueue=False
        ).pk
    )  # fmt: skip
    here = describe_search(SearchRun.objects.get(pk=run.pk))
    wiring.forget()
    [folder] = builder.glob("indexes/snapshot-*")
    there = other / "indexes" / folder.name

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    site, log = f"http://127.0.0.1:{port}", tmp_path / "log"
    web = machine(web_environment, services, builder)
    worker = machine(web_environment, services, other, **(store[0] if store else {"GRASP_FILES_FROM": site}))
    with process(web_program(port).command, web, log):
        until(lambda: answers(site), "the web process does not answer")
        with process(search_worker_program(processes=2).command, worker, log):
            until(lambda: worker_state("search") is not None, log.read_text(), seconds=WORKER_START_SECONDS)
            assert listed(there) == listed(folder)
            asked = asked_over(site)
            assert asked["status"] == "done", asked
            assert asked["results"] == json.loads(json.dumps(here["results"]))
            until(lambda: [one["faults"] for one in worker_states("search")] == [[], []], "a process says nothing")

            damaged = there / "bm25" / "types.npy"
            damaged.write_bytes(damaged.read_bytes()[:-1])
            built = (folder / "bm25" / "types.npy").read_bytes()
            until(lambda: content_of(damaged) == built, "the damaged file was not fetched again")

            (folder / "bm25" / "types.npy").unlink()
            for sent in store[1].rglob("types.npy.*") if store else ():
                sent.unlink()
            damaged.unlink()
            until(
                lambda: all(one["faults"] for one in worker_states("search")),
                "the worker does not say that a file is damaged",
            )
            asked = asked_over(site)
            assert asked["status"] == "failed"
            assert "are damaged or missing" in json.dumps(asked)
            shown = urllib.request.urlopen(f"{site}/status/", timeout=10).read().decode()
            assert "are damaged or missing" in shown
    until(lambda: worker_state("search") is None, "the heartbeat of a worker that has ended is still there")
