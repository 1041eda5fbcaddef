"""Files are read while they are sent."""

from __future__ import annotations

import io
import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.http import HttpResponseBase, StreamingHttpResponse
from django.test import Client, RequestFactory

from search import downloads
from search.downloads import BLOCK, IN_MEMORY, WAITING, WRITERS, FileAnswer, file_answer, file_tag, written
from search.models import Collection
from tests import own_loop


class Counted(io.BytesIO):
    """A file that notes how much is asked of it at once."""

    asked: list[int]

    def read(self, size: int | None = -1, /) -> bytes:
        self.asked.append(-1 if size is None else size)
        return super().read(size)


def test_a_large_file_is_sent_in_blocks_by_an_asynchronous_server() -> None:
    content = bytes(range(256)) * (2 * BLOCK // 256) + b"end"
    file = Counted(content)
    file.asked = []

    async def sent() -> list[bytes]:
        return [block async for block in FileAnswer(file, as_attachment=True, filename="a.bin")]

    blocks = own_loop.run(sent())
    assert [len(block) for block in blocks] == [BLOCK, BLOCK, 3]
    assert b"".join(blocks) == content
    assert set(file.asked) == {BLOCK}


def test_a_synchronous_caller_gets_the_same_with_its_length() -> None:
    answer = FileAnswer(io.BytesIO(b"x" * 10), as_attachment=True, filename="a.bin")
    assert answer["Content-Length"] == "10"
    assert b"".join(answer) == b"x" * 10  # type: ignore[arg-type]


LETTERS = b"abcdefghijklmnopqrstuvwxyz"


def asked(method: str = "GET", **headers: str) -> tuple[HttpResponseBase, bytes]:
    """Ask for the alphabet, and return the answer with its body as an asynchronous server reads it."""
    file = io.BytesIO(LETTERS)
    request = RequestFactory().generic(method, "/", headers=headers)
    answer = file_answer(request, file, tag='"a"', name="letters.bin")

    async def sent() -> bytes:
        return b"".join([block async for block in answer])  # type: ignore[union-attr]

    body = own_loop.run(sent()) if answer.streaming else answer.content  # type: ignore[attr-defined]
    assert file.closed != answer.streaming
    return answer, body


def test_the_whole_file_says_that_parts_of_it_can_be_asked_for() -> None:
    answer, body = asked()
    assert (answer.status_code, body, answer["Content-Length"]) == (200, LETTERS, "26")
    assert (answer["Accept-Ranges"], answer["ETag"]) == ("bytes", '"a"')
    assert answer["Content-Disposition"] == 'attachment; filename="letters.bin"'
    assert "Content-Range" not in answer


@pytest.mark.parametrize(
    ("wanted", "body", "where"),
    [
        ("bytes=20-", b"uvwxyz", "bytes 20-25/26"),
        ("bytes=2-4", b"cde", "bytes 2-4/26"),
        ("bytes=-3", b"xyz", "bytes 23-25/26"),
        ("bytes=0-99", LETTERS, "bytes 0-25/26"),
    ],
)
def test_one_part_is_sent_with_its_place(wanted: str, body: bytes, where: str) -> None:
    for headers in ({"Range": wanted}, {"Range": wanted, "If-Range": '"a"'}):
        answer, sent = asked(**headers)
        assert (answer.status_code, sent, answer["Content-Range"]) == (206, body, where)
        assert answer["Content-Length"] == str(len(body))
        assert answer["ETag"] == '"a"'


def test_a_part_that_is_not_there_is_refused_with_the_size_of_the_file() -> None:
    answer, body = asked(Range="bytes=26-")
    assert (answer.status_code, answer["Content-Range"], body) == (416, "bytes */26", b"")


@pytest.mark.parametrize(
    "headers",
    [{"Range": "bytes=1-2,4-5"}, {"Range": "nonsense"}, {"Range": "bytes=20-", "If-Range": '"b"'}],
    ids=["several", "nonsense", "another version"],
)
def test_otherwise_the_whole_file_is_sent(headers: dict[str, str]) -> None:
    answer, body = asked(**headers)
    assert (answer.status_code, body) == (200, LETTERS)


def test_the_head_of_a_file_is_its_size_and_tag_without_a_byte_of_it() -> None:
    answer, body = asked("HEAD", Range="bytes=20-")
    assert (answer.status_code, body) == (200, b"")
    assert (answer["Content-Length"], answer["Accept-Ranges"], answer["ETag"]) == ("26", "bytes", '"a"')


def test_a_synchronous_caller_gets_no_more_than_the_part() -> None:
    request = RequestFactory().get("/", headers={"Range": "bytes=3-5"})
    answer = file_answer(request, io.BytesIO(LETTERS), tag='"a"', name="a.bin")
    assert b"".join(answer) == b"def"  # type: ignore[arg-type]


def test_the_tag_of_a_file_changes_with_its_size_and_its_time_of_writing(tmp_path: Path) -> None:
    path = tmp_path / "a.bin"

    def tag(content: bytes, at: int) -> str:
        path.write_bytes(content)
        os.utime(path, ns=(at, at))
        with path.open("rb") as file:
            return file_tag(file)

    first = tag(b"abc", 255)
    assert first == '"ff-3"'
    assert tag(b"xyz", 255) == first
    assert tag(b"abc", 256) == '"100-3"'
    assert tag(b"abcd", 255) == '"ff-4"'


@pytest.mark.django_db
def test_content_that_code_makes_is_made_at_once_by_the_thread_that_asks_and_sent_from_a_file() -> None:
    threads = []

    def parts() -> Iterator[str]:
        for number in range(2 * IN_MEMORY // 1024):
            threads.append(threading.get_ident())
            yield f"{number:>1023}\n"

    streamed = StreamingHttpResponse(parts(), content_type="text/x-numbers", status=203, headers={"X-Own": "1"})
    streamed.set_cookie("a", "b")
    answer = written(streamed)
    assert set(threads) == {threading.get_ident()}
    assert (answer.status_code, answer["Content-Type"], answer["X-Own"]) == (203, "text/x-numbers", "1")
    assert answer["Content-Length"] == str(2 * IN_MEMORY)
    assert answer.cookies["a"].value == "b"
    assert answer.file_to_stream._rolled  # type: ignore[attr-defined] -- not in memory

    async def sent() -> bytes:
        return b"".join([block async for block in answer])

    assert own_loop.run(sent()) == b"".join(b"%1023d\n" % number for number in range(2 * IN_MEMORY // 1024))
    answer.close()


def test_what_goes_wrong_while_content_is_made_is_told_before_anything_is_sent() -> None:
    closed = []

    def parts() -> Iterator[str]:
        try:
            yield "a"
            raise LookupError("gone")
        finally:
            closed.append(True)

    with pytest.raises(LookupError, match="gone"):
        written(StreamingHttpResponse(parts()))
    assert closed == [True]


@pytest.fixture
def shared(db: None) -> str:
    """The address of an export of a shared collection."""
    Collection.objects.create(name="Shared", key="k" * 40, asker="somebody")
    return f"/collections/shared/{'k' * 40}/export"


@pytest.mark.usefixtures("services")
def test_exports_are_limited_by_address_and_by_account_and_apart_from_searches(
    shared: str, settings: Any, django_user_model: Any
) -> None:
    settings.GRASP_SEARCHES_PER_MINUTE, settings.GRASP_SEARCHES_PER_MINUTE_USER = 3, 2
    visitor, other, person = (
        Client(REMOTE_ADDR="192.0.2.71"), Client(REMOTE_ADDR="192.0.2.72"), Client(REMOTE_ADDR="192.0.2.71")
    )  # fmt: skip
    person.force_login(django_user_model.objects.create_user("exporter"))
    kinds = ("csv", "jsonl", "bib")
    assert [visitor.head(f"{shared}.csv").status_code for _ in range(5)] == [200] * 5
    assert [visitor.get(f"{shared}.{kind}").status_code for kind in kinds] == [200] * 3
    refused = visitor.get(f"{shared}.csv")
    assert (refused.status_code, 1 <= int(refused["Retry-After"]) <= 60) == (429, True)
    assert "An address may download 3 exports a minute; download again in" in refused.content.decode()
    assert other.get(f"{shared}.csv").status_code == 200
    assert [person.get(f"{shared}.csv").status_code for _ in range(3)] == [200, 200, 429]


@pytest.mark.usefixtures("services")
def test_while_too_many_exports_wait_to_be_written_the_next_is_refused_and_later_answered(
    shared: str, client: Client
) -> None:
    taken = 0
    while downloads._exports.acquire(blocking=False):
        taken += 1
    try:
        refused = client.get(f"{shared}.csv")
        assert (taken, refused.status_code, refused["Retry-After"]) == (WRITERS + WAITING, 503, "10")
        assert "16 exports are waiting to be written already" in refused.content.decode()
    finally:
        for _ in range(taken):
            downloads._exports.release()
    assert client.get(f"{shared}.csv").status_code == 200
