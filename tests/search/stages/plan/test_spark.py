"""SPARK: what a model's one answer becomes, what is made of bad answers, and what stands in without a model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from search.domain.errors import SearchCancelled, StageError
from search.domain.plan import Plan
from search.domain.question import Question
from search.domain.trace import Limit, Trace
from search.prompts import Briefing, PlanPrompts, PromptFiles
from search.prompts.reading import Unusable
from search.prompts.spark import SparkPrompts
from search.stages.plan import Planner
from search.stages.plan.spark import SparkPlanner, read_answer
from tests import recorded_model
from tests.search.stages.plan.films import FILMS, SCHEMA, planner_of
from tests.search.stages.plan.scripted import Scripted
from tests.search.test_asking import model as model_at

QUESTION = Question("which films did Ann Arbor direct")
PROMPTS = PlanPrompts(Briefing(SCHEMA, title="Films", names={"person": ("Ann Arbor",), "film": ("Heat", "Omega")}))
PLAN: dict[str, Any] = {
    "anchors": [{"var": "A1", "text": "Ann Arbor", "label": "person", "match_mode": "name"}],
    "hops": [{"from": "A1", "rel": "DIRECTED_BY", "to_var": "T", "to_label": "film"}],
    "target": {"var": "T", "labels": ["film"], "relevance_text": ""},
    "risk_level": "normal",
}


class Nobody(Scripted):
    """A model that is not configured."""

    def configured(self) -> bool:
        return False


@pytest.fixture(scope="module")
def planner(tmp_path_factory: pytest.TempPathFactory) -> Planner:
    return planner_of(tmp_path_factory.mktemp("films"), FILMS)


def spark(planner: Planner, model: Any) -> SparkPlanner:
    return SparkPlanner(SCHEMA, model, lambda: PROMPTS, planner=planner)


def answer(search: Any = "", types: Any = (), plan: Any = None) -> str:
    return json.dumps({"search": search, "types": list(types), "plan": plan})


def test_one_call_gives_one_plan_whose_text_orders_what_it_finds(planner: Planner) -> None:
    model = Scripted(answer("a slow thriller", ["film"], PLAN))
    trace = Trace(Limit.seconds(20))
    [scored] = trace.step("plan", "plan", spark(planner, model), QUESTION, trace.limit)
    assert (scored.source, scored.probability) == ("llm", 1.0)
    assert scored.plan.target.relevance_text == "a slow thriller"
    assert scored.plan.hops == Plan.parse(PLAN, SCHEMA).hops
    [asked] = model.asked
    assert asked.purpose == "spark"
    assert (trace.steps[0].prompt_fingerprint, trace.steps[0].status) == (asked.version, "ok")


def test_a_search_alone_becomes_a_plan_over_the_documents() -> None:
    plan, said = read_answer(answer("a film about heat", ["film"]), SCHEMA)
    assert plan.searches_documents
    assert (plan.anchors[0].text, plan.anchors[0].label, plan.target.labels, said) == (
        "a film about heat", "film", ("film",), "",
    )  # fmt: skip
    # A plan without entities and conditions is a search, too.
    bare = {"anchors": [], "hops": [], "target": {"var": "T", "labels": ["film"], "relevance_text": "heat"}}
    assert read_answer(answer("", [], bare), SCHEMA)[0].anchors[0].text == "heat"
    # Types that there are not are left out.
    assert read_answer(answer("heat", ["film", "sonata", 7]), SCHEMA)[0].target.labels == ("film",)
    # A model that forgets the frame writes the plan itself.
    assert read_answer(json.dumps(PLAN), SCHEMA)[0].hops == Plan.parse(PLAN, SCHEMA).hops


HOPS_200 = PLAN | {"hops": [{"from": f"v{n}", "rel": "DIRECTED_BY", "to_var": f"v{n + 1}"} for n in range(200)]}
UNKNOWN = PLAN | {"hops": [{"from": "A1", "rel": "ATE", "to_var": "T", "to_label": "film"}]}


@pytest.mark.parametrize("bad", [HOPS_200, UNKNOWN, "MATCH (a) OR (b)", [1, 2], PLAN | {"anchors": 7}])
def test_a_plan_that_cannot_be_executed_leaves_the_search(bad: Any) -> None:
    plan, said = read_answer(answer("slow films", ["film"], bad), SCHEMA)
    assert plan.searches_documents
    assert plan.anchors[0].text == "slow films"
    assert said.startswith("The graph plan was left out: ")
    with pytest.raises(Unusable):
        read_answer(answer("", ["film"], bad), SCHEMA)


@pytest.mark.parametrize(
    "reply",
    ["I would look for films by Ann Arbor.", "", "{}", "<think>hm", answer(), answer("  "), answer(7, "film"), "[1]",
     "which films did Ann Arbor direct " * 5_000],
)  # fmt: skip
def test_an_answer_without_plan_and_search_is_a_sentence(planner: Planner, reply: str) -> None:
    with pytest.raises(StageError) as raised:
        spark(planner, Scripted(reply))(QUESTION, Limit.seconds(20))
    assert raised.value.reason.startswith("the language model gave no answer that can be used")
    assert len(raised.value.reason) < 400


def test_a_long_text_is_cut() -> None:
    assert len(read_answer(answer("rain " * 20_000, ["film"]), SCHEMA)[0].anchors[0].text) <= 2_000


def test_without_a_model_the_best_enumerated_plan_stands_in(planner: Planner) -> None:
    alone = planner(QUESTION, Limit())
    for model in (None, Nobody()):
        plans = spark(planner, model)(QUESTION, Limit())
        assert list(plans) == alone[:1]
        said = "No language model is configured, so the best plan of the grammar stands in for the written one."
        assert (plans.detail, plans.status) == (said, "degraded")  # type: ignore[attr-defined]
    assert alone[0].plan.hops


def test_a_plan_that_is_given_is_taken_and_nobody_is_asked(planner: Planner) -> None:
    given = Plan.parse(PLAN, SCHEMA)
    [scored] = spark(planner, Scripted())(Question("x", plan=given), Limit())
    assert (scored.plan, scored.source) == (given, "user")


def test_a_cancelled_search_stops(planner: Planner) -> None:
    with pytest.raises(SearchCancelled):
        spark(planner, Scripted(answer("x")))(QUESTION, Limit(cancelled=lambda: True))


def test_a_real_server_is_asked_once_with_the_schema(planner: Planner) -> None:
    with recorded_model.running({"which films did Ann Arbor direct": answer("", ["film"], PLAN)}) as server:
        [scored] = spark(planner, model_at(server.url))(QUESTION, Limit.seconds(20))
        assert len(server.requests) == 1
    assert scored.plan.hops[0].rel == "DIRECTED_BY"


def test_a_slow_server_ends_within_the_time(planner: Planner) -> None:
    with recorded_model.running({"Ann Arbor": answer("x")}, pause=30.0) as server:
        slow = SparkPlanner(SCHEMA, model_at(server.url), lambda: PROMPTS, planner=planner, llm_seconds=0.5)
        with pytest.raises(StageError, match="did not answer within the time"):
            slow(QUESTION, Limit.seconds(20))


def test_the_prompt_has_everything_that_never_changes_before_the_question(tmp_path: Path) -> None:
    prompts = SparkPrompts(PROMPTS)
    first, second = prompts.ask("one  question?"), prompts.ask("another")
    assert first.messages[0] == second.messages[0]
    assert first.messages[-1].content.endswith("Question: one question?")
    assert "DIRECTED_BY" in first.messages[0].content
    assert "Ann Arbor" in first.messages[0].content
    examples = [line for line in prompts.system.splitlines() if line.startswith("Answer: ")]
    assert len(examples) >= 2
    for line in examples:
        read_answer(line.removeprefix("Answer: "), SCHEMA)
    assert first.version == second.version
    for name in ("spark/system.md", "spark/question.md", "plan/schema.md", "plan/structure.md"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(PromptFiles().text(name) + (" More." if name == "spark/question.md" else ""))
    assert SparkPrompts(PROMPTS, PromptFiles(tmp_path)).version != first.version
