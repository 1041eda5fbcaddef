"""Question sets: list, import, compare, and make them of feedback."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.core.files.uploadedfile import UploadedFile
from django.db.models import QuerySet
from django.http import Http404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from search.api.pagination import Pages
from search.api.parsing import FormBodyParser, JSONBodyParser
from search.api.serializers.basics import page_of, problems
from search.domain.errors import Fault, InvalidRequest
from search.models import KnowledgeBase
from training.api import question_set_shapes as shape
from training.api.question_set_bodies import as_faults, base_of, examples_in, moment_of, prepared_of, read_body
from training.data.examples import Example
from training.models import QuestionSet
from training.services.check_questions import Prepared
from training.services.question_sets import changes_since, store_prepared, version_before
from training.services.questions_from_feedback import described, questions_from_feedback

GROUP = "Question sets"
VIEW, ADD = "training.view_questionset", "training.add_questionset"
SHOWN = 200
DIVIDED = ("knowledge_base", "name", "duplicates", "into", "split", "seed", "dry_run")
IMPORTED = (*DIVIDED, "questions", "text", "format", "file", "qrels")
GATHERED = (*DIVIDED, "since")
PAGING = [
    OpenApiParameter("page", OpenApiTypes.INT, description="From 1."),
    OpenApiParameter("page_size", OpenApiTypes.INT, description="At most 100; 20 unless given."),
]


class QuestionSets(APIView):
    """The question sets."""

    rights = {"GET": VIEW, "POST": ADD}
    parser_classes = (JSONBodyParser, FormBodyParser)

    @extend_schema(
        operation_id="question_sets_list",
        summary="List the question sets",
        tags=[GROUP],
        parameters=[
            OpenApiParameter("knowledge_base", OpenApiTypes.STR),
            OpenApiParameter("name", OpenApiTypes.STR, description="All versions of this set."),
            *PAGING,
        ],
        responses={200: page_of(shape.QuestionSetSerializer), **problems(401, 403, 404, 503)},
    )
    def get(self, request: Request) -> Response:
        """Return a page of the versions of question sets about knowledge bases that the caller may see."""
        asked = {key: request.query_params.get(key, "").replace("\x00", "") for key in ("knowledge_base", "name")}
        found = _visible(request)
        if asked["knowledge_base"]:
            found = found.filter(knowledge_base__name=asked["knowledge_base"])
        if asked["name"]:
            found = found.filter(name=asked["name"])
        pages = Pages()
        shown: list[QuestionSet] = pages.paginate_queryset(found.order_by("-created", "-pk"), request, view=self) or []
        return pages.get_paginated_response([describe(one) for one in shown])

    @extend_schema(
        operation_id="question_sets_create",
        summary="Import a question set, or check one",
        tags=[GROUP],
        request={
            "application/json": shape.GivenQuestionSetSerializer,
            "multipart/form-data": shape.UploadedQuestionSetSerializer,
        },
        responses={
            200: OpenApiResponse(
                shape.CheckedQuestionSetSerializer, description="It was known already, or only checked."
            ),
            201: OpenApiResponse(shape.CheckedQuestionSetSerializer, description="It is a new version."),
            **problems(400, 401, 403, 413, 415, 503),
        },
    )
    def post(self, request: Request) -> Response:
        """Check questions and store them as a version of a set; equal content gives the same version.

        The questions come as a file (JSON lines, STaRK's CSV, TREC topics with `qrels`, or lines of question, tab and
        answers), or in JSON as `questions` or `text`. Questions of different splits that say the same refuse the set
        unless `duplicates` says otherwise; so does a set none of whose answers is a node.
        """
        body = read_body(request, IMPORTED)
        base = base_of(request, body)
        examples = examples_in(body)
        prepared = prepared_of(base, examples, body)
        file = body.get("file")
        named = file.name.split(".")[0] if isinstance(file, UploadedFile) and file.name else ""
        return _stored(request, body, base, prepared, named, "API")


class FeedbackQuestions(APIView):
    """Question sets made of feedback."""

    rights = {"POST": ADD}

    @extend_schema(
        operation_id="question_sets_from_feedback",
        summary="Make a question set of feedback",
        tags=[GROUP],
        request=shape.FeedbackQuestionSetSerializer,
        responses={
            200: OpenApiResponse(
                shape.GatheredQuestionSetSerializer, description="It was known already, or only checked."
            ),
            201: OpenApiResponse(shape.GatheredQuestionSetSerializer, description="It is a new version."),
            **problems(400, 401, 403, 413, 415, 503),
        },
    )
    def post(self, request: Request) -> Response:
        """Make questions of searches that people judged: what they call right or missing are the answers.

        Where people disagree about a node, the majority decides; every disagreement is listed.
        """
        body = read_body(request, GATHERED)
        base = base_of(request, body)
        gathered = as_faults(lambda: questions_from_feedback(base, moment_of(body.get("since"))))
        prepared = prepared_of(base, gathered.examples, body)
        return _stored(request, body, base, prepared, "feedback", "feedback", described(gathered))


class QuestionSetDetail(APIView):
    """One version of a question set."""

    rights = {"GET": VIEW}

    @extend_schema(
        operation_id="question_sets_retrieve",
        summary="Show one with what its check found",
        tags=[GROUP],
        responses={200: shape.CheckedQuestionSetSerializer, **problems(401, 403, 404, 503)},
    )
    def get(self, request: Request, set_id: int) -> Response:
        """Return a version of a question set with its duplicates and unknown answers; its questions are not listed."""
        found = _find(request, set_id)
        return Response(describe(found) | {"checks": found.checks, "refused": [], "new": False})


class QuestionSetChanges(APIView):
    """What changed between two versions."""

    rights = {"GET": VIEW}

    @extend_schema(
        operation_id="question_sets_changes",
        summary="Compare a version with an earlier one",
        tags=[GROUP],
        parameters=[OpenApiParameter("before", OpenApiTypes.INT, description="Id; the version before unless given.")],
        responses={200: shape.ChangesSerializer, **problems(400, 401, 403, 404, 503)},
    )
    def get(self, request: Request, set_id: int) -> Response:
        """Return the questions that were added, removed and changed since another version."""
        after = _find(request, set_id)
        given = request.query_params.get("before", "")
        if given and not (given.isascii() and given.isdigit() and len(given) < 19):
            raise InvalidRequest([Fault("/before", f"before is the id of a question set, not {given[:40]!r}.")])
        before = _find(request, int(given)) if given else version_before(after)
        return Response(describe_changes(before, after))


def describe(one: QuestionSet) -> dict[str, Any]:
    """Return a version of a question set as JSON, without its questions."""
    return {
        "id": one.pk, "knowledge_base": one.knowledge_base.name, "name": one.name, "version": one.version,
        "questions": one.questions_count, "splits": one.splits, "source": one.source,
        "author": one.author.get_username() if one.author else "", "content_hash": one.content_hash,
        "created": one.created.isoformat(),
    }  # fmt: skip


def describe_changes(before: QuestionSet | None, after: QuestionSet) -> dict[str, Any]:
    """Return what changed between two versions as JSON; everything is new in a first version."""
    if before is None:
        counts = {"added": after.questions_count, "removed": 0, "changed": 0, "same": 0}
        return {"before": None, "after": after.pk, "counts": counts, "added": [], "removed": [], "changed": []}
    changes = changes_since(before, after)
    return {
        "before": before.pk,
        "after": after.pk,
        "counts": {
            "added": len(changes.added), "removed": len(changes.removed), "changed": len(changes.changed),
            "same": changes.same,
        },
        "added": [_question(one) for one in changes.added[:SHOWN]],
        "removed": [_question(one) for one in changes.removed[:SHOWN]],
        "changed": [
            {
                "id": one.after.id, "parts": list(one.parts), "before": _question(one.before),
                "after": _question(one.after),
            }
            for one in changes.changed[:SHOWN]
        ],
    }  # fmt: skip


def _question(one: Example) -> dict[str, Any]:
    return {"id": one.id, "text": one.text, "answers": list(one.answers), "split": one.split}


def _visible(request: Request) -> QuerySet[QuestionSet]:
    bases = KnowledgeBase.objects.visible_to(request.user)
    return QuestionSet.objects.filter(knowledge_base__in=bases).select_related("knowledge_base", "author")


def _find(request: Request, set_id: int) -> QuestionSet:
    """Return a question set. Raises Http404 if there is none, or its knowledge base is not for this caller."""
    found = _visible(request).filter(pk=set_id).first() if set_id < 2**63 else None
    if found is None:
        raise Http404("There is no question set with this id.")
    return found


def _stored(
    request: Request, body: Mapping[str, Any], base: KnowledgeBase, prepared: Prepared, named: str, source: str,
    more: Mapping[str, Any] | None = None,
) -> Response:  # fmt: skip
    """Store what was prepared, or describe it if it is only to be checked."""
    name = body.get("name") or named
    told = {"checks": prepared.checks, **(more or {})}
    if str(body.get("dry_run", "")).casefold() in ("true", "1", "on"):
        checked = {
            "id": None, "knowledge_base": base.name, "name": str(name), "version": 0,
            "questions": len(prepared.examples), "splits": prepared.checks["splits"], "source": source, "author": "",
            "content_hash": "", "created": None,
        }  # fmt: skip
        return Response(checked | told | {"refused": list(prepared.refused), "new": False})
    if not isinstance(name, str) or not name:
        raise InvalidRequest([Fault("/name", "Give the set a name.")])
    made, new = as_faults(
        lambda: store_prepared(
            knowledge_base=base.name, prepared=prepared, name=name, source=source, author=request.user
        )
    )
    return Response(describe(made) | told | {"refused": [], "new": new}, status=201 if new else 200)
