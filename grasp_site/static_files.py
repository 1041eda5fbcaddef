"""Static files whose address changes with their content, so that browsers keep them for good and never ask again.

The address is that of the file with the begin of its hash behind it (`pages.css?v=1a2b3c4d`). No file is copied or
renamed, so a checkout needs no build. A file that is asked for without its version is kept for a minute, as before.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from hashlib import blake2b
from pathlib import Path

from django.conf import settings
from django.contrib.staticfiles import finders
from django.contrib.staticfiles.storage import StaticFilesStorage
from django.http import HttpRequest, HttpResponse

YEAR = 365 * 24 * 3600
"""Seconds that a browser keeps a file of a version; HTTP knows no longer time (RFC 9111 §5.2.2.1, RFC 8246)."""
BYTES = 4


class VersionedStaticFiles(StaticFilesStorage):
    """Static files with their version in the address."""

    def url(self, name: str | None) -> str:
        """Return the address of a file, with its version if the file is there."""
        address, version = super().url(name), version_of(name or "")
        return f"{address}?v={version}" if version else address


def version_of(name: str) -> str:
    """Return the version of a static file, a hash of its content; empty if there is no such file."""
    return _hash(name) if settings.DEBUG else _kept(name)


def _hash(name: str) -> str:
    found = finders.find(name)
    path = Path(found) if isinstance(found, str) else None
    return blake2b(path.read_bytes(), digest_size=BYTES).hexdigest() if path and path.is_file() else ""


_kept = cache(_hash)


def kept_for_good(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """Middleware above WhiteNoise: a static file that is asked for with its version never changes."""
    prefix = settings.STATIC_URL

    def answer(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        path, version = request.path_info, request.GET.get("v")
        # Another version may be asked for during an upgrade: the present file must not be kept under its address.
        there = bool(version) and path.startswith(prefix) and response.status_code in (200, 304)
        if there and version == version_of(path.removeprefix(prefix)):
            response["Cache-Control"] = f"public, max-age={YEAR}, immutable"
        return response

    return answer
