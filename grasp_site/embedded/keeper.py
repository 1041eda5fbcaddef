"""Owns the embedded Postgres and Valkey as long as any process holds a lease. One process for each GRASP_HOME."""

import fcntl
import json
import os
import selectors
import signal
import socket
import sys
import time
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol

from grasp_site.embedded.children import Guard, Minder, Program, describe_exit, last_line
from grasp_site.embedded.faults import EmbeddedError
from grasp_site.embedded.home import Home, closed_to_others
from grasp_site.embedded.postgres import EmbeddedPostgres
from grasp_site.embedded.privileges import service_user
from grasp_site.embedded.valkey import EmbeddedValkey
from grasp_site.embedded.wakeup import Wakeup

FIRST_LEASE_SECONDS = 20.0
REQUEST_SECONDS = 5.0
READY_SECONDS = 90.0
TEND_SECONDS = 1.0
POLL_SECONDS = 0.02


class EmbeddedService(Protocol):
    """One embedded service."""

    name: str

    def prepare(self) -> Program: ...

    def is_ready(self, pid: int, /) -> bool: ...

    def settle(self) -> None: ...


@dataclass
class Holder:
    """One lease: its connection, and the services it requested."""

    connection: socket.socket
    services: list[str] = field(default_factory=list)

    def tell(self, message: dict[str, Any]) -> None:
        """Send a message without waiting for the holder, which cannot block the keeper: a message may be lost."""
        try:
            self.connection.send(json.dumps(message).encode() + b"\n", socket.MSG_DONTWAIT)
        except OSError:
            return


class ServiceKeeper:
    """Grants leases, and keeps the services running as long as there is one."""

    def __init__(self, home: Home, lock: int) -> None:
        self._home = home
        self._wakeup = Wakeup((signal.SIGTERM,))
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        user = service_user()
        home.make_run(user.can_enter if user else lambda _: True)
        postgres = EmbeddedPostgres(home, lambda text: self._say("postgres", text))
        self._services: dict[str, EmbeddedService] = {
            service.name: service for service in (postgres, EmbeddedValkey(home))
        }
        self._holders: dict[socket.socket, Holder] = {}
        self._last: socket.socket | None = None
        self._patient_until = time.monotonic() + FIRST_LEASE_SECONDS
        self._notices: list[dict[str, str]] = []
        self._minder = Minder(home, Guard(kept_open=[lock]), self._say)
        self._selector = selectors.DefaultSelector()
        self._door = self._open_door()
        self._selector.register(self._wakeup, selectors.EVENT_READ)
        self._selector.register(self._door, selectors.EVENT_READ)

    def _open_door(self) -> socket.socket:
        path = self._home.keeper_socket
        path.unlink(missing_ok=True)
        door = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        door.bind(str(path))
        path.chmod(0o600)
        door.listen(64)
        return door

    def run(self) -> None:
        """Run until the last lease is returned, or none was requested in time; then stop the services and return."""
        try:
            while self._holders or time.monotonic() < self._patient_until:
                pause = self._minder.tend()
                for key, _ in self._selector.select(TEND_SECONDS if pause is None else min(pause, TEND_SECONDS)):
                    if key.fileobj is self._door:
                        self._let_in()
                    elif isinstance(key.data, Holder):
                        self._look_after(key.data)
                if self._wakeup.asked_to_stop():
                    break
        finally:
            self._home.keeper_socket.unlink(missing_ok=True)
            self._door.close()
            self._minder.stop()

    def _let_in(self) -> None:
        connection, _ = self._door.accept()
        holder = Holder(connection)
        try:
            connection.settimeout(REQUEST_SECONDS)
            with connection.makefile("rb") as stream:
                holder.services = json.loads(stream.readline())["services"]
        except (OSError, ValueError, KeyError):
            connection.close()
            return
        # The keeper waits only for a first request: without leases after that, it ends.
        self._patient_until = 0.0
        try:
            for name in holder.services:
                self._ensure(name, holder)
        except (EmbeddedError, OSError) as error:
            holder.tell({"failed": str(error)})
            connection.close()
            return
        self._holders[connection] = holder
        self._selector.register(connection, selectors.EVENT_READ, holder)
        for notice in self._notices:
            holder.tell(notice)
        holder.tell({"ready": holder.services})

    def _look_after(self, holder: Holder) -> None:
        """Remove a holder whose connection has ended."""
        with suppress(ConnectionError):
            if holder.connection.recv(4096):
                return
        self._selector.unregister(holder.connection)
        del self._holders[holder.connection]
        if self._holders:
            holder.connection.close()
        else:
            # The last holder waits for the end of its connection, so it stays open until everything has stopped.
            self._last = holder.connection

    def _ensure(self, name: str, holder: Holder) -> None:
        """Start the service if it does not run, and wait until it accepts connections."""
        service = self._services[name]
        began = time.monotonic()
        child = self._minder.child(name)
        new = child is None
        if child is None:
            self._home.check_disk()
            child = self._minder.start(service.prepare())
        while child.restart_at is not None or not service.is_ready(child.process.pid):
            if not new:
                self._minder.tend()
            elif child.process.poll() is not None:
                code = self._minder.forget(name)
                raise EmbeddedError(
                    f"{name} stopped at once ({describe_exit(code)}). {_log_hint(self._home.log(name))}"
                )
            if time.monotonic() - began > READY_SECONDS:
                raise EmbeddedError(f"{name} is not ready in time. {_log_hint(self._home.log(name))}")
            time.sleep(POLL_SECONDS)
        if new:
            try:
                service.settle()
            except EmbeddedError:
                self._minder.forget(name)
                raise
            holder.tell({"service": name, "text": f"ready in {time.monotonic() - began:.1f} s"})

    def _say(self, name: str, text: str) -> None:
        """Send an event to every holder; if there is none yet, later holders receive it."""
        message = {"service": name, "text": text}
        sys.stderr.write(f"{datetime.now(UTC).isoformat(timespec='seconds')} {name}: {text}\n")
        if not self._holders:
            self._notices.append(message)
        for holder in self._holders.values():
            holder.tell(message)


def _log_hint(log: Path) -> str:
    last = last_line(log)
    return f"Its log, {log}, ends with: {last}" if last else f"Its log: {log}"


def main() -> None:
    closed_to_others()
    home = Home.from_environment()
    lock = os.open(home.keeper_lock, os.O_WRONLY | os.O_CREAT, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return
    try:
        keeper = ServiceKeeper(home, lock)
    except EmbeddedError as error:
        sys.stderr.write(f"{error}\n")
        sys.exit(1)
    keeper.run()
    # Released before this process ends and closes the last holder's connection: the holder then finds the home free.
    os.close(lock)


if __name__ == "__main__":
    main()
