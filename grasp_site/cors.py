"""Which other sites may use the API from their pages (CORS), and for what: reading and searching, without cookies."""

from __future__ import annotations

import re
from collections.abc import Sequence

EVERY = "*"
PATHS = (
    r"^/api/v1/(searches/(compare/|[0-9a-f-]{36}/((events|answers|facets)/)?)?"
    r"|knowledge-bases/.*|pipelines/|healthz/|readyz/)$"
)
"""What pages of other sites may call. Feedback, jobs, uploads and versions are not among it."""
METHODS = ("GET", "HEAD", "POST", "OPTIONS")
HEADERS = ("accept", "authorization", "content-type", "last-event-id")
EXPOSED = ("Location", "Retry-After")
_ORIGIN = re.compile(r"https?://([a-z0-9.-]+|\[[0-9a-f:]+\])(:\d{1,5})?", re.IGNORECASE)


def read_origins(text: str) -> Sequence[str]:
    """Return the origins of a list separated by commas; `*` stands for every site.

    Raises ValueError for anything that no browser sends as an origin, such as an address with a path.
    """
    origins = [part.strip() for part in text.split(",") if part.strip()]
    for origin in origins:
        if origin != EVERY and not _ORIGIN.fullmatch(origin):
            raise ValueError(
                f"an origin is https://host or https://host:port, without a path and without a slash at its end, "
                f"not {origin[:80]!r}; * stands for every site"
            )
    return [origin.lower() for origin in origins]
