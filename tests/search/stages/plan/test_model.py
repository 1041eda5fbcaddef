"""The planner that asks a language model: from answers, good and bad, to plans, and what it says about it."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from typing import Any

import pytest

from search.adapters.llm_openai import Call, ConfiguredLanguageModel, Server
from search.domain.conversation import Completion, Prompt
from search.domain.errors import DeadlineExceeded, SearchCancelled, StageError
from search.domain.plan import Plan, Target
from search.domain.question import Question
from search.domain.trace import Limit, Trace
from search.models.sealed import Secret
from search.prompts import Briefing, PlanPrompts
from search.stages.plan.model import ModelPlanner, WrittenPlans
from tests import misbehaving
from tests.search.domain.shop import SHOP
from tests.search.stages.plan.scripted import Scripted

PROMPTS = PlanPrompts(Briefing(SHOP, title="Shop", names={"brand": ("Brannholt", "Tessaly")}))
QUESTION = Question("What does Brannholt make?")

GOOD: dict[str, Any] = {
    "anchors": [{"var": "A1", "text": "Brannholt", "label": "brand", "match_mode": "name"}],
    "hops": [{"from": "A1", "rel": "HAS_BRAND", "to_var": "T", "to_label": "product"}],
    "target": {"var": "T", "labels": ["product"], "relevance_text": ""},
    "risk_level": "aggressive",
}
OTHER = GOOD | {"hops": [{"from": "A1", "rel": "BASED_IN", "to_var": "T", "to_label": "country"}],
                "target": {"var": "T", "labels": ["country"], "relevance_text": ""}}  # fmt: skip
RENAMED = json.loads(json.dumps(GOOD).replace('"A1"', '"X"').replace('"T"', '"answer"'))
MISSPELT = json.loads(json.dumps(GOOD).replace("HAS_BRAND", "HAS_BRAMD"))
IMPOSSIBLE = json.loads(json.dumps(GOOD).replace("HAS_BRAND", "USED_FOR"))


def plan_of(model: Scripted, **options: Any) -> WrittenPlans:
    return ModelPlanner(model, PROMPTS, SHOP, **options)(QUESTION, Limit.seconds(10))


def test_a_good_answer_is_one_plan_of_the_language_model() -> None:
    model = Scripted(GOOD)
    plans = plan_of(model)
    assert [(p.plan, p.source, p.probability) for p in plans] == [(Plan.parse(GOOD, SHOP), "llm", 1.0)]
    assert (plans.detail, plans.tokens) == ("", {"prompt": 100, "completion": 10})
    assert plans.prompt_fingerprint == PROMPTS.version
    assert model.asked[0].messages[1].content.endswith("Question: What does Brannholt make?")


def test_a_plan_that_the_asker_brings_asks_nobody() -> None:
    model = Scripted()
    own = Plan(target=Target("T", ("brand",), "quiet"))
    [scored] = ModelPlanner(model, PROMPTS, SHOP)(Question("x", plan=own), Limit())
    assert (scored.plan, scored.source, model.asked) == (own, "user", [])


def test_what_was_mended_is_said() -> None:
    fenced = "<think>easy</think>```json\n" + json.dumps(GOOD).replace('["product"]', '"Products"') + "\n```"
    plans = plan_of(Scripted(fenced))
    assert plans[0].plan == Plan.parse(GOOD, SHOP)
    assert plans.detail == (
        "Mended: labels of the target was a bare text; type 'Products' of target was read as product."
    )


def test_the_model_sees_its_faults_with_pointers_and_its_own_answer_and_gets_it_right() -> None:
    model = Scripted(MISSPELT, GOOD)
    plans = plan_of(model)
    assert plans[0].plan == Plan.parse(GOOD, SHOP)
    assert plans.detail == "The model was shown its faults once."
    assert plans.tokens == {"prompt": 200, "completion": 20}
    *_, answer, told = model.asked[1].messages
    assert (answer.role, json.loads(answer.content)) == ("assistant", MISSPELT)
    assert "- at /hops/0/rel: There is no relation 'HAS_BRAMD'. Did you mean 'HAS_BRAND'?" in told.content


def test_a_hop_that_the_schema_does_not_have_is_a_fault_too() -> None:
    model = Scripted(IMPOSSIBLE, GOOD)
    assert plan_of(model)[0].plan == Plan.parse(GOOD, SHOP)
    assert "/hops/0/rel: USED_FOR does not lead from brand to product. Between them there is HAS_BRAND." in (
        model.asked[1].messages[-1].content
    )


def test_after_two_rounds_it_is_given_up_with_the_first_fault() -> None:
    model = Scripted(MISSPELT, MISSPELT, MISSPELT, GOOD)
    with pytest.raises(StageError) as caught:
        plan_of(model)
    assert len(model.asked) == 3
    assert caught.value.reason == (
        "the language model wrote no plan that can be executed, asked 3 times: "
        "There is no relation 'HAS_BRAMD'. Did you mean 'HAS_BRAND'? (at /hops/0/rel)"
    )


def test_rounds_are_an_option() -> None:
    with pytest.raises(StageError, match="asked 1 times"):
        plan_of(Scripted(MISSPELT, GOOD), rounds=0)


@pytest.mark.parametrize(
    ("answer", "fault"),
    [
        ("I would rather not.", "The answer holds no JSON object."),
        ("", "The answer is empty."),
        ("[]", "The answer holds no JSON object."),
        ({"hops": [], "anchors": "none of them", "target": 7}, "target is an object"),
        (GOOD | {"target": {"var": "Z", "labels": ["product"]}}, "No step reaches the target 'Z'."),
        (
            GOOD | {"anchors": []},
            "A plan with steps needs a starting point, a filter, an exclusion or an order.",
        ),
        (GOOD | {"hops": GOOD["hops"] * 7}, "A plan has at most 6 hops, not 7."),
    ],
)
def test_what_is_no_plan_is_a_fault_that_the_model_sees(answer: Any, fault: str) -> None:
    model = Scripted(answer, GOOD)
    assert len(plan_of(model)) == 1
    assert fault in model.asked[1].messages[-1].content


def test_an_answer_that_was_cut_off_is_said_to_be_too_long() -> None:
    model = Scripted(Completion('{"anchors": [{"va', finish_reason="length"), GOOD)
    plan_of(model)
    assert "The answer was cut off for its length; write a shorter one." in model.asked[1].messages[-1].content


def test_skip_and_a_plan_without_anchors_leave_the_question_to_text() -> None:
    for answer in ({"retrieval_mode": "skip"}, {"target": {"var": "T", "labels": []}, "risk_level": "aggressive"}):
        [scored] = plan_of(Scripted(answer))
        assert (scored.plan.anchors, scored.plan.hops, scored.plan.risk_level) == ((), (), "no_trade")
        assert scored.plan.target.relevance_text == QUESTION.text


def test_samples_that_ask_the_same_are_merged_and_share_decides_the_order() -> None:
    model = Scripted(OTHER, GOOD, RENAMED)
    plans = plan_of(model, samples=3, temperature=0.8)
    assert [(p.plan, p.probability) for p in plans] == [
        (Plan.parse(GOOD, SHOP), pytest.approx(2 / 3)), (Plan.parse(OTHER, SHOP), pytest.approx(1 / 3))
    ]  # fmt: skip
    assert plans.detail == "2 plans in 3 answers."
    assert [prompt.temperature for prompt in model.asked] == [0.0, 0.8, 0.8]
    assert len({prompt.fingerprint for prompt in model.asked}) == 3


def test_only_the_samples_with_faults_are_asked_again() -> None:
    model = Scripted(GOOD, MISSPELT, OTHER)
    assert len(plan_of(model, samples=2)) == 2
    assert len(model.asked) == 3


def test_a_sample_that_did_not_come_lowers_what_the_others_weigh_and_is_said() -> None:
    plans = plan_of(Scripted(GOOD, StageError("language model", "tiny-1 is down")), samples=2)
    assert [p.probability for p in plans] == [0.5]
    assert plans.detail == "1 plan in 1 answer. 1 answer did not come: tiny-1 is down."


def test_when_nothing_comes_the_reason_is_passed_on() -> None:
    with pytest.raises(StageError) as caught:
        plan_of(Scripted(StageError("language model", "tiny-1 does not accept the key", permanent=True)))
    assert (caught.value.stage, caught.value.reason) == ("plan", "tiny-1 does not accept the key")
    assert caught.value.permanent


def test_a_model_that_takes_too_long_over_its_faults_is_said_to() -> None:
    class Slow(Scripted):
        def complete(self, prompts: Sequence[Prompt], limit: Limit) -> list[Completion | StageError]:
            if self.asked:
                raise DeadlineExceeded("language model")
            return super().complete(prompts, limit)

    with pytest.raises(StageError) as caught:
        plan_of(Slow(MISSPELT), seconds=4)
    assert caught.value.reason == "the language model took longer than the 4 seconds that it has"


def test_a_cancelled_search_is_cancelled() -> None:
    with pytest.raises(SearchCancelled):
        ModelPlanner(Scripted(GOOD), PROMPTS, SHOP)(QUESTION, Limit(cancelled=lambda: True))


def test_the_trace_keeps_the_plans_and_the_sentence() -> None:
    trace = Trace(Limit.seconds(5))
    planner = ModelPlanner(Scripted(MISSPELT, GOOD), PROMPTS, SHOP)
    trace.step("plan", "plan", planner, QUESTION, trace.limit)
    assert (trace.steps[0].backend, trace.steps[0].detail) == ("language model", "The model was shown its faults once.")
    assert trace.steps[0].output[0]["source"] == "llm"


class Forgetful:
    """A log of calls that keeps none (search.adapters.llm_openai.CallLog)."""

    def find(self, server: Server, prompt: Prompt) -> Completion | None:
        """Know of no call."""

    def record(self, call: Call) -> None:
        """Keep nothing."""


def over_http(server: misbehaving.Server) -> ModelPlanner:
    address = Server("kestrel", server.url, "tiny-1", Secret(misbehaving.KEY))
    return ModelPlanner(ConfiguredLanguageModel(Forgetful(), address), PROMPTS, SHOP, seconds=1.0)


def test_over_http_a_plan_is_asked_for_repaired_and_read() -> None:
    replies = [misbehaving.Reply.says(json.dumps(plan)) for plan in (MISSPELT, GOOD)]
    with misbehaving.running(*replies) as server:
        assert over_http(server)(QUESTION, Limit.seconds(20))[0].plan == Plan.parse(GOOD, SHOP)
    assert server.requests[1]["messages"][2]["role"] == "assistant"
    names = server.requests[0]["response_format"]["json_schema"]["schema"]["properties"]["hops"]["items"]["properties"]
    assert names["rel"]["enum"] == ["HAS_BRAND", "USED_FOR", "BASED_IN", "LIES_IN", "ALSO_BUY", "REPLACES", "*"]


@pytest.mark.parametrize("reply", [misbehaving.SLOW, misbehaving.DRIPPING, misbehaving.FAILING, misbehaving.HTML,
                                   misbehaving.UNAUTHORISED, misbehaving.ERROR_IN_200])  # fmt: skip
def test_over_http_a_server_that_misbehaves_ends_within_the_planners_own_seconds(reply: misbehaving.Reply) -> None:
    began = time.monotonic()
    with misbehaving.running(reply) as server, pytest.raises(StageError) as caught:
        over_http(server)(QUESTION, Limit.seconds(60))
    # A third of the time that the search has, which the planner would wait otherwise.
    assert time.monotonic() - began < 20
    assert caught.value.stage == "plan"
    assert misbehaving.KEY not in caught.value.reason
