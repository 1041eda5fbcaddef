import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
import redis

from grasp_site import heartbeat, probe
from grasp_site.addresses import client_url
from grasp_site.embedded.home import Home
from grasp_site.embedded.neo4j.server import free_port

HOST = "container-1"


@pytest.fixture
def broker(services: Home) -> Iterator[redis.Redis]:
    """Yield a client of the real Valkey; what the tests write there is deleted."""
    client = redis.Redis.from_url(client_url(services.redis_url))
    yield client
    client.delete(heartbeat.workers_key("gpu"), probe.BEAT_KEY)


def report(broker: redis.Redis, host: str, seconds_ago: int) -> None:
    """Write what the heartbeat of a worker of the queue `gpu` writes."""
    now = 1000 * int(broker.time()[0])  # type: ignore[index]
    value = json.dumps({"worker": f"gpu@{host}", "pid": 1, "host": host})
    broker.zadd(heartbeat.workers_key("gpu"), {value: now - 1000 * seconds_ago})


def test_a_worker_of_this_host_that_has_just_reported_is_healthy(broker: redis.Redis) -> None:
    report(broker, HOST, seconds_ago=1)
    assert probe.worker(broker, "gpu", HOST) == ""


@pytest.mark.parametrize(("host", "seconds_ago"), [("container-2", 1), (HOST, probe.HEARTBEAT_SECONDS + 2)])
def test_another_host_or_an_old_report_says_nothing_for_this_one(
    broker: redis.Redis, host: str, seconds_ago: int
) -> None:
    report(broker, host, seconds_ago)
    assert "No worker of the queue gpu on container-1" in probe.worker(broker, "gpu", HOST)


def test_the_scheduler_counts_as_alive_while_its_key_does(broker: redis.Redis) -> None:
    assert "has not run" in probe.beat(broker)
    broker.set(probe.BEAT_KEY, "runs", ex=5)
    assert probe.beat(broker) == ""


@pytest.mark.parametrize("status", [200, 500])
def test_the_web_process_is_asked_by_a_name_that_it_answers_to(status: int) -> None:
    asked: list[tuple[str, str | None]] = []

    class Web(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append((self.path, self.headers["Host"]))
            self.send_response(status)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Web) as server:
        thread = threading.Thread(target=server.handle_request)
        thread.start()
        told = probe.web(server.server_port, "search.example.org")
        thread.join()
    assert told == ("" if status == 200 else "The web process answers with HTTP 500.")
    assert asked == [(probe.ALIVE_PATH, "search.example.org")]


def test_a_web_process_that_is_away_is_a_fault_and_no_exception(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PORT", str(free_port()))
    assert probe.main(["web"]) == 1
    assert "does not answer on port" in capsys.readouterr().err


def test_a_broker_that_is_away_is_a_fault_and_no_exception(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("REDIS_URL", f"redis://127.0.0.1:{free_port()}/0")
    assert probe.main(["search"]) == 1
    assert "The broker does not answer" in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [[], ["postgres"], ["web", "beat"]])
def test_an_unknown_process_is_told_which_there_are(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert probe.main(arguments) == 2
    assert "web, search, jobs, gpu, beat" in capsys.readouterr().err
