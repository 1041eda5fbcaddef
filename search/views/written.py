"""The written answer in the words of a language model: a part of the result page that grows as it comes, or a page."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any
from uuid import UUID

from asgiref.sync import sync_to_async
from django.db import connection
from django.http import Http404, HttpRequest, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.template.loader import render_to_string
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from search.services.searches.describe_search import describe_search
from search.services.searches.reword import Reworded, reword
from search.views.finding import find_run
from search.views.parts import wants_part
from search.views.shown.written import show_written
from search.views.unavailable import says_what_is_down

Json = Mapping[str, Any]

BODY = "search/_written_body.html"
END_OF_PART = "\f"
"""What stands behind each version of a part that comes in several; the next one replaces it."""


@require_safe
@never_cache
@says_what_is_down
def written(request: HttpRequest, run_id: UUID) -> HttpResponseBase:
    """Show the written answer of a search reworded, as far as its sources bear that out.

    A search has one such text, which is stored with the calls of the model, so that showing it again costs nothing.
    Raises Http404 if nothing is written.
    """
    search = describe_search(find_run(request, run_id))
    if not search["answer"]["written"]:
        raise Http404("Nothing answers this question, so nothing is written.")
    if wants_part(request):
        part = StreamingHttpResponse(_versions(request, search), content_type="text/html; charset=utf-8")
        part["X-Accel-Buffering"] = "no"
        return part
    told = reword(search["question"], search["answer"]["written"])
    return render(request, "search/written.html", _context(search, told))


async def _versions(request: HttpRequest, search: Json) -> AsyncIterator[str]:
    """Yield the part with the sentences that have been kept so far, and at the end the whole of it."""
    loop, news = asyncio.get_running_loop(), asyncio.Queue[Reworded]()

    def tell(sentences: Sequence[Json]) -> None:
        loop.call_soon_threadsafe(news.put_nowait, Reworded(sentences))

    def work() -> Reworded:
        try:
            return reword(search["question"], search["answer"]["written"], tell)
        finally:
            connection.close()

    working = asyncio.ensure_future(sync_to_async(work, thread_sensitive=False)())
    while not working.done():
        waiting = asyncio.ensure_future(news.get())
        await asyncio.wait((working, waiting), return_when=asyncio.FIRST_COMPLETED)
        if waiting.done():
            yield _body(request, search, waiting.result())
        else:
            waiting.cancel()
    yield _body(request, search, working.result())


def _body(request: HttpRequest, search: Json, told: Reworded) -> str:
    return f"{render_to_string(BODY, _context(search, told) | {'request': request})}{END_OF_PART}"


def _context(search: Json, told: Reworded) -> dict[str, Any]:
    return {"search": search, "written": show_written(search["question"], told.sentences), "reworded": told}
