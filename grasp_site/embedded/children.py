"""Child processes: each has its own process group and log, is restarted with backoff, and is reliably ended."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from grasp_site.embedded import watchdog
from grasp_site.embedded.home import PROJECT, Home

LOG_LIMIT_BYTES = 20 << 20
FIRST_PAUSE_SECONDS = 1.0
LONGEST_PAUSE_SECONDS = 30.0
STEADY_SECONDS = 30.0
POLL_SECONDS = 0.02

Say = Callable[[str, str], None]
"""Callback for events: the name of the process that an event concerns, and a sentence."""


@dataclass(frozen=True)
class Program:
    """Start and stop of one child: `stop_signals` are sent in order, `patience` seconds apart, then SIGKILL."""

    name: str
    command: Sequence[str]
    environment: Mapping[str, str] = field(default_factory=dict)
    stop_signals: tuple[int, ...] = (signal.SIGTERM,)
    patience: float = 5.0
    user: int | None = None
    group: int | None = None


@dataclass
class Child:
    """One program with its latest process, its failures in a row, and the time of its next start (None: it runs).

    If `keep` is false it is not restarted.
    """

    program: Program
    process: subprocess.Popen[bytes]
    started: float
    failures: int = 0
    restart_at: float | None = None
    keep: bool = True


def open_log(path: Path) -> int:
    """Return a descriptor that appends to the log; a log above the size limit is first renamed to `….log.1`."""
    if path.exists() and path.stat().st_size > LOG_LIMIT_BYTES:
        path.replace(path.with_suffix(".log.1"))
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)


def last_line(log: Path) -> str:
    """Return the last line of a log, or an empty string if it is empty."""
    lines = log.read_text(errors="replace").strip().splitlines() if log.exists() else []
    return lines[-1] if lines else ""


def describe_exit(code: int) -> str:
    """Return `exit 1`, or `signal 9` for a process that was ended by a signal."""
    return f"signal {-code}" if code < 0 else f"exit {code}"


def listing(pgid: int, signals: Sequence[int]) -> str:
    """Return the line that lists a process group with a watchdog."""
    return f"+ {pgid} {' '.join(str(int(number)) for number in signals)}"


class Guard:
    """The owner's end of a watchdog: it ends the listed process groups when the owner ends. Restarts a dead one."""

    def __init__(self, kept_open: Sequence[int] = ()) -> None:
        """Start the watchdog; `kept_open` are descriptors (of locks) that stay open until it has ended everything."""
        self._kept_open = tuple(kept_open)
        self._groups: dict[int, tuple[int, ...]] = {}
        self._process = self._start()

    def _start(self) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-S", "-E", watchdog.__file__, *(listing(*group) for group in self._groups.items())],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            text=True,
            bufsize=1,
            start_new_session=True,
            pass_fds=self._kept_open,
        )

    def add(self, pgid: int, signals: tuple[int, ...]) -> None:
        self._groups[pgid] = signals
        self._write(f"{listing(pgid, signals)}\n")

    def remove(self, pgid: int) -> None:
        self._groups.pop(pgid, None)
        self._write(f"- {pgid}\n")

    def _write(self, line: str) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(line)
        except BrokenPipeError:
            self.tend()

    def tend(self) -> None:
        """Replace a dead watchdog by a new one."""
        if self._process.poll() is None:
            return
        self._process = self._start()

    def close(self) -> None:
        """End the watchdog, which first ends all groups that are still listed."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


class Minder:
    """Keeps programs running: starts them, detects when they end, restarts them with backoff, and stops them all."""

    def __init__(self, home: Home, guard: Guard, say: Say) -> None:
        self._home = home
        home.make_folder(home.logs.name)
        self._guard = guard
        self._say = say
        self._children: dict[str, Child] = {}

    def start(self, program: Program, output: int | None = None, keep: bool = True) -> Child:
        """Start `program` in a new session, listed with the watchdog.

        Its output goes to its log; stdout goes to the descriptor `output` if one is given. If `keep` is false it is not
        restarted when it ends.
        """
        child = Child(program, self._spawn(program, output), time.monotonic(), keep=keep)
        self._children[program.name] = child
        return child

    def child(self, name: str) -> Child | None:
        return self._children.get(name)

    def _spawn(self, program: Program, output: int | None = None) -> subprocess.Popen[bytes]:
        log = open_log(self._home.log(program.name))
        try:
            process = subprocess.Popen(
                list(program.command),
                cwd=PROJECT if program.user is None else "/",
                env={**os.environ, "PYTHONUNBUFFERED": "1", **program.environment},
                stdin=subprocess.DEVNULL,
                stdout=log if output is None else output,
                stderr=log,
                start_new_session=True,
                user=program.user,
                group=program.group,
                extra_groups=None if program.user is None else [],
            )
        finally:
            os.close(log)
        self._guard.add(process.pid, program.stop_signals)
        return process

    def tend(self) -> float | None:
        """Detect ended children and restart those whose pause is over; return the seconds until the next restart."""
        self._guard.tend()
        for child in self._children.values():
            if not child.keep:
                continue
            if child.restart_at is None and (code := child.process.poll()) is not None:
                self._mourn(child, code)
            elif child.restart_at is not None and time.monotonic() >= child.restart_at:
                child.process = self._spawn(child.program)
                child.started, child.restart_at = time.monotonic(), None
                self._say(child.program.name, "started again")
        due = [child.restart_at for child in self._children.values() if child.restart_at is not None]
        return max(0.0, min(due) - time.monotonic()) if due else None

    def _mourn(self, child: Child, code: int) -> None:
        watchdog.signal_group(child.process.pid, signal.SIGKILL)
        self._guard.remove(child.process.pid)
        steady = time.monotonic() - child.started >= STEADY_SECONDS
        child.failures = 1 if steady else child.failures + 1
        pause = min(LONGEST_PAUSE_SECONDS, FIRST_PAUSE_SECONDS * 2.0 ** (child.failures - 1))
        child.restart_at = time.monotonic() + pause
        how = describe_exit(code)
        log = self._home.log(child.program.name)
        self._say(child.program.name, f"stopped ({how}); starting it again in {pause:.0f} s. Its log: {log}")

    def forget(self, name: str) -> int:
        """End one child if it still runs, stop managing it, and return its exit code."""
        child = self._children.pop(name)
        watchdog.signal_group(child.process.pid, signal.SIGKILL)
        code = child.process.wait()
        self._guard.remove(child.process.pid)
        return code

    def stop(self) -> None:
        """End all children at the same time, and return when none is left."""
        began = time.monotonic()
        alive = [child for child in self._children.values() if child.restart_at is None]
        signals_sent = dict.fromkeys((child.process.pid for child in alive), 0)
        while alive := [child for child in alive if child.process.poll() is None]:
            for child in alive:
                due = 1 + int((time.monotonic() - began) / child.program.patience)
                if signals_sent[child.process.pid] < due:
                    _send_signal(child, signals_sent[child.process.pid])
                    signals_sent[child.process.pid] += 1
            time.sleep(POLL_SECONDS)
        for child in self._children.values():
            watchdog.signal_group(child.process.pid, signal.SIGKILL)
            self._guard.remove(child.process.pid)
        self._children.clear()
        self._guard.close()


def _send_signal(child: Child, turn: int) -> None:
    """Send a stop signal to the leader, which can end its own children; SIGKILL goes to the whole group."""
    if turn < len(child.program.stop_signals):
        child.process.send_signal(child.program.stop_signals[turn])
    else:
        watchdog.signal_group(child.process.pid, signal.SIGKILL)
