"""Annotation: the queues, the items that are handed out, and the judgements. The page of judging uses nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, cast
from uuid import UUID

from django.contrib.auth.models import User
from django.http import Http404, JsonResponse
from django.utils import timezone
from django.utils.dateparse import parse_datetime
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from search.api.pagination import Pages
from search.api.problems import problem
from search.api.serializers.basics import page_of, problems
from search.domain.errors import Fault, InvalidRequest, NotAllowed
from training.api import annotation_shapes as shape
from training.api.evaluations import PAGING
from training.models import AnnotationItem, AnnotationQueue
from training.models.annotation import AnnotationQueue as Queue
from training.services.annotation.describe import (
    describe_item,
    describe_judgement,
    describe_queue,
    evidence_of,
    find_item,
    find_queue,
    lease_sentence,
    list_queues,
    own_judgements,
    progress_of,
    reveal,
    vocabulary,
)
from training.services.annotation.hand_out import LEASE, MOST_AT_ONCE, hand_out
from training.services.annotation.judge import GivenJudgement, JudgementConflict, judge

GROUP = "Annotation"
JUDGE = "training.add_judgement"
MOST_REVISION = 2**31 - 1


class AnnotationQueues(APIView):
    """The queues."""

    rights = {"GET": JUDGE}

    @extend_schema(
        operation_id="annotation_queues_list", summary="List the annotation queues", tags=[GROUP], parameters=PAGING,
        responses={200: page_of(shape.AnnotationQueueSerializer), **problems(400, 401, 403, 404, 503)},
    )  # fmt: skip
    def get(self, request: Request) -> Response:
        """Return a page of queues with your progress, open ones first."""
        pages = Pages()
        shown: list[AnnotationQueue] = pages.paginate_queryset(list_queues(request.user), request, view=self) or []
        return pages.get_paginated_response([describe_queue(one, _person(request)) for one in shown])


class AnnotationQueueDetail(APIView):
    """One queue."""

    rights = {"GET": JUDGE}

    @extend_schema(
        operation_id="annotation_queues_retrieve", summary="Get a queue with its guideline", tags=[GROUP],
        responses={200: shape.AnnotationQueueDetailSerializer, **problems(401, 403, 404, 503)},
    )  # fmt: skip
    def get(self, request: Request, queue_id: int) -> Response:
        """Return a queue, and the grades, causes and stages that a judgement may name."""
        return Response(describe_queue(_queue(request, queue_id), _person(request)) | vocabulary())


class AnnotationNext(APIView):
    """The items that are handed out."""

    rights = {"POST": JUDGE}

    @extend_schema(
        operation_id="annotation_next", summary="Get items to judge", tags=[GROUP], request=shape.NextRequestSerializer,
        responses={200: shape.HandedItemsSerializer, **problems(400, 401, 403, 404, 415, 503)},
    )  # fmt: skip
    def post(self, request: Request, queue_id: int) -> Response:
        """Hold up to `number` items for this tab, and return all that it holds.

        Items are held for half an hour from the last request of their tab. `tab` is a UUID that the client makes once
        for each tab, so that two tabs get different items. `take_over` moves what your other tabs hold to this one.
        """
        queue, body = _queue(request, queue_id), _body(request)
        number = body.get("number", 1)
        if isinstance(number, bool) or not isinstance(number, int) or not 0 <= number <= MOST_AT_ONCE:
            raise InvalidRequest([Fault("/number", f"number is a whole number from 0 to {MOST_AT_ONCE}.")])
        handed = hand_out(
            queue=queue, user=_person(request), tab=_uuid(body, "tab"), number=number,
            take_over=body.get("take_over") is True,
        )  # fmt: skip
        return Response({
            "items": [describe_item(one, _person(request)) for one in handed.items],
            "progress": progress_of(queue, _person(request)),
            "elsewhere": handed.elsewhere,
            "sentence": _why_none(queue, handed.elsewhere) if not handed.items else "",
            "retired": list(handed.retired),
        })  # fmt: skip


class AnnotationJudgements(APIView):
    """The judgements."""

    rights = {"POST": JUDGE}

    @extend_schema(
        operation_id="annotation_judgements_create", summary="Judge an item", tags=[GROUP],
        request=shape.JudgementRequestSerializer,
        responses={
            201: OpenApiResponse(shape.WrittenJudgementSerializer, description="It is stored."),
            200: OpenApiResponse(
                shape.WrittenJudgementSerializer, description="It was stored already; nothing has changed."
            ),
            **problems(400, 401, 403, 404, 409, 415, 503),
        },
    )  # fmt: skip
    def post(self, request: Request) -> Response | JsonResponse:
        """Store what you say about an item, once for each `key`, however often it is sent.

        `base` is the revision of your judgement that you saw, 0 for none. If you have judged the item elsewhere since,
        the answer is 409 with the stored judgement in `judgement`, and nothing is changed; send it again with that
        revision as `base` and a new key to replace it. The verdict `withdrawn` undoes a judgement.
        """
        body = _body(request)
        item = _item(request, body.get("item"))
        base = body.get("base", 0)
        if isinstance(base, bool) or not isinstance(base, int) or not 0 <= base <= MOST_REVISION:
            raise InvalidRequest([Fault("/base", "base is the number of a revision, 0 for none.")])
        try:
            written = judge(
                item=item, user=_person(request), key=_uuid(body, "key"), base=base, given=GivenJudgement.parse(body),
                made=_moment(body.get("made")),
            )  # fmt: skip
        except JudgementConflict as conflict:
            own = describe_judgement(conflict.stored) if conflict.stored else None
            return problem(request._request, 409, str(conflict), judgement=own)
        told = describe_judgement(written.judgement) | {"progress": progress_of(item.queue, _person(request))}
        return Response(told, status=201 if written.new else 200)


class AnnotationOwnJudgements(APIView):
    """Your own judgements of a queue."""

    rights = {"GET": JUDGE}

    @extend_schema(
        operation_id="annotation_judgements_list", summary="List your own judgements of a queue", tags=[GROUP],
        parameters=PAGING,
        responses={200: page_of(shape.JudgementSerializer), **problems(400, 401, 403, 404, 503)},
    )  # fmt: skip
    def get(self, request: Request, queue_id: int) -> Response:
        """Return a page of your own judgements, the newest first; those of others are nowhere in the API."""
        pages = Pages()
        found = own_judgements(_queue(request, queue_id), _person(request))
        shown: list[Any] = pages.paginate_queryset(found, request, view=self) or []
        return pages.get_paginated_response([describe_judgement(one) for one in shown])


class AnnotationEvidence(APIView):
    """What the search found of an item."""

    rights = {"POST": JUDGE}

    @extend_schema(
        operation_id="annotation_evidence", summary="See what the search found of an item you have judged",
        tags=[GROUP], request=None,
        responses={200: shape.FoundOfItemSerializer, **problems(401, 403, 404, 409, 503)},
    )  # fmt: skip
    def post(self, request: Request, item_id: int) -> Response | JsonResponse:
        """Return the conditions that the search checked and the paths that it found; 409 before you have judged it.

        A grade that you change afterwards is marked as informed: agreement is computed from blind grades.
        """
        told = evidence_of(_item(request, item_id), _person(request))
        if told is None:
            return problem(request._request, 409, "What the search found is shown once you have judged this item.")
        return Response(told)


class AnnotationReveal(APIView):
    """What is hidden until an item is judged."""

    rights = {"POST": JUDGE}

    @extend_schema(
        operation_id="annotation_reveal", summary="See ranks and peers' grades of an item you have judged",
        tags=[GROUP], request=None,
        responses={200: shape.RevealedSerializer, **problems(401, 403, 404, 409, 503)},
    )  # fmt: skip
    def post(self, request: Request, item_id: int) -> Response | JsonResponse:
        """Return where each pipeline ranked the candidate and what others said; 409 before you have judged it.

        A grade that you change afterwards is marked as informed: agreement is computed from blind grades.
        """
        told = reveal(_item(request, item_id), _person(request))
        if told is None:
            return problem(request._request, 409, "Ranks and grades are shown once you have judged this item.")
        return Response(told)


def _person(request: Request) -> User:
    return cast(User, request.user)


def _queue(request: Request, queue_id: int) -> AnnotationQueue:
    queue = find_queue(queue_id, request.user)
    if queue is None:
        raise Http404("There is no annotation queue with this id.")
    return queue


def _item(request: Request, given: Any) -> AnnotationItem:
    if isinstance(given, bool) or not isinstance(given, int):
        raise InvalidRequest([Fault("/item", "item is the id of an item that was handed to you.")])
    item = find_item(given, request.user)
    if item is None:
        raise Http404("There is no such item; its queue may have been deleted.")
    return item


def _body(request: Request) -> Mapping[str, Any]:
    if not isinstance(request.data, Mapping):
        raise InvalidRequest([Fault("", "The body is a JSON object.")])
    person = request.data.get("annotator")
    if person is not None and person != request.user.pk:
        name = _person(request).get_username()
        raise NotAllowed(f"You are signed in as {name} now; these judgements were made with another account.")
    return request.data


def _uuid(body: Mapping[str, Any], name: str) -> UUID:
    try:
        return UUID(str(body.get(name)))
    except ValueError:
        raise InvalidRequest([Fault(f"/{name}", f"{name} is a UUID that the client makes.")]) from None


def _moment(given: Any) -> datetime | None:
    """Return a time in ISO 8601, or None; a client's clock may say anything."""
    try:
        moment = parse_datetime(given) if isinstance(given, str) else None
    except ValueError:
        return None
    return moment if moment is None or timezone.is_aware(moment) else timezone.make_aware(moment)


def _why_none(queue: AnnotationQueue, elsewhere: int) -> str:
    """Return why nothing is handed out."""
    if queue.state == Queue.State.CLOSED:
        return "This queue is closed. What you have judged is kept."
    if queue.state == Queue.State.FILLING:
        return "Its questions are being searched. There is something to judge as soon as all of them are."
    if elsewhere:
        return lease_sentence(elsewhere, LEASE)
    return "Nothing is left for you here: everything is judged, or others are at it. Thank you."
