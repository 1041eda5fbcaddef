"""`python -m grasp_site.search_worker --processes 4`: processes that answer searches with the same models in memory.

This process loads models and indexes and then forks; the others share its memory as long as they do not write to it.
Each is a Celery worker that answers one search at a time. One that ends is replaced at once, without loading anything.

The memory of a library that computes with several threads does not survive a fork, so this process never starts one:
OpenMP and the tokenizers get one thread each, and a GPU is first used after the fork, by each process for itself.
"""

from __future__ import annotations

import argparse
import gc
import os
import signal
import sys
import threading
import time
from collections.abc import Callable

# Before anything that loads torch. The processes occupy the cores, so one thread each is also the fastest.
os.environ.update(OMP_NUM_THREADS="1", TOKENIZERS_PARALLELISM="false")

SHORTEST_LIFE = 5.0
"""A process that ended earlier, in seconds, is replaced so much later: its fault may come again."""
_STOPS = (signal.SIGTERM, signal.SIGQUIT, signal.SIGINT)
_HANDLED = {*_STOPS, signal.SIGCHLD}


def main(arguments: list[str]) -> int:
    """Run the processes until a signal asks to stop; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m grasp_site.search_worker")
    parser.add_argument("--processes", type=int, default=2, help="searches answered at the same time")
    processes = parser.parse_args(arguments).processes
    # Imported here, because they may load torch.
    import django
    from django.db import connection, connections

    from grasp_site.celery import SEARCH_QUEUE, prepare
    from grasp_site.device import gpus

    django.setup()
    if sys.platform != "darwin" and not gpus():
        prepare(SEARCH_QUEUE)
        # Processes must not share a connection.
        connections.close_all()
        connection.close_pool()  # type: ignore[attr-defined]
    gc.freeze()
    return Processes(_serve).keep(processes)


def _serve(number: int) -> None:
    """Answer searches in this process, the one with this number of those that are kept, until it is asked to stop."""
    from grasp_site.celery import SEARCH_QUEUE, app, leave_to_the_first

    if number > 1:
        leave_to_the_first()
    app.worker_main([
        "worker", "--queues", SEARCH_QUEUE, "--pool", "solo", "--concurrency", "1",
        "--hostname", f"{SEARCH_QUEUE}-{number}@%h", "--without-gossip", "--without-mingle",
    ])  # fmt: skip


class Processes:
    """Forked processes by number, from 1 on; one that ends is replaced, and a stop signal is passed on to all."""

    def __init__(self, serve: Callable[[int], None]) -> None:
        self._serve = serve
        self._alive: dict[int, tuple[int, float]] = {}
        """Process id → its number, and when it began."""
        self._stopping = False
        # Nobody writes. The reading end is at its end when this process is gone, in whatever way.
        self._read, self._kept = os.pipe()

    def keep(self, processes: int) -> int:
        """Keep so many processes until a stop signal, and return 0 when all have ended."""
        # Blocked signals wait for `sigwait`, so none comes between a look and a fork. A handler makes SIGCHLD wait too.
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.pthread_sigmask(signal.SIG_BLOCK, _HANDLED)
        for number in range(1, processes + 1):
            self._start(number)
        while self._alive:
            number = signal.sigwait(_HANDLED)
            if number == signal.SIGCHLD:
                self._replace_ended()
                continue
            self._stopping = True
            # A terminal sends SIGINT to all of them itself.
            for process in self._alive if number != signal.SIGINT else ():
                os.kill(process, number)
        return 0

    def _replace_ended(self) -> None:
        for process, (number, began) in list(self._alive.items()):
            if os.waitpid(process, os.WNOHANG)[0] == 0:
                continue
            del self._alive[process]
            if not self._stopping:
                self._start(number, time.monotonic() - began < SHORTEST_LIFE)

    def _start(self, number: int, later: bool = False) -> None:
        if process := os.fork():
            self._alive[process] = number, time.monotonic()
            return
        os.close(self._kept)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _HANDLED)
        threading.Thread(target=self._end_with_parent, name="parent", daemon=True).start()
        if later:
            time.sleep(SHORTEST_LIFE)
        self._serve(number)
        sys.exit(0)

    def _end_with_parent(self) -> None:
        os.read(self._read, 1)
        os._exit(1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
