"""Checks before the start: no other supervisor uses this home, and the port is free."""

import fcntl
import json
import os
import socket
import time
from contextlib import suppress

from grasp_site.embedded.faults import EmbeddedError
from grasp_site.embedded.home import Home
from grasp_site.embedded.programs import HOST

PREDECESSOR_SECONDS = 30.0
POLL_SECONDS = 0.1


class AlreadyRunning(Exception):
    """Another supervisor runs in this GRASP_HOME; the message is a sentence that says where."""


def lock_home(home: Home, url: str) -> int:
    """Lock the home for one supervisor; return the descriptor that holds the lock. Raises `AlreadyRunning`."""
    home.make_root()
    descriptor = os.open(home.supervisor_lock, os.O_RDWR | os.O_CREAT, 0o644)
    deadline = time.monotonic() + PREDECESSOR_SECONDS
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            break
        except BlockingIOError:
            holder = json.loads(os.pread(descriptor, 4096, 0) or b"{}")
            # The watchdog of a killed supervisor holds the lock until it has ended the remaining processes.
            if _is_alive(holder.get("pid")) or time.monotonic() > deadline:
                os.close(descriptor)
                raise AlreadyRunning(
                    f"GRASP search is running already: {holder.get('url', url)} "
                    f"(process {holder.get('pid')}, data in {home.root})."
                ) from None
            time.sleep(POLL_SECONDS)
    os.ftruncate(descriptor, 0)
    os.pwrite(descriptor, json.dumps({"pid": os.getpid(), "url": url}).encode(), 0)
    return descriptor


def _is_alive(pid: int | None) -> bool:
    if pid is None:
        return True
    with suppress(ProcessLookupError):
        os.kill(pid, 0)
        return True
    return False


def check_port(port: int) -> None:
    """Raise `EmbeddedError` if another program listens on the port."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        # As the web process does: a port with only closing connections counts as free.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError as error:
            raise EmbeddedError(
                f"Port {port} cannot be used ({error.strerror}): another program has it. "
                f"Stop that program, or choose another port: make run PORT={port + 1}"
            ) from error
