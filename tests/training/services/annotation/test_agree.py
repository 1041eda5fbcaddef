"""The agreement of a stored queue: blind grades only, figures as by the library, and who may see it."""

from __future__ import annotations

from uuid import uuid4

import krippendorff
import numpy as np
import pytest
from django.contrib.auth.models import AnonymousUser, User
from django.utils import timezone

from search.models import KnowledgeBase
from tests.training.annotating import annotator
from tests.training.services.annotation.judged_queue import ROWS, judge, judged_queue, person
from training.models import AnnotationQueue, Assignment, Judgement
from training.services.annotation.agree import WaitingItem, agreement_of, may_lead, note_look, still_judging
from training.services.annotation.grades import read_grades
from training.services.annotation.judge import GivenJudgement, judge_as_model
from training.services.annotation.judge import judge as judge_item

MODEL = "tiny-1 #abc"


def table(rows: object = ROWS) -> np.ndarray:
    """Return the grades of the rows as a table for the library."""
    given = [[grade if grade is not None and grade >= 0 else np.nan for grade in grades] for _, _, grades in ROWS]
    return np.array(given, dtype=float).T


def test_the_figures_of_a_queue_are_those_of_its_grades(films: KnowledgeBase) -> None:
    report = agreement_of(judged_queue(films))
    for level in ("ordinal", "nominal"):
        theirs = krippendorff.alpha(table(), level_of_measurement=level)
        assert report["alpha"][level]["value"] == pytest.approx(theirs, abs=1e-4)
    # Items 0 to 3 have two grades or more; 1, 2 and 3 have different ones. Ten grades, one of item 4 alone.
    assert [report[name] for name in ("items", "graded", "paired", "differ", "grades")] == [6, 5, 4, 3, 12]
    assert [one["name"] for one in report["graders"]] == ["ann", "bea", "cem"]
    assert [(one["a"], one["b"], one["items"], one["same"]) for one in report["pairs"]] == [
        ("ann", "bea", 4, 2), ("ann", "cem", 3, 1), ("bea", "cem", 3, 2),
    ]  # fmt: skip
    assert {one["grade"]: one["given"] for one in report["by_grade"]} == {0: 3, 1: 2, 2: 1, 3: 6}


def test_a_grade_changed_after_seeing_others_counts_as_it_was_given_blind(films: KnowledgeBase) -> None:
    queue = judged_queue(films)
    before = agreement_of(queue)["alpha"]
    judge(queue.items.get(position=2), person("ann"), 3, informed=True)
    assert agreement_of(queue)["alpha"] == before
    # The final grade is made of the newest ones: now both say 3.
    assert read_grades(queue).items[2].final.grade == 3


def test_a_language_model_is_measured_against_people_and_changes_none_of_their_figures(films: KnowledgeBase) -> None:
    queue = judged_queue(films)
    before = agreement_of(queue)
    for item, grade in zip(queue.items.order_by("position"), (3, 0, 3, 3), strict=False):
        judge_as_model(item=item, model=MODEL, given=GivenJudgement("graded", grade))
    after = agreement_of(queue)
    [model] = after["models"]
    assert {**after, "models": []} == before
    # Of people: 3, then 0 and 3 by majority; item 2 is a tie. The model gives the same three.
    assert (model["name"], model["graded"]) == (MODEL, 4)
    assert (model["final"]["items"], model["final"]["same"]) == (3, 3)
    assert [(one["name"], one["same"], one["items"]) for one in model["people"]] == [
        ("ann", 2, 4), ("bea", 4, 4), ("cem", 2, 3),
    ]  # fmt: skip
    with_it = np.vstack([table()[:, :4], [3, 0, 3, 3]])
    theirs = krippendorff.alpha(with_it, level_of_measurement="ordinal")
    assert model["with"]["value"] == pytest.approx(theirs, abs=1e-4)
    without = krippendorff.alpha(table()[:, :4], level_of_measurement="ordinal")
    assert model["without"]["value"] == pytest.approx(without, abs=1e-4)


def test_an_account_that_is_gone_keeps_its_grades(films: KnowledgeBase) -> None:
    queue = judged_queue(films)
    before = agreement_of(queue)
    User.objects.get(username="cem").delete()
    assert Judgement.objects.filter(annotator=None).count() == 3
    assert agreement_of(queue) == before


def test_a_queue_that_nobody_judged_says_so(films: KnowledgeBase) -> None:
    report = agreement_of(judged_queue(films, [("first", "film/1", (None, None, None))]))
    assert report["meaning"] == "No item has two grades yet, so there is nothing to compare."
    assert (report["pairs"], report["models"], report["graded"]) == ([], [], 0)


def test_who_may_see_the_grades_of_others(films: KnowledgeBase) -> None:
    queue = judged_queue(films)
    admin = User.objects.create_superuser("root")
    assert [may_lead(one, queue) for one in (person("lee"), admin, person("ann"), AnonymousUser())] == [
        True, True, False, False,
    ]  # fmt: skip


def test_nobody_sees_them_while_judging(films: KnowledgeBase) -> None:
    queue = judged_queue(films)
    assert not still_judging(person("lee"), queue)
    judge(queue.items.get(position=5), person("lee"), 2)
    # Item 5 waits for ann, bea and cem, items 2 and 4 for cem and lee, and lee could judge no other.
    assert still_judging(person("lee"), queue) == WaitingItem(mine=2, others=1)
    AnnotationQueue.objects.update(state="closed")
    queue.refresh_from_db()
    assert not still_judging(person("lee"), queue)


def test_what_everybody_judged_or_skipped_waits_for_nobody(films: KnowledgeBase) -> None:
    queue = judged_queue(films, [("first", "film/1", (3, 3, None)), ("first", "film/2", (3, None, None))])
    AnnotationQueue.objects.update(overlap=2)
    queue.refresh_from_db()
    ann, bea = person("ann"), person("bea")
    assert still_judging(ann, queue) == WaitingItem(mine=0, others=1)
    assert still_judging(bea, queue) == WaitingItem(mine=1, others=0)
    skipped = Judgement.objects.create(
        item=queue.items.get(position=1), annotator=bea, annotator_name="bea", verdict="skipped"
    )
    assert still_judging(ann, queue) is None
    # An annotator who has not begun could judge it; an admin, who sees all grades anyway, is not waited for.
    User.objects.create_superuser("root")
    assert still_judging(ann, queue) is None
    annotator("new")
    assert still_judging(ann, queue) == WaitingItem(mine=0, others=1)
    KnowledgeBase.objects.update(visibility=KnowledgeBase.Visibility.MEMBERS)
    assert still_judging(ann, queue) is None
    skipped.verdict = "withdrawn"
    skipped.save()
    assert still_judging(bea, queue) == WaitingItem(mine=1, others=0)


def test_who_has_looked_does_not_judge_blind_any_more(films: KnowledgeBase) -> None:
    queue = judged_queue(films)
    item, later = queue.items.get(position=5), queue.items.get(position=4)
    for one in (item, later):
        Assignment.objects.create(item=one, annotator=person("lee"), tab=uuid4(), expires=timezone.now())
    judge_item(item=item, user=person("lee"), key=uuid4(), base=0, given=GivenJudgement("graded", 2))
    note_look(person("lee"), queue)
    note_look(person("lee"), queue)
    judge_item(item=later, user=person("lee"), key=uuid4(), base=0, given=GivenJudgement("graded", 3))
    [first] = read_grades(queue).items[5].given
    assert (first.grade, first.blind) == (2, 2)
    assert {one.grader: one.blind for one in read_grades(queue).items[4].given}[f"account:{person('lee').pk}"] is None
    assert next(one for one in agreement_of(queue)["graders"] if one["name"] == "lee")["graded"] == 1
