"""SPARK: one call of a language model writes a retrieval plan (SAGE, section 2.2 A).

The paper's model writes Cypher for a graph database and calls of a vector search. Here it writes the plan language,
which is checked against the schema before anything is executed, and the text that the vectors are searched for.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from search.asking import ask, sentence
from search.domain.conversation import NO_MODEL
from search.domain.errors import Fault, PlanInvalid
from search.domain.graph import ANY, Schema
from search.domain.mending import mend
from search.domain.model_reply import UnreadableReply, read_object
from search.domain.options import option, part
from search.domain.plan import Anchor, Plan, ScoredPlan, Target
from search.domain.plan.normal_form import contradictions
from search.domain.plan.parts import MAX_TEXT
from search.domain.question import LONGEST_QUESTION, Question
from search.domain.trace import Limit, StepOutput
from search.interfaces import LanguageModel, PlanStage
from search.prompts import PlanPrompts
from search.prompts.reading import Unusable
from search.prompts.spark import PLAN, SEARCH, TYPES, SparkPrompts
from search.stages.plan.model import NoPlanWritten, WrittenPlans
from search.stages.plan.planner import Planner

INSTEAD = "the best plan of the grammar stands in for the written one."
MODEL_SHARE = 0.6
"""Largest part, in (0, 1), of the remaining time that the language model may take."""


@dataclass(frozen=True)
class SparkPlanner:
    """Question → the one retrieval plan that a language model writes; without a model, the grammar's best plan."""

    schema: Schema
    language_model: LanguageModel | None
    plan_prompts: Callable[[], PlanPrompts] | None
    planner: PlanStage = part(Planner)
    llm_seconds: float = option(
        10.0, "Time limit of the language model for one question, in seconds.", low=0.1, high=300, public_high=10
    )

    def __call__(self, question: Question, limit: Limit) -> list[ScoredPlan]:
        """Return one plan. A plan that the question brings along is returned unchanged.

        Raises NoPlanWritten (a StageError) when the model writes nothing that can be executed, and SearchCancelled.
        """
        if question.plan is not None:
            return [ScoredPlan(question.plan, "user", 1.0)]
        model, prompts = self.language_model, self.plan_prompts
        if model is None or prompts is None or not model.configured():
            return StepOutput(self.planner(question, limit)[:1], sentence(f"{NO_MODEL}, so {INSTEAD}"), "degraded")
        spark = SparkPrompts(prompts())
        own = limit.share(MODEL_SHARE)
        prompt = spark.ask(question.text[:LONGEST_QUESTION])
        answers = ask(model, [prompt], lambda text: read_answer(text, self.schema), own, seconds=self.llm_seconds)
        [read] = answers.values
        if read is None:
            reason = answers.said.rstrip(". ")
            raise NoPlanWritten(reason, tokens=answers.tokens, version=answers.prompt_fingerprint)
        plan, said = read
        return WrittenPlans([ScoredPlan(plan, "llm", 1.0)], said, answers.tokens, answers.prompt_fingerprint)


def read_answer(text: str, schema: Schema) -> tuple[Plan, str]:
    """Return the plan in a model's answer, and a sentence about what was corrected or left out; it may be empty.

    A plan that cannot be executed is left out if there is a text to search for. Raises Unusable if nothing is left.
    """
    try:
        data = read_object(text)
    except UnreadableReply as error:
        raise Unusable(str(error)) from None
    if PLAN not in data and SEARCH not in data:
        # A model that forgets the frame writes the plan itself.
        data = {PLAN: data}
    searched = data.get(SEARCH)
    searched = " ".join(searched.split())[:MAX_TEXT] if isinstance(searched, str) else ""
    types = _types(data.get(TYPES), schema)
    if data.get(PLAN) in (None, {}, ""):
        if not searched:
            raise Unusable("The answer has neither a plan nor a text to search for.")
        return _searching(searched, types), ""
    try:
        plan, said = _plan(data[PLAN], schema)
    except PlanInvalid as error:
        if not searched:
            raise Unusable(*error.faults) from None
        return _searching(searched, types), f"The graph plan was left out: {error.faults[0].message}"
    if not plan.anchors and not plan.runs_over_type:
        return _searching(searched or plan.target.relevance_text, types or plan.target.labels), said
    target = replace(plan.target, relevance_text=plan.target.relevance_text or searched)
    return replace(plan, target=target), said


def _plan(data: Any, schema: Schema) -> tuple[Plan, str]:
    """Return the graph plan and what was mended. Raises PlanInvalid with every fault."""
    mended, said = mend(data, schema)
    plan = Plan.parse(mended, schema)
    if faults := contradictions(plan, schema):
        raise PlanInvalid(faults)
    return plan, f"Mended: {'; '.join(said[:5])}." if said else ""


def _types(names: Any, schema: Schema) -> tuple[str, ...]:
    """Return the node types among the names, each once."""
    known = {node_type.name for node_type in schema.node_types}
    return tuple(dict.fromkeys(name for name in names if name in known)) if isinstance(names, list) else ()


def _searching(text: str, types: tuple[str, ...]) -> Plan:
    """Return the plan that searches the documents of some types for a text. Raises Unusable for an empty text."""
    if not text:
        raise Unusable(Fault("", "The plan names no entity and no condition, and there is no text to search for."))
    anchor = Anchor("T", text, types[0] if len(types) == 1 else ANY, "doc")
    return Plan((anchor,), (), Target("T", types), risk_level="normal")
