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
from grasp_site.asgi import PLACES, Application
from grasp_site.body_limit import BodyLimit, Message
from grasp_site.lanes import of_the_door
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


held, entered = threading.Event(), threading.Semaphore(0)


def hold(request: HttpRequest) -> HttpResponse:
    entered.release()
    assert held.wait(SECONDS)
    return HttpResponse("held")


def rows(request: HttpRequest) -> HttpResponseBase:
    def made() -> Iterator[str]:
        for number in range(3):
            note("row")
            yield f"{number},"

    return StreamingHttpResponse(made())


def door(request: HttpRequest) -> HttpResponse:
    return HttpResponse("come in")


urlpatterns = [
    path("echo/", echo), path("broken/", broken), path("stream/", stream), path("hold/", hold), path("rows/", rows),
    path("", door), *site_urls.urlpatterns,
]  # fmt: skip


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


def scope_of(address: str, body: bytes = b"") -> dict[str, Any]:
    return {
        "type": "http", "method": "GET", "path": address, "query_string": b"", "root_path": "", "scheme": "http",
        "headers": [(b"host", b"127.0.0.1"), (b"content-length", str(len(body)).encode())],
        "client": ("127.0.0.1", 5), "server": ("127.0.0.1", 80),
    }  # fmt: skip


def asked(address: str, *, body: bytes = b"", leaves_after: int | None = None, **more: Any) -> list[Message]:
    """Return the messages of the answer; the caller goes away after `leaves_after` of them."""
    scope = scope_of(address, body)
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


def test_synchronous_content_is_made_on_the_thread_of_the_request() -> None:
    sent = asked("/rows/")
    assert b"".join(message.get("body", b"") for message in sent[1:]) == b"0,1,2,"
    assert [what for what, _ in happened] == ["started", "row", "row", "row", "finished"]
    assert len({thread for what, thread in happened if what != "finished"}) == 1


def test_thirty_clients_of_other_addresses_do_not_keep_the_door_closed() -> None:
    application, answers = Application(), []
    held.clear()

    async def one(address: str, client: str) -> None:
        parts = [{"type": "http.request", "body": b"", "more_body": False}]

        async def receive() -> Message:
            return parts.pop() if parts else {"type": "http.disconnect"}

        async def send(message: Message) -> None:
            if "body" in message:
                answers.append((address, message["body"]))

        await application(scope_of(address) | {"client": (client, 5)}, receive, send)

    async def talk() -> None:
        async with asyncio.timeout(SECONDS), asyncio.TaskGroup() as group:
            for number in range(30):
                group.create_task(one("/hold/", f"192.0.2.{number}"))
            inside = PLACES - of_the_door(PLACES)
            for _ in range(inside):
                assert await asyncio.to_thread(entered.acquire, timeout=SECONDS)
            await asyncio.gather(*(one("/", "192.0.2.1") for _ in range(5)))
            assert answers == [("/", b"come in")] * 5
            held.set()

    own_loop.run(talk())
    assert answers.count(("/hold/", b"held")) == 30


def test_another_protocol_is_refused() -> None:
    with pytest.raises(ValueError, match="websocket"):
        asked("/echo/", type="websocket")
