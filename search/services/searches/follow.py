"""follow: what a new search may know of the search that it follows, and why it may not follow one."""

from __future__ import annotations

from uuid import UUID

from search.domain.errors import Fault, PlanInvalid
from search.domain.follow_up import MAX_THREAD, Earlier, Followed
from search.domain.graph import Schema
from search.domain.plan import Plan
from search.models import SearchRun
from search.services.access.visible import find_search
from search.services.access.visitors import User
from search.services.searches.describe_search import outputs_of, shown_plan
from search.services.searches.end_abandoned import end_abandoned_search

_UNFINISHED = (SearchRun.Status.QUEUED, SearchRun.Status.RUNNING)
_AT = "/follows"


def followed_run(follows: object, run_id: UUID, user: User) -> tuple[SearchRun | None, list[Fault]]:
    """Return the search that a new search wants to follow, None if there is none, and why it cannot be followed.

    `run_id` is the id of the new search. A search that `user` may not read gets the same fault as one that does not
    exist. `user` None stands for the site itself, which may read all.
    """
    found = _find(follows, user)
    if found is None:
        return None, [Fault(_AT, f"There is no search with the id {str(follows)[:80]!r}; give the id of a search.")]
    found = end_abandoned_search(found)
    if found.pk == run_id:
        return found, [Fault(_AT, "A search cannot follow itself; give the id of an earlier search.")]
    if found.status in _UNFINISHED:
        return found, [Fault(_AT, "The search to follow has not ended yet; ask on when it has.")]
    if found.status != SearchRun.Status.DONE:
        message = f"The search to follow has {_ENDED[found.status]}, so it has nothing to change; ask anew."
        return found, [Fault(_AT, message)]
    return found, []


_ENDED: dict[str, str] = {SearchRun.Status.FAILED: "failed", SearchRun.Status.CANCELLED: "been cancelled"}


def follow(run: SearchRun, earlier: SearchRun) -> list[Fault]:
    """Store in `run` what it has to know of the earlier search; return the faults if it cannot follow it."""
    followed, faults = followed_of(earlier, run)
    if followed is not None:
        run.follows, run.followed = earlier.pk, followed.to_json()
    return faults


def followed_of(earlier: SearchRun, run: SearchRun) -> tuple[Followed | None, list[Fault]]:
    """Return what `run` has to know of the earlier search, None with the faults if it cannot follow it.

    The thread is read from the earlier row alone, so deleted searches stay in it.
    """
    if not _same_base(earlier, run):
        message = (
            f"The search to follow was asked of {earlier.knowledge_base_name!r}, and this one is asked of "
            f"{run.knowledge_base_name!r}; a follow-up asks the same knowledge base."
        )
        return None, [Fault(_AT, message)]
    known = Followed.from_json(earlier.followed) if earlier.followed else None
    thread = (*(known.thread if known else ()), Earlier(str(earlier.pk), earlier.question))
    ids = [one.id for one in thread]
    if len(set(ids)) < len(ids) or str(run.pk) in ids:
        return None, [Fault(_AT, "The searches of this thread follow each other in a circle; ask anew.")]
    if len(thread) >= MAX_THREAD:
        message = f"A thread holds at most {MAX_THREAD} questions, and this one would be one more; ask anew."
        return None, [Fault(_AT, message)]
    output = outputs_of(earlier.steps.all())
    shown, _ = shown_plan(output)
    plan = output.plans.entries[shown].plan if shown is not None else None
    wording = output.follow_up.wording if output.follow_up else earlier.question
    return Followed(thread, wording, plan, earlier.release_name), []


def _same_base(earlier: SearchRun, run: SearchRun) -> bool:
    """Whether both searches are of one knowledge base; one that was deleted and imported again counts as the same."""
    if earlier.knowledge_base_id is None:
        return earlier.knowledge_base_name == run.knowledge_base_name
    return run.knowledge_base_id in (None, earlier.knowledge_base_id)


def fitting(followed: Followed, schema: Schema) -> Followed:
    """Return the followed search without its plan if the plan does not fit the schema of the present release."""
    if followed.plan is None:
        return followed
    try:
        Plan.parse(followed.plan.to_json(), schema)
    except PlanInvalid:
        return Followed(followed.thread, followed.wording, None, followed.release)
    return followed


def _find(follows: object, user: User) -> SearchRun | None:
    try:
        wanted = follows if isinstance(follows, UUID) else UUID(follows) if isinstance(follows, str) else None
    except ValueError:
        return None
    if wanted is None:
        return None
    return find_search(wanted, user)
