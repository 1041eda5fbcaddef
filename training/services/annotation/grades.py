"""grades: the judgements of a queue as a table of graders and items, with adjudications and final grades."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from django.conf import settings
from django.contrib.auth.models import User

from training.annotation.agreement import Matrix
from training.annotation.agreement_report import Grader
from training.annotation.final_grades import FinalGrade, final_grade
from training.models import (
    Adjudication,
    AnnotationItem,
    AnnotationQueue,
    FinalRule,
    Judgement,
    JudgementRevision,
    Verdict,
)
from training.models.annotation import HIGHEST_GRADE

SCALE = tuple(range(HIGHEST_GRADE + 1))


@dataclass(frozen=True, slots=True)
class GivenGrade:
    """One judgement in the table: `grade` is the newest, `blind` the newest given before peers' grades were seen."""

    grader: str
    grade: int | None
    blind: int | None
    judgement: Judgement


@dataclass(frozen=True)
class GradedItem:
    """An item with its judgements, its newest adjudication, and the final grade."""

    item: AnnotationItem
    given: tuple[GivenGrade, ...]
    adjudication: Adjudication | None
    final: FinalGrade

    @property
    def differ(self) -> bool:
        """Whether people gave it different grades."""
        return len({one.grade for one in self.given if one.grade is not None and not one.judgement.model}) > 1


@dataclass(frozen=True)
class QueueGrades:
    """All of a queue: who graded (by key, in the order of their names, people first), and the items in order."""

    rule: FinalRule
    graders: Mapping[str, Grader]
    items: Sequence[GradedItem]
    pseudonyms: Mapping[str, str] = field(default_factory=dict)

    def matrix(self) -> Matrix:
        """Return the blind grades, shape (graders, items), NaN where there is none."""
        rows = {key: at for at, key in enumerate(self.graders)}
        found = np.full((len(rows), len(self.items)), np.nan)
        for column, item in enumerate(self.items):
            for one in item.given:
                if one.blind is not None:
                    found[rows[one.grader], column] = one.blind
        return found

    def final_of_people(self) -> Matrix:
        """Return the final grades without any model, NaN where an item is open."""
        return np.array([_or_nan(_final(self.rule, one.given, one.adjudication, ()).grade) for one in self.items])


def rule_of(queue: AnnotationQueue) -> FinalRule:
    """Return the rule of final grades of a queue; the site's where nobody chose one."""
    return FinalRule.objects.filter(queue=queue).first() or FinalRule(queue=queue)


def read_grades(queue: AnnotationQueue) -> QueueGrades:
    """Return the judgements of a queue. Unsure ones have no grade; skipped and withdrawn ones are left out."""
    rule = rule_of(queue)
    rows = Judgement.objects.filter(
        item__queue=queue, verdict__in=(Verdict.GRADED, Verdict.UNSURE)
    ).select_related("annotator")  # fmt: skip
    judgements = list(rows)
    blind = _blind_grades([one for one in judgements if one.informed])
    decided = {
        one.item_id: one
        for one in Adjudication.objects.filter(item__queue=queue).select_related("adjudicator").order_by("pk")
    }
    by_item: dict[int, list[GivenGrade]] = {}
    for one in judgements:
        first = blind.get(one.pk) if one.informed else one.grade
        by_item.setdefault(one.item_id, []).append(GivenGrade(key_of(one), one.grade, first, one))
    graders = {key_of(one): Grader(name_of(one), bool(one.model)) for one in judgements}
    ordered = dict(sorted(graders.items(), key=lambda pair: (pair[1].model, pair[1].name.casefold(), pair[0])))
    items = []
    for item in queue.items.defer("shown").order_by("position"):
        given = tuple(sorted(by_item.get(item.pk, ()), key=lambda one: list(ordered).index(one.grader)))
        adjudication = decided.get(item.pk)
        items.append(GradedItem(item, given, adjudication, _final(rule, given, adjudication, rule.models)))
    return QueueGrades(rule, ordered, items, {key: pseudonym(key) for key in ordered})


def key_of(judgement: Judgement) -> str:
    """Return the key of who judged: the account, the name of an account that is gone, or the model."""
    if judgement.model:
        return f"model:{judgement.model}"
    if judgement.annotator_id is None:
        return f"gone:{judgement.annotator_name}"
    return f"account:{judgement.annotator_id}"


def name_of(judgement: Judgement) -> str:
    """Return the name of who judged, for those who may see it."""
    account: User | None = judgement.annotator
    return judgement.model or (account.get_username() if account else judgement.annotator_name)


def pseudonym(key: str) -> str:
    """Return the name that an export has for somebody: the same in every export of this site. Models keep theirs.

    It is keyed by the site's secret, so that nobody can find accounts by trying names.
    """
    if key.startswith("model:"):
        return key
    secret = settings.SECRET_KEY.encode()[:64]
    return f"person-{hashlib.blake2b(key.encode(), key=secret, person=b'annotator', digest_size=5).hexdigest()}"


def _final(
    rule: FinalRule, given: Sequence[GivenGrade], adjudication: Adjudication | None, models: Sequence[str]
) -> FinalGrade:
    counted = [
        one.grade for one in given
        if one.grade is not None and (not one.judgement.model or one.judgement.model in models)
    ]  # fmt: skip
    return final_grade(counted, rule.rule, adjudication.grade if adjudication else None)


def _blind_grades(informed: Sequence[Judgement]) -> dict[int, int | None]:
    """Return the newest grade of each judgement that was given before peers' grades were seen."""
    rows = JudgementRevision.objects.filter(judgement__in=[one.pk for one in informed]).order_by("number")
    return {
        row.judgement_id: row.values.get("grade") for row in rows if not row.values.get("informed")
    }  # fmt: skip


def _or_nan(grade: int | None) -> float:
    return np.nan if grade is None else float(grade)
