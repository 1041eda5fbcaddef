import os
import signal
import subprocess
import time

import pytest

from grasp_site.embedded.home import Home
from grasp_site.heartbeat import Heartbeat, worker_alive, worker_state


def wait_until(alive: bool, queue: str, seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while worker_alive(queue) is not alive:
        assert time.monotonic() < deadline, f"worker_alive({queue!r}) is not {alive} within {seconds} s"
        time.sleep(0.05)


def test_a_worker_is_alive_while_its_heart_beats_and_missed_within_three_seconds(services: Home) -> None:
    heartbeat = Heartbeat(services.redis_url, "tests", worker="tests@here")
    heartbeat.start()
    wait_until(True, "tests", seconds=5)
    assert worker_state("tests")["worker"] == "tests@here"  # type: ignore[index]
    heartbeat.stop()
    wait_until(False, "tests", seconds=3)


def test_a_queue_without_a_worker_has_none(services: Home) -> None:
    assert not worker_alive("nobody")


@pytest.mark.django_db(transaction=True)
def test_a_real_worker_that_hangs_is_missed_within_three_seconds(search_worker: subprocess.Popen[bytes]) -> None:
    wait_until(True, "search", seconds=30)
    os.killpg(search_worker.pid, signal.SIGSTOP)
    wait_until(False, "search", seconds=3)
    os.killpg(search_worker.pid, signal.SIGCONT)
    wait_until(True, "search", seconds=5)
