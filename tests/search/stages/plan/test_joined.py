"""Enumeration and language model in one list: who adds what, who weighs what, and what a failing model costs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from search.domain.conversation import Completion, Prompt
from search.domain.errors import DeadlineExceeded, SearchCancelled, StageError
from search.domain.plan import Plan, ScoredPlan, Target
from search.domain.question import Question
from search.domain.trace import Limit, Trace
from search.neural.plan_scorer import PairWeights
from search.prompts import Briefing, PlanPrompts
from search.stages.plan import JoinedPlanner, Planner
from tests.search.stages.plan.films import FILMS, SCHEMA, planner_of
from tests.search.stages.plan.scripted import Scripted

QUESTION = Question("which films did Ann Arbor direct")
PROMPTS = PlanPrompts(Briefing(SCHEMA, title="Films"))

SAME: dict[str, Any] = {
    "anchors": [{"var": "who", "text": "Ann Arbor", "label": "person", "match_mode": "name"}],
    "hops": [{"from": "who", "rel": "DIRECTED_BY", "to_var": "film", "to_label": "film"}],
    "target": {"var": "film", "labels": ["film"], "relevance_text": ""},
    "risk_level": "aggressive",
}
"""What the grammar comes to as well, with other variables and without ids."""
OTHER = SAME | {"hops": [{"from": "who", "rel": "*", "to_var": "film", "to_label": "film"}], "risk_level": "weak"}
"""No enumerated plan has a hop of any relation."""


@pytest.fixture(scope="module")
def planner(tmp_path_factory: pytest.TempPathFactory) -> Planner:
    return planner_of(tmp_path_factory.mktemp("films"), FILMS)


def joined(planner: Planner, model: Any, **options: Any) -> JoinedPlanner:
    """Return the planner and a model together; options of either are laid over those that they have."""
    own = {name: options.pop(name) for name in ("plan_scorers", "artifact") if name in options}
    tools = {"schema": planner.schema, "language_model": model, "plan_prompts": lambda: PROMPTS}
    return JoinedPlanner(**tools | options, planner=replace(planner, **own))


def ask(planner: Planner, model: Any, limit: Limit | None = None, **options: Any) -> Any:
    return joined(planner, model, **options)(QUESTION, limit or Limit.seconds(20))


def shares(plans: Sequence[ScoredPlan]) -> list[float]:
    return [scored.probability for scored in plans]


def test_a_plan_that_the_grammar_lacks_joins_the_list_with_the_models_weight(planner: Planner) -> None:
    alone, plans = planner(QUESTION, Limit()), ask(planner, Scripted(OTHER))
    [written] = [scored for scored in plans if scored.source == "llm"]
    assert (written.plan, written.probability) == (Plan.parse(OTHER, SCHEMA), 0.45)
    rest = [scored for scored in plans if scored.source == "schema"]
    assert [scored.plan for scored in rest] == [scored.plan for scored in alone]
    assert shares(rest) == pytest.approx([0.55 * share for share in shares(alone)])
    assert shares(plans) == sorted(shares(plans), reverse=True)
    assert sum(shares(plans)) == pytest.approx(0.45 + 0.55 * sum(shares(alone)))
    assert (plans.status, plans.detail) == ("ok", "The language model's plan joined the list.")


def test_a_plan_that_both_came_to_has_the_probability_of_both_and_keeps_its_nodes(planner: Planner) -> None:
    alone, plans = planner(QUESTION, Limit()), ask(planner, Scripted(SAME))
    assert len(plans) == len(alone)
    assert [anchor.ids for anchor in plans[0].plan.anchors] == [("n008",)]
    assert (plans[0].source, plans[0].plan.hops) == ("schema", alone[0].plan.hops)
    assert plans[0].probability == pytest.approx(0.55 * alone[0].probability + 0.45)
    assert plans.detail == "The language model came to the same plan as the grammar."


def test_where_both_agree_the_bolder_of_the_two_risks_stands(planner: Planner) -> None:
    alone = planner(QUESTION, Limit())[0].plan.risk_level
    careful, bold = (ask(planner, Scripted(SAME | {"risk_level": risk}))[0] for risk in ("no_trade", "aggressive"))
    assert (careful.plan.risk_level, bold.plan.risk_level) == (alone, "aggressive")


def test_of_several_answers_each_has_its_part_and_one_that_did_not_come_leaves_its_part_to_the_grammar(
    planner: Planner,
) -> None:
    alone = planner(QUESTION, Limit())
    answers = (OTHER, SAME, StageError("language model", "tiny-1 is down"))
    plans = ask(planner, Scripted(*answers), llm_samples=3)
    [written] = [scored for scored in plans if scored.source == "llm"]
    assert written.probability == pytest.approx(0.15)
    agreed = next(scored for scored in plans if scored.plan.hops == alone[0].plan.hops)
    assert agreed.probability == pytest.approx(0.7 * alone[0].probability + 0.15)
    assert sum(shares(plans)) == pytest.approx(0.3 + 0.7 * sum(shares(alone)))
    assert plans.detail == (
        "Of the language model's 2 plans, 1 joined the list; the grammar had found the rest. "
        "2 plans in 2 answers. 1 answer did not come: tiny-1 is down."
    )


def test_where_the_question_names_nothing_the_models_plan_comes_before_the_text(planner: Planner) -> None:
    question = Question("whatever might that be")
    for own in ({}, trained()):
        (text,) = replace(planner, **own)(question, Limit())
        plans = joined(planner, Scripted(OTHER), **own)(question, Limit.seconds(20))
        assert [(bool(scored.plan.anchors), scored.probability) for scored in plans] == [
            (True, 0.65), (False, pytest.approx(0.35 * text.probability))
        ]  # fmt: skip


def test_a_model_that_leaves_the_question_to_text_as_well_is_in_agreement(planner: Planner) -> None:
    question = Question("whatever might that be")
    plans = joined(planner, Scripted({"retrieval_mode": "skip"}))(question, Limit.seconds(20))
    (text,) = planner(question, Limit())
    expected = pytest.approx(0.65 + 0.35 * text.probability)
    assert [(scored.plan.anchors, scored.probability) for scored in plans] == [((), expected)]


def test_with_all_the_weight_the_model_plans_alone(planner: Planner) -> None:
    assert [scored.source for scored in ask(planner, Scripted(OTHER), llm_weight=1.0)] == ["llm"]


@pytest.mark.parametrize("options", [{"llm": "off"}, {"language_model": None}, {"plan_prompts": None}])
def test_without_a_model_the_grammar_plans_alone_and_nothing_is_said(planner: Planner, options: dict[str, Any]) -> None:
    model = Scripted()
    plans = ask(planner, model, **options)
    assert (plans, plans.status, plans.detail, model.asked) == (planner(QUESTION, Limit()), "ok", "", [])


def test_a_model_is_asked_from_the_moment_it_is_configured(planner: Planner) -> None:
    class Later(Scripted):
        there = False

        def configured(self) -> bool:
            return self.there

    model = Later(OTHER)
    planning = joined(planner, model)
    assert {scored.source for scored in planning(QUESTION, Limit.seconds(20))} == {"schema"}
    model.there = True
    assert {scored.source for scored in planning(QUESTION, Limit.seconds(20))} == {"schema", "llm"}


def test_a_plan_that_the_asker_brings_asks_nobody(planner: Planner) -> None:
    model, own = Scripted(), Plan(target=Target("T", ("film",), "quiet"))
    [scored] = joined(planner, model)(Question("x", plan=own), Limit())
    assert (scored.plan, scored.source, model.asked) == (own, "user", [])


def test_a_model_that_fails_leaves_the_grammar_as_it_is_and_the_step_says_why(planner: Planner) -> None:
    trace = Trace(Limit.seconds(20))
    planning = joined(planner, Scripted(StageError("language model", "tiny-1 does not accept the key (HTTP 401).")))
    plans = trace.step("plan", "plan", planning, QUESTION, trace.limit)
    assert plans == planner(QUESTION, Limit())
    [step] = trace.steps
    assert (step.status, step.detail) == (
        "degraded", "Planned without the language model: tiny-1 does not accept the key (HTTP 401)."
    )  # fmt: skip
    assert (step.tokens, step.prompt_fingerprint) == ({}, PROMPTS.version)


def test_a_model_that_comes_to_no_plan_has_cost_its_tokens_all_the_same(planner: Planner) -> None:
    plans = ask(planner, Scripted("no", "never", "not at all"))
    assert (plans.status, plans.tokens) == ("degraded", {"prompt": 300, "completion": 30})
    assert plans.detail == (
        "Planned without the language model: the language model wrote no plan that can be executed, asked 3 times: "
        "The answer holds no JSON object."
    )


def test_the_step_keeps_tokens_and_the_prompts_version(planner: Planner) -> None:
    trace = Trace(Limit.seconds(20))
    trace.step("plan", "plan", joined(planner, Scripted("no", OTHER)), QUESTION, trace.limit)
    assert (trace.steps[0].tokens, trace.steps[0].prompt_fingerprint) == (
        {"prompt": 200, "completion": 20}, PROMPTS.version
    )  # fmt: skip


class Watching(Scripted):
    """Keeps how much time it was given."""

    seconds = 0.0

    def complete(self, prompts: Sequence[Prompt], limit: Limit) -> list[Completion | StageError]:
        self.seconds = limit.remaining()
        raise DeadlineExceeded("language model")


@pytest.mark.parametrize(("left", "own", "given"), [(10.0, 8.0, 5.0), (100.0, 8.0, 8.0), (100.0, 0.5, 0.5)])
def test_a_model_has_its_own_seconds_and_never_more_than_half_of_what_is_left(
    planner: Planner, left: float, own: float, given: float
) -> None:
    model = Watching()
    plans = ask(planner, model, Limit.seconds(left), llm_seconds=own)
    assert given / 2 < model.seconds <= given
    assert {scored.source for scored in plans} == {"schema"}
    assert "the language model took longer than the" in plans.detail


def test_a_search_that_is_cancelled_while_the_model_thinks_is_cancelled(planner: Planner) -> None:
    class Cancelled(Scripted):
        def complete(self, prompts: Sequence[Prompt], limit: Limit) -> list[Completion | StageError]:
            raise SearchCancelled()

    with pytest.raises(SearchCancelled):
        ask(planner, Cancelled())


def trained(temperature: float = 3.0) -> dict[str, Any]:
    """Return the options of a planner with weights that know nothing; a low temperature makes it sure."""

    class Only:
        """One trained planner, whatever is asked for (interfaces.PlanScorers)."""

        def get(self, artifact: str, fold: int = -1) -> PairWeights:
            return PairWeights("trained", {}, temperature)

    return {"plan_scorers": Only(), "artifact": "trained"}


def test_beside_a_trained_planner_the_model_weighs_only_what_that_leaves_open(planner: Planner) -> None:
    alone = ask(planner, None, **trained())
    assert alone[0].source == "learned"
    plans = ask(planner, Scripted(OTHER), **trained())
    [written] = [scored for scored in plans if scored.source == "llm"]
    doubt = 1 - alone[0].probability
    assert 0 < doubt < 0.5
    assert written.probability == pytest.approx(0.45 * doubt)
    assert plans[0].plan == alone[0].plan
    assert plans[0].probability == pytest.approx((1 - 0.45 * doubt) * alone[0].probability)


def test_where_a_trained_planner_is_sure_the_model_is_not_asked_and_the_step_says_so(planner: Planner) -> None:
    model = Scripted()
    sure = trained(temperature=0.05)
    plans = ask(planner, model, **sure)
    assert (plans, model.asked, plans.status) == (ask(planner, None, **sure), [], "ok")
    assert plans.detail == (
        "The language model was not asked: beside the best plan, what it plans would weigh next to nothing."
    )
