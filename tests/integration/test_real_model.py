"""Every prompt and whole searches with a real small language model behind a real server: Gemma 3 270M on llama.cpp.

It is too small to plan well. What it proves is the path: what is sent is understood, what comes back is read or
refused with a sentence, limits hold, and nothing fails. Every prompt is here; of the pipelines one that plans, one that
writes Cypher and one that expands the question in several turns. `test_bad_models.py` runs them all.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from search.adapters.llm_openai import ConfiguredLanguageModel, Server
from search.asking import AskedAnswer, ask
from search.domain.budget import Allowance, Budget
from search.domain.conversation import Completion, Message, Prompt
from search.domain.trace import Limit
from search.models import Endpoint, LanguageModelCall
from search.prompts.reading import json_by, text_within
from search.services.searches.describe_search import describe_search
from search.services.searches.request_search import request_search
from search.services.searches.run_search import ranking_of, run_search
from tests.gemma import chat_server, model_file, needs_gemma
from tests.integration.test_language_model_plans import films as films
from tests.search.prompts.kinds import KINDS
from tests.search.test_asking import NoLog

pytestmark = needs_gemma

SECONDS = 240.0
"""Time of one answer on a busy machine; a free one takes some seconds."""
MOST_TOKENS = 16
QUESTIONS = ("Which things does Brannholt make?", "Something else about rain")
STORY = Prompt((Message("user", "Tell the longest story that you know about the sea."),), purpose="test")


@pytest.fixture(scope="module")
def gemma(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The base URL of the real server."""
    with chat_server(model_file(tmp_path_factory.mktemp("gemma"))) as url:
        yield url


def model(url: str, most: int = MOST_TOKENS) -> ConfiguredLanguageModel:
    server = Server("here", url, "gemma-3-270m", timeout=SECONDS, concurrency=1, max_tokens=most, structured="on")
    return ConfiguredLanguageModel(NoLog(), server)


def asked(url: str, prompt: Prompt, budget: Budget) -> AskedAnswer[object]:
    read = json_by(prompt.json_schema) if prompt.json_schema is not None else text_within(1000)
    [answer] = ask(model(url), [prompt], read, Limit.seconds(SECONDS, budget=budget))
    return answer


@pytest.mark.parametrize("kind", KINDS)
def test_every_prompt_is_answered_in_its_schema_and_its_beginning_is_reused(gemma: str, kind: str) -> None:
    first, second = (KINDS[kind](question) for question in QUESTIONS)
    budget = Budget()
    answer = asked(gemma, first, budget)
    # An answer in the schema, or one that was cut off before it was complete; no prose, no fence.
    assert answer.error is None
    assert answer.value is not None or "cut off" in answer.said
    if first.json_schema is not None:
        assert answer.text.lstrip().startswith("{")
    before = budget.use
    assert 0 < before.tokens["completion"] <= MOST_TOKENS
    asked(gemma, second, budget)
    spent = budget.use.since(before)
    same_turns = sum(len(turn.content) for turn in second.messages[:-1] if turn in first.messages)
    share = same_turns / sum(len(turn.content) for turn in second.messages)
    # The server counts in tokens and keeps whole batches, hence the margin.
    assert spent.get("cached", 0) >= 0.7 * share * spent["prompt"] - 64


def test_an_answer_that_is_cut_off_says_so(gemma: str) -> None:
    [outcome] = model(gemma, most=5).complete([STORY], Limit.seconds(SECONDS))
    assert isinstance(outcome, Completion)
    assert (outcome.finish_reason, outcome.tokens["completion"]) == ("length", 5)
    [answer] = ask(
        model(gemma, most=5), [KINDS["cypher"]("Which?")], json_by({"type": "object"}), Limit.seconds(SECONDS)
    )
    assert "cut off for its length" in answer.said


def test_a_model_that_does_not_come_to_an_end_is_left_at_the_limit(gemma: str) -> None:
    began = time.monotonic()
    [answer] = ask(model(gemma, most=8000), [STORY], text_within(1000), Limit.seconds(60), seconds=1.0)
    assert time.monotonic() - began < 4
    assert "did not answer within" in answer.said
    # The server has noticed that nobody waits any more, and answers the next one.
    [outcome] = model(gemma, most=2).complete([STORY], Limit.seconds(SECONDS))
    assert isinstance(outcome, Completion)


@pytest.mark.django_db
@pytest.mark.parametrize("pipeline", ["grasp", "focused", "agr"])
def test_a_search_goes_through_and_keeps_its_budget(
    gemma: str, films: None, settings: pytest.FixtureRequest, pipeline: str
) -> None:
    settings.GRASP_LLM_BUDGET = Allowance(calls=6)  # type: ignore[attr-defined]
    Endpoint(
        name="here", base_url=gemma, model="gemma-3-270m", timeout=SECONDS, concurrency=1, max_tokens=MOST_TOKENS
    ).save()
    options = {"plan.llm_seconds": 120.0} if pipeline == "grasp" else {}
    question = "Which films did Ada Holm direct in this millennium?"
    requested = request_search(
        knowledge_base="films",
        question=question,
        pipeline=pipeline,
        settings=options,
        time_limit=SECONDS,
        enqueue=False,
    )
    run = run_search(requested.pk)
    shown = describe_search(run)
    assert (shown["status"], shown["error"]) == ("done", None)
    assert ranking_of(run)
    use, calls = shown["model_use"], LanguageModelCall.objects.all()
    assert 1 <= use["calls"] <= 6
    # Every request and every token of the search is in the records of the calls.
    assert sum(call.requests for call in calls) == use["calls"]
    assert sum(call.prompt_tokens or 0 for call in calls) == use["tokens"]["prompt"]
    assert sum(call.completion_tokens or 0 for call in calls) == use["tokens"]["completion"]
