"""A running site and a scratch copy of the project, in which the commands of the pages are typed."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from grasp_site.embedded.home import Home
from grasp_site.setup import DEMO_MARK
from tests.command_server import CLIENT, settings_mark
from tests.conftest import BUILT_DOCS, PROJECT
from tests.database import hurry
from tests.guarded import guarded

READY_SECONDS = 300.0
# Copied, because pages write below them; everything else of the project is linked.
COPIED = ("docs", "docs-theme")


@dataclass(frozen=True)
class Scratch:
    """A place to type commands: the folder, the environment, and the address of the site that runs."""

    folder: Path
    environment: dict[str, str]
    url: str


@pytest.fixture(scope="session")
def scratch() -> Iterator[Scratch]:
    """Yield the place; the site has the knowledge base `products`."""
    # Not below pytest's own folder: that is closed to the user whom Postgres runs as when the tests run as root.
    home = Path(tempfile.mkdtemp(prefix="grasp-docs-", dir="/tmp"))
    home.chmod(0o755)
    (home / DEMO_MARK).touch()
    folder = home / "project"
    address = str(home / "commands.sock")
    make_project(folder, address)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    environment = {
        **os.environ,
        "GRASP_HOME": str(home),
        "PORT": str(port),
        "GRASP_ADMIN_PASSWORD": "a-keeper-of-tests",
        "GRASP_DOCS": str(BUILT_DOCS),
    }
    environment["TESTED_SETTINGS"] = settings_mark(environment)
    said = home / "terminal.log"
    with said.open("wb") as terminal:
        site, commands = (
            guarded([sys.executable, "-m", *module], cwd=PROJECT, env=environment, stdout=terminal, stderr=terminal)
            for module in (["grasp_site.embedded"], ["tests.command_server", address])
        )
    try:
        deadline = time.monotonic() + READY_SECONDS
        while "Ready: " not in said.read_text() or not Path(address).exists():
            assert site.poll() is None, said.read_text()
            assert commands.poll() is None, said.read_text()
            assert time.monotonic() < deadline, said.read_text()
            time.sleep(0.2)
        hurry(Home(home))
        place = Scratch(folder, environment, f"http://127.0.0.1:{port}")
        subprocess.run(
            [".venv/bin/python", "manage.py", "import_kb", "search/fixtures/demo/products", "--json"],
            cwd=folder, env=environment, check=True, timeout=READY_SECONDS, stdout=subprocess.DEVNULL,
        )  # fmt: skip
        yield place
    finally:
        commands.kill()
        commands.wait()
        site.send_signal(signal.SIGINT)
        site.wait(timeout=60)
        shutil.rmtree(home, ignore_errors=True)


def make_project(folder: Path, address: str) -> None:
    """Make a folder that looks like the project's, in which commands may write without changing the project."""
    folder.mkdir()
    for entry in PROJECT.iterdir():
        if entry.name in COPIED:
            shutil.copytree(entry, folder / entry.name)
        elif not entry.name.startswith("."):
            (folder / entry.name).symlink_to(entry)
    programs = folder / ".venv" / "bin"
    programs.mkdir(parents=True)
    (programs / "python").write_text(CLIENT.format(python=sys.executable, address=address))
    (programs / "python").chmod(0o755)
