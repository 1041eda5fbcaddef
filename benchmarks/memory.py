"""Memory of the site's processes, shared parts counted once: proportional set size (PSS)."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

import psutil

Memory = dict[str, float]
"""Name of a process → megabytes; processes of one name are added up."""

NAMES = {
    "uvicorn": "web",
    "multiprocessing.spawn": "web",
    "grasp_site.search_worker": "search worker",
    "--queues jobs": "jobs worker",
    "postgres": "Postgres",
    "valkey-server": "Valkey",
}
"""Part of a command → name of the process in tables."""


@dataclass(frozen=True, slots=True)
class State:
    """The processes of a site at one moment: their memory, and their processor time in seconds since they began.

    `own_seconds` is that of this process; `busy` and `idle` are those of the whole machine.
    """

    memory: Memory
    seconds: dict[str, float]
    own_seconds: float
    busy: float
    idle: float


def state(site: Sequence[psutil.Process]) -> State:
    """Return the state of the processes of a site: those given, what they have started, Postgres and Valkey."""
    memory: Memory = {}
    seconds: dict[str, float] = {}
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            if not _belongs(process, site):
                continue
            command = " ".join(process.cmdline())
            name = next((shown for part, shown in NAMES.items() if part in command), None)
            if name == "search worker":
                name = f"{name} {process.pid}"
            if name:
                memory[name] = memory.get(name, 0.0) + process.memory_full_info().pss / 1e6
                # The time of Postgres' sessions that have ended is that of their parent's children.
                seconds[name] = seconds.get(name, 0.0) + sum(process.cpu_times()[:4])
    machine, own = psutil.cpu_times(), psutil.Process().cpu_times()
    idle = machine.idle + machine.iowait
    busy = sum(machine) - idle - getattr(machine, "guest", 0.0)
    return State(dict(sorted(memory.items())), seconds, own.user + own.system, busy, idle)


def measured(site: Sequence[psutil.Process]) -> Memory:
    """Return the memory of the processes of a site."""
    return state(site).memory


def grown(memory: Sequence[Memory], name: str) -> float:
    """Return by how many percent a process has grown from the first measurement to the last."""
    first, last = memory[0].get(name, 0.0), memory[-1].get(name, 0.0)
    return 100 * (last - first) / first if first else 0.0


def _belongs(process: psutil.Process, site: Sequence[psutil.Process]) -> bool:
    family = [process, *process.parents()]
    # The keeper of Postgres and Valkey may be the child of another process, but it names the home.
    home = os.environ["GRASP_HOME"]
    return any(one in site or home in " ".join(one.cmdline()) for one in family)
