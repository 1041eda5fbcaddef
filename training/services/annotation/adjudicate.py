"""adjudicate: decisions about items on which people disagree. They stand beside the judgements and change none."""

from __future__ import annotations

from collections.abc import Sequence

from django.contrib.auth.models import User
from django.db import transaction

from search.domain.errors import Fault, InvalidRequest
from training.annotation.final_grades import GradingWay
from training.models import Adjudication, AnnotationItem, FinalRule
from training.models.annotation import HIGHEST_GRADE, AnnotationQueue
from training.services.annotation.grades import GivenGrade, GradedItem, QueueGrades, rule_of

LONGEST_NOTE = 4_000


def disagreements(grades: QueueGrades) -> list[GradedItem]:
    """Return the items that people graded differently: those that wait for a decision first, the widest apart first."""
    found = [one for one in grades.items if one.differ]
    return sorted(found, key=lambda one: (one.adjudication is not None and decided(one), -_apart(one)))


def decided(item: GradedItem) -> bool:
    """Return whether an adjudicator's decision about the item stands."""
    return item.final.way is GradingWay.ADJUDICATED


def _apart(item: GradedItem) -> int:
    given = [one.grade for one in item.given if one.grade is not None and not one.judgement.model]
    return max(given) - min(given) if given else 0


@transaction.atomic
def adjudicate(
    *, item: AnnotationItem, user: User, grade: int | None, note: str = "", seen: Sequence[GivenGrade] = (),
    last: int | None = None,
) -> Adjudication:  # fmt: skip
    """Store a decision; a grade of None takes the decision before it back and opens the item again.

    `seen` are the judgements that it was decided upon. Every decision is kept, the newest one counts. `last` is the id
    of the newest decision that the adjudicator saw, 0 for none; None does not look. Raises InvalidRequest for a grade
    that is not on the scale, a note that is too long, an item without a judgement, or a decision made meanwhile.
    """
    faults = []
    if grade is not None and not 0 <= grade <= HIGHEST_GRADE:
        faults.append(Fault("/grade", f"A grade is a whole number from 0 to {HIGHEST_GRADE}."))
    if len(note) > LONGEST_NOTE:
        faults.append(Fault("/note", f"A note has at most {LONGEST_NOTE:,} characters."))
    AnnotationItem.objects.select_for_update(no_key=True).get(pk=item.pk)
    newest = item.adjudications.order_by("pk").last()
    if last is not None and (newest.pk if newest else 0) != last:
        faults.append(Fault("/last", _meanwhile(newest)))
    if not item.judgements.filter(verdict__in=("graded", "unsure")).exists():
        faults.append(Fault("/item", "Nobody has judged this item yet, so there is nothing to decide."))
    if grade is None and not item.adjudications.exists():
        faults.append(Fault("/grade", "There is no decision about this item that could be taken back."))
    if faults:
        raise InvalidRequest(faults)
    told = [{"annotator": one.grader, "grade": one.grade} for one in seen]
    return Adjudication.objects.create(
        item=item, adjudicator=user, adjudicator_name=user.get_username(), grade=grade,
        note=note.replace("\x00", "\ufffd"), seen=told,
    )  # fmt: skip


def _meanwhile(newest: Adjudication | None) -> str:
    if newest is None:
        return "The decision that you saw is gone. Nothing was changed: look again, and decide then."
    said = "opened the item again" if newest.grade is None else f"gave it the final grade {newest.grade}"
    note = f", with the note “{newest.note[:200]}”" if newest.note else ""
    return (
        f"{newest.adjudicator_name} has decided meanwhile, and {said}{note}. Nothing was changed: look at it, and "
        "decide again if you still want to."
    )


def choose_rule(*, queue: AnnotationQueue, rule: str, relevant_from: int, models: Sequence[str] = ()) -> FinalRule:
    """Store how the grades of a queue become final ones. Raises InvalidRequest with every fault."""
    faults = []
    if rule not in FinalRule.Rule.values:
        faults.append(Fault("/rule", f"A rule is one of: {', '.join(FinalRule.Rule.values)}."))
    if not 1 <= relevant_from <= HIGHEST_GRADE:
        faults.append(Fault("/relevant_from", f"Answers begin at a grade from 1 to {HIGHEST_GRADE}."))
    known = set(queue.model_annotators.values_list("name", flat=True))
    faults += [
        Fault("/models", f"No language model {name[:80]!r} has judged in this queue.")
        for name in models if name not in known
    ]  # fmt: skip
    if faults:
        raise InvalidRequest(faults)
    chosen = rule_of(queue)
    chosen.rule, chosen.relevant_from, chosen.models = rule, relevant_from, list(models)
    chosen.save()
    return chosen
