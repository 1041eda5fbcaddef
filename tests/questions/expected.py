"""What is expected of the first plan of a question, held against the plan."""

from __future__ import annotations

from search.domain.plan import Plan
from search.domain.plan.normal_form import normal_form
from tests.questions.asked import ANYTHING, Question
from tests.questions.bases import Base


def wrong(base: Base, question: Question) -> list[str]:
    """Return a sentence for each expectation that a question's first plan does not meet."""
    best = base.best(question.text)
    plan, found = best.plan, base.found(best.plan)
    checks = {
        f"found {sorted(found)}": question.answers is None or sorted(found) == sorted(question.answers),
        f"lacks {set(question.has) - set(found)}": set(question.has) <= set(found),
        f"finds {set(question.lacks) & set(found)}": not set(question.lacks) & set(found),
        f"first {found[:1]}": question.first in (None, *found[:1]),
        f"asks {plan.ask}, {bool(found)}": question.yes is None or (plan.ask, bool(found)) == ("whether", question.yes),
        f"asks {plan.ask}": question.ask in (None, plan.ask),
        "yes or no": question.known or plan.ask != "whether" or bool(plan.target.relevance_text),
        f"shows {plan.show!r}": question.show in (None, plan.show),
        f"labels {plan.target.labels}": question.labels in (None, plan.target.labels),
        f"guesses {best.alike}": question.alike in (None, best.alike),
        "a plan in the graph": not (question.text_alone and (plan.anchors or plan.runs_over_type)),
        f"left to texts {plan.target.relevance_text!r}": _leaves(plan.target.relevance_text, question),
        f"probability {best.probability:.2f}": question.least <= best.probability <= question.most,
        f"another plan {plan.to_json()}": question.plan is None or _same(base, plan, question),
    }
    return [told for told, is_met in checks.items() if not is_met]


def _leaves(left: str, question: Question) -> bool:
    """Whether a plan leaves to texts what is expected: nothing, if its answers are and no word is."""
    if question.rest == ANYTHING:
        return True
    answered = question.first is not None or question.yes is not None or question.answers is not None
    return question.rest in left and not (left and answered and not question.rest)


def _same(base: Base, plan: Plan, question: Question) -> bool:
    schema = base.demo.schema
    return normal_form(plan, schema) == normal_form(Plan.parse(question.plan, schema), schema)
