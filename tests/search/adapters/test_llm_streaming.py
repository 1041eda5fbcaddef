"""An answer of a language model that is told while it is being written."""

from __future__ import annotations

import pytest

from search.adapters.llm_openai.body import text_so_far
from search.domain.conversation import Completion
from search.domain.errors import StageError
from search.domain.trace import Limit
from tests import misbehaving
from tests.misbehaving import KEY, Reply, streamed
from tests.search.adapters.test_llm_openai import PROMPT, Remembered, model_of


def heard_of(*replies: Reply) -> tuple[Completion | StageError, list[str], list[misbehaving.Body]]:
    heard: list[str] = []
    with misbehaving.running(*replies) as server:
        outcome = model_of(server, Remembered()).stream(PROMPT, Limit.seconds(5.0), heard.append)
        return outcome, heard, server.requests


def test_the_text_grows_to_the_whole_answer_with_its_tokens() -> None:
    outcome, heard, [request] = heard_of(streamed("Ada wrote it, in amber."))
    assert isinstance(outcome, Completion)
    assert (outcome.text, outcome.tokens) == ("Ada wrote it, in amber.", {"prompt": 120, "completion": 34})
    assert heard[-1] == outcome.text
    assert all(outcome.text.startswith(one) for one in heard)
    assert (request["stream"], request["stream_options"]) == (True, {"include_usage": True})


def test_a_server_that_does_not_stream_is_heard_at_the_end_alone() -> None:
    outcome, heard, _ = heard_of(Reply.says("ready"))
    assert isinstance(outcome, Completion)
    assert (outcome.text, "".join(heard)) == ("ready", "")


def test_a_server_that_knows_no_stream_options_is_asked_without_them() -> None:
    refusal = Reply.json({"error": {"message": "unknown field stream_options"}}, status=400)
    outcome, _, requests = heard_of(refusal, streamed("ready"))
    assert isinstance(outcome, Completion)
    assert ["stream_options" in one for one in requests] == [True, False]
    assert [one["stream"] for one in requests] == [True, True]


def test_a_repeated_key_is_not_told() -> None:
    _, heard, _ = heard_of(streamed(f"The key is {KEY}.", size=60))
    assert all(KEY not in one for one in heard)


def test_a_failure_is_told_as_one() -> None:
    outcome, heard, _ = heard_of(misbehaving.UNAUTHORISED)
    assert isinstance(outcome, StageError)
    assert heard == []


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (b"", ""),
        (b'{"choices": []}', ""),
        (b'data: {"choices": [{"delta": {"content": "Ad"}}]}\n\ndata: {"choices": [{"delta": {"conte', "Ad"),
        (b'data: {"choices": [{"delta": {"content": "\xc3\xa9"}}]}\n\ndata: {"choices": [{"delta": {"con\xc3', "é"),
    ],
)  # fmt: skip
def test_only_whole_events_are_read(content: bytes, text: str) -> None:
    assert text_so_far(content) == text
