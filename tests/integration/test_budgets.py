"""The budget of a search, kept while a real server is asked over real HTTP, and shown behind every door."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import Client
from pytest_django.fixtures import Settings

from search.adapters.llm_openai import ConfiguredLanguageModel, Server
from search.domain.budget import Allowance, Budget, Price
from search.domain.conversation import Completion, Message, Prompt
from search.domain.errors import StageError
from search.domain.trace import Limit
from search.models import LanguageModelCall
from search.services.language_models.llm_calls import RecordedCalls
from search.services.searches.describe_search import describe_search
from tests import misbehaving
from tests.integration.test_language_model_plans import WRITTEN, configured, page, results, search
from tests.integration.test_language_model_plans import films as films
from tests.misbehaving import Reply

pytestmark = pytest.mark.django_db

WITH_CACHE = Reply.json(
    misbehaving.chat(
        json.dumps(WRITTEN),
        usage={"prompt_tokens": 1000, "completion_tokens": 50, "prompt_tokens_details": {"cached_tokens": 600}},
    )
)
UNCOUNTED = Reply.json({"choices": [{"message": {"content": "abcdef"}, "finish_reason": "stop"}]})


def outcomes(url: str, budget: Budget, prompts: int, *, concurrency: int = 1, characters: int = 30) -> list[Any]:
    model = ConfiguredLanguageModel(RecordedCalls(), Server("kestrel", url, "tiny-1", concurrency=concurrency))
    asked = [Prompt((Message("user", f"{number:>{characters}}"),)) for number in range(prompts)]
    return model.complete(asked, Limit.seconds(5, budget=budget))


def test_what_a_search_spent_is_described_and_shown(films: None, settings: Settings) -> None:
    settings.GRASP_LLM_PRICES = {"tiny-1": Price(2.0, 0.5, 10.0)}, "EUR"
    settings.GRASP_LLM_BUDGET = Allowance(calls=5)
    with misbehaving.running(WITH_CACHE) as server:
        configured(server.url)
        run = search()
        again = search()
    use = describe_search(run)["model_use"]
    assert use.pop("seconds") > 0
    # 400 fresh tokens at 2, 600 cached at 0.50, 50 written at 10 a million.
    assert use == {
        "calls": 1, "cached_calls": 0, "refused": 0, "tokens": {"prompt": 1000, "cached": 600, "completion": 50},
        "price": 0.0016, "currency": "EUR", "budget": {"calls": 5},
    }  # fmt: skip
    step = describe_search(run)["steps"][0]
    assert step["tokens"] == {"calls": 1, "prompt": 1000, "cached": 600, "completion": 50}
    assert Client().get(f"/api/v1/searches/{run.pk}/").json()["model_use"]["price"] == 0.0016
    assert "with 1 model call, 1,050 tokens, 0.0016 EUR" in page(results(run))
    trace = page(f"/search/{run.pk}/trace/")
    assert "1 model call, 1,000 tokens read (600 of them from the server&#x27;s cache), 50 written" in trace
    assert "Tokens: 1,000 prompt (600 of them cached), 50 completion. 1 call." in trace
    # The second search finds the answer in storage.
    stored = describe_search(again)["model_use"]
    assert (stored["calls"], stored["cached_calls"], stored["price"]) == (0, 1, 0.0)
    assert "1 from storage" in page(results(again))


def test_a_search_that_asks_no_model_spends_nothing_and_shows_nothing(films: None) -> None:
    run = search()
    assert describe_search(run)["model_use"] is None
    assert "model call" not in page(results(run))


def test_a_search_whose_budget_is_spent_goes_on_without_the_model_and_says_why(films: None, settings: Settings) -> None:
    settings.GRASP_LLM_BUDGET = Allowance(calls=1)
    with misbehaving.running(Reply.says("I would rather not plan.")) as server:
        configured(server.url)
        run = search(llm_rounds=2)
    assert len(server.requests) == 1
    shown = describe_search(run)
    assert (shown["status"], shown["model_use"]["calls"], shown["model_use"]["refused"]) == ("done", 1, 1)
    [degraded] = shown["degraded"]
    assert "the search has spent its budget of 1 call of a language model" in degraded["reason"]
    assert shown["results"]
    assert "1 prompt refused: the budget of a search is calls=1." in page(f"/search/{run.pk}/trace/")


def test_retries_count_as_calls() -> None:
    budget = Budget(Allowance(calls=2))
    with misbehaving.running(misbehaving.FAILING) as server:
        [outcome] = outcomes(server.url, budget, 1)
    assert len(server.requests) == budget.use.calls == 2
    assert isinstance(outcome, StageError)
    assert outcome.reason == (
        "tiny-1 at kestrel failed (HTTP 503): out of memory. It is asked no more: "
        "the search has spent its budget of 2 calls of a language model."
    )


def test_many_prompts_at_once_never_pass_the_calls() -> None:
    budget = Budget(Allowance(calls=7))
    with misbehaving.running(Reply.says("yes")) as server:
        found = outcomes(server.url, budget, 20, concurrency=8)
    assert len(server.requests) == sum(isinstance(one, Completion) for one in found) == 7
    assert (budget.use.calls, budget.use.refused) == (7, 13)
    # Every call is recorded, those that were refused too, without a request.
    assert sorted(LanguageModelCall.objects.values_list("requests", flat=True)) == [0] * 13 + [1] * 7


def test_the_server_is_asked_for_no_more_tokens_than_are_left() -> None:
    budget = Budget(Allowance(tokens=500))
    with misbehaving.running(Reply.says("yes")) as server:
        found = outcomes(server.url, budget, 4)
    # A prompt of 30 characters is estimated at 10 tokens. The server then reports 120 + 34 of each.
    assert [request["max_tokens"] for request in server.requests] == [490, 336, 182, 28]
    assert all(isinstance(one, Completion) for one in found)


def test_tokens_that_the_server_does_not_count_are_estimated() -> None:
    budget = Budget()
    with misbehaving.running(UNCOUNTED) as server:
        outcomes(server.url, budget, 1, characters=300)
    assert budget.use.tokens == {"prompt": 100, "completion": 2}


def test_a_slow_server_gets_no_more_than_the_seconds_of_the_budget() -> None:
    budget = Budget(Allowance(seconds=0.3))
    with misbehaving.running(misbehaving.SLOW) as server:
        [outcome] = outcomes(server.url, budget, 1)
        assert "did not answer within" in str(outcome)
        with pytest.raises(StageError, match=r"budget of 0\.3 seconds of waiting"):
            outcomes(server.url, budget, 1)
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("usage", "cached"),
    [
        ({"usage": {"prompt_tokens": 9, "prompt_tokens_details": {"cached_tokens": 4}}}, 4),
        ({"usage": {"prompt_tokens": 9, "prompt_cache_hit_tokens": 5}}, 5),
        ({"usage": {"prompt_tokens": 9}, "timings": {"cache_n": 6, "prompt_n": 3}}, 6),
        ({"usage": {"prompt_tokens": 9, "prompt_tokens_details": None}, "timings": "fast"}, None),
        ({"usage": {"prompt_tokens": 9, "prompt_tokens_details": {"cached_tokens": "many"}}}, None),
    ],
)
def test_cached_tokens_are_read_as_each_kind_of_server_reports_them(usage: dict[str, Any], cached: int | None) -> None:
    with misbehaving.running(Reply.json(misbehaving.chat("yes") | usage)) as server:
        [answer] = outcomes(server.url, Budget(), 1)
    assert answer.tokens.get("cached") == cached
    assert answer.tokens["prompt"] == 9
