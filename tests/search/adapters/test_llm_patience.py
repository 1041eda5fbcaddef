"""A server that repeatedly keeps searches waiting without an answer is suspended for a while."""

from __future__ import annotations

from dataclasses import replace

import pytest

from search.adapters.llm_openai import Call, ConfiguredLanguageModel, Server
from search.adapters.llm_openai.patience import PAUSE_SECONDS, Patience
from search.domain.conversation import Completion, Message, Prompt
from search.domain.errors import StageError
from search.domain.trace import Limit
from search.models.sealed import Secret
from tests import misbehaving
from tests.misbehaving import KEY, Reply
from tests.search.adapters.test_llm_openai import Remembered

SERVER = Server("kestrel", "http://127.0.0.1:9/v1", "tiny-1", Secret(KEY))
PROMPT = Prompt((Message("user", "Who?"),))
SILENT = Call(SERVER, PROMPT, error="tiny-1 at kestrel did not answer within 8 seconds.", seconds=8.0)
REFUSED = Call(SERVER, PROMPT, error="tiny-1 at kestrel does not accept the key (HTTP 401).", seconds=0.01)
ANSWERED = Call(SERVER, PROMPT, Completion("ready"), seconds=8.0)
LOST = (
    "tiny-1 at kestrel failed slowly 3 times in a row, and is asked again in 30 seconds. "
    "The last time: tiny-1 at kestrel did not answer within 8 seconds."
)


class Clock:
    """Shows the time that a test sets."""

    now = 1_000.0

    def __call__(self) -> float:
        return self.now


def after(clock: Clock, *outcomes: Call) -> Patience:
    patience = Patience(clock)
    for outcome in outcomes:
        patience.note(SERVER, [outcome])
    return patience


def test_after_three_slow_failures_in_a_row_a_server_is_left_alone_and_the_reason_says_for_how_long() -> None:
    clock = Clock()
    assert after(clock, SILENT, SILENT).lost(SERVER) == ""
    assert after(clock, SILENT, SILENT, SILENT).lost(SERVER) == LOST


def test_an_answer_in_between_starts_the_count_anew_and_a_quick_refusal_does_not_count() -> None:
    clock = Clock()
    assert after(clock, SILENT, SILENT, ANSWERED, SILENT).lost(SERVER) == ""
    assert after(clock, *[REFUSED] * 10).lost(SERVER) == ""


def test_samples_of_one_search_count_once_and_one_answer_among_them_is_an_answer() -> None:
    patience = Patience(Clock())
    patience.note(SERVER, [SILENT] * 5)
    assert patience.lost(SERVER) == ""
    for _ in range(3):
        patience.note(SERVER, [SILENT, ANSWERED])
    assert patience.lost(SERVER) == ""


def test_after_the_pause_one_call_tries_while_the_others_go_on_without() -> None:
    clock = Clock()
    patience = after(clock, SILENT, SILENT, SILENT)
    clock.now += PAUSE_SECONDS
    assert patience.lost(SERVER) == ""
    assert patience.lost(SERVER) == LOST
    patience.note(SERVER, [SILENT])
    assert "4 times in a row" in patience.lost(SERVER)
    clock.now += PAUSE_SECONDS
    assert patience.lost(SERVER) == ""
    patience.note(SERVER, [ANSWERED])
    assert patience.lost(SERVER) == ""


def test_a_server_whose_settings_were_changed_is_asked_at_once() -> None:
    patience = after(Clock(), SILENT, SILENT, SILENT)
    assert patience.lost(replace(SERVER, timeout=60.0)) == ""
    assert patience.lost(replace(SERVER, key=Secret("sk-another-key"))) == ""


def test_a_server_that_is_left_alone_gets_no_request_and_the_caller_a_reason_without_the_key() -> None:
    with misbehaving.running(Reply.says("ready")) as server:
        address = replace(SERVER, base_url=server.url)
        patience = Patience(Clock())
        for _ in range(3):
            patience.note(address, [SILENT])
        model = ConfiguredLanguageModel(Remembered(), address, patience)
        with pytest.raises(StageError) as caught:
            model.complete([PROMPT], Limit.seconds(5))
    assert (caught.value.reason, caught.value.permanent, server.requests) == (LOST, False, [])


def test_what_is_noted_is_how_the_calls_went() -> None:
    with misbehaving.running(Reply.says("ready")) as server:
        address = replace(SERVER, base_url=server.url)
        patience = Patience(Clock())
        for _ in range(2):
            patience.note(address, [SILENT])
        ConfiguredLanguageModel(Remembered(), address, patience).complete([PROMPT], Limit.seconds(5))
    patience.note(address, [SILENT])
    assert patience.lost(address) == ""
