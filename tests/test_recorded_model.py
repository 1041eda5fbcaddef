"""The server with recorded answers speaks the protocol as real ones do."""

from __future__ import annotations

import json
from pathlib import Path

import httpx2

from search.domain.conversation import Message, Prompt
from tests import recorded_model
from tests.misbehaving import Body
from tests.recorded_model import key_of, read_recording

ASKED = Prompt((Message("system", "Count."), Message("user", "How many moons has Mars?")))


def post(url: str, **more: object) -> httpx2.Response:
    body = {"model": "tiny-1", "messages": [message.to_json() for message in ASKED.messages], "max_tokens": 9, **more}
    return httpx2.post(f"{url}/chat/completions", json=body)


def test_answers_come_by_fingerprint_with_their_tokens_and_what_was_cached() -> None:
    with recorded_model.running({key_of(ASKED): "It has two."}, prompt_tokens_cached=4) as server:
        answer: Body = post(server.url).json()
    assert answer["choices"][0]["message"] == {"role": "assistant", "content": "It has two."}
    assert answer["usage"] == {
        "prompt_tokens": 6, "completion_tokens": 3, "prompt_tokens_details": {"cached_tokens": 4},
    }  # fmt: skip


def test_a_streamed_answer_comes_in_events() -> None:
    with recorded_model.running({"moons": "One two three four."}) as server:
        lines = [line for line in post(server.url, stream=True).text.splitlines() if line]
    assert lines[-1] == "data: [DONE]"
    events = [json.loads(line.removeprefix("data: ")) for line in lines[:-1]]
    written = "".join(event["choices"][0]["delta"].get("content", "") for event in events)
    assert written == "One two three four."
    assert [event["choices"][0]["finish_reason"] for event in events] == [None, None, "stop"]


def test_an_answer_can_be_cut_off() -> None:
    with recorded_model.running({"moons": "One two three four."}, most_words=2) as server:
        [choice] = post(server.url).json()["choices"]
    assert (choice["message"]["content"], choice["finish_reason"]) == ("One two", "length")


def test_unknown_and_ambiguous_prompts_are_refused_with_the_prompt() -> None:
    with recorded_model.running({"moons": "a", "Mars": "b"}, strict=False) as server:
        answer = post(server.url)
    assert answer.status_code == 400
    message = answer.json()["error"]["message"]
    assert "2 recorded phrases match" in message
    assert "How many moons has Mars?" in message
    assert key_of(ASKED) in message


def test_answers_can_lie_in_a_file(tmp_path: Path) -> None:
    rows = [
        {"messages": [message.to_json() for message in ASKED.messages], "answer": {"moons": 2}},
        {"phrase": "of Neptune", "answer": "Fourteen."},
    ]
    path = tmp_path / "answers.json"
    path.write_text(json.dumps(rows))
    assert read_recording(path) == {key_of(ASKED): '{"moons": 2}', "of Neptune": "Fourteen."}
