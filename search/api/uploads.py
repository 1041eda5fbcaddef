"""Uploads: files of a knowledge base, sent in pieces.

The files are sent by tus 1.0 (https://tus.io/protocols/resumable-upload), with the extensions creation, termination,
expiration and checksum: POST creates a file, PATCH appends a piece at an offset, HEAD returns the offset.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.http import Http404
from django.urls import reverse
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from search.api import groups
from search.api import serializers as shape
from search.api.knowledge_bases import PAGING
from search.api.pagination import Pages
from search.domain.errors import Fault, InvalidRequest
from search.models import Upload, UploadFile
from search.services.access.rights import ADD_UPLOADS, DELETE_UPLOADS, VIEW_UPLOADS
from search.services.imports.preview_upload import preview_upload
from search.services.jobs.launch import launch_job
from search.services.jobs.wake import wake
from search.services.uploads.begin_upload import begin_upload
from search.services.uploads.describe_upload import describe_upload
from search.services.uploads.discard_upload import discard_upload


def find_upload(upload_id: UUID) -> Upload:
    """Return an upload. Raises Http404 if it does not exist."""
    upload = Upload.objects.filter(pk=upload_id).first()
    if upload is None:
        raise Http404("There is no such upload; it was discarded, or deleted because nobody changed it for days.")
    return upload


def find_file(upload_id: UUID, file_id: UUID) -> UploadFile:
    """Return a file of an upload. Raises Http404 if it does not exist."""
    file = UploadFile.objects.select_related("upload").filter(pk=file_id, upload_id=upload_id).first()
    if file is None:
        raise Http404("There is no such file in this upload.")
    return file


def body_of(request: Request, keys: tuple[str, ...]) -> Mapping[str, Any]:
    """Return the body. Raises InvalidRequest if it is not an object or has other keys."""
    body = request.data if request.data is not None else {}
    if not isinstance(body, Mapping):
        raise InvalidRequest([Fault("", f"The body is an object with {' and '.join(keys)}.")])
    if unknown := [key for key in body if key not in keys]:
        message = "Known keys are " + ", ".join(keys) + "."
        raise InvalidRequest([Fault(f"/{str(key)[:80]}", message) for key in unknown])
    return body


class Uploads(APIView):
    """The uploads of the site."""

    rights = {"GET": VIEW_UPLOADS, "POST": ADD_UPLOADS}

    @extend_schema(
        operation_id="uploads_list",
        summary="List the uploads",
        tags=[groups.UPLOADS],
        parameters=PAGING,
        responses={200: shape.page_of(shape.UploadSerializer), **shape.problems(401, 403, 404, 503)},
    )
    def get(self, request: Request) -> Response:
        """Return a page of the uploads, the newest first."""
        pages = Pages()
        found = Upload.objects.prefetch_related("files")
        shown: list[Upload] = pages.paginate_queryset(found, request, view=self) or []
        return pages.get_paginated_response([_described(upload) for upload in shown])

    @extend_schema(
        operation_id="uploads_create",
        summary="Begin an upload",
        tags=[groups.UPLOADS],
        request=shape.UploadRequestSerializer,
        responses={201: shape.UploadSerializer, **shape.problems(400, 401, 403, 413, 415, 503)},
    )
    def post(self, request: Request) -> Response:
        """Create an upload without files. POST to its `files/` creates each file; `unpack/` completes the upload."""
        upload = begin_upload(user=request.user, title=body_of(request, ("title",)).get("title", ""))
        described = _described(upload)
        return Response(described, status=201, headers={"Location": described["url"]})


class UploadDetail(APIView):
    """One upload."""

    rights = {"GET": VIEW_UPLOADS, "DELETE": DELETE_UPLOADS}

    @extend_schema(
        operation_id="uploads_retrieve",
        summary="Show an upload",
        tags=[groups.UPLOADS],
        responses={200: shape.UploadSerializer, **shape.problems(401, 403, 404, 503)},
    )
    def get(self, request: Request, upload_id: UUID) -> Response:
        """Return the upload with its files and how much of each has arrived."""
        return Response(_described(find_upload(upload_id)))

    @extend_schema(
        operation_id="uploads_destroy",
        summary="Discard an upload",
        tags=[groups.UPLOADS],
        responses={204: None, **shape.problems(401, 403, 404, 409, 503)},
    )
    def delete(self, request: Request, upload_id: UUID) -> Response:
        """Delete the upload with its files, unless a job uses it."""
        discard_upload(find_upload(upload_id))
        return Response(status=204)


class UploadUnpack(APIView):
    """The check of an upload whose files have all arrived."""

    rights = {"POST": ADD_UPLOADS}

    @extend_schema(
        operation_id="uploads_unpack",
        summary="Check and unpack an upload",
        tags=[groups.UPLOADS],
        request=None,
        responses={202: shape.UnpackLaunchedSerializer, **shape.problems(400, 401, 403, 404, 503)},
    )
    def post(self, request: Request, upload_id: UUID) -> Response:
        """Launch the job that checks and unpacks what was received; the upload is `ready` or `refused` afterwards."""
        upload = find_upload(upload_id)
        job, _ = launch_job(kind="unpack", arguments={"upload": str(upload.pk)}, user=request.user)
        wake(job.queue)
        return Response({"job": str(job.pk), "state": job.state}, status=202)


class UploadPreview(APIView):
    """A preview of the import of an upload."""

    rights = {"POST": ADD_UPLOADS}

    @extend_schema(
        operation_id="uploads_preview",
        summary="Look at an upload before it is imported",
        tags=[groups.UPLOADS],
        request=shape.PreviewRequestSerializer,
        responses={200: shape.PreviewSerializer, **shape.problems(400, 401, 403, 404, 413, 415, 503)},
    )
    def post(self, request: Request, upload_id: UUID) -> Response:
        """Return types, relations, fields, counts, first rows, faults and an estimate, by the given or guessed mapping.

        A given mapping without faults is stored with the upload.
        """
        upload = find_upload(upload_id)
        mapping = body_of(request, ("mapping",)).get("mapping")
        return Response(preview_upload(upload, mapping))


def _described(upload: Upload) -> dict[str, Any]:
    """Return an upload with the addresses of itself and its files."""
    shown = describe_upload(upload)
    shown["url"] = reverse("api:upload", args=[upload.pk])
    for file in shown["files"]:
        file["url"] = reverse("api:upload-file", args=[upload.pk, file["id"]])
    return shown
