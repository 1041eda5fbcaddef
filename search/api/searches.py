"""Searches: request, read and cancel them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from typing import Any
from uuid import UUID, uuid4

from django.http import Http404
from django.urls import reverse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from search.api import groups
from search.api import serializers as shape
from search.api.permissions import ANYBODY
from search.domain.errors import Fault, InvalidRequest, nearest, pointer
from search.models import SearchRun
from search.services.access.visible import NO_MORE, find_search
from search.services.access.visitor_cookie import asking_visitor, keep_visitor, visitor_of
from search.services.searches.cancel_search import cancel_search
from search.services.searches.describe_search import describe_search
from search.services.searches.request_search import request_search
from search.services.searches.reword import reword_answer
from search.services.searches.watch_search import Ending

REWORD = OpenApiParameter(
    "reword",
    OpenApiTypes.BOOL,
    description="Whether `answer.written` is said in the words of the site's language model, as far as its sources "
    "bear that out. `answer.reworded` then says whether it was.",
)
REQUEST_KEYS = ("knowledge_base", "question", "pipeline", "k", "plan", "settings", "follows")


class Searches(APIView):
    """Requests for searches."""

    rights = {"POST": ANYBODY}

    @extend_schema(
        operation_id="searches_create",
        summary="Ask a question",
        tags=[groups.SEARCHES],
        request=shape.SearchRequestSerializer,
        parameters=[
            OpenApiParameter(
                "wait",
                OpenApiTypes.FLOAT,
                description="Seconds to wait for the end; never longer than the time limit of a search.",
            ),
            REWORD,
        ],
        responses={
            201: OpenApiResponse(shape.SearchSerializer, description="It ended within `wait`."),
            202: OpenApiResponse(
                shape.SearchSerializer,
                description="It is recorded and queued, or has begun, and had not ended when this was written: without "
                "`wait`, or because `wait` was over. It goes on; look at `Location`, or follow its `events/`.",
            ),
            **shape.problems(400, 401, 403, 413, 415, 429, 503),
        },
    )
    def post(self, request: Request) -> Response:
        """Ask a question. The answer is 201 with the whole search if it ends within `wait` seconds, otherwise 202.

        Both answers give the address of the search in `Location`. A caller without an account gets a cookie, which
        allows them to cancel the search. The number of searches in a minute is limited for each address, account and
        token: above the limit the answer is 429. If too many searches are waiting already, it is 503. Both say after
        how many seconds to ask again. Some settings are for staff only; `GET pipelines/` lists the settings that the
        caller may use.

        A question may follow another search, whose id is in `follows`: *and for asthma?*, *only those after 2015*,
        *how many?*. Its words are then read as changes of the plan that the other search shows, unless they are a
        question of their own. Knowledge base and pipeline are those of the other search where they are left out. The
        search to follow has to be done, and a thread holds at most 50 questions.
        """
        body = request.data
        if not isinstance(body, Mapping):
            raise InvalidRequest([Fault("", f"The body is an object with {' and '.join(REQUEST_KEYS[:2])}, at least.")])
        (wait, faults), (reword, more) = _wait_seconds(request), _asks_to_reword(request)
        asked = {
            key: body[key]
            for key in REQUEST_KEYS
            if key in body and not (body[key] is None and key not in REQUEST_KEYS[:2])
        }
        visitor, run_id = asking_visitor(request), uuid4()
        with ExitStack() as waiting:
            end = waiting.enter_context(Ending(run_id).awaited()) if wait else None
            run = request_search(
                **{"knowledge_base": None, "question": None, **asked},
                user=request.user,
                visitor=visitor,
                origin=SearchRun.Origin.API,
                faults=[*_unknown(body), *faults, *more],
                run_id=run_id,
                awaited=end is not None,
            )
            told = end.wait(min(wait, run.time_limit)) if end else None
        if end and (reword or not told):
            run.refresh_from_db()
        described = reword_answer(describe_search(run)) if reword else told or describe_search(run)
        answer = Response(described, status=202 if told is None else 201)
        answer["Location"] = reverse("api:search", args=[run.pk])
        keep_visitor(request, answer, visitor)
        return answer


class SearchDetail(APIView):
    """One search."""

    rights = {"GET": ANYBODY}

    @extend_schema(
        operation_id="searches_retrieve",
        summary="Look at a search",
        tags=[groups.SEARCHES],
        parameters=[REWORD],
        responses={200: shape.SearchSerializer, **shape.problems(400, 401, 404, 503)},
    )
    def get(self, request: Request, run_id: UUID) -> Response:
        """Return the present state of the search: its plans, steps, lists and results.

        It includes the stages that the search had to do without, and the reasons.
        """
        reword, faults = _asks_to_reword(request)
        if faults:
            raise InvalidRequest(faults)
        search = describe_search(find_run(request, run_id, stored=not reword))
        return Response(reword_answer(search) if reword else search, headers={"Cache-Control": "no-store"})


class SearchCancel(APIView):
    """Cancellation of a search."""

    rights = {"POST": ANYBODY}

    @extend_schema(
        operation_id="searches_cancel",
        summary="Stop a search",
        tags=[groups.SEARCHES],
        request=None,
        responses={200: shape.SearchSerializer, **shape.problems(401, 403, 404, 503)},
    )
    def post(self, request: Request, run_id: UUID) -> Response:
        """Ask the search to stop; a search that has ended stays unchanged.

        Only staff and the caller who requested the search may do this. An account is recognised by its session or
        token. A caller without an account is recognised by the cookie `visitor`, which came with the answer to the
        request.
        """
        run = find_run(request, run_id, stored=True)
        return Response(describe_search(cancel_search(run, user=request.user, visitor=visitor_of(request))))


def find_run(request: Request, run_id: UUID, *, stored: bool = False) -> SearchRun:
    """Return the run, as `find_search` does.

    Raises Http404 if it does not exist, if the caller may not read it, and without `stored` if the caller may read no
    more than what it stored.
    """
    run = find_search(run_id, request.user, stored=True)
    if run is None:
        raise Http404("There is no search with this id.")
    if run.only_stored and not stored:
        raise Http404(NO_MORE)
    return run


def _unknown(body: Mapping[str, Any]) -> Iterator[Fault]:
    for key in body:
        if key not in REQUEST_KEYS:
            message = f"A search has no {key[:80]!r}; it has: {', '.join(REQUEST_KEYS)}."
            yield Fault(pointer(key), message, nearest(key, REQUEST_KEYS))


def _asks_to_reword(request: Request) -> tuple[bool, list[Fault]]:
    """Return the value of the parameter `reword`, and its faults."""
    given = request.query_params.get("reword", "false")
    if given not in ("true", "false"):
        return False, [Fault("/reword", f"reword is true or false, not {given[:40]!r}.")]
    return given == "true", []


def _wait_seconds(request: Request) -> tuple[float, list[Fault]]:
    """Return the seconds that the caller wants to wait, and the faults of the parameter `wait`."""
    given = request.query_params.get("wait", "0")
    try:
        seconds = float(given)
    except ValueError:
        seconds = -1.0
    if not seconds >= 0:
        return 0.0, [Fault("/wait", f"wait is a number of seconds from 0 on, not {given[:40]!r}.")]
    return seconds, []
