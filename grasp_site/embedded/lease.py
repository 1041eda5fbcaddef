"""A lease on the embedded services: they run as long as any process holds one."""

import fcntl
import json
import os
import select
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from grasp_site.embedded.children import last_line
from grasp_site.embedded.faults import EmbeddedError
from grasp_site.embedded.home import PROJECT, Home

POLL_SECONDS = 0.03
START_TIMEOUT_SECONDS = 120.0
STOP_TIMEOUT_SECONDS = 40.0
KEEPER_MODULE = "grasp_site.embedded.keeper"

Tell = Callable[[dict[str, Any]], None]


class KeeperGone(Exception):
    """The keeper ended before it answered: it was stopping, or was killed."""


class Lease:
    """Keeps the embedded services running until it is closed, or until this process ends in any way."""

    def __init__(self, home: Home, connection: socket.socket) -> None:
        self._home = home
        self._connection = connection
        self._unread = b""

    def fileno(self) -> int:
        return self._connection.fileno()

    def messages(self) -> Iterator[dict[str, Any]]:
        """Yield the keeper's messages that have arrived. Raises `KeeperGone` once the keeper has ended."""
        while select.select([self._connection], [], [], 0)[0]:
            received = self._connection.recv(65536)
            if not received:
                raise KeeperGone
            *lines, self._unread = (self._unread + received).split(b"\n")
            yield from (json.loads(line) for line in lines)

    def drop(self) -> None:
        """Return the lease without waiting for the services to stop."""
        self._connection.close()

    def close(self) -> bool:
        """Return the lease; if it was the last one, wait until the services have stopped.

        Returns False if they did not stop because another process still uses them.
        """
        try:
            self._connection.shutdown(socket.SHUT_WR)
            self._connection.settimeout(STOP_TIMEOUT_SECONDS)
            while self._connection.recv(65536):
                pass
        except OSError:
            return False
        finally:
            self._connection.close()
        return _is_free(self._home)


def acquire(home: Home, services: Iterable[str], tell: Tell = lambda _: None) -> Lease:
    """Start `services` (names of the keeper's table) if they do not run, and return a lease once they are ready.

    `tell` receives each message of the keeper in the meantime. Raises `EmbeddedError` with the keeper's reason if a
    service cannot be started.
    """
    home.make_root()
    wanted = json.dumps({"services": sorted(services)}).encode() + b"\n"
    deadline = time.monotonic() + START_TIMEOUT_SECONDS
    keeper: subprocess.Popen[bytes] | None = None
    while time.monotonic() < deadline:
        try:
            return _ask(home, wanted, deadline, tell)
        except (KeeperGone, OSError):
            if keeper is not None and keeper.poll():
                raise EmbeddedError(
                    last_line(home.log("keeper")) or "The keeper of the embedded services cannot run."
                ) from None
            if (keeper is None or keeper.poll() is not None) and _is_free(home):
                keeper = _start_keeper(home)
            time.sleep(POLL_SECONDS)
    raise EmbeddedError(
        f"The embedded services did not start within {START_TIMEOUT_SECONDS:.0f} s. Their logs: {home.logs}"
    )


def _ask(home: Home, wanted: bytes, deadline: float, tell: Tell) -> Lease:
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        connection.connect(str(home.keeper_socket))
        connection.sendall(wanted)
        lease = Lease(home, connection)
        while not _is_granted(lease, deadline, tell):
            pass
    except BaseException:
        connection.close()
        raise
    return lease


def _is_granted(lease: Lease, deadline: float, tell: Tell) -> bool:
    """Read the next messages; return True once the services are ready."""
    if not select.select([lease], [], [], max(0.0, deadline - time.monotonic()))[0]:
        raise EmbeddedError("The embedded services do not answer in time.")
    granted = False
    for message in lease.messages():
        tell(message)
        if "failed" in message:
            raise EmbeddedError(message["failed"])
        granted = granted or "ready" in message
    return granted


def _is_free(home: Home) -> bool:
    """Whether no keeper runs, and none is still stopping its services."""
    with home.keeper_lock.open("a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
    return True


def wait_until_stopped(home: Home, timeout: float) -> bool:
    """Wait until the services have stopped because there is no lease; return False if there still is one."""
    deadline = time.monotonic() + timeout
    while not _is_free(home):
        if time.monotonic() >= deadline:
            return False
        time.sleep(POLL_SECONDS)
    return True


def _start_keeper(home: Home) -> subprocess.Popen[bytes]:
    home.make_folder(home.logs.name)
    from_home = {**os.environ, "GRASP_HOME": str(home.root)}
    with home.log("keeper").open("ab") as log:
        return subprocess.Popen(
            [sys.executable, "-m", KEEPER_MODULE],
            cwd=PROJECT,
            env=from_home,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
