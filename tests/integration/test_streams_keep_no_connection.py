"""Whatever is streamed, and however its reader leaves, the process' connections to Postgres stay for the next request."""

from __future__ import annotations

import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest
from django.db import connection
from django.http import StreamingHttpResponse

from grasp_site.embedded.neo4j.server import free_port
from grasp_site.embedded.programs import search_worker, web
from tests.search import small

PROJECT = Path(__file__).resolve().parents[2]
QUESTION = "Which film of Ada Holm is a confidential matter?"
POOL = 3
TIMES = 4 * POOL
SECONDS = 300.0
ADDRESSES = (
    "/search/{run}/results.csv", "/search/{run}/answers.csv", "/api/v1/searches/{run}/events/",
    "/kb/films/paths.csv?from_id=film/1&to_id=film/2", "/static/search/pages.css",
)  # fmt: skip

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def site(web_environment: dict[str, str], tmp_path: Path) -> Iterator[httpx2.Client]:
    """Yield a client of a site with one search worker, whose web process has a pool of few connections."""
    small.films()
    port = free_port()
    environment = {**web_environment, "DJANGO_SETTINGS_MODULE": "tests.followed_site", "PYTHONPATH": str(PROJECT)}
    environment |= {"DATABASE_POOL": str(POOL), "GRASP_BEAT": "false"}
    log = (tmp_path / "site.log").open("ab")
    processes = [
        subprocess.Popen([*program.command], cwd=PROJECT, env=environment, stdout=log, stderr=log)
        for program in (web(port), search_worker(threads=1))
    ]
    try:
        with httpx2.Client(base_url=f"http://127.0.0.1:{port}", timeout=60) as client:
            deadline = time.monotonic() + SECONDS
            while not _ready(client):
                assert time.monotonic() < deadline, (tmp_path / "site.log").read_text()
                time.sleep(0.1)
            yield client
    finally:
        for process in processes:
            process.terminate()
        for process in processes:
            process.wait(timeout=20)
        log.close()


def _ready(client: httpx2.Client) -> bool:
    try:
        return client.get("/api/v1/readyz/").status_code == 200
    except httpx2.HTTPError:
        return False


def _aborted(client: httpx2.Client, address: str, read: int) -> None:
    """Ask for an address, read some bytes, and close the connection as a killed browser does."""
    with socket.create_connection((client.base_url.host, client.base_url.port), timeout=20) as reader:
        reader.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\x00\x00\x00\x00\x00\x00\x00")
        reader.sendall(f"GET {address} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
        if read:
            assert reader.recv(read)


def _sessions() -> int:
    """Return the number of the web process' connections and the worker's to the test database."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
        return int(cursor.fetchone()[0])


def test_exports_streams_and_files_leave_every_connection_to_the_next_request(site: httpx2.Client) -> None:
    asked = site.post("/api/v1/searches/?wait=20", json={"knowledge_base": "films", "question": QUESTION})
    assert asked.status_code == 201, asked.text
    run = asked.json()["id"]
    for address in ADDRESSES:
        path = address.format(run=run)
        for turn in range(TIMES):
            whole = site.get(path)
            assert whole.status_code == 200, f"{path}, time {turn + 1}: {whole.text[:300]}"
            _aborted(site, path, read=0 if turn % 2 else 20)
        # All connections are free again: as many pages at the same time as there are, and one more.
        assert [site.get("/api/v1/knowledge-bases/").status_code for _ in range(POOL + 1)] == [200] * (POOL + 1), path
    before = _sessions()
    for _ in range(TIMES):
        assert site.get(f"/search/{run}/answers.csv").status_code == 200
    assert _sessions() == before


def test_every_synchronous_stream_of_the_site_is_made_where_its_connection_is_given_back() -> None:
    """Only the two modules that hand the content to the event loop, or write it before it is sent, make streams."""
    sources = [path for part in ("search", "training", "grasp_site") for path in (PROJECT / part).rglob("*.py")]
    makers = {
        str(path.relative_to(PROJECT)) for path in sources if f"{StreamingHttpResponse.__name__}(" in path.read_text()
    }
    assert makers == {"search/api/streams.py", "search/downloads.py"}
