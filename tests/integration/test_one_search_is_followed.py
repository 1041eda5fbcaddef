"""One search through real processes: one grep of the logs, one trace, and the metrics of both processes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx2
import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from prometheus_client.parser import text_string_to_metric_families

from grasp_site.embedded.home import Home
from grasp_site.embedded.neo4j.server import free_port
from grasp_site.embedded.programs import search_worker, web
from tests.guarded import guarded
from tests.search import small

PROJECT = Path(__file__).resolve().parents[2]
QUESTION = "Which film of Ada Holm is a confidential matter?"
ID = "follow-me-1"
SECONDS = 60.0

pytestmark = pytest.mark.django_db(transaction=True)


class Receiver:
    """A small OTLP/HTTP receiver: the spans that were posted to it, and the header of each request."""

    def __init__(self) -> None:
        self.spans: list[Any] = []
        self.keys: set[str | None] = set()
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                sent = self.rfile.read(int(self.headers["Content-Length"]))
                request = ExportTraceServiceRequest.FromString(sent)
                receiver.keys.add(self.headers["x-key"] if self.path == "/v1/traces" else self.path)
                for resource in request.resource_spans:
                    for scope in resource.scope_spans:
                        receiver.spans += scope.spans
                self.send_response(200)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, format: str, *args: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        self.address = f"http://127.0.0.1:{self._server.server_address[1]}"

    def names(self) -> set[str]:
        return {span.name for span in self.spans}

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    one = Receiver()
    yield one
    one.close()


def until(true: Callable[[], bool], what: Callable[[], str]) -> None:
    deadline = time.monotonic() + SECONDS
    while not true():
        assert time.monotonic() < deadline, what()
        time.sleep(0.1)


def answers(address: str) -> bool:
    try:
        return httpx2.get(address).status_code == 200
    except httpx2.HTTPError:
        return False


def test_one_search_leaves_one_trail(
    web_environment: dict[str, str], services: Home, receiver: Receiver, tmp_path: Path
) -> None:
    small.films()
    port = free_port()
    site = f"http://127.0.0.1:{port}"
    environment = {
        **web_environment, "DJANGO_SETTINGS_MODULE": "tests.followed_site", "GRASP_LOG_FORMAT": "json",
        "GRASP_METRICS_NETWORKS": "127.0.0.0/8", "OTEL_EXPORTER_OTLP_ENDPOINT": f"{receiver.address}/",
        "OTEL_EXPORTER_OTLP_HEADERS": "x-key=a%20b", "PYTHONPATH": str(PROJECT), "DATABASE_POOL": "4",
    }  # fmt: skip
    logs = {name: tmp_path / f"{name}.log" for name in ("web", "worker")}
    processes = []
    for name, program in (("web", web(port)), ("worker", search_worker(processes=2))):
        with logs[name].open("ab") as log:
            command = [*program.command]
            processes.append(guarded(command, cwd=PROJECT, env=environment, stdout=log, stderr=log))
    try:
        until(lambda: answers(f"{site}/api/v1/readyz/"), lambda: "".join(path.read_text() for path in logs.values()))
        asked = httpx2.post(
            f"{site}/api/v1/searches/?wait=20", json={"knowledge_base": "films", "question": QUESTION},
            headers={"X-Request-ID": ID}, timeout=30,
        )  # fmt: skip
        assert (asked.status_code, asked.headers["X-Request-ID"]) == (201, ID), asked.text
        run = asked.json()["id"]
        refused = httpx2.get(f"{site}/api/v1/searches/{run[:-1]}/", headers={"X-Request-ID": "x y"})
        assert refused.json()["request_id"] == refused.headers["X-Request-ID"] != "x y"
        until(lambda: {"search", "queue"} <= receiver.names(), lambda: f"only {receiver.names()} came")
        until(lambda: any("searches" in name for name in receiver.names()), lambda: "no span of the request came")
        metrics = httpx2.get(f"{site}/metrics").text
    finally:
        for process in processes:
            process.terminate()
        ended = [process.wait(timeout=20) for process in processes]
    assert ended[1] == 0
    _one_grep_finds_it(logs, run)
    _one_trace_has_it(receiver, run)
    _metrics_of_both_processes(metrics)


def _one_grep_finds_it(logs: dict[str, Path], run: str) -> None:
    texts = {name: path.read_text() for name, path in logs.items()}
    lines = {name: [json.loads(line) for line in text.splitlines() if ID in line] for name, text in texts.items()}
    assert [(line["event"], line["request_id"]) for line in lines["web"]] == [("search requested", ID), ("request", ID)]
    [line] = lines["worker"]
    assert (line["event"], line["request_id"], line["run"], line["status"]) == ("search ended", ID, run, "done")
    assert set(line["stages"]) >= {"plan", "link", "fuse"}
    assert "confidential" not in "".join(texts.values())


def _one_trace_has_it(receiver: Receiver, run: str) -> None:
    found = {span.span_id: span for span in receiver.spans}
    [search] = [span for span in found.values() if span.name == "search"]
    own = [span for span in found.values() if span.trace_id == search.trace_id]
    names = {span.name: span for span in own}
    assert set(names) >= {"POST /api/v1/searches/", "queue", "search", "plan", "link", "fuse", "explain"}
    request = names["POST /api/v1/searches/"]
    assert search.parent_span_id == names["queue"].parent_span_id == request.span_id
    assert {found[span.parent_span_id].name for span in own if span.name in ("plan", "link", "fuse")} == {"search"}
    assert all(search.start_time_unix_nano <= names[one].start_time_unix_nano <= names[one].end_time_unix_nano
               <= search.end_time_unix_nano for one in ("plan", "link", "fuse"))  # fmt: skip
    attributes = {one.key: one.value.string_value for one in search.attributes}
    assert (attributes["grasp.run"], attributes["grasp.request_id"]) == (run, ID)
    assert receiver.keys == {"a b"}
    assert "confidential" not in str(receiver.spans)


def _metrics_of_both_processes(metrics: str) -> None:
    samples = [sample for family in text_string_to_metric_families(metrics) for sample in family.samples]
    found = {(sample.name, *sorted(sample.labels.values())): sample.value for sample in samples}
    assert found["grasp_search_seconds_count", "done", "path"] == 1
    assert found["grasp_stage_seconds_count", "path", "plan"] == 1
    [posts] = [name for name in found if name[0] == "grasp_request_seconds_count" and "POST" in name]
    assert found[posts] == 1
    assert found["grasp_workers", "search"] == 2
    assert found["grasp_active_releases",] == 1


LAGGING = """
import time
import django
django.setup()
from grasp_site.telemetry import tracer
began = time.perf_counter()
for _ in range(2000):
    tracer().start_span("x").end()
print(time.perf_counter() - began)
"""


def test_an_endpoint_that_never_answers_slows_neither_the_work_nor_the_end() -> None:
    # Nobody accepts what connects to this address, so that whoever writes to it waits.
    with ThreadingHTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler) as silent:
        address = f"http://127.0.0.1:{silent.server_address[1]}"
        began = time.monotonic()
        process = subprocess.Popen(
            [sys.executable, "-c", LAGGING], cwd=PROJECT, env={**os.environ, "OTEL_EXPORTER_OTLP_ENDPOINT": address},
            stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert process.stdout is not None
        working = float(process.stdout.readline())
        worked = time.monotonic()
        assert process.wait(timeout=30) == 0
    assert working < 2.0
    assert time.monotonic() - worked < 4.0 < SECONDS, worked - began
