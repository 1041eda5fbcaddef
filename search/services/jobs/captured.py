"""Lines of the process' log as lines of the job's log: what the work logs while it runs is kept with the job."""

from __future__ import annotations

import logging
from collections.abc import Iterator, MutableMapping
from contextlib import contextmanager
from typing import Any

from search.domain.run_context import Log

LEFT_OUT = frozenset(
    ("timestamp", "level", "logger", "exc_info", "exception", "stack_info", "job", "request_id", "traceparent")
)
"""Keys of an event that a line of a job does not repeat."""
_logs: list[Log] = []


class JobHandler(logging.Handler):
    """Passes log records to the job that this process works on; without a job it drops them."""

    def emit(self, record: logging.LogRecord) -> None:
        """Pass the record on as one line."""
        if not _logs or record.levelno < logging.INFO:
            return
        try:
            _logs[-1](self.format(record))
        except Exception:  # noqa: BLE001 -- a line that cannot be kept must not end the work; logging reports it
            self.handleError(record)


@contextmanager
def captured(log: Log) -> Iterator[None]:
    """Pass every log record of this process to `log` while the block runs. A process works on one job at a time."""
    _logs.append(log)
    try:
        yield
    finally:
        _logs.remove(log)


def line_of(_logger: Any, _method: str, event: MutableMapping[str, Any]) -> str:
    """Return an event as one line for people (a structlog renderer): the event, then its values as `key=value`."""
    level = str(event.get("level", "info"))
    text = str(event.get("event", ""))
    values = [f"{key}={value}" for key, value in event.items() if key != "event" and key not in LEFT_OUT]
    failure = str(event.get("exception") or "").strip().splitlines()[-1:]
    marked = [f"{level.upper()}:"] if level not in ("info", "debug") else []
    return " ".join([*marked, text, *values, *failure])
