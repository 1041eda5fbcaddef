"""A home of its own for every test, and a supervisor in a process of its own."""

import contextlib
import os
import queue
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from grasp_site.embedded.home import Home

PROJECT = Path(__file__).resolve().parents[3]
SMALL_SITE = Path(__file__).with_name("small_site.py")
PATIENCE_SECONDS = 30.0


def wait_for(condition: Callable[[], bool], what: str, seconds: float = PATIENCE_SECONDS) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"still waiting for {what}"
        time.sleep(0.02)


def processes_of(home: Home) -> list[psutil.Process]:
    """Every living process of this home: it inherited the variable that names it, or is a server in its folders."""
    found = []
    for process in psutil.process_iter():
        try:
            named = process.environ().get("GRASP_HOME") == str(home.root)
            # The servers write their titles over their environment.
            inside = Path(process.cwd()).is_relative_to(home.root)
            if (named or inside) and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
        except (psutil.NoSuchProcess, psutil.AccessDenied):
            continue
    return found


class Site:
    """One run of the small site: its terminal's lines as they come, and its process."""

    def __init__(self, home: Home, port: int, services: tuple[str, ...]) -> None:
        self.home = home
        self.url = f"http://127.0.0.1:{port}/"
        self.lines: list[str] = []
        self.process = subprocess.Popen(
            [sys.executable, str(SMALL_SITE), str(port), *services],
            cwd=PROJECT,
            env={**_plain_environment(), "GRASP_HOME": str(home.root), "PYTHONPATH": str(PROJECT)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self._arrived: queue.Queue[str] = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            # Columns are aligned with spaces; what counts is the words.
            self._arrived.put(" ".join(line.split()))

    def line_with(self, text: str) -> str:
        """The next line that holds `text`."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while True:
            try:
                line = self._arrived.get(timeout=max(0.0, deadline - time.monotonic()))
            except queue.Empty:
                pytest.fail(f"no line with {text!r} in {self.lines}")
            self.lines.append(line)
            if text in line:
                return line

    def ready(self) -> "Site":
        assert self.line_with("Ready: ") == f"Ready: {self.url}"
        return self

    def ends(self) -> int:
        return self.process.wait(timeout=PATIENCE_SECONDS)

    def leaves_nothing(self) -> None:
        wait_for(lambda: not processes_of(self.home), f"the end of {processes_of(self.home)}")


def _plain_environment() -> dict[str, str]:
    replacing = {"DATABASE_URL", "REDIS_URL", "MAKELEVEL", "MAKEFLAGS", "PORT"}
    return {name: value for name, value in os.environ.items() if name not in replacing}


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture
def home() -> Iterator[Home]:
    """A home outside pytest's folder, which the user that Postgres runs as could not enter."""
    root = Path(tempfile.mkdtemp(prefix="grasp-home-", dir="/tmp"))
    root.chmod(0o755)
    home = Home(root)
    yield home
    for process in processes_of(home):
        # What is ending by itself may end between the two lines.
        with contextlib.suppress(psutil.NoSuchProcess):
            process.kill()
    shutil.rmtree(root, ignore_errors=True)


@pytest.fixture
def start_site(home: Home) -> Iterator[Callable[..., Site]]:
    """Starts the small site in `home`: `start_site("postgres", port=…)`."""
    started: list[Site] = []

    def start(*services: str, port: int | None = None) -> Site:
        started.append(Site(home, port or free_port(), services))
        return started[-1]

    yield start
    for site in started:
        site.process.kill()
        site.process.wait()
