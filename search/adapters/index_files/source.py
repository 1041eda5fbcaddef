"""Where files are fetched from: another machine's web process over HTTP, or a folder that both machines see.

A file has the same name in every place: its path below GRASP_HOME, such as `indexes/snapshot-2/bm25/keys.npy`.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Protocol
from urllib.parse import quote

import httpx2
from django.conf import settings
from django.core import signing

SALT = "files for another machine"
VALID_SECONDS = 900
PIECE = 4 * 1024**2
"""Bytes of one answer: a web process holds no more of a file in memory."""
TIMEOUT_SECONDS = 20.0
PATH = "/internal/files/"
HEADER = "X-Grasp-Signature"


class FetchFailed(Exception):
    """The file could not be fetched; the text is a part of a sentence that says why."""


class Source(Protocol):
    """A place with files."""

    def pieces(self, name: str) -> Iterator[bytes]:
        """Yield the content of a file in pieces. Raises FetchFailed."""
        ...


def signature(name: str) -> str:
    """Return the signature for a file: only a process with this site's SECRET_KEY can make it."""
    return signing.TimestampSigner(salt=SALT).sign(name)


def is_signed(name: str, signed: str) -> bool:
    """Whether the signature is one for this file, not older than `VALID_SECONDS`."""
    try:
        return signing.TimestampSigner(salt=SALT).unsign(signed, max_age=VALID_SECONDS) == name
    except signing.BadSignature:
        return False


def configured_source() -> Source | None:
    """Return the place that `GRASP_FILES_FROM` names, or None."""
    named = str(settings.GRASP_FILES_FROM)
    if not named:
        return None
    return HttpSource(named) if named.startswith(("http://", "https://")) else FolderSource(Path(named))


class HttpSource:
    """The web process of the machine that has the files (Source)."""

    def __init__(self, url: str) -> None:
        self._url = url.rstrip("/")

    def __str__(self) -> str:
        return self._url

    def pieces(self, name: str) -> Iterator[bytes]:
        """Yield the pieces of a file, each by a request of its own; one shorter than `PIECE` is the last."""
        address = self._url + PATH + quote(name)
        try:
            with httpx2.Client(timeout=TIMEOUT_SECONDS) as client:
                begin, piece = 0, bytes(PIECE)
                while len(piece) == PIECE:
                    piece = self._piece(client, address, name, begin)
                    begin += len(piece)
                    yield piece
        except httpx2.HTTPError as error:
            raise FetchFailed(f"{self._url} cannot be reached ({error or type(error).__name__})") from error

    def _piece(self, client: httpx2.Client, address: str, name: str, begin: int) -> bytes:
        headers = {HEADER: signature(name), "Accept-Encoding": "identity"}
        answer = client.get(address, params={"begin": begin}, headers=headers)
        if answer.status_code != 200:
            reason = _REASONS.get(answer.status_code, f"answers {answer.status_code}")
            raise FetchFailed(f"{self._url} {reason}")
        return bytes(answer.content)


_REASONS = {
    400: "does not know this machine's name for it; add it to its ALLOWED_HOSTS",
    403: "refuses the signature: both machines need the same SECRET_KEY, and clocks that agree",
    404: "does not have it, either",
}


class FolderSource:
    """The GRASP_HOME of another machine, or a copy of it, as a folder of this one (Source)."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def __str__(self) -> str:
        return str(self._folder)

    def pieces(self, name: str) -> Iterator[bytes]:
        """Yield the pieces of a file."""
        try:
            with (self._folder / name).open("rb") as file:
                while piece := file.read(PIECE):
                    yield piece
        except OSError as error:
            raise FetchFailed(f"{self._folder / name} cannot be read ({error.strerror})") from error
