"""The ids of a request, and how they follow it: into the message to a worker, into the row of a job, into every line.

structlog's context variables hold them, so that every line of the log has them. A forked process keeps them.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from structlog.contextvars import bound_contextvars, get_contextvars

HEADER = "grasp"
"""Name of the message header, and key of nothing else, under which `carried` travels to a worker."""
KEYS = ("request_id", "traceparent")
"""`traceparent` (W3C Trace Context) is there only if traces are sent."""
_VALID = re.compile(r"[\w.:-]{1,64}", re.ASCII)


def request_id_from(given: str) -> str:
    """Return the id that a caller gave if it is a valid one (1 to 64 letters, digits, `_.:-`), otherwise a new one."""
    return given if _VALID.fullmatch(given) else uuid.uuid4().hex


def carried() -> dict[str, str]:
    """Return the ids of the present request or task; empty outside of one."""
    bound = get_contextvars()
    return {key: bound[key] for key in KEYS if key in bound}


@contextmanager
def resumed(ids: Any, **more: Any) -> Iterator[None]:
    """Give every line that is logged inside the block the ids that `carried` returned elsewhere, and `more`."""
    known = {key: ids[key] for key in KEYS if isinstance(ids.get(key), str)} if isinstance(ids, Mapping) else {}
    with bound_contextvars(**known, **more):
        yield
