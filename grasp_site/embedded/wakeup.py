"""Makes signals readable, so that a selector can wait for them."""

import signal
import socket
from collections.abc import Iterable

STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
NOTHING_YET = b""


class Wakeup:
    """A file-like object that becomes readable when one of the signals arrives: the stop signals, and SIGCHLD."""

    def __init__(self, stop_signals: Iterable[signal.Signals] = STOP_SIGNALS) -> None:
        self._reader, self._writer = socket.socketpair()
        self._reader.setblocking(False)
        self._writer.setblocking(False)
        self._stop_signals = frozenset(int(number) for number in stop_signals)
        signal.set_wakeup_fd(self._writer.fileno(), warn_on_full_buffer=False)
        for number in (*self._stop_signals, signal.SIGCHLD):
            # The wake-up is only written if the signal has a handler; the loop does the actual work.
            signal.signal(number, lambda _number, _frame: None)

    def fileno(self) -> int:
        return self._reader.fileno()

    def asked_to_stop(self) -> bool:
        """Whether a stop signal has arrived since the last call."""
        try:
            numbers = self._reader.recv(4096)
        except BlockingIOError:
            numbers = NOTHING_YET
        return any(number in self._stop_signals for number in numbers)
