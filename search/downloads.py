"""Tables and files to download."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from typing import Any

from django.http import FileResponse, HttpRequest, HttpResponse, StreamingHttpResponse

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

    async def __aiter__(self) -> AsyncIterator[bytes]:
        """Yield the file in blocks, each read in a thread."""
        opened = self.file_to_stream
        while opened is not None and (block := await asyncio.to_thread(opened.read, BLOCK)):
            yield block


def csv_answer(request: HttpRequest, rows: Iterable[Sequence[Any]], name: str) -> Any:
    """Return rows as a stream of CSV, which is sent while they are read; without a body for HEAD.

    `search.tables` makes the cells harmless.
    """
    answer = StreamingHttpResponse(_lines(rows), content_type="text/csv; charset=utf-8")
    answer["Content-Disposition"] = f'attachment; filename="{name}"'
    answer["X-Content-Type-Options"] = "nosniff"
    return HttpResponse(headers=dict(answer.items())) if request.method == "HEAD" else answer


def _lines(rows: Iterable[Sequence[Any]]) -> Iterator[str]:
    yield BYTE_ORDER_MARK
    yield from csv_lines(rows)
