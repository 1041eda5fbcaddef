"""A request is answered on one thread from start to close, and a stream ends when its reader goes away."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from django.core.signals import request_finished, request_started
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.urls import get_script_prefix, path

from grasp_site import urls as site_urls
from grasp_site.asgi import Application
from grasp_site.body_limit import BodyLimit, Message
from tests import own_loop

SECONDS = 20.0
happened: list[tuple[str, int]] = []


def note(what: str) -> None:
    happened.append((what, threading.get_ident()))


def echo(request: HttpRequest) -> HttpResponse:
    note("view")
    return HttpResponse(request.body + f" below {get_script_prefix()}".encode(), status=202)


def broken(request: HttpRequest) -> HttpResponse:
    raise RuntimeError("unexpected")


async def numbers() -> AsyncIterator[str]:
    note("stream begins")
    try:
        for number in range(1_000_000):
            yield f"{number}\n"
            await asyncio.sleep(0)
    finally:
        note("stream ends")


def stream(request: HttpRequest) -> HttpResponseBase:
    return StreamingHttpResponse(numbers())


urlpatterns = [path("echo/", echo), path("broken/", broken), path("stream/", stream), *site_urls.urlpatterns]


def started(**_: Any) -> None:
    note("started")


def finished(**_: Any) -> None:
    note("finished")


@pytest.fixture(autouse=True)
def addresses(settings: Any) -> Iterator[None]:
    settings.ROOT_URLCONF = __name__
    happened.clear()
    request_started.connect(started)
    request_finished.connect(finished)
    yield
    request_started.disconnect(started)
    request_finished.disconnect(finished)


def asked(address: str, *, body: bytes = b"", leaves_after: int | None = None, **more: Any) -> list[Message]:
    """Return the messages of the answer; the caller goes away after `leaves_after` of them."""
    scope = {
        "type": "http", "method": "GET", "path": address, "query_string": b"", "root_path": "", "scheme": "http",
        "headers": [(b"host", b"127.0.0.1"), (b"content-length", str(len(body)).encode())],
        "client": ("127.0.0.1", 5), "server": ("127.0.0.1", 80),
    }  # fmt: skip
    sent: list[Message] = []

    async def talk() -> None:
        gone = asyncio.Event()
        parts: Iterator[Message] = iter(
            [{"type": "http.request", "body": body[:3], "more_body": True}, {"body": body[3:], "type": "x"}]
        )

        async def receive() -> Message:
            part = next(parts, None)
            if part is None:
                await gone.wait()
                return {"type": "http.disconnect"}
            return part

        async def send(message: Message) -> None:
            sent.append(message)
            if len(sent) == leaves_after:
                gone.set()

        # An application of its own: the threads of the site's may hold connections that other tests opened.
        application = BodyLimit(Application(), 1 << 20)
        async with asyncio.timeout(SECONDS):
            await application(scope | more, receive, send)

    own_loop.run(talk())
    return sent


def test_a_request_starts_is_answered_and_ends_on_one_thread_which_is_not_the_loops() -> None:
    start, content = asked("/echo/", body=b"a question")
    assert (start["status"], content["body"]) == (202, b"a question below /")
    assert [what for what, _ in happened] == ["started", "view", "finished"]
    threads = {thread for _, thread in happened}
    assert len(threads) == 1
    assert threading.get_ident() not in threads


def test_the_path_that_the_site_lies_below_holds_for_one_request() -> None:
    below = asked("/here/echo/", root_path="/here")
    assert below[1]["body"] == b" below /here/"
    assert asked("/echo/")[1]["body"] == b" below /"


def test_an_unexpected_error_is_an_answer_and_ends_the_request() -> None:
    assert asked("/broken/")[0]["status"] == 500
    assert [what for what, _ in happened] == ["started", "finished"]


def test_a_stream_ends_when_its_reader_goes_away() -> None:
    sent = asked("/stream/", leaves_after=5)
    assert 5 <= len(sent) < 1_000
    assert [what for what, _ in happened] == ["started", "stream begins", "stream ends", "finished"]


def test_another_protocol_is_refused() -> None:
    with pytest.raises(ValueError, match="websocket"):
        asked("/echo/", type="websocket")
