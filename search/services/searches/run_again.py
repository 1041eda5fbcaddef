"""run_again: ask a search once more, of the release and with the pipeline version that are active now."""

from __future__ import annotations

from search.domain.errors import Fault, InvalidRequest
from search.models import SearchRun
from search.services.access.visitors import NOBODY, User, Visitor
from search.services.searches.request_search import request_search


def run_again(
    run: SearchRun, *, user: User, visitor: Visitor = NOBODY, origin: str = SearchRun.Origin.PAGE
) -> SearchRun:
    """Request the same question with the same pipeline, plan and options, and return the new search.

    Raises what `request_search` raises: the release of today may not fit a plan that was brought, and options that only
    staff may set are refused to others. Raises InvalidRequest for a follow-up whose earlier search was deleted.
    """
    if run.follows is not None and not SearchRun.objects.filter(pk=run.follows).exists():
        gone = "The search that this one follows was deleted, so its words cannot be read again; ask them anew."
        raise InvalidRequest([Fault("/follows", gone)])
    return request_search(
        knowledge_base=run.knowledge_base_name,
        question=run.question,
        pipeline=run.pipeline,
        k=run.k,
        plan=run.plan,
        settings=run.options or None,
        follows=run.follows,
        user=user,
        visitor=visitor,
        origin=origin,
    )
