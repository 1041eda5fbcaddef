"""The whole site as `make run` starts it, in a folder of its own, and a real browser in front of it."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Page,
    Playwright,
    Request,
    expect,
    sync_playwright,
)  # fmt: skip

from grasp_site.embedded.home import Home
from grasp_site.setup import DEMO_MARK
from tests.command_server import CLIENT, settings_mark
from tests.conftest import BUILT_DOCS, CHROMIUM, PROJECT
from tests.database import hurry
from tests.guarded import guarded

COMMANDS = "commands"
"""Name of the program in a site's folder that stands where Python runs `manage.py`."""
READY_SECONDS = 300.0
IMPORT_SECONDS = 300.0
PATIENCE_MILLISECONDS = 20_000
"""Milliseconds that a page may take to show the expected content; test machines may be busy."""
KEEPER = ("admin", "a-keeper-of-tests")
"""Name and password of the user who may change knowledge bases on the test site."""
PRODUCTS = PROJECT / "search" / "fixtures" / "demo" / "products"
CHROMIUM_ARGUMENTS = [
    "--no-sandbox", "--headless", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip
# Browsers report failed responses by this message. Only tests that ask for a failure cause it, so it is ignored.
REPORTED_FAILURE = "Failed to load resource"


@dataclass
class Site:
    """A running site: its address, and the folder of its data."""

    url: str
    home: Path
    stranger: str = ""
    """Origin of another site, whose pages may ask this one."""
    environment: dict[str, str] = field(default_factory=dict)
    """The environment of its processes."""

    def manage(self, *arguments: str) -> str:
        """Run a command on the site's data and return what it prints; a process with all loaded forks for it."""
        return subprocess.run(
            [str(self.home / COMMANDS), "manage.py", *arguments], cwd=PROJECT, env=self.environment,
            check=True, timeout=IMPORT_SECONDS, capture_output=True, text=True,
        ).stdout  # fmt: skip

    def worker_pids(self) -> list[int]:
        """Return the process ids of the search worker, which has a process for each search at a time."""
        found = []
        for folder in Path("/proc").iterdir():
            if not folder.name.isdigit():
                continue
            try:
                arguments = (folder / "cmdline").read_bytes().split(b"\0")
                environment = (folder / "environ").read_bytes().split(b"\0")
            except OSError:
                continue
            of_ours = f"GRASP_HOME={self.home}".encode() in environment
            if of_ours and b"grasp_site.search_worker" in arguments:
                found.append(int(folder.name))
        return found

    @contextmanager
    def worker_asleep(self) -> Iterator[None]:
        """Suspend the search worker within the context (SIGSTOP), and continue it afterwards."""
        pids = self.worker_pids()
        assert pids, "no search worker is running"
        for pid in pids:
            os.kill(pid, signal.SIGSTOP)
        try:
            yield
        finally:
            for pid in pids:
                os.kill(pid, signal.SIGCONT)


@pytest.fixture(scope="session")
def site() -> Iterator[Site]:
    """Supervisor, Postgres, Valkey, web and search worker, with one of the demo knowledge bases to save time."""
    # Not below pytest's own folder: that is closed to the user whom Postgres runs as when the tests run as root.
    home = Path(tempfile.mkdtemp(prefix="grasp-browser-", dir="/tmp"))
    home.chmod(0o755)
    (home / DEMO_MARK).touch()
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        stranger = f"http://127.0.0.1:{probe.getsockname()[1]}"
    # What only tests read would be refused by the site as a setting that it does not know.
    own = {name: value for name, value in os.environ.items() if name != "GRASP_SCREENSHOTS"}
    environment = {**own, "GRASP_HOME": str(home), "PORT": str(port), "GRASP_ADMIN_PASSWORD": KEEPER[1]}
    environment["GRASP_CORS_ORIGINS"] = stranger
    environment["GRASP_DOCS"] = str(BUILT_DOCS)
    environment["TESTED_SETTINGS"] = settings_mark(environment)
    door = home / "commands.sock"
    (home / COMMANDS).write_text(CLIENT.format(python=sys.executable, address=str(door)))
    (home / COMMANDS).chmod(0o755)
    said = home / "terminal.log"
    with said.open("wb") as terminal:
        process, commands = (
            guarded(
                [sys.executable, "-m", *module], cwd=PROJECT, env=environment, stdout=terminal, stderr=terminal
            )
            for module in (["grasp_site.embedded"], ["tests.command_server", str(door)])
        )  # fmt: skip
    deadline = time.monotonic() + READY_SECONDS
    try:
        while "Ready: " not in said.read_text() or not door.exists():
            assert process.poll() is None, said.read_text()
            assert commands.poll() is None, said.read_text()
            assert time.monotonic() < deadline, said.read_text()
            time.sleep(0.2)
        hurry(Home(home))
        found = Site(f"http://127.0.0.1:{port}", home, stranger, environment)
        found.manage("import_kb", str(PRODUCTS), "--json")
        yield found
    finally:
        commands.kill()
        commands.wait()
        process.send_signal(signal.SIGINT)
        process.wait(timeout=60)
        shutil.rmtree(home, ignore_errors=True)


@pytest.fixture(scope="session")
def playwright() -> Iterator[Playwright]:
    # Playwright's event loop stays in this thread, and later tests use the database from here: Django would refuse.
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "1"
    expect.set_options(timeout=PATIENCE_MILLISECONDS)
    with sync_playwright() as started:
        yield started


@pytest.fixture(scope="session")
def chromium(site: Site, playwright: Playwright) -> Iterator[Browser]:
    browser = playwright.chromium.launch(executable_path=str(CHROMIUM), args=CHROMIUM_ARGUMENTS)
    yield browser
    browser.close()


@dataclass
class Witness:
    """Records a browser's errors and warnings, and its requests to other sites."""

    site: Site
    complaints: list[str] = field(default_factory=list)
    strangers: list[str] = field(default_factory=list)

    def watch(self, context: BrowserContext) -> None:
        context.on("console", self._console)
        context.on("weberror", lambda error: self.complaints.append(str(error.error)))
        context.on("request", self._request)

    def _console(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning") and not message.text.startswith(REPORTED_FAILURE):
            self.complaints.append(message.text)

    def _request(self, request: Request) -> None:
        if urlsplit(request.url).netloc != urlsplit(self.site.url).netloc:
            self.strangers.append(request.url)


@pytest.fixture
def open_page(chromium: Browser, site: Site) -> Iterator[Callable[..., Page]]:
    """Yield a function that opens a page in a new context; afterwards, fail on errors or requests to other sites."""
    witness = Witness(site)
    contexts: list[BrowserContext] = []

    def opened(path: str = "/", **options: object) -> Page:
        context = chromium.new_context(base_url=site.url, **options)
        witness.watch(context)
        contexts.append(context)
        page = context.new_page()
        page.goto(path)
        return page

    yield opened
    for context in contexts:
        context.close()
    assert witness.complaints == []
    assert witness.strangers == []


@pytest.fixture
def page(open_page: Callable[..., Page]) -> Page:
    """The search page in a wide window."""
    return open_page("/", viewport={"width": 1280, "height": 900})


@pytest.fixture(scope="session")
def keeper(chromium: Browser, site: Site) -> dict[str, object]:
    """The cookies of somebody who may see everything."""
    context = chromium.new_context(base_url=site.url)
    page = context.new_page()
    page.goto("/admin/login/?next=/admin/")
    page.locator("input[name=username]").fill(KEEPER[0])
    page.locator("input[name=password]").fill(KEEPER[1])
    page.locator("input[name=password]").press("Enter")
    expect(page.get_by_text("Asked last")).to_be_visible()
    state = context.storage_state()
    context.close()
    return dict(state)
