"""The API as callers reach it: a real server and a real worker for what takes time."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator

import pytest
import uvicorn
from celery import current_app
from celery.contrib.testing.worker import start_worker

from grasp_site.asgi import application
from search import tasks
from search.models import KnowledgeBase

START_SECONDS = 20.0


@pytest.fixture
def committed_films(transactional_db: None, films: KnowledgeBase) -> KnowledgeBase:
    """The films in committed rows, which other threads and connections see."""
    return films


@pytest.fixture
def worker(committed_films: KnowledgeBase) -> Iterator[None]:
    """A real search worker, taking its tasks from the real broker, in a thread of this process."""
    assert tasks.run_search.name == "search.tasks.run_search"
    with start_worker(
        current_app, pool="threads", concurrency=2, queues=["search"], perform_ping_check=False, shutdown_timeout=20
    ):
        yield


@pytest.fixture
def server(committed_films: KnowledgeBase) -> Iterator[str]:
    """A real uvicorn on a free port, in a thread of this process; its address."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        server = uvicorn.Server(uvicorn.Config(application, log_level="warning", lifespan="off"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        deadline = time.monotonic() + START_SECONDS
        while not server.started:
            assert thread.is_alive(), "the server stopped at once"
            assert time.monotonic() < deadline, "the server does not start"
            thread.join(0.02)
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        server.should_exit = True
        thread.join(START_SECONDS)
        assert not thread.is_alive()
