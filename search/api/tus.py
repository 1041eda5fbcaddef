"""Files of uploads by the tus protocol, version 1.0.0."""

from __future__ import annotations

import base64
import binascii
import io
from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.conf import settings
from django.urls import reverse
from django.utils.http import http_date
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.exceptions import APIException
from rest_framework.parsers import BaseParser
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from search.api import groups
from search.api import serializers as shape
from search.api.uploads import find_file, find_upload
from search.domain.errors import Fault, InvalidRequest
from search.models import Upload
from search.services.access.rights import ADD_UPLOADS
from search.services.uploads.begin_upload import MEGABYTE, add_file
from search.services.uploads.describe_upload import expires
from search.services.uploads.discard_upload import remove_file
from search.services.uploads.errors import UploadTooLarge
from search.services.uploads.receive import ALGORITHMS, Checksum, receive

VERSION = "1.0.0"
EXTENSIONS = "creation,termination,expiration,checksum"
MOST_BYTES = (1 << 63) - 1
_HEADERS = [
    OpenApiParameter("Tus-Resumable", OpenApiTypes.STR, OpenApiParameter.HEADER, required=True, description=VERSION)
]


class UnknownVersion(APIException):
    """The request does not say that it follows this version of tus; answered with 412."""

    status_code = 412
    default_detail = f"This server speaks tus {VERSION}; send the header Tus-Resumable: {VERSION}."
    default_code = "unknown_version"


class PieceParser(BaseParser):
    """Parser of a piece of a file: the stream itself, which the service reads block by block."""

    media_type = "application/offset+octet-stream"

    def parse(self, stream: Any, media_type: str | None = None, parser_context: Mapping[str, Any] | None = None) -> Any:
        """Return the stream unread."""
        return _Unread(stream)


class _Unread:
    """The unread stream, in the form that DRF expects of a parsed body."""

    def __init__(self, stream: Any) -> None:
        self.read = stream.read


class TusView(APIView):
    """A view that follows tus: it requires and sends the protocol's headers."""

    rights = dict.fromkeys(("HEAD", "OPTIONS", "POST", "PATCH", "DELETE"), ADD_UPLOADS)

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Raise UnknownVersion for a request of another version of the protocol."""
        super().initial(request, *args, **kwargs)
        requires = request.method in self.allowed_methods and request.method != "OPTIONS"
        if requires and request.headers.get("Tus-Resumable") != VERSION:
            raise UnknownVersion()

    def finalize_response(self, request: Any, response: Any, *args: Any, **kwargs: Any) -> Any:
        """Add the headers that every response has."""
        final = super().finalize_response(request, response, *args, **kwargs)
        final.headers["Tus-Resumable"] = VERSION
        if final.status_code == UnknownVersion.status_code:
            final.headers["Tus-Version"] = VERSION
        return final

    def options(self, request: Any, *args: Any, **kwargs: Any) -> Response:
        """Return the protocol's version and extensions that this server supports."""
        headers = {
            "Tus-Version": VERSION,
            "Tus-Extension": EXTENSIONS,
            "Tus-Max-Size": str(settings.GRASP_UPLOAD_MEGABYTES * MEGABYTE),
            "Tus-Checksum-Algorithm": ",".join(ALGORITHMS),
        }
        return Response(status=204, headers=headers)


class UploadFiles(TusView):
    """The files of an upload."""

    @extend_schema(
        operation_id="uploads_files_create",
        summary="Add a file to an upload",
        tags=[groups.UPLOADS],
        request=None,
        parameters=[
            *_HEADERS,
            OpenApiParameter("Upload-Length", OpenApiTypes.INT64, OpenApiParameter.HEADER, required=True),
            OpenApiParameter(
                "Upload-Metadata",
                OpenApiTypes.STR,
                OpenApiParameter.HEADER,
                required=True,
                description="`filename`, and `sha256` in hexadecimal digits if it is to be checked; values in Base64.",
            ),
        ],
        responses={201: None, **shape.problems(400, 401, 403, 404, 409, 412, 413, 503, 507)},
    )
    def post(self, request: Request, upload_id: UUID) -> Response:
        """Create a file of a known length; its pieces are sent to the address in `Location`.

        If the upload has a file with this name and length already, that file is returned, so that the sender can
        continue.
        """
        upload = find_upload(upload_id)
        length = _whole(request, "Upload-Length")
        metadata = _metadata(request)
        if "filename" not in metadata:
            raise InvalidRequest([Fault("/Upload-Metadata", "Upload-Metadata names no 'filename'.")])
        file = add_file(
            upload=upload, name=metadata["filename"], file_size=length, sha256=metadata.get("sha256", "").lower()
        )
        location = reverse("api:upload-file", args=[upload.pk, file.pk])
        headers = {"Location": location, "Upload-Offset": str(file.offset), **_expires(upload)}
        return Response(status=201, headers=headers)


class UploadFileDetail(TusView):
    """One file of an upload."""

    parser_classes = [PieceParser]

    def head(self, request: Request, upload_id: UUID, file_id: UUID) -> Response:
        """Return the number of bytes that have arrived, in `Upload-Offset`."""
        file = find_file(upload_id, file_id)
        headers = {"Upload-Offset": str(file.offset), "Upload-Length": str(file.size), "Cache-Control": "no-store"}
        return Response(status=200, headers=headers | _expires(file.upload))

    @extend_schema(
        operation_id="uploads_files_append",
        summary="Send a piece of a file",
        tags=[groups.UPLOADS],
        request={PieceParser.media_type: OpenApiTypes.BINARY},
        parameters=[
            *_HEADERS,
            OpenApiParameter("Upload-Offset", OpenApiTypes.INT64, OpenApiParameter.HEADER, required=True),
            OpenApiParameter(
                "Upload-Checksum",
                OpenApiTypes.STR,
                OpenApiParameter.HEADER,
                description=f"One of {', '.join(ALGORITHMS)}, a space, and the checksum of this piece in Base64.",
            ),
        ],
        responses={204: None, **shape.problems(400, 401, 403, 404, 409, 412, 413, 415, 460, 503, 507)},
    )
    def patch(self, request: Request, upload_id: UUID, file_id: UUID) -> Response:
        """Append a piece at the file's present offset, which HEAD returns."""
        file = find_file(upload_id, file_id)
        largest = settings.GRASP_UPLOAD_CHUNK_MEGABYTES * MEGABYTE
        if int(request.headers.get("Content-Length") or 0) > largest:
            raise UploadTooLarge(f"A piece has at most {largest:,} bytes; send the file in several.")
        offset, checksum = _whole(request, "Upload-Offset"), _checksum(request)
        content = request.data if isinstance(request.data, _Unread) else io.BytesIO()
        offset = receive(file=file, offset=offset, content=content, checksum=checksum)
        return Response(status=204, headers={"Upload-Offset": str(offset), **_expires(file.upload)})

    @extend_schema(
        operation_id="uploads_files_destroy",
        summary="Remove a file from an upload",
        tags=[groups.UPLOADS],
        parameters=_HEADERS,
        responses={204: None, **shape.problems(401, 403, 404, 409, 412, 503)},
    )
    def delete(self, request: Request, upload_id: UUID, file_id: UUID) -> Response:
        """Delete a file of an upload that is not unpacked yet."""
        remove_file(find_file(upload_id, file_id))
        return Response(status=204)


def _whole(request: Request, header: str) -> int:
    text = request.headers.get(header, "")
    if not (text.isascii() and text.isdecimal()) or len(text) > 19 or int(text) > MOST_BYTES:
        raise InvalidRequest([Fault(f"/{header}", f"{header} is a whole number of bytes.")])
    return int(text)


def _metadata(request: Request) -> dict[str, str]:
    """Return the pairs of Upload-Metadata: keys in ASCII, values in Base64."""
    found = {}
    for pair in request.headers.get("Upload-Metadata", "").split(","):
        key, _, value = pair.strip().partition(" ")
        try:
            found[key] = base64.b64decode(value.strip(), validate=True).decode()
        except (binascii.Error, ValueError):
            raise InvalidRequest(
                [Fault("/Upload-Metadata", f"The value of {key[:80]!r} is no Base64 of UTF-8.")]
            ) from None
    return found


def _checksum(request: Request) -> Checksum | None:
    text = request.headers.get("Upload-Checksum", "")
    if not text:
        return None
    algorithm, _, value = text.partition(" ")
    try:
        digest = base64.b64decode(value.strip(), validate=True)
    except (binascii.Error, ValueError):
        digest = b""
    if algorithm not in ALGORITHMS or not digest:
        message = f"Upload-Checksum is one of {', '.join(ALGORITHMS)}, a space, and the checksum in Base64."
        raise InvalidRequest([Fault("/Upload-Checksum", message)])
    return Checksum(algorithm, digest)


def _expires(upload: Upload) -> dict[str, str]:
    return {"Upload-Expires": http_date(expires(upload).timestamp())}
