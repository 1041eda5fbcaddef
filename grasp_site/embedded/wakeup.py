"""Signals as something that a selector can wait for."""

import signal
import socket
from collections.abc import Iterable

STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
NOTHING_YET = b""


class Wakeup:
    """Readable as soon as one of the signals has come: those that ask to stop, and SIGCHLD."""

    def __init__(self, stop_signals: Iterable[signal.Signals] = STOP_SIGNALS) -> None:
        self._reader, self._writer = socket.socketpair()
        self._reader.setblocking(False)
        self._writer.setblocking(False)
        self._stop_signals = frozenset(int(number) for number in stop_signals)
        signal.set_wakeup_fd(self._writer.fileno(), warn_on_full_buffer=False)
        for number in (*self._stop_signals, signal.SIGCHLD):
            # A handler has to be there for the wake-up to be written; what is to be done is done in the loop.
            signal.signal(number, lambda _number, _frame: None)

    def fileno(self) -> int:
        return self._reader.fileno()

    def asked_to_stop(self) -> bool:
        """Whether a signal that asks to stop has come since the last call."""
        try:
            numbers = self._reader.recv(4096)
        except BlockingIOError:
            numbers = NOTHING_YET
        return any(number in self._stop_signals for number in numbers)
