"""The planner that asks a language model (GRASP, section on plan generation), with a repair that the paper lacks.

An answer is read leniently, harmless faults are mended, and the result is parsed strictly. The remaining faults go back
to the model with their JSON pointers, for two rounds at most.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from search.asking import Answers, ask
from search.domain.errors import Fault, PlanInvalid, StageError
from search.domain.graph import Schema
from search.domain.mending import mend
from search.domain.model_reply import UnreadableReply, read_object
from search.domain.options import option
from search.domain.plan import Plan, ScoredPlan
from search.domain.plan.normal_form import contradictions, normal_form
from search.domain.question import LONGEST_QUESTION, Question
from search.domain.trace import Limit, StepOutput, StepStatus
from search.interfaces import LanguageModel
from search.prompts import PlanPrompts

STAGE = "plan"
Drafts = Answers[tuple[Plan, list[str]]]
"""For each sample its plan, and a sentence for each fault that was mended."""


class WrittenPlans(StepOutput[ScoredPlan]):
    """The plans, with details for the trace on how they were made.

    `detail` is a sentence for people, `tokens` sums the answers' tokens by kind, `prompt_fingerprint` is the version of
    the prompt.
    """

    def __init__(
        self,
        plans: Sequence[ScoredPlan],
        detail: str = "",
        tokens: Mapping[str, int] | None = None,
        version: str = "",
        status: StepStatus = "ok",
    ) -> None:
        super().__init__(plans, detail, status)
        self.tokens = dict(tokens or {})
        self.prompt_fingerprint = version


class NoPlanWritten(StageError):
    """The language model gave no plan.

    `tokens` are the tokens that were spent nevertheless, `prompt_fingerprint` is the version of the prompt.
    """

    def __init__(
        self, reason: str, *, permanent: bool = False, tokens: Mapping[str, int] | None = None, version: str = ""
    ) -> None:
        super().__init__(STAGE, reason, permanent=permanent)
        self.tokens = dict(tokens or {})
        self.prompt_fingerprint = version


@dataclass(frozen=True)
class ModelPlanner:
    """Question → the plans that a language model writes, each with the share of the samples that gave it."""

    backend: ClassVar[str] = "language model"

    language_model: LanguageModel
    plan_prompts: PlanPrompts
    schema: Schema
    samples: int = option(1, "Number of plans requested; equal plans are merged.", low=1, high=10, public_high=1)
    temperature: float = option(0.7, "Temperature for every plan after the first; the first has 0.", low=0.0, high=2.0)
    rounds: int = option(2, "How often the model may correct the faults of its plan.", low=0, high=2)
    seconds: float = option(
        10.0, "Time limit of the language model for one question, in seconds.", low=0.1, high=300.0, public_high=10.0
    )

    def __call__(self, question: Question, limit: Limit) -> WrittenPlans:
        """Return at least one plan, best first.

        When the question brings its own plan, that plan is returned unchanged. Raises NoPlanWritten (a StageError) when
        the model cannot be asked or writes no plan that can be executed. Raises SearchCancelled.
        """
        if question.plan is not None:
            return WrittenPlans([ScoredPlan(question.plan, "user", 1.0)])
        text = question.text[:LONGEST_QUESTION]
        prompts = [
            self.plan_prompts.ask(text, temperature=self.temperature if sample else 0.0, sample=sample)
            for sample in range(self.samples)
        ]
        drafts = ask(
            self.language_model, prompts, lambda answer: read_plan(answer, self.schema), limit,
            seconds=self.seconds, rounds=self.rounds, repair=self.plan_prompts.repair,
        )  # fmt: skip
        return self._listed(text, drafts)

    def _listed(self, question: str, drafts: Drafts) -> WrittenPlans:
        """Return the plans with equal ones merged into the first of them. Raises NoPlanWritten when there is none."""
        groups: dict[str, list[Plan]] = {}
        for plan in _plans(drafts):
            groups.setdefault(normal_form(plan, self.schema), []).append(plan)
        if not groups:
            raise self._nothing(drafts)
        plans = [
            ScoredPlan(_settled(group[0], question), "llm", len(group) / len(drafts.answers))
            for group in sorted(groups.values(), key=len, reverse=True)
        ]
        return WrittenPlans(plans, _told(drafts, len(plans)), drafts.tokens, self.plan_prompts.version)

    def _nothing(self, drafts: Drafts) -> NoPlanWritten:
        """Return the error that says why there is no plan at all."""
        spent: dict[str, Any] = {"tokens": drafts.tokens, "version": self.plan_prompts.version}
        broken = [draft.error for draft in drafts if draft.error is not None]
        if broken:
            return NoPlanWritten(broken[0].reason, permanent=all(error.permanent for error in broken), **spent)
        first = next(draft for draft in drafts if draft.faults)
        fault = first.faults[0]
        where = f" (at {fault.pointer})" if fault.pointer else ""
        reason = (
            f"the language model wrote no plan that can be executed, asked {first.rounds} times: {fault.message}{where}"
        )
        return NoPlanWritten(reason, **spent)


def _plans(drafts: Drafts) -> list[Plan]:
    return [draft.value[0] for draft in drafts if draft.value is not None]


def read_plan(text: str, schema: Schema) -> tuple[Plan, list[str]]:
    """Return the plan in a model's answer, and a sentence for each fault that was mended on the way.

    Raises PlanInvalid with every remaining fault: the faults of format, else the hops that this schema does not have.
    """
    try:
        data, mended = mend(read_object(text), schema)
    except UnreadableReply as error:
        raise PlanInvalid([Fault("", str(error))]) from None
    plan = Plan.parse(data, schema)
    if faults := contradictions(plan, schema):
        raise PlanInvalid(faults)
    return plan, mended


def _settled(plan: Plan, question: str) -> Plan:
    """Return a plan ready to execute. Without an anchor it has the risk level `no_trade` and a residual."""
    if plan.anchors:
        return plan
    target = replace(plan.target, relevance_text=plan.target.relevance_text or question)
    return replace(plan, target=target, risk_level="no_trade")


def _told(drafts: Drafts, plans: int) -> str:
    """Return a note on merged plans, repair rounds, mended faults and failed answers; empty when there are none."""
    told, asked = [], len(drafts.answers)
    if asked > 1:
        told.append(f"{_count(plans, 'plan')} in {_count(len(_plans(drafts)), 'answer')}")
    if again := sum(draft.rounds - 1 for draft in drafts):
        told.append(f"the model was shown its faults {'once' if again == 1 else f'{again} times'}")
    mended = list(dict.fromkeys(what for draft in drafts if draft.value is not None for what in draft.value[1]))
    if mended:
        more = f"; and {len(mended) - 5} more" if len(mended) > 5 else ""
        told.append(f"mended: {'; '.join(mended[:5])}{more}")
    if failed := [draft.error for draft in drafts if draft.error is not None]:
        told.append(f"{_count(len(failed), 'answer')} did not come: {failed[0].reason.rstrip('.')}")
    text = ". ".join(told)
    return f"{text[:1].upper()}{text[1:]}." if text else ""


def _count(number: int, thing: str) -> str:
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"
