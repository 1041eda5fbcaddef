"""Ends process groups when their owner is gone. Runs as a script, with the standard library alone.

The owner writes `+ PGID SIGNAL [SIGNAL…]` and `- PGID` to this process's standard input. The end of that means that the
owner ended, however it did (a `kill -9` closes a pipe too): then each group still listed gets its signals one after the
other, and at last SIGKILL, with a pause in between that ends early once the group is gone.
"""

import os
import signal
import sys
import time
from collections.abc import Iterable

PATIENCE_SECONDS = 2.0
POLL_SECONDS = 0.05


def groups_left(lines: Iterable[str]) -> dict[int, list[int]]:
    """Reads the owner's lines to their end: the groups that were not taken back, with the signals each asks for."""
    groups: dict[int, list[int]] = {}
    for line in lines:
        verb, pgid, *signals = line.split()
        if verb == "+":
            groups[int(pgid)] = [int(number) for number in signals]
        else:
            groups.pop(int(pgid), None)
    return groups


def signal_group(pgid: int, number: int) -> bool:
    """Sends the signal; False when nobody of the group is left."""
    try:
        os.killpg(pgid, number)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def end_groups(groups: dict[int, list[int]], patience: float = PATIENCE_SECONDS) -> None:
    """Sends each group its signals in order, then SIGKILL; waits up to `patience` seconds after each round."""
    rounds = max((len(signals) for signals in groups.values()), default=0)
    alive = set(groups)
    for turn in range(rounds + 1):
        for pgid in alive:
            signal_group(pgid, groups[pgid][turn] if turn < len(groups[pgid]) else signal.SIGKILL)
        deadline = time.monotonic() + patience
        while alive and time.monotonic() < deadline:
            alive = {pgid for pgid in alive if signal_group(pgid, 0)}
            time.sleep(POLL_SECONDS)


def main() -> None:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    end_groups(groups_left(sys.stdin))


if __name__ == "__main__":
    main()
