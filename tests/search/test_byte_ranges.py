"""The examples of RFC 9110, section 14.1.2, for a file of 10,000 bytes, and what the standard leaves open."""

from __future__ import annotations

import pytest

from search.byte_ranges import NotSatisfiable, wanted_range

SIZE = 10_000
TAG = '"5-2710"'


@pytest.mark.parametrize(
    ("asked", "part"),
    [
        ("bytes=0-499", (0, 500)),
        ("bytes=500-999", (500, 1_000)),
        ("bytes=-500", (9_500, 10_000)),
        ("bytes=9500-", (9_500, 10_000)),
        ("bytes=0-0", (0, 1)),
        ("bytes=0-", (0, 10_000)),
        ("bytes=9999-", (9_999, 10_000)),
        # The last position may lie behind the end, and a suffix may be longer than the file.
        ("bytes=9000-99999", (9_000, 10_000)),
        ("bytes=-10001", (0, 10_000)),
        (f"bytes=1-{'9' * 5000}", (1, 10_000)),
        (f"bytes=-{'9' * 5000}", (0, 10_000)),
        (f"bytes={'0' * 5000}7-8", (7, 9)),
        ("BYTES=7-8", (7, 9)),
        ("bytes= 7-8 ", (7, 9)),
    ],
)
def test_one_range_is_a_part_of_the_file(asked: str, part: tuple[int, int]) -> None:
    assert wanted_range(asked, SIZE, tag=TAG) == part


@pytest.mark.parametrize(
    "asked",
    [
        None, "", "bytes", "bytes=", "bytes=-", "bytes=--5", "bytes=a-b", "bytes=5", "bytes=-5-", "bytes=1.5-3",
        "bytes=8-7", "lines=1-2", "bytes=0-0,-1", "bytes=500-600,601-999", "bytes=٣-٤", "0-5", "bytes=0x1-5",
        "bytes=+1-5",
    ],
)  # fmt: skip
def test_several_ranges_and_nonsense_are_the_whole_file(asked: str | None) -> None:
    assert wanted_range(asked, SIZE, tag=TAG) is None


@pytest.mark.parametrize("asked", ["bytes=10000-", "bytes=10000-10001", "bytes=-0", f"bytes={'9' * 5000}-"])
def test_a_range_without_a_byte_is_refused(asked: str) -> None:
    with pytest.raises(NotSatisfiable):
        wanted_range(asked, SIZE, tag=TAG)


def test_an_empty_file_has_no_part() -> None:
    assert wanted_range("bytes=-5", 0, tag=TAG) is None
    with pytest.raises(NotSatisfiable):
        wanted_range("bytes=0-", 0, tag=TAG)


@pytest.mark.parametrize(
    ("only_if", "part"),
    [
        (TAG, (1, 3)),
        (f" {TAG} ", (1, 3)),
        ('"another"', None),
        (f"W/{TAG}", None),
        ("5-2710", None),
        ("", None),
        ("Sat, 29 Oct 1994 19:43:31 GMT", None),
    ],
)
def test_a_part_is_only_sent_of_the_version_that_the_request_names(only_if: str, part: tuple[int, int] | None) -> None:
    assert wanted_range("bytes=1-2", SIZE, tag=TAG, only_if=only_if) == part


def test_no_part_of_another_version_is_refused() -> None:
    assert wanted_range("bytes=10000-", SIZE, tag=TAG, only_if='"another"') is None
