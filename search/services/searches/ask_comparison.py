"""ask_comparison: ask one question of two to four pipelines; what the same person has just asked is used again."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from django.contrib.auth.models import User as Account
from django.utils import timezone

from search import checks, wiring
from search.domain.errors import Fault, nearest
from search.models import SearchRun
from search.services.access.visitors import NOBODY, User, Visitor
from search.services.searches.check_request import shown
from search.services.searches.compare_searches import FEWEST, MOST
from search.services.searches.request_search import request_search
from search.services.searches.resolve_request import point_at_release, specify
from search.services.searches.storable import storable_text

USED_AGAIN = timedelta(hours=1)
"""Age up to which a search of the same person is used again instead of being asked again."""
K = 20
"""Results of each search; as many as a search page shows, so that its search can be a column."""


def ask_comparison(
    *,
    knowledge_base: str,
    question: str,
    pipelines: Sequence[str],
    user: User,
    visitor: Visitor = NOBODY,
    origin: str = SearchRun.Origin.PAGE,
) -> list[SearchRun]:
    """Return a search of the question for each pipeline, in their order: one asked before, or a new one.

    Raises SearchRejected with every fault before anything is asked. TooManySearches, QueueFull and ServiceUnavailable
    may come after some searches have been recorded; asking again uses those.
    """
    faults = pipeline_faults(pipelines)
    if faults:
        # The door of searches finds the other faults, counts the refusal and raises all of them together.
        request_search(
            knowledge_base=knowledge_base, question=question, user=user, visitor=visitor, origin=origin, faults=faults
        )
    before = asked_before(knowledge_base, question, pipelines, user, visitor)
    return [
        before.get(name) or request_search(
            knowledge_base=knowledge_base, question=question, pipeline=name, k=K, user=user, visitor=visitor,
            origin=origin,
        )
        for name in pipelines
    ]  # fmt: skip


def pipeline_faults(pipelines: Sequence[str]) -> list[Fault]:
    """Return the faults of a choice of pipelines: too few, too many, one twice, unknown or not available ones."""
    faults = []
    if not FEWEST <= len(pipelines) <= MOST:
        chosen = f"{len(pipelines)} are" if len(pipelines) > 1 else "one is" if pipelines else "none is"
        faults.append(Fault("/pipeline", f"A comparison takes two to four pipelines; {chosen} chosen."))
    known = wiring.pipelines()
    for name in dict.fromkeys(pipelines):
        if pipelines.count(name) > 1:
            faults.append(Fault("/pipeline", f"{shown(name)} is chosen twice; compare different pipelines."))
        if name not in known:
            message = f"There is no pipeline {shown(name)}. There are: {', '.join(known)}."
            faults.append(Fault("/pipeline", message, nearest(name, known)))
        elif reasons := checks.faults_of_pipeline(name):
            faults.append(Fault("/pipeline", f"{wiring.row(name)['TITLE']} is off: {' '.join(reasons)}"))
    return faults


def asked_before(
    knowledge_base: str, question: str, pipelines: Sequence[str], user: User, visitor: Visitor
) -> dict[str, SearchRun]:
    """Return this person's newest search of the question by pipeline, if a new one would be the same search.

    That is: the same release, settings and specification, asked plainly within the last hour, and not failed.
    """
    if isinstance(user, Account):
        own = SearchRun.objects.filter(user=user)
    elif visitor.asker:
        own = SearchRun.objects.filter(asker=visitor.asker, user=None)
    else:
        return {}
    probe = SearchRun()
    if point_at_release(probe, knowledge_base, user):
        return {}
    recent = own.of_people().filter(
        created__gte=timezone.now() - USED_AGAIN, question=storable_text(question), k=K, plan__isnull=True,
        follows__isnull=True,
        release=probe.release, settings_version=probe.settings_version,
        status__in=[SearchRun.Status.QUEUED, SearchRun.Status.RUNNING, SearchRun.Status.DONE],
    )  # fmt: skip
    found: dict[str, SearchRun] = {}
    for name in pipelines:
        probe.pipeline = name
        if specify(probe, None, user):
            continue
        same = recent.filter(pipeline=name, specification_hash=probe.specification_hash).order_by("-created").first()
        if same is not None:
            found[name] = same
    return found
