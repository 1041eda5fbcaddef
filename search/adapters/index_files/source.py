"""Where files are fetched from: another machine's web process over HTTP, or a folder that both machines see.

A file has the same name in every place: its path below GRASP_HOME, such as `indexes/snapshot-2/bm25/keys.npy`. A third
place is the object store (`search.adapters.index_files.store`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Protocol
from urllib.parse import quote

import httpx2
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


@dataclass(frozen=True, slots=True)
class BuiltFile:
    """A file as it was built: its path below GRASP_HOME, its length in bytes, and its hash (hexadecimal)."""

    name: str
    length: int
    digest: str


class FileSource(Protocol):
    """A place with files. Several threads read at once."""

    def piece(self, file: BuiltFile, begin: int) -> bytes:
        """Return the bytes of a file from `begin` on, `PIECE` of them or those up to its end. Raises FetchFailed."""
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


class HttpSource:
    """The web process of the machine that has the files (Source)."""

    def __init__(self, url: str) -> None:
        self._url = url.rstrip("/")

    def __str__(self) -> str:
        return self._url

    def piece(self, file: BuiltFile, begin: int) -> bytes:
        """Return a piece of a file, by a request of its own."""
        headers = {HEADER: signature(file.name), "Accept-Encoding": "identity"}
        address = self._url + PATH + quote(file.name)
        try:
            answer = self._client.get(address, params={"begin": begin}, headers=headers)
        except httpx2.HTTPError as error:
            raise FetchFailed(f"{self._url} cannot be reached ({error or type(error).__name__})") from error
        if answer.status_code != 200:
            reason = _REASONS.get(answer.status_code, f"answers {answer.status_code}")
            raise FetchFailed(f"{self._url} {reason}")
        return bytes(answer.content)

    @cached_property
    def _client(self) -> httpx2.Client:
        return httpx2.Client(timeout=TIMEOUT_SECONDS)


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

    def piece(self, file: BuiltFile, begin: int) -> bytes:
        """Return a piece of a file."""
        try:
            with (self._folder / file.name).open("rb") as opened:
                opened.seek(begin)
                return opened.read(PIECE)
        except OSError as error:
            raise FetchFailed(f"{self._folder / file.name} cannot be read ({error.strerror})") from error
