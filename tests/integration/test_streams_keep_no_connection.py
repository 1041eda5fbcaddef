"""Whatever is streamed, and however its reader leaves, the connections to Postgres stay for the next request."""

from __future__ import annotations

import socket
import subprocess
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx2
import pytest
from django.db import connection
from django.http import StreamingHttpResponse

from grasp_site.embedded.neo4j.server import free_port
from grasp_site.embedded.programs import web
from search.models import Collection, SearchRun
from tests.search import small

PROJECT = Path(__file__).resolve().parents[2]
POOL = 3
TIMES = 4 * POOL
SECONDS = 300.0
ADDRESSES = (
    "/collections/shared/{key}/export.csv", "/collections/shared/{key}/export.jsonl",
    "/collections/shared/{key}/export.bib", "/search/{run}/results.csv", "/api/v1/searches/{run}/events/",
    "/static/search/pages.css",
)  # fmt: skip

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def site(web_environment: dict[str, str], tmp_path: Path) -> Iterator[httpx2.Client]:
    """Yield a client of a web process whose pool has few connections."""
    port = free_port()
    environment = {**web_environment, "DJANGO_SETTINGS_MODULE": "tests.followed_site", "PYTHONPATH": str(PROJECT)}
    environment["DATABASE_POOL"] = str(POOL)
    log = (tmp_path / "site.log").open("ab")
    process = subprocess.Popen([*web(port).command], cwd=PROJECT, env=environment, stdout=log, stderr=log)
    try:
        with httpx2.Client(base_url=f"http://127.0.0.1:{port}", timeout=60) as client:
            deadline = time.monotonic() + SECONDS
            while not _answers(client):
                assert time.monotonic() < deadline, (tmp_path / "site.log").read_text()
                time.sleep(0.1)
            yield client
    finally:
        process.terminate()
        process.wait(timeout=60)
        log.close()


@pytest.fixture
def names() -> dict[str, str]:
    """Return the key of a shared collection, and the id of a search that has ended."""
    base = small.films()
    shared = Collection.objects.create(name="Shared", key="k" * 40, asker="somebody")
    for place, node in enumerate(("film/1", "film/2", "film/3")):
        shared.items.create(position=place, knowledge_base=base, knowledge_base_name=base.name, node_id=node)
    run = SearchRun.objects.create(
        knowledge_base=base, knowledge_base_name=base.name, question="q", pipeline="path",
        status=SearchRun.Status.FAILED, error={"title": "It failed", "detail": "It did.", "stage": "plan"},
    )  # fmt: skip
    return {"key": shared.key, "run": str(run.pk)}


def _answers(client: httpx2.Client) -> bool:
    try:
        return client.get("/api/v1/healthz/").status_code == 200
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
    """Return the number of sessions of other processes in the test database."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
        return int(cursor.fetchone()[0])


def _together(client: httpx2.Client, path: str, number: int) -> list[int]:
    """Ask for an address several times at the same moment; return the statuses."""
    with ThreadPoolExecutor(number) as pool:
        return [answer.status_code for answer in pool.map(client.get, [path] * number)]


def test_exports_streams_and_files_leave_every_connection_to_the_next_request(
    site: httpx2.Client, names: dict[str, str]
) -> None:
    for address in ADDRESSES:
        path = address.format(**names)
        assert _together(site, path, TIMES) == [200] * TIMES, path
        for turn in range(TIMES):
            whole = site.get(path)
            assert whole.status_code == 200, f"{path}, time {turn + 1}: {whole.text[:300]}"
            _aborted(site, path, read=0 if turn % 2 else 20)
        # All connections are free again.
        assert _together(site, "/api/v1/knowledge-bases/", TIMES) == [200] * TIMES, path
    before = _sessions()
    for address in ADDRESSES:
        assert _together(site, address.format(**names), TIMES) == [200] * TIMES, address
    assert _sessions() == before <= POOL


def test_every_synchronous_stream_of_the_site_is_made_where_its_connection_is_given_back() -> None:
    """Only the modules that hand the content to the event loop, or write it before it is sent, make streams."""
    sources = [path for part in ("search", "training", "grasp_site") for path in (PROJECT / part).rglob("*.py")]
    makers = {
        str(path.relative_to(PROJECT)) for path in sources if f"{StreamingHttpResponse.__name__}(" in path.read_text()
    }
    assert makers == {"search/api/streams.py", "search/downloads.py", "search/views/written.py"}
