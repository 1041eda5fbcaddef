"""The client of OpenAI-compatible servers, against a real HTTP server that behaves badly in every way there is."""

from __future__ import annotations

import io
import json
import logging
import socket
import threading
import time
import traceback
from collections.abc import Iterator
from dataclasses import replace

import pytest
from rich.console import Console
from rich.traceback import Traceback

from search.adapters.llm_openai import Call, ConfiguredLanguageModel
from search.adapters.llm_openai import Server as Address
from search.adapters.llm_openai.configured import list_models
from search.adapters.llm_openai.exchange import MOST_BYTES
from search.domain.conversation import Completion, Message, Prompt
from search.domain.errors import DeadlineExceeded, SearchCancelled, StageError
from search.domain.trace import Limit
from search.models.sealed import Secret
from tests import misbehaving
from tests.misbehaving import KEY, Reply, Server

LATE = 10.0
"""Seconds after which a call has not kept its limit; a silent server would keep it for thirty."""
PROMPT = Prompt((Message("system", "You plan."), Message("user", "Who?")), version="v1")
SCHEMA = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}


class Remembered:
    """A log of calls in memory (search.adapters.llm_openai.CallLog)."""

    def __init__(self) -> None:
        self.calls: list[Call] = []

    def find(self, server: Address, prompt: Prompt) -> Completion | None:
        """Return the answer to the same prompt by the same server."""
        for call in self.calls:
            same = call.server.request_hash(call.prompt) == server.request_hash(prompt)
            if same and call.completion is not None:
                return replace(call.completion, cached=True)
        return None

    def record(self, call: Call) -> None:
        """Keep a call."""
        self.calls.append(call)


@pytest.fixture
def server() -> Iterator[Server]:
    with misbehaving.running(Reply.says("ready")) as running:
        yield running


def model_of(server: Server, log: Remembered | None = None, **settings: object) -> ConfiguredLanguageModel:
    address = Address("kestrel", server.url, "tiny-1", Secret(KEY), **settings)  # type: ignore[arg-type]
    return ConfiguredLanguageModel(log or Remembered(), address)


def answer_of(
    server: Server, seconds: float = 5.0, prompt: Prompt = PROMPT, **settings: object
) -> Completion | StageError:
    [outcome] = model_of(server, **settings).complete([prompt], Limit.seconds(seconds))
    return outcome


def test_an_answer_comes_with_its_tokens_its_reason_to_stop_and_who_gave_it(server: Server) -> None:
    answer = answer_of(server)
    assert isinstance(answer, Completion)
    assert (answer.text, answer.finish_reason, answer.model) == ("ready", "stop", "tiny-1 at kestrel")
    assert answer.tokens == {"prompt": 120, "completion": 34}
    assert not answer.cached


def test_the_request_holds_model_messages_and_key_and_goes_below_the_base_url_as_given(server: Server) -> None:
    answer_of(server)
    assert server.requests[0]["model"] == "tiny-1"
    assert server.requests[0]["messages"] == [m.to_json() for m in PROMPT.messages]
    assert server.requests[0]["stream"] is False
    assert server.headers[0]["Authorization"] == f"Bearer {KEY}"


def test_a_query_of_the_base_url_stays_behind_the_path_and_a_slash_is_not_doubled() -> None:
    assert Address("a", "https://h/x/?api-version=2", "m").url("models") == "https://h/x/models?api-version=2"


def test_without_a_key_no_authorisation_is_sent(server: Server) -> None:
    ConfiguredLanguageModel(Remembered(), Address("kestrel", server.url, "tiny-1")).complete([PROMPT], Limit.seconds(5))
    assert "Authorization" not in server.headers[0]


BAD = {
    "slow": (misbehaving.SLOW, False, "did not answer within"),
    "a web page": (misbehaving.HTML, True, "a web page instead of JSON; is the base URL right?"),
    "half a JSON": (misbehaving.HALF_JSON, False, "not JSON, or JSON that breaks off"),
    "a connection cut off": (misbehaving.CUT_OFF, False, "broke the connection off"),
    "the wrong schema": (misbehaving.WRONG_SCHEMA, True, "answers without choices; it is not OpenAI-compatible"),
    "no choice": (misbehaving.NO_CHOICES, False, "gave an empty answer"),
    "an empty choice": (
        misbehaving.EMPTY_CHOICE,
        False,
        "gave an empty answer (it stopped because of 'content_filter')",
    ),
    "200 with an error in it": (misbehaving.ERROR_IN_200, False, "reported an error: model crashed while serving ***."),
    "an endless stream": (misbehaving.ENDLESS, True, "sent more than 4 MiB without coming to an end."),
    "an endless drip": (misbehaving.DRIPPING, False, "did not answer within"),
    "401": (misbehaving.UNAUTHORISED, True, "does not accept the key (HTTP 401): Incorrect API key provided: ***."),
    "429 for an hour": (
        misbehaving.TOO_MANY_FOR_LONG,
        False,
        "It asks to wait 3600 seconds, longer than there is time for.",
    ),
    "503": (misbehaving.FAILING, False, "failed (HTTP 503): out of memory."),
    "a redirect": (misbehaving.REDIRECT, True, "redirects elsewhere (HTTP 301)"),
}


@pytest.mark.parametrize("way", BAD)
def test_a_server_that_misbehaves_is_a_sentence_within_the_deadline_and_never_shows_the_key(
    way: str, caplog: pytest.LogCaptureFixture
) -> None:
    reply, permanent, sentence = BAD[way]
    log = Remembered()
    began = time.monotonic()
    with caplog.at_level(logging.DEBUG), misbehaving.running(reply) as server:
        [outcome] = model_of(server, log).complete([PROMPT], Limit.seconds(1.5))
    assert time.monotonic() - began < LATE
    assert isinstance(outcome, StageError)
    assert sentence in outcome.reason
    assert outcome.permanent is permanent
    assert [call.error for call in log.calls] == [outcome.reason]
    shown = f"{outcome!r} {outcome} {log.calls!r} {caplog.text} {''.join(traceback.format_exception(outcome))}"
    assert KEY not in shown
    assert "tiny-1 at kestrel" in outcome.reason


def stream(*chunks: object, separator: str = "\n\n", end: str = "data: [DONE]\n\n") -> str:
    """A body of server-sent events, with texts as they are and everything else as JSON."""
    said = (chunk if isinstance(chunk, str) else f"data: {json.dumps(chunk)}" for chunk in chunks)
    return "".join(f"{one}{separator}" for one in said) + end


def chunk(text: str | None = None, finish_reason: str | None = None, **extra: object) -> dict[str, object]:
    """A chunk of a streamed completion."""
    delta = {} if text is None else {"content": text}
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish_reason}], **extra}


USAGE = {"usage": {"prompt_tokens": 120, "completion_tokens": 34}}
WHOLE = json.dumps(misbehaving.chat("ready for Ada Müller"))
CHUNKS = (chunk("", usage=None), chunk("ready "), chunk("for Ada "), chunk("Müller"), chunk(None, "stop"),
          {"choices": [], **USAGE})  # fmt: skip
LEGACY = [{"choices": [{"index": 0, "text": text, "finish_reason": None}]} for text in ("ready for ", "Ada Müller")]
UNUSUAL: dict[str, str | bytes] = {
    "a byte order mark": "\ufeff" + WHOLE,
    "two byte order marks and white space": " \ufeff\r\n\ufeff" + WHOLE,
    "UTF-16 with a byte order mark": WHOLE.encode("utf-16"),
    "UTF-16 without one": WHOLE.encode("utf-16-le"),
    "UTF-32": WHOLE.encode("utf-32"),
    "a stream of events": stream(*CHUNKS),
    "a stream with a byte order mark": "\ufeff" + stream(*CHUNKS),
    "a stream with carriage returns": stream(*CHUNKS).replace("\n", "\r\n"),
    "a stream without blank lines": stream(*CHUNKS, separator="\n"),
    "a stream with comments and other fields": stream(": ping", "event: start\nid: 1\nretry: 10", *CHUNKS),
    "a stream without its last line": stream(*CHUNKS, end="")[:-2],
    "a stream without a space behind the colon": stream(*CHUNKS).replace("data: ", "data:"),
    "a whole response as the only event": stream(f"data: {WHOLE}"),
    "a whole response as the only event, without an end": f"data: {WHOLE}\n\n",
    "a whole response in several lines of one event": "".join(
        f"data: {line}\n" for line in json.dumps(misbehaving.chat("ready for Ada Müller"), indent=1).splitlines()
    ),
    "whole message in the last chunk": stream(chunk("ready"), misbehaving.chat("ready for Ada Müller")),
    "content in parts": stream(
        chunk([{"type": "text", "text": "ready for "}]),  # type: ignore[arg-type]
        chunk([{"type": "text", "text": "Ada Müller"}], "stop", **USAGE),  # type: ignore[arg-type]
    ),
    "plain completions": stream(*LEGACY, USAGE),
    "one object a line": "\n".join(json.dumps(one) for one in CHUNKS),
}


@pytest.mark.parametrize("way", UNUSUAL)
@pytest.mark.parametrize("content_type", ["application/json", "text/event-stream; charset=utf-8"])
def test_a_byte_order_mark_and_a_stream_that_was_not_asked_for_are_read(way: str, content_type: str) -> None:
    body = UNUSUAL[way]
    reply = Reply(body=body if isinstance(body, bytes) else body.encode(), headers={"Content-Type": content_type})
    with misbehaving.running(reply) as running:
        answer = answer_of(running)
    assert isinstance(answer, Completion), answer
    assert answer.text == "ready for Ada Müller"
    assert answer.tokens == {"prompt": 120, "completion": 34}


BROKEN = {
    "a stream that breaks off between events": (stream(*CHUNKS[:3], end=""), "not JSON, or JSON that breaks off"),
    "a stream that breaks off within an event": (stream(*CHUNKS)[:150], "not JSON, or JSON that breaks off"),
    "a stream without data": (": ping\n\n: ping\n\n", "not JSON, or JSON that breaks off"),
    "a stream that ends at once": (stream(), "not JSON, or JSON that breaks off"),
    "an error in a stream": (
        stream(CHUNKS[0], {"error": {"message": f"CUDA out of memory at {KEY}", "type": "server_error"}}),
        "reported an error: CUDA out of memory at ***.",
    ),
    "only a byte order mark": ("\ufeff", "an empty body"),
    "a stream of empty chunks": (stream(chunk(""), chunk(None, "length")), "gave an empty answer"),
}


@pytest.mark.parametrize("way", BROKEN)
def test_a_stream_that_is_no_whole_answer_is_a_sentence(way: str) -> None:
    body, sentence = BROKEN[way]
    with misbehaving.running(Reply(body=body, headers={"Content-Type": "text/event-stream"})) as running:
        answer = answer_of(running, seconds=2.0)
    assert isinstance(answer, StageError)
    assert sentence in answer.reason
    assert not answer.permanent


def test_models_and_refusals_are_read_from_unusual_bodies_too() -> None:
    with misbehaving.running() as running:
        running.models = Reply(body=stream({"data": [{"id": "tiny-1"}]}))
        assert list_models(Address("kestrel", running.url, ""), Limit.seconds(5)) == ["tiny-1"]
    refused = Reply(404, "\ufeff" + json.dumps({"error": {"message": "no model tiny-1"}}))
    with misbehaving.running(refused) as running:
        answer = answer_of(running)
    assert isinstance(answer, StageError)
    assert answer.reason.endswith("knows no such address or model (HTTP 404): no model tiny-1.")


def test_a_server_that_is_down_is_said_to_be_unreachable() -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{closed.getsockname()[1]}/v1"
    outcome = answer_of(Server(url), seconds=3.0)
    assert isinstance(outcome, StageError)
    assert "cannot be reached" in outcome.reason
    assert not outcome.permanent


@pytest.mark.parametrize("url", ["http://[bad/v1", "ftp://host/v1", "http://\udcff/v1", "nonsense"])
def test_an_address_that_is_none_is_said_to_be_none(url: str) -> None:
    outcome = answer_of(Server(url), seconds=2.0)
    assert isinstance(outcome, StageError)
    assert "has an address that is none" in outcome.reason


@pytest.mark.parametrize("key", ["two\nlines-of-key", "schlüssel-für-alles"])
def test_a_key_that_no_header_can_carry_is_not_shown_by_its_refusal(server: Server, key: str) -> None:
    address = Address("kestrel", server.url, "tiny-1", Secret(key))
    [outcome] = ConfiguredLanguageModel(Remembered(), address).complete([PROMPT], Limit.seconds(2))
    assert isinstance(outcome, StageError)
    assert "enter the key again" in outcome.reason
    assert key not in "".join(traceback.format_exception(outcome))


def test_what_passes_is_tried_again_and_retry_after_is_honoured() -> None:
    log = Remembered()
    with misbehaving.running(misbehaving.FAILING, misbehaving.TOO_MANY, Reply.says("ready")) as server:
        [outcome] = model_of(server, log).complete([PROMPT], Limit.seconds(10))
    assert isinstance(outcome, Completion)
    assert log.calls[0].requests == len(server.requests) == 3


def test_retry_after_is_waited_for() -> None:
    patient = Reply.json({"error": "later"}, status=429, Retry_After="1")
    with misbehaving.running(patient, Reply.says("ready")) as server:
        began = time.monotonic()
        assert isinstance(answer_of(server, seconds=10), Completion)
    assert time.monotonic() - began >= 1.0


def test_after_three_requests_a_failing_server_is_given_up() -> None:
    with misbehaving.running(misbehaving.FAILING) as server:
        assert isinstance(answer_of(server, seconds=10), StageError)
    assert len(server.requests) == 3


def test_what_stays_wrong_is_not_tried_again() -> None:
    with misbehaving.running(misbehaving.UNAUTHORISED) as server:
        answer_of(server)
    assert len(server.requests) == 1


def test_a_repeat_that_the_time_runs_out_on_is_explained_by_what_made_it_necessary() -> None:
    with misbehaving.running(misbehaving.FAILING, misbehaving.SLOW) as server:
        outcome = answer_of(server, seconds=1.3)
    assert isinstance(outcome, StageError)
    assert outcome.reason == (
        "tiny-1 at kestrel failed (HTTP 503): out of memory. There was no time to wait for another answer."
    )


def test_a_key_that_the_model_says_back_is_cut_out_of_its_answer() -> None:
    with misbehaving.running(Reply.says(f"it is {KEY}, I think", finish_reason=KEY)) as server:
        answer = answer_of(server)
    assert isinstance(answer, Completion)
    assert (answer.text, answer.finish_reason) == ("it is ***, I think", "***")


def test_the_timeout_of_one_request_leaves_time_for_another() -> None:
    with misbehaving.running(misbehaving.SLOW, Reply.says("ready")) as server:
        assert isinstance(answer_of(server, seconds=10, timeout=0.3), Completion)


def test_several_prompts_are_under_way_at_once_but_never_more_than_the_server_takes() -> None:
    prompts = [replace(PROMPT, sample=sample) for sample in range(6)]
    both_in = threading.Barrier(2, timeout=10)
    with misbehaving.running(Reply.says("ready")) as server:
        server.respond = lambda body: (both_in.wait(), Reply.says("ready"))[1]
        outcomes = model_of(server, concurrency=2).complete(prompts, Limit.seconds(20))
    assert all(isinstance(outcome, Completion) for outcome in outcomes)
    assert server.most_at_once == 2


def test_the_same_prompt_is_answered_from_memory_and_another_sample_is_not(server: Server) -> None:
    model = model_of(server)
    model.complete([PROMPT], Limit.seconds(5))
    again, other = model.complete([PROMPT, replace(PROMPT, sample=1)], Limit.seconds(5))
    assert isinstance(again, Completion)
    assert isinstance(other, Completion)
    assert (again.cached, other.cached) == (True, False)
    assert len(server.requests) == 2


def test_a_failure_is_not_remembered_as_an_answer() -> None:
    with misbehaving.running(misbehaving.UNAUTHORISED, Reply.says("ready")) as server:
        model = model_of(server)
        model.complete([PROMPT], Limit.seconds(5))
        [outcome] = model.complete([PROMPT], Limit.seconds(5))
    assert isinstance(outcome, Completion)


def test_the_server_is_asked_to_hold_the_model_to_the_schema(server: Server) -> None:
    answer_of(server, prompt=replace(PROMPT, json_schema=SCHEMA))
    form = server.requests[0]["response_format"]
    assert form["type"] == "json_schema"
    assert form["json_schema"] == {"name": "plan", "strict": True, "schema": SCHEMA}


def test_structured_output_that_is_switched_off_is_not_asked_for(server: Server) -> None:
    answer_of(server, prompt=replace(PROMPT, json_schema=SCHEMA), structured="off")
    assert "response_format" not in server.requests[0]


def refuse(parameter: str, status: int = 400) -> Reply:
    return Reply.json({"error": {"message": f"Unsupported parameter: '{parameter}'"}}, status=status)


@pytest.mark.parametrize(
    ("parameter", "status"),
    [("response_format", 400), ("json_schema", 422), ("temperature", 400), ("max_tokens", 400)],
)
def test_a_parameter_that_the_server_refuses_is_left_out_from_then_on(parameter: str, status: int) -> None:
    sent = {"json_schema": "response_format"}.get(parameter, parameter)
    with misbehaving.running(Reply.says("ready")) as server:
        server.respond = lambda body: refuse(parameter, status) if sent in body else Reply.says("{}")
        model = model_of(server)
        for sample in range(2):
            [outcome] = model.complete([replace(PROMPT, json_schema=SCHEMA, sample=sample)], Limit.seconds(5))
            assert isinstance(outcome, Completion)
    assert [sent in body for body in server.requests] == [True, False, False]
    assert ("max_completion_tokens" in server.requests[-1]) == (parameter == "max_tokens")


def test_a_refusal_that_names_nothing_is_tried_without_structured_output_and_not_remembered() -> None:
    with misbehaving.running(Reply.json({"error": "bad request"}, status=400)) as server:
        model = model_of(server)
        for sample in range(2):
            [outcome] = model.complete([replace(PROMPT, json_schema=SCHEMA, sample=sample)], Limit.seconds(5))
            assert isinstance(outcome, StageError)
    assert ["response_format" in body for body in server.requests] == [True, False, True, False]


def test_structured_output_that_is_always_on_is_never_left_out() -> None:
    with misbehaving.running(refuse("response_format")) as server:
        outcome = answer_of(server, prompt=replace(PROMPT, json_schema=SCHEMA), structured="on")
    assert isinstance(outcome, StageError)
    assert len(server.requests) == 1


def test_a_search_that_is_cancelled_does_not_wait_for_the_server() -> None:
    asked = threading.Event()
    log = Remembered()
    with misbehaving.running(misbehaving.SLOW) as server:
        server.respond = lambda body: (asked.set(), misbehaving.SLOW)[1]
        with pytest.raises(SearchCancelled):
            model_of(server, log).complete([PROMPT], Limit.seconds(30, asked.is_set))
    assert len(log.calls) == 1


def test_a_search_whose_time_is_over_asks_nothing(server: Server) -> None:
    with pytest.raises(DeadlineExceeded):
        model_of(server).complete([PROMPT], Limit.seconds(0))
    assert server.requests == []


def test_an_answer_in_parts_is_put_together_and_what_cannot_be_stored_is_replaced() -> None:
    body = misbehaving.chat(None)
    body["choices"][0]["message"]["content"] = [
        {"type": "text", "text": "a\x00"},
        {"type": "image"},
        {"text": "b\ud800"},
    ]
    with misbehaving.running(Reply.json(body)) as server:
        answer = answer_of(server)
    assert isinstance(answer, Completion)
    assert answer.text == "a�b?"


def test_the_models_of_a_server_are_listed(server: Server) -> None:
    assert list_models(Address("kestrel", server.url, "tiny-1"), Limit.seconds(5)) == ["tiny-1", "other"]


def test_a_server_without_a_list_of_models_says_so(server: Server) -> None:
    server.models = Reply.json({"hello": "world"})
    with pytest.raises(StageError, match="without a list of models"):
        list_models(Address("kestrel", server.url, "tiny-1"), Limit.seconds(5))


def test_the_size_that_is_read_is_bounded() -> None:
    assert MOST_BYTES == 4 * 1024 * 1024


def test_a_traceback_with_every_local_variable_does_not_show_the_key(server: Server) -> None:
    server.models = misbehaving.HTML
    page = io.StringIO()
    try:
        list_models(Address("kestrel", server.url, "tiny-1", Secret(KEY)), Limit.seconds(2))
    except StageError as error:
        shown = Traceback.from_exception(
            type(error), error, error.__traceback__, show_locals=True, locals_max_length=None
        )
        Console(file=page, width=200).print(shown)
    assert "a web page instead of JSON" in page.getvalue()
    assert "locals" in page.getvalue()
    assert KEY not in page.getvalue()
