"""Tables and files to download."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from tempfile import SpooledTemporaryFile
from typing import IO, Any, cast

from django.db import close_old_connections
from django.http import FileResponse, HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.utils.http import content_disposition_header

from search.byte_ranges import NotSatisfiable, wanted_range
from search.domain.errors import QueueFull
from search.services.access.limits import count_export
from search.services.access.visitor_cookie import visitor_of
from search.services.observing.rest import at_rest
from search.tables import csv_lines

BYTE_ORDER_MARK = "\ufeff"
"""Without this mark, spreadsheet programs do not recognise UTF-8."""


BLOCK = 1 << 18
"""Bytes of a file that are read and sent at once."""
IN_MEMORY = 1 << 20
"""Bytes of a written answer that are kept in memory; a larger one is a temporary file without a name."""
WRITERS, WAITING = 2, 16
"""Exports that a process writes at a time, and those that may wait for it; further ones are refused."""
FULL_SECONDS = 10.0
"""Seconds after which an export that was refused may be asked for again."""

_writers, _exports = threading.BoundedSemaphore(WRITERS), threading.BoundedSemaphore(WRITERS + WAITING)


class FileAnswer(FileResponse):
    """A file that is read while it is sent, whatever its size.

    Django's own class reads all of it into memory before the first byte is sent, where the server is asynchronous.
    """

    block_size = BLOCK
    start = 0
    """Position in the file of the first byte that is sent."""

    async def __aiter__(self) -> AsyncIterator[bytes]:
        """Yield the file in blocks, each read in a thread."""
        opened = self.file_to_stream
        while opened is not None and (block := await asyncio.to_thread(opened.read, BLOCK)):
            yield block


class _Part:
    """A part of an open file, to be read from its beginning to its end."""

    def __init__(self, file: IO[bytes], start: int, end: int) -> None:
        self.file, self.left = file, end - start
        file.seek(start)

    def read(self, size: int) -> bytes:
        """Return at most `size` bytes, none after the end of the part."""
        block = self.file.read(min(size, self.left))
        self.left -= len(block)
        return block

    def close(self) -> None:
        """Close the file."""
        self.file.close()


def file_tag(file: IO[bytes]) -> str:
    """Return the strong entity tag of a file on disk, which changes with its size and its time of writing."""
    found = os.fstat(file.fileno())
    return f'"{found.st_mtime_ns:x}-{found.st_size:x}"'


def file_answer(
    request: HttpRequest, file: IO[bytes], *, tag: str, name: str, content_type: str = "application/octet-stream"
) -> HttpResponseBase:
    """Return an open file to download, or the one part of it that the request asks for.

    A download that was cut off goes on where it was (RFC 9110, section 14). HEAD gets the headers of the whole file.

    Args:
        request: a GET or HEAD request.
        file: a file that can be sought in; it is closed when it is sent.
        tag: its strong entity tag with quotes, which changes with the bytes: parts of different files are never joined.
        name: the name under which browsers save it.
        content_type: its media type.
    """
    size = file.seek(0, os.SEEK_END)
    headers = {"Accept-Ranges": "bytes", "ETag": tag, "Cache-Control": "no-store"}
    try:
        part = None if request.method == "HEAD" else wanted_range(
            request.headers.get("Range"), size, tag=tag, only_if=request.headers.get("If-Range")
        )  # fmt: skip
    except NotSatisfiable:
        file.close()
        return HttpResponse(status=416, headers=headers | {"Content-Range": f"bytes */{size}"})
    start, end = part or (0, size)
    answer = FileAnswer(
        _Part(file, start, end), as_attachment=True, filename=name, content_type=content_type,
        status=206 if part else 200, headers=headers | {"Content-Length": str(end - start)},
    )  # fmt: skip
    answer.start = start
    if part:
        answer["Content-Range"] = f"bytes {start}-{end - 1}/{size}"
    if request.method == "HEAD":
        file.close()
        return HttpResponse(headers=dict(answer.items()))
    return answer


def export_answer(
    request: HttpRequest, parts: Iterable[str | bytes], *, name: str, content_type: str
) -> HttpResponseBase:
    """Return what is exported as a file to download; without a body for HEAD.

    Raises TooManySearches above the caller's limit, QueueFull while too many exports wait, ServiceUnavailable without
    Valkey, and whatever the parts raise: then nothing has been sent.
    """
    answer = StreamingHttpResponse(parts, content_type=content_type)
    answer["Content-Disposition"] = content_disposition_header(True, name) or "attachment"
    answer["X-Content-Type-Options"] = "nosniff"
    if request.method == "HEAD":
        return HttpResponse(headers=dict(answer.items()))
    count_export(request.user, visitor_of(request))
    with _turn():
        return written(answer)


def csv_answer(request: HttpRequest, rows: Iterable[Sequence[Any]], name: str) -> HttpResponseBase:
    """Return rows as a file of CSV to download, as `export_answer` does; `search.tables` makes the cells harmless."""
    return export_answer(request, _lines(rows), name=name, content_type="text/csv; charset=utf-8")


def written(answer: StreamingHttpResponse) -> FileAnswer:
    """Return a synchronous streaming answer with its content written to a file, by the calling thread.

    What makes the content may read the database: so it is done when this returns, and however slowly the file is then
    read, no thread and no connection waits for the reader.
    """
    file = cast(IO[bytes], SpooledTemporaryFile(IN_MEMORY))  # noqa: SIM115 -- closed with the answer
    try:
        for part in answer:
            file.write(part)
    except BaseException:
        file.close()
        raise
    file.seek(0)
    headers = dict(answer.items())
    whole = FileAnswer(file, status=answer.status_code, reason=answer._reason_phrase,  # type: ignore[attr-defined]
                       content_type=headers.pop("Content-Type", ""), headers=headers)  # fmt: skip
    whole.cookies = answer.cookies
    whole._resource_closers += answer._resource_closers  # type: ignore[attr-defined]
    return whole


@contextmanager
def _turn() -> Iterator[None]:
    """Wait for the turn to write an export, without a place and a connection. Raises QueueFull if too many wait."""
    if not _exports.acquire(blocking=False):
        again = f"ask again in {FULL_SECONDS:.0f} s"
        raise QueueFull(f"{WAITING} exports are waiting to be written already; {again}.", FULL_SECONDS)
    try:
        if not _writers.acquire(blocking=False):
            close_old_connections()
            with at_rest():
                _writers.acquire()
        try:
            yield
        finally:
            _writers.release()
    finally:
        _exports.release()


def _lines(rows: Iterable[Sequence[Any]]) -> Iterator[str]:
    yield BYTE_ORDER_MARK
    yield from csv_lines(rows)
