"""Asking a language model: values, repair rounds, and a sentence where there is no value. The server is a real one."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest

from search.adapters.llm_openai import Call, ConfiguredLanguageModel, Server
from search.asking import Answers, ask, repaired
from search.domain.conversation import Completion, Message, Prompt
from search.domain.errors import Fault, SearchCancelled
from search.domain.trace import Limit
from search.prompts.reading import json_by, one_of, text_within
from tests import misbehaving, recorded_model
from tests.misbehaving import Reply
from tests.recorded_model import key_of

SCHEMA = {"type": "object", "properties": {"moons": {"type": "integer"}}, "required": ["moons"]}


class NoLog:
    """Stores nothing."""

    def find(self, server: Server, prompt: Prompt) -> Completion | None:
        return None

    def record(self, call: Call) -> None:
        pass


def model(url: str) -> ConfiguredLanguageModel:
    return ConfiguredLanguageModel(NoLog(), Server("kestrel", url, "tiny-1"))


def prompt(question: str) -> Prompt:
    return Prompt((Message("system", "Count."), Message("user", question)), "v1", "count", SCHEMA)


def asked(url: str, prompts: Sequence[Prompt], *, seconds: float = 5.0, rounds: int = 0) -> Answers[dict]:
    return ask(model(url), prompts, json_by(SCHEMA), Limit.seconds(seconds), rounds=rounds)


def test_values_come_in_the_order_of_the_prompts_with_their_tokens_and_version() -> None:
    answers = {"of Mars": '{"moons": 2}', "of Neptune": '```json\n{"moons": 14}\n```'}
    with recorded_model.running(answers) as server:
        got = asked(server.url, [prompt("of Neptune"), prompt("of Mars")])
    assert got.values == [{"moons": 14}, {"moons": 2}]
    assert (got.said, got.prompt_fingerprint) == ("", "v1")
    assert got.tokens["prompt"] == 6


def test_a_faulty_answer_is_repaired_by_its_faults_in_a_second_round() -> None:
    first = prompt("of Mars")
    second = repaired(first, '{"moons": "two"}', [Fault("/moons", "Expected a whole number, not 'two'.")])
    assert "- At /moons: Expected a whole number, not 'two'." in second.messages[-1].content
    answers = {key_of(first): '{"moons": "two"}', key_of(second): '{"moons": 2}'}
    with recorded_model.running(answers) as server:
        got = asked(server.url, [first], rounds=1)
    assert got.values == [{"moons": 2}]
    [answer] = got
    assert (answer.rounds, answer.said) == (2, "")


def test_without_rounds_left_a_sentence_says_what_is_wrong() -> None:
    with recorded_model.running({"of Mars": "Two, I think.", "of Neptune": '{"moons": 14}'}) as server:
        got = asked(server.url, [prompt("of Mars"), prompt("of Neptune")])
    assert got.values == [None, {"moons": 14}]
    assert got.said == (
        "1 of 2 answers are missing; the first one: the language model gave no answer that can be used: "
        "The answer holds no JSON object."
    )


def test_an_answer_that_was_cut_off_says_so() -> None:
    with recorded_model.running({"of Mars": '{ "moons" : 2 }'}, most_words=2) as server:
        got = asked(server.url, [prompt("of Mars")])
    assert "cut off for its length" in got.said


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (misbehaving.FAILING, "failed (HTTP 503): out of memory"),
        (misbehaving.CUT_OFF, "broke the connection off"),
        (misbehaving.SLOW, "did not answer within"),
        (Reply.says("again and again, " * 6_000), "The answer holds no JSON object."),
    ],
)
def test_whatever_the_server_does_there_is_a_sentence_in_time(reply: Reply, said: str) -> None:
    with misbehaving.running(reply) as server:
        got = asked(server.url, [prompt("of Mars")], seconds=0.8, rounds=2)
    assert got.values == [None]
    assert said in got.said


def test_a_server_that_dies_in_the_middle_of_an_answer() -> None:
    with recorded_model.running({"of Mars": '{"moons": 2}'}, dies=True) as server:
        assert "broke the connection off" in asked(server.url, [prompt("of Mars")], seconds=3).said


def test_a_cancelled_search_is_cancelled() -> None:
    with recorded_model.running({"of Mars": '{"moons": 2}'}, pause=30) as server, pytest.raises(SearchCancelled):
        ask(model(server.url), [prompt("of Mars")], json_by(SCHEMA), Limit.seconds(5, cancelled=lambda: True))


def test_words_and_texts_are_read_too() -> None:
    with recorded_model.running({"of Mars": "Yes."}) as server:
        assert ask(model(server.url), [prompt("of Mars")], one_of(("yes", "no")), Limit()).values == ["yes"]
        assert ask(model(server.url), [prompt("of Mars")], text_within(100), Limit()).values == ["Yes."]


def test_nothing_to_ask_asks_nobody() -> None:
    with misbehaving.running() as server:
        assert asked(server.url, []).values == []
    assert server.requests == []


def test_a_prompt_that_was_not_recorded_is_refused_and_shown() -> None:
    with recorded_model.running({"of Mars": json.dumps({"moons": 2})}, strict=False) as server:
        got = asked(server.url, [prompt("of Saturn")])
    assert "no recorded answer matches" in got.said
    assert "of Saturn" in got.said
    with pytest.raises(AssertionError, match="unknown prompts"), recorded_model.running({}) as server:
        asked(server.url, [prompt("of Saturn")])
