"""Ends process groups when their owner has ended. Runs as a script, with the standard library only.

Its arguments are lines `+ PGID SIGNAL [SIGNAL…]`: the groups to start with. A watchdog that replaces a dead one thus
knows them from its first moment, even if its owner ends before it has written a line. From then on the owner writes
such lines and `- PGID` to this process's standard input. The end of the input means that the owner has ended, in
whatever way (`kill -9` closes a pipe too). Each group that is still listed then receives
its signals one after the other, and finally SIGKILL. A pause follows each signal; it ends early once the group is gone.
"""

import os
import signal
import sys
import time
from collections.abc import Iterable
from itertools import chain

PATIENCE_SECONDS = 2.0
POLL_SECONDS = 0.05


def groups_left(lines: Iterable[str]) -> dict[int, list[int]]:
    """Read the owner's lines to the end; return the groups that are still listed, with the signals for each."""
    groups: dict[int, list[int]] = {}
    for line in lines:
        verb, pgid, *signals = line.split()
        if verb == "+":
            groups[int(pgid)] = [int(number) for number in signals]
        else:
            groups.pop(int(pgid), None)
    return groups


def signal_group(pgid: int, number: int) -> bool:
    """Send the signal; return False if no process of the group is left."""
    try:
        os.killpg(pgid, number)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def end_groups(groups: dict[int, list[int]], patience: float = PATIENCE_SECONDS) -> None:
    """Send each group its signals in order, then SIGKILL; wait at most `patience` seconds after each round."""
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
    end_groups(groups_left(chain(sys.argv[1:], sys.stdin)))


if __name__ == "__main__":
    main()
