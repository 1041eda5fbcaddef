"""One question of an evaluation as its page shows it: expected beside found, ranks at each stage, the possible plan."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from search.views.shown.plans import ShownPlan, show_plan
from training.evaluation.lost import AnswerFate, Attribution, LostStage
from training.models import AskedQuestion, Outcome


@dataclass(frozen=True, slots=True)
class FoundShown:
    """One result: rank, id, name and type as far as they are known, and whether it was expected.

    `judged` says what people said of it: empty where nobody judged a result of the question.
    """

    rank: int
    id: str
    name: str
    type: str
    expected: bool
    judged: str = ""


@dataclass(frozen=True)
class QuestionShown:
    """What one pipeline made of a question.

    `fates` has each expected answer with its rank in every list that has it, by the list's title, and the titles of the
    lists that do not have it. `plan` is the plan that would have found the answers, `plan_told` says its figures.
    """

    pipeline: str
    state: str
    error: str
    rank: int | None
    milliseconds: float
    run: str
    stage: LostStage | None
    why: str
    fates: tuple[tuple[AnswerFate, tuple[tuple[str, int], ...], tuple[str, ...]], ...]
    found: tuple[FoundShown, ...]
    plan: ShownPlan | None
    plan_told: str
    plan_shape: str
    probability: float | None


def question_shown(
    outcome: Outcome, asked: AskedQuestion, attribution: Attribution | None, titles: Mapping[str, str]
) -> QuestionShown:
    """Return what the page shows of one outcome.

    `attribution` is None where it was not computed; `titles` has the titles of its lists by name.
    """
    lists = tuple(one.name for one in attribution.lists) if attribution else ()
    fates = attribution.answers if attribution else ()
    not_first = attribution.not_first if attribution else None
    return QuestionShown(
        pipeline=outcome.pipeline,
        state=outcome.state,
        error=outcome.error,
        rank=outcome.rank,
        milliseconds=1000 * outcome.seconds,
        run=str(outcome.run) if outcome.run else "",
        stage=not_first.stage if not_first else None,
        why=not_first.why if not_first else "",
        fates=tuple(
            (
                fate,
                tuple((titles[name], rank) for name in lists if (rank := fate.ranks.get(name)) is not None),
                tuple(titles[name] for name in lists if fate.ranks.get(name) is None),
            )
            for fate in fates
        ),
        found=_found(outcome, asked, attribution),
        plan=show_plan({"plan": attribution.plan.plan.to_json()}, 0) if attribution and attribution.plan else None,
        plan_told=_told(attribution),
        plan_shape=outcome.plan_shape,
        probability=outcome.probability,
    )


def _found(outcome: Outcome, asked: AskedQuestion, attribution: Attribution | None) -> tuple[FoundShown, ...]:
    if attribution is not None and attribution.found:
        return tuple(
            FoundShown(one.rank, one.id, one.name, one.type, one.expected, judged_mark(asked, one.id))
            for one in attribution.found
        )
    ids = enumerate(outcome.ids[:10], 1)
    return tuple(FoundShown(rank, node, "", "", node in asked.answers, judged_mark(asked, node)) for rank, node in ids)


def judged_mark(asked: AskedQuestion, node: str) -> str:
    """Return what people said of a node: its grade, or that nobody judged it; empty if they judged none at all."""
    if not asked.grades:
        return ""
    if node in asked.grades:
        return f"judged {asked.grades[node]}"
    return "" if node in asked.answers else "not judged"


def _told(attribution: Attribution | None) -> str:
    """Return a sentence about the plan that would have found the answers."""
    if attribution is None:
        return ""
    plan = attribution.plan
    if plan is None:
        return attribution.no_plan
    finds = f"It finds {plan.found:,} nodes, F1 {100 * plan.f1:.0f} %"
    if plan.probability is None:
        return f"{finds}; the planner did not score it."
    ran = "it was executed" if plan.executed is not None else "it was not executed"
    return f"{finds}; the planner gave it {100 * plan.probability:.1f} % (rank {plan.rank:,}), and {ran}."
