"""Tables and files to download."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from typing import IO, Any

from django.http import FileResponse, HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.utils.http import content_disposition_header

from search.byte_ranges import NotSatisfiable, wanted_range
from search.tables import csv_lines

BYTE_ORDER_MARK = "\ufeff"
"""Without this mark, spreadsheet programs do not recognise UTF-8."""


BLOCK = 1 << 18
"""Bytes of a file that are read and sent at once."""


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


def csv_answer(request: HttpRequest, rows: Iterable[Sequence[Any]], name: str) -> Any:
    """Return rows as a stream of CSV, which is sent while they are read; without a body for HEAD.

    `search.tables` makes the cells harmless.
    """
    answer = StreamingHttpResponse(_lines(rows), content_type="text/csv; charset=utf-8")
    answer["Content-Disposition"] = content_disposition_header(True, name)
    answer["X-Content-Type-Options"] = "nosniff"
    return HttpResponse(headers=dict(answer.items())) if request.method == "HEAD" else answer


def _lines(rows: Iterable[Sequence[Any]]) -> Iterator[str]:
    yield BYTE_ORDER_MARK
    yield from csv_lines(rows)
