"""The planner that asks a language model (GRASP, section on plan generation), with a repair that the paper lacks.

An answer is read leniently, harmless faults are mended, and the result is parsed strictly. The remaining faults go back
to the model with their JSON pointers, for two rounds at most.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

from search.domain.conversation import CACHED_CALLS, Completion, Prompt
from search.domain.errors import DeadlineExceeded, Fault, PlanInvalid, StageError
from search.domain.graph import Schema
from search.domain.mending import mend
from search.domain.model_reply import UnreadableReply, read_object, without_thinking
from search.domain.options import option
from search.domain.plan import Plan, ScoredPlan
from search.domain.plan.normal_form import contradictions, normal_form
from search.domain.question import Question
from search.domain.trace import Limit, StepOutput, StepStatus
from search.interfaces import LanguageModel
from search.prompts import PlanPrompts

STAGE = "plan"
_LONGEST = 2_000
"""Most characters of a question that the prompt contains."""
_CUT = "length"
"""Finish reason with which a server marks an answer that it cut off."""


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


@dataclass(slots=True)
class _Draft:
    """The state of one sample: its next prompt, and the plan, faults or error so far."""

    prompt: Prompt
    plan: Plan | None = None
    faults: Sequence[Fault] = ()
    error: StageError | None = None
    mended: list[str] = field(default_factory=list)
    rounds: int = 0

    @property
    def open(self) -> bool:
        """Whether the model still has to be asked for this sample."""
        return self.plan is None and self.error is None


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
        own = Limit(min(limit.ends, time.monotonic() + self.seconds), limit.cancelled)
        text = question.text[:_LONGEST]
        drafts = [
            _Draft(self.plan_prompts.ask(text, temperature=self.temperature if sample else 0.0, sample=sample))
            for sample in range(self.samples)
        ]
        tokens: dict[str, int] = {}
        for _ in range(self.rounds + 1):
            waiting = [draft for draft in drafts if draft.open]
            if not waiting:
                break
            self._ask(waiting, own, tokens)
        return self._listed(text, drafts, tokens)

    def _ask(self, waiting: Sequence[_Draft], limit: Limit, tokens: dict[str, int]) -> None:
        """Ask the model for all waiting drafts at once; put the answers into the drafts and add up `tokens`."""
        try:
            outcomes = self.language_model.complete([draft.prompt for draft in waiting], limit)
        except DeadlineExceeded:
            reason = f"the language model took longer than the {round(self.seconds, 1):g} seconds that it has"
            outcomes = [StageError(STAGE, reason)] * len(waiting)
        except StageError as error:
            outcomes = [error] * len(waiting)
        for draft, outcome in zip(waiting, outcomes, strict=True):
            draft.rounds += 1
            if isinstance(outcome, StageError):
                draft.error = outcome
                continue
            for kind, count in outcome.tokens.items():
                tokens[kind] = tokens.get(kind, 0) + count
            if outcome.cached:
                tokens[CACHED_CALLS] = tokens.get(CACHED_CALLS, 0) + 1
            self._take(draft, outcome)

    def _take(self, draft: _Draft, answer: Completion) -> None:
        try:
            draft.plan, draft.mended = read_plan(answer.text, self.schema)
        except PlanInvalid as error:
            draft.faults = error.faults
            if answer.finish_reason == _CUT:
                draft.faults = (
                    Fault("", "The answer was cut off for its length; write a shorter plan."),
                    *error.faults,
                )
            draft.prompt = self.plan_prompts.repair(draft.prompt, without_thinking(answer.text), draft.faults)

    def _listed(self, question: str, drafts: Sequence[_Draft], tokens: dict[str, int]) -> WrittenPlans:
        """Return the plans with equal ones merged into the first of them. Raises NoPlanWritten when there is none."""
        groups: dict[str, list[_Draft]] = {}
        for draft in drafts:
            if draft.plan is not None:
                groups.setdefault(normal_form(draft.plan, self.schema), []).append(draft)
        if not groups:
            raise self._nothing(drafts, tokens)
        plans = [
            ScoredPlan(_settled(group[0].plan, question), "llm", len(group) / len(drafts))
            for group in sorted(groups.values(), key=len, reverse=True)
            if group[0].plan is not None
        ]
        return WrittenPlans(plans, _told(drafts, len(plans)), tokens, self.plan_prompts.version)

    def _nothing(self, drafts: Sequence[_Draft], tokens: Mapping[str, int]) -> NoPlanWritten:
        """Return the error that says why there is no plan at all."""
        version = self.plan_prompts.version
        broken = [draft.error for draft in drafts if draft.error is not None]
        if broken:
            permanent = all(error.permanent for error in broken)
            return NoPlanWritten(broken[0].reason, permanent=permanent, tokens=tokens, version=version)
        first = next(draft for draft in drafts if draft.faults)
        fault = first.faults[0]
        where = f" (at {fault.pointer})" if fault.pointer else ""
        reason = (
            f"the language model wrote no plan that can be executed, asked {first.rounds} times: {fault.message}{where}"
        )
        return NoPlanWritten(reason, tokens=tokens, version=version)


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


def _settled(plan: Plan | None, question: str) -> Plan:
    """Return a plan ready to execute. Without an anchor it has the risk level `no_trade` and a residual."""
    if plan is None or plan.anchors:
        return plan or Plan()
    target = replace(plan.target, relevance_text=plan.target.relevance_text or question)
    return replace(plan, target=target, risk_level="no_trade")


def _told(drafts: Sequence[_Draft], plans: int) -> str:
    """Return a note on merged plans, repair rounds, mended faults and failed answers; empty when there are none."""
    told, answered = [], [draft for draft in drafts if draft.plan is not None]
    if len(drafts) > 1:
        told.append(f"{_count(plans, 'plan')} in {_count(len(answered), 'answer')}")
    if again := sum(draft.rounds - 1 for draft in drafts):
        told.append(f"the model was shown its faults {'once' if again == 1 else f'{again} times'}")
    if mended := list(dict.fromkeys(what for draft in answered for what in draft.mended)):
        more = f"; and {len(mended) - 5} more" if len(mended) > 5 else ""
        told.append(f"mended: {'; '.join(mended[:5])}{more}")
    if failed := [draft.error for draft in drafts if draft.error is not None]:
        told.append(f"{_count(len(failed), 'answer')} did not come: {failed[0].reason.rstrip('.')}")
    text = ". ".join(told)
    return f"{text[:1].upper()}{text[1:]}." if text else ""


def _count(number: int, thing: str) -> str:
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"
