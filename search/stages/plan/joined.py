"""Enumeration and a language model together: one list of plans, of which the executed results decide."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from search.domain.errors import StageError
from search.domain.options import option
from search.domain.plan import RISKS, Plan, ScoredPlan
from search.domain.plan.normal_form import normal_form
from search.domain.question import Question
from search.domain.trace import Limit
from search.interfaces import LanguageModel
from search.prompts import PlanPrompts
from search.stages.plan.model import ModelPlanner, NoPlanWritten, WrittenPlans
from search.stages.plan.planner import Planner

MODEL_SHARE = 0.5
"""Part of the stage's time left that the language model may take at most: what it plans has to be executed too."""
ALONE_WEIGHT = 0.65
"""Probability of the language model's plans where the enumeration finds no entity to start from: they come first, and
their own risk level says how far they are trusted."""
LEAST_WEIGHT = 0.05
"""Probability below which the language model's plans would change nothing that is shown, and are not asked for."""
_SURE = "The language model was not asked: beside the best plan, what it plans would weigh next to nothing."


@dataclass(frozen=True)
class JoinedPlanner(Planner):
    """Question → the plans of the enumeration and, where one is configured, those of a language model, in one list.

    The enumeration comes first and takes milliseconds, so that its plans are there whatever the model does. A plan that
    both came to has the probability of both. `plan_prompts` is called where the model is asked, not before.
    """

    language_model: LanguageModel | None = None
    plan_prompts: Callable[[], PlanPrompts] | None = None
    llm: str = option(
        "auto", "Whether a language model plans too: auto where one is configured, off never.", choices=("auto", "off")
    )
    llm_weight: float = option(
        0.45,
        "Probability that the language model's plans have together; beside a trained planner, of what that leaves. "
        "It is 0.65 at least where a question names no entity.",
        low=0,
        high=1,
    )
    llm_seconds: float = option(
        8.0, "Seconds that the language model may take for a question at most.", low=0.1, high=300, public_high=8
    )
    llm_samples: int = option(
        1, "Plans that the language model is asked for; equal ones are merged.", low=1, high=10, public_high=1
    )
    llm_temperature: float = option(
        0.7, "Temperature of the language model's plans after the first, which has 0.", low=0, high=2
    )
    llm_rounds: int = option(2, "Times that the language model is shown the faults of its plan.", low=0, high=2)

    def __call__(self, question: Question, limit: Limit) -> list[ScoredPlan]:
        """Return at least one plan; a plan that the asker brings is returned as it is, and no model is asked.

        Raises what the enumeration raises. A language model that fails costs its plans alone: the list is marked as
        degraded and says why.
        """
        listed = super().__call__(question, limit)
        if question.plan is not None or self.llm == "off":
            return listed
        model, prompts = self.language_model, self.plan_prompts
        if model is None or prompts is None or not model.configured():
            return listed
        if self._weight(listed) < LEAST_WEIGHT:
            return _noted(listed, _SURE)
        own = limit.share(MODEL_SHARE)
        own = Limit(min(own.ends, Limit.seconds(self.llm_seconds).ends), limit.cancelled)
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
        """Mix both lists: each has its weight, so that the sum stays 1, and equal plans add up."""
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
        """Return the probability that the model's plans share.

        What a trained planner gives its best plan has been held against answers, and stands; the model counts for the
        doubt that is left. That a question is left to text for want of a name that is a node's says nothing for text.
        """
        if self.llm_weight and not any(scored.plan.anchors for scored in listed):
            return max(self.llm_weight, ALONE_WEIGHT)
        doubt = 1.0 - listed[0].probability if listed[0].source == "learned" else 1.0
        return self.llm_weight * doubt

    def _key(self, plan: Plan) -> str:
        """Return the normal form of a plan with its entities by name: a model knows no ids."""
        anchors = tuple(replace(anchor, ids=()) for anchor in plan.anchors)
        return normal_form(replace(plan, anchors=anchors), self.schema)


def _agreed(found: ScoredPlan, written: Plan, share: float) -> ScoredPlan:
    """Return a plan that both came to: as enumerated, tied to its nodes, and as bold as the bolder of the two."""
    risk = max(found.plan.risk_level, written.risk_level, key=RISKS.index)
    return replace(found, plan=replace(found.plan, risk_level=risk), probability=found.probability + share)


def _without_model(listed: Sequence[ScoredPlan], error: StageError) -> WrittenPlans:
    """Return the enumeration's list with the reason why it is alone."""
    noted = _noted(listed, f"Planned without the language model: {error.reason.rstrip('. ')}.")
    spent = error if isinstance(error, NoPlanWritten) else NoPlanWritten(error.reason)
    return WrittenPlans(listed, noted.detail, spent.tokens, spent.prompt_fingerprint, "degraded")


def _noted(listed: Sequence[ScoredPlan], *said: str) -> WrittenPlans:
    """Return the enumeration's list with what it says itself, and then this."""
    sentences = [getattr(listed, "detail", ""), *said]
    return WrittenPlans(listed, " ".join(filter(None, sentences)), status=getattr(listed, "status", "ok"))


def _told(written: int, added: int) -> str:
    """Say what the model's plans are to the list."""
    plans = "plan" if written == 1 else f"{written} plans"
    if not added:
        return f"The language model came to the same {plans} as the enumeration."
    if added == written:
        return f"The language model's {plans} joined the list."
    return f"Of the language model's {plans}, {added} joined the list; the enumeration had found the rest."
