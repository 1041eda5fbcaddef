"""judge: keeps what an annotator says about an item. Sent twice it is kept once; nothing is overwritten silently."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any
from uuid import UUID, uuid4

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from search.domain.errors import Fault, InvalidRequest, SearchError, nearest
from training.evaluation.lost.stages import LostStage
from training.models import AnnotationItem, Assignment, FailureCause, GradesSeen, Judgement, JudgementRevision, Verdict
from training.models.annotation import COUNTED, HIGHEST_GRADE
from training.services.annotation.assign import pass_on
from training.services.annotation.hand_out import LEASE

LONGEST_NOTE, MOST_EXPECTED, LONGEST_ID = 4_000, 50, 2_048
LONGEST_SECONDS = 86_400.0


class JudgementConflict(SearchError):
    """The judgement does not fit what is stored; the text says what to do. `stored` is the person's own, if any."""

    def __init__(self, detail: str, stored: Judgement | None = None) -> None:
        self.stored = stored
        super().__init__(detail)


@dataclass(frozen=True)
class GivenJudgement:
    """What is said about an item. `expected` are answers that are added, as {id, name, type}."""

    verdict: str
    grade: int | None = None
    cause: str = ""
    stage: str = ""
    note: str = ""
    expected: tuple[Mapping[str, str], ...] = ()
    seconds: float | None = None

    @classmethod
    def parse(cls, body: Mapping[str, Any]) -> GivenJudgement:
        """Return what a client sent. Raises InvalidRequest with every fault."""
        faults: list[Fault] = []
        verdict, grade = body.get("verdict"), body.get("grade")
        if verdict not in Verdict.values:
            known = ", ".join(Verdict.values)
            faults.append(Fault("/verdict", f"A verdict is one of: {known}.", nearest(str(verdict), Verdict.values)))
        graded = isinstance(grade, int) and not isinstance(grade, bool) and 0 <= grade <= HIGHEST_GRADE
        if verdict == Verdict.GRADED and not graded:
            faults.append(Fault("/grade", f"A grade is a whole number from 0 to {HIGHEST_GRADE}."))
        if verdict != Verdict.GRADED and grade is not None:
            faults.append(Fault("/grade", f"Only the verdict {Verdict.GRADED.value} has a grade."))
        cause, stage = body.get("cause") or "", body.get("stage") or ""
        for name, value, known_values in (
            ("cause", cause, FailureCause.values), ("stage", stage, [one.value for one in LostStage]),
        ):  # fmt: skip
            if value and value not in known_values:
                message = f"A {name} is one of: {', '.join(known_values)}; or empty."
                faults.append(Fault(f"/{name}", message, nearest(str(value), known_values)))
        note = body.get("note") or ""
        if not isinstance(note, str) or len(note) > LONGEST_NOTE:
            faults.append(Fault("/note", f"A note is a text of at most {LONGEST_NOTE:,} characters."))
        expected = _expected(body.get("expected") or [], faults)
        seconds = body.get("seconds")
        if not (seconds is None or (isinstance(seconds, int | float) and math.isfinite(seconds) and seconds >= 0)):
            faults.append(Fault("/seconds", "seconds is a number that is not negative."))
        if faults:
            raise InvalidRequest(faults)
        spent = None if seconds is None else min(float(seconds), LONGEST_SECONDS)
        return cls(str(verdict), grade, cause, stage, _storable(note), expected, spent)

    def values(self) -> dict[str, Any]:
        """Return the columns of a judgement."""
        return asdict(self) | {"expected": [dict(one) for one in self.expected]}

    def same_as(self, judgement: Judgement) -> bool:
        """Whether a stored judgement says the same."""
        names = ("verdict", "grade", "cause", "stage", "note", "expected")
        return all(self.values()[name] == getattr(judgement, name) for name in names)


@dataclass(frozen=True)
class WrittenJudgement:
    """A judgement as it is stored now, and whether this call changed it."""

    judgement: Judgement
    new: bool


@transaction.atomic
def judge(
    *, item: AnnotationItem, user: User, key: UUID, base: int, given: GivenJudgement, made: datetime | None = None
) -> WrittenJudgement:
    """Store what a person says about an item that was handed to them.

    `key` is made by the client for this one write: a write whose key is known changes nothing. `base` is the revision
    that the person saw, 0 if they had not judged the item. It is stored also when the hold has expired, the queue is
    closed, the item retired, or its release dropped. Raises JudgementConflict if the person has judged the item
    elsewhere in the meantime, or if it was never handed to them.
    """
    # All writes about one item wait for each other, so the same key is never stored twice.
    AnnotationItem.objects.select_for_update(no_key=True).get(pk=item.pk)
    stored = Judgement.objects.filter(item=item, annotator=user).first()
    known = JudgementRevision.objects.filter(key=key).select_related("judgement").first()
    if known is not None:
        if stored is None or known.judgement_id != stored.pk:
            raise JudgementConflict("This key belongs to another judgement; a client makes a new key for each.")
        return WrittenJudgement(stored, new=False)
    held = Assignment.objects.filter(item=item, annotator=user).first()
    if held is None:
        raise JudgementConflict("This item was not handed to you; open the queue to get items to judge.")
    if stored is not None and stored.revision != base:
        if given.same_as(stored):
            return WrittenJudgement(stored, new=False)
        raise JudgementConflict(_conflict(stored), stored)
    if stored is None and base:
        raise JudgementConflict("There is no judgement of yours that this could change; judge the item again.")
    if stored is None and given.verdict == Verdict.WITHDRAWN:
        raise JudgementConflict("There is no judgement of yours that could be withdrawn.")
    written = _write(item, stored, {"annotator": user, "annotator_name": user.get_username()}, given,
                     informed=held.revealed is not None or has_seen_grades(user, item), key=key, made=made)  # fmt: skip
    if given.verdict == Verdict.SKIPPED:
        pass_on(item)
    held.judged = given.verdict != Verdict.WITHDRAWN
    held.expires = timezone.now() + LEASE
    held.save(update_fields=["judged", "expires"])
    return WrittenJudgement(written, new=True)


@transaction.atomic
def judge_as_model(*, item: AnnotationItem, model: str, given: GivenJudgement) -> Judgement:
    """Store what a language model says about an item; it takes no place of a person. A further call is a revision."""
    AnnotationItem.objects.select_for_update(no_key=True).get(pk=item.pk)
    stored = Judgement.objects.filter(item=item, model=model).first()
    return _write(item, stored, {"annotator": None, "annotator_name": model, "model": model}, given, informed=False)


def _write(
    item: AnnotationItem, stored: Judgement | None, who: Mapping[str, Any], given: GivenJudgement, *,
    informed: bool, key: UUID | None = None, made: datetime | None = None,
) -> Judgement:  # fmt: skip
    """Write a judgement and its revision; the caller has locked the item."""
    values = given.values() | {"informed": informed and given.verdict in COUNTED}
    judgement = stored or Judgement(item=item, **who)
    judgement.revision = stored.revision + 1 if stored else 1
    for name, value in values.items():
        setattr(judgement, name, value)
    judgement.save()
    JudgementRevision.objects.create(
        judgement=judgement, number=judgement.revision, key=key or uuid4(), values=values, made=made or timezone.now()
    )
    return judgement


def has_seen_grades(user: User, item: AnnotationItem) -> bool:
    """Return whether somebody looked at the agreement of the item's queue, so that they do not judge blind any more."""
    return GradesSeen.objects.filter(queue=item.queue_id, user=user).exists()


def _conflict(stored: Judgement) -> str:
    said = stored.verdict if stored.grade is None else f"grade {stored.grade}"
    when = f"{timezone.localtime(stored.changed):%H:%M}"
    return (
        f"You judged this item in another tab or browser at {when} ({said}). Nothing was changed: keep that judgement, "
        "or put this one in its place."
    )


def _expected(given: Any, faults: list[Fault]) -> tuple[Mapping[str, str], ...]:
    shape = f"expected is a list of at most {MOST_EXPECTED} answers, each with id, and name and type if known."
    if not isinstance(given, list) or len(given) > MOST_EXPECTED:
        faults.append(Fault("/expected", shape))
        return ()
    found: dict[str, Mapping[str, str]] = {}
    for at, one in enumerate(given):
        texts = one.values() if isinstance(one, Mapping) else [None]
        fits = isinstance(one, Mapping) and one.get("id") and set(one) <= {"id", "name", "type"}
        if not fits or not all(isinstance(text, str) and len(text) <= LONGEST_ID for text in texts):
            faults.append(Fault(f"/expected/{at}", shape))
            continue
        found[one["id"]] = {name: _storable(one.get(name, "")) for name in ("id", "name", "type")}
    return tuple(found.values())


def _storable(text: str) -> str:
    return text.replace("\x00", "\ufffd").encode("utf-8", "replace").decode("utf-8")
