"""The grammar and a language model together: both give plans for one list, and all plans of it are executed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from search.domain.errors import StageError
from search.domain.graph import Schema
from search.domain.options import option, part
from search.domain.plan import RISKS, Plan, ScoredPlan
from search.domain.plan.normal_form import normal_form
from search.domain.question import Question
from search.domain.trace import Limit
from search.interfaces import LanguageModel, PlanStage
from search.prompts import PlanPrompts
from search.stages.plan.model import ModelPlanner, NoPlanWritten, WrittenPlans
from search.stages.plan.planner import Planner

MODEL_SHARE = 0.5
"""Largest part, in (0, 1), of the remaining time that the language model may take: its plans must be executed too."""
ALONE_WEIGHT = 0.65
"""Least probability of the language model's plans together when the grammar finds no entity to start from.

These plans then come first, and their own risk level says how strongly the graph's list is used."""
LEAST_WEIGHT = 0.05
"""Least probability of the language model's plans together; below it they change no result: no model is asked."""
_SURE = "The language model was not asked: beside the best plan, what it plans would weigh next to nothing."


@dataclass(frozen=True)
class JoinedPlanner:
    """Question → the plans of the grammar and, where one is configured, those of a language model, in one list.

    The grammar runs first and takes milliseconds, so its plans exist even if the model fails. A plan that both
    found gets the sum of both probabilities. `plan_prompts` is called only when the model is asked.
    """

    schema: Schema
    language_model: LanguageModel | None
    plan_prompts: Callable[[], PlanPrompts] | None
    planner: PlanStage = part(Planner)
    llm: str = option(
        "auto", "Whether a language model also plans: auto when one is configured, off never.", choices=("auto", "off")
    )
    llm_weight: float = option(
        0.45,
        "Total probability of the language model's plans; beside a trained planner, a fraction of the remaining one. "
        "It is at least 0.65 when a question names no entity.",
        low=0,
        high=1,
    )
    llm_seconds: float = option(
        8.0, "Time limit of the language model for one question, in seconds.", low=0.1, high=300, public_high=8
    )
    llm_samples: int = option(
        1, "Number of plans requested from the language model; equal plans are merged.", low=1, high=10, public_high=1
    )
    llm_temperature: float = option(
        0.7, "Temperature of the language model for every plan after the first; the first has 0.", low=0, high=2
    )
    llm_rounds: int = option(2, "How often the language model may correct the faults of its plan.", low=0, high=2)

    def __call__(self, question: Question, limit: Limit) -> list[ScoredPlan]:
        """Return at least one plan, the most probable first.

        When the question brings its own plan, that plan is returned unchanged and no model is asked. Raises the same
        errors as the grammar. When the language model fails, the list has only the grammar's plans; it is
        marked as degraded and names the reason.
        """
        listed = self.planner(question, limit)
        if question.plan is not None or self.llm == "off":
            return listed
        model, prompts = self.language_model, self.plan_prompts
        if model is None or prompts is None or not model.configured():
            return listed
        if self._weight(listed) < LEAST_WEIGHT:
            return _noted(listed, _SURE)
        own = limit.share(MODEL_SHARE).at_most(self.llm_seconds)
        try:
            return self._join(listed, self._model_planner(model, prompts(), own)(question, own))
        except StageError as error:
            return _without_model(listed, error)

    def _model_planner(self, model: LanguageModel, prompts: PlanPrompts, limit: Limit) -> ModelPlanner:
        return ModelPlanner(
            model,
            prompts,
            self.schema,
            samples=self.llm_samples,
            temperature=self.llm_temperature,
            rounds=self.llm_rounds,
            seconds=limit.remaining(),
        )

    def _join(self, listed: Sequence[ScoredPlan], written: WrittenPlans) -> WrittenPlans:
        """Return both lists as one: each has its weight, the sum stays 1, probabilities of equal plans are added."""
        weight = self._weight(listed)
        places: dict[str, int] = {}
        for place, scored in enumerate(listed):
            places.setdefault(self._key(scored.plan), place)
        rest = 1.0 - weight * sum(scored.probability for scored in written)
        joined = [replace(scored, probability=rest * scored.probability) for scored in listed]
        added = []
        for scored in written:
            share = weight * scored.probability
            at = places.get(self._key(scored.plan))
            if at is None:
                added.append(replace(scored, probability=share))
            else:
                joined[at] = _agreed(joined[at], scored.plan, share)
        order = sorted([*joined, *added], key=lambda scored: -scored.probability)
        plans = [scored for scored in order if scored.probability > 0]
        said = [_told(len(written), len(added)), written.detail]
        noted = _noted(listed, *said)
        return WrittenPlans(plans, noted.detail, written.tokens, written.prompt_fingerprint, noted.status)

    def _weight(self, listed: Sequence[ScoredPlan]) -> float:
        """Return the probability that the model's plans have together, in [0, 1].

        A trained planner's probability was compared with known answers, so its best plan keeps it. The model then gets
        its weight of the remaining probability only. When no listed plan has an anchor, the question names no known
        node. This is no evidence for answering by text, so the model gets `ALONE_WEIGHT` at least.
        """
        if self.llm_weight and not any(scored.plan.anchors for scored in listed):
            return max(self.llm_weight, ALONE_WEIGHT)
        doubt = 1.0 - listed[0].probability if listed[0].source == "learned" else 1.0
        return self.llm_weight * doubt

    def _key(self, plan: Plan) -> str:
        """Return the normal form of a plan without the ids of its anchors, because a language model knows no ids."""
        anchors = tuple(replace(anchor, ids=()) for anchor in plan.anchors)
        return normal_form(replace(plan, anchors=anchors), self.schema)


def _agreed(found: ScoredPlan, written: Plan, share: float) -> ScoredPlan:
    """Return a plan that both found: the grammar's, with its nodes, `share` added, and the higher risk level."""
    risk = max(found.plan.risk_level, written.risk_level, key=RISKS.index)
    return replace(found, plan=replace(found.plan, risk_level=risk), probability=found.probability + share)


def _without_model(listed: Sequence[ScoredPlan], error: StageError) -> WrittenPlans:
    """Return the grammar's list, marked as degraded, with the reason why the model's plans are missing."""
    noted = _noted(listed, f"Planned without the language model: {error.reason.rstrip('. ')}.")
    spent = error if isinstance(error, NoPlanWritten) else NoPlanWritten(error.reason)
    return WrittenPlans(listed, noted.detail, spent.tokens, spent.prompt_fingerprint, "degraded")


def _noted(listed: Sequence[ScoredPlan], *said: str) -> WrittenPlans:
    """Return the grammar's list with its own detail, followed by the sentences `said`."""
    sentences = [getattr(listed, "detail", ""), *said]
    return WrittenPlans(listed, " ".join(filter(None, sentences)), status=getattr(listed, "status", "ok"))


def _told(written: int, added: int) -> str:
    """Return a sentence on how many of the model's plans were added to the list."""
    plans = "plan" if written == 1 else f"{written} plans"
    if not added:
        return f"The language model came to the same {plans} as the grammar."
    if added == written:
        return f"The language model's {plans} joined the list."
    return f"Of the language model's {plans}, {added} joined the list; the grammar had found the rest."
