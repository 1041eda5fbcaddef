"""Files are read while they are sent."""

from __future__ import annotations

import io
import os
from pathlib import Path

import pytest
from django.http import HttpResponseBase
from django.test import RequestFactory

from search.downloads import BLOCK, FileAnswer, file_answer, file_tag
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
