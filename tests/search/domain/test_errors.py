"""Faults: the pointers of places in an input, and the valid name that was meant."""

from __future__ import annotations

from search.domain.errors import Fault, InvalidRequest, nearest, pointer


def test_a_pointer_escapes_what_rfc_6901_escapes() -> None:
    # RFC 6901, section 5: the key "a/b" is written a~1b, the key "m~n" is m~0n.
    assert pointer("a/b") == "/a~1b"
    assert pointer("m~n", 0) == "/m~0n/0"
    assert pointer("~1") == "/~01"
    assert pointer() == ""


def test_a_pointer_repeats_no_more_of_a_key_than_an_identifier_may_have() -> None:
    assert pointer("x" * 100_000) == "/" + "x" * 512


def test_the_nearest_name_is_found_whatever_the_case() -> None:
    assert nearest("Fuse.K", ["fuse.k", "plan.plans"]) == "fuse.k"
    assert nearest("colour", ["color", "price"]) == "color"
    assert nearest("zzz", ["color", "price"]) is None


def test_of_very_many_faults_the_first_fifty_are_kept_and_that_there_are_more() -> None:
    faults = [Fault(f"/{number}", "It is wrong.") for number in range(51)]
    assert InvalidRequest(faults[:50]).faults == tuple(faults[:50])
    *kept, last = InvalidRequest(faults).faults
    assert kept == faults[:50]
    assert last.pointer == ""
    assert last.message == "There are more faults than these 50; the next ones are shown when these are mended."
