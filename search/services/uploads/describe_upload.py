"""describe_upload: an upload as JSON, the same for pages, API and commands."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.conf import settings

from search.models import Upload
from search.services.uploads.unpack_upload import unfinished


def describe_upload(upload: Upload) -> dict[str, Any]:
    """Return the upload with its files; `missing` says why it cannot be unpacked yet."""
    return {
        "id": str(upload.pk),
        "title": upload.title,
        "source": upload.source,
        "state": upload.state,
        "reason": upload.reason,
        "missing": unfinished(upload) if upload.state == Upload.State.RECEIVING else "",
        "created": upload.created,
        "expires": expires(upload),
        "report": upload.report,
        "mapping": upload.mapping,
        "files": [
            {
                "id": str(file.pk),
                "name": file.name,
                "size": file.size,
                "offset": file.offset,
                "sha256": file.sha256,
            }
            for file in upload.files.all()
        ],
    }


def expires(upload: Upload) -> Any:
    """Return the time when the upload is deleted if nobody changes it until then."""
    return upload.changed + timedelta(days=settings.GRASP_UPLOAD_DAYS)
