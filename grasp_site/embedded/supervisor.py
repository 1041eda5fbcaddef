"""Keeps the whole site running, from the first line on the terminal to the last process."""

import http.client
import os
import selectors
import subprocess
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass

from grasp_site.embedded.children import Guard, Minder, Program, describe_exit
from grasp_site.embedded.faults import EmbeddedError
from grasp_site.embedded.home import Home
from grasp_site.embedded.lease import KeeperGone, Lease, acquire
from grasp_site.embedded.preflight import AlreadyRunning, check_port, lock_home
from grasp_site.embedded.programs import HOST
from grasp_site.embedded.terminal import Terminal
from grasp_site.embedded.wakeup import Wakeup

READY_PATH = "/api/v1/readyz/"
TICK_SECONDS = 0.5
PROBE_TIMEOUT_SECONDS = 2.0
WHY_NOT_READY_SECONDS = 45.0


class StopAsked(Exception):
    """A stop was requested while the supervisor waited for something else."""


@dataclass(frozen=True)
class SitePlan:
    """What a supervisor runs: embedded services, a setup program that must succeed, and programs to keep running.

    The programs `once` start when the site is ready; they end by themselves, and nothing waits for them.
    """

    port: int
    services: Sequence[str]
    setup: Program | None
    programs: Sequence[Program]
    once: Sequence[Program] = ()

    @property
    def url(self) -> str:
        return f"http://{HOST}:{self.port}/"


class Supervisor:
    """Runs one plan in one home, until it is asked to stop or its parent `make` has ended."""

    def __init__(self, home: Home, plan: SitePlan, terminal: Terminal, lock: int) -> None:
        self._home = home
        self._plan = plan
        self._terminal = terminal
        self._say: Callable[[str, str], None] = terminal.say
        self._lease = self._take_lease()
        self._parent = os.getppid() if "MAKELEVEL" in os.environ else None
        self._wakeup = Wakeup()
        self._minder = Minder(home, Guard(kept_open=[lock]), self._say)
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._wakeup, selectors.EVENT_READ)
        if self._lease:
            self._selector.register(self._lease, selectors.EVENT_READ)

    def _take_lease(self) -> Lease | None:
        if not self._plan.services:
            return None
        return acquire(self._home, self._plan.services, self._relay)

    def _relay(self, message: dict[str, str]) -> None:
        if "service" in message:
            self._say(message["service"], message["text"])

    def run(self) -> int:
        """Run the plan, and return the exit code when everything has stopped."""
        code = 0
        try:
            if self._plan.setup:
                self._set_up(self._plan.setup)
            for program in self._plan.programs:
                self._minder.start(program)
                self._say(program.name, "starting")
            self._await_ready()
            for program in self._plan.once:
                self._minder.start(program, keep=False)
            while True:
                self._turn()
        except StopAsked:
            self._say("grasp", "stopping")
        except EmbeddedError as error:
            self._say("grasp", str(error))
            code = 1
        finally:
            self._minder.stop()
            if self._lease and not self._lease.close():
                self._say("grasp", "a command still uses the embedded services; they stop when it ends")
        self._say("grasp", "stopped")
        return code

    def _turn(self, pause: float | None = None) -> None:
        """Wait at most a second for an event, and handle it. Raises `StopAsked`."""
        due = self._minder.tend()
        self._selector.select(min(1.0 if pause is None else pause, 1.0 if due is None else due))
        if self._wakeup.asked_to_stop() or (self._parent is not None and os.getppid() != self._parent):
            raise StopAsked
        if self._lease:
            try:
                for message in self._lease.messages():
                    self._relay(message)
            except KeeperGone:
                self._renew_lease(self._lease)

    def _renew_lease(self, lost: Lease) -> None:
        self._selector.unregister(lost)
        lost.drop()
        self._lease = None
        self._say("grasp", "the keeper of the embedded services is gone; starting them again")
        self._lease = acquire(self._home, self._plan.services, self._relay)
        self._selector.register(self._lease, selectors.EVENT_READ)

    def _set_up(self, program: Program) -> None:
        """Run the setup and show its lines. They are not logged, because one may contain a password."""
        reader, writer = os.pipe()
        try:
            child = self._minder.start(program, output=writer, keep=False)
        finally:
            os.close(writer)
        self._selector.register(reader, selectors.EVENT_READ)
        os.set_blocking(reader, False)
        unread = b""
        try:
            while child.process.poll() is None:
                self._turn()
                unread = self._show_lines(reader, unread)
            self._show_lines(reader, unread)
        finally:
            self._selector.unregister(reader)
            os.close(reader)
        code = self._minder.forget(program.name)
        if code:
            log = self._home.log(program.name)
            raise EmbeddedError(f"The {program.name} failed ({describe_exit(code)}). Its log: {log}")

    def _show_lines(self, reader: int, unread: bytes) -> bytes:
        with suppress(BlockingIOError):
            while received := os.read(reader, 65536):
                *lines, unread = (unread + received).split(b"\n")
                for line in lines:
                    self._say("setup", line.decode(errors="replace"))
        return unread

    def _await_ready(self) -> None:
        complain_at = time.monotonic() + WHY_NOT_READY_SECONDS
        while (reason := self._why_not_ready()) is not None:
            if time.monotonic() > complain_at:
                self._say("grasp", f"not ready yet: {reason}")
                complain_at = time.monotonic() + WHY_NOT_READY_SECONDS
            self._turn(TICK_SECONDS)
        self._terminal.plain(f"Ready: {self._plan.url}")

    def _why_not_ready(self) -> str | None:
        """Return why a search cannot be asked yet, or None if it can."""
        connection = http.client.HTTPConnection(HOST, self._plan.port, timeout=PROBE_TIMEOUT_SECONDS)
        try:
            connection.request("GET", READY_PATH)
            response = connection.getresponse()
            body = response.read(2000).decode(errors="replace")
        except (OSError, http.client.HTTPException) as error:
            return f"the web process does not answer yet ({type(error).__name__})"
        finally:
            connection.close()
        return None if response.status == http.client.OK else f"HTTP {response.status} {body}"


def supervise(home: Home, plan: SitePlan) -> int:
    """Check the preconditions, run the plan, and return the exit code; if it is not 0, a sentence is shown."""
    terminal = Terminal()
    try:
        lock = lock_home(home, plan.url)
        check_port(plan.port)
        home.check_disk()
        terminal.say("grasp", f"data in {home.root}, log files in {home.logs}")
        return Supervisor(home, plan, terminal, lock).run()
    except AlreadyRunning as running:
        terminal.plain(str(running))
        return 0
    except EmbeddedError as error:
        terminal.plain(str(error))
        return 1
    except (KeyboardInterrupt, subprocess.SubprocessError) as error:
        terminal.plain(f"Stopped before everything had started ({type(error).__name__}).")
        return 1
