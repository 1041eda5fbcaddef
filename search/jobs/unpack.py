"""unpack: check and unpack an upload, so that its content can be looked at and imported."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar
from uuid import UUID

from search.domain.errors import Fault
from search.domain.job_kinds import JobKind, JobTarget, Needs, argument
from search.domain.run_context import RunContext
from search.models import Upload
from search.services.uploads.errors import UploadConflict
from search.services.uploads.unpack_upload import PART, unfinished, unpack_upload


@dataclass(frozen=True)
class UnpackJob(JobKind):
    """Checks and unpacks an upload (Kind)."""

    units: ClassVar[Mapping[str, str]] = {"": "bytes"}
    targets: ClassVar[tuple[str, ...]] = ()
    offered: ClassVar[bool] = False

    upload: str = argument("", "The id of the upload.", required=True)

    def parts(self) -> Mapping[str, float]:
        """Return the only part."""
        return {PART: 1.0}

    def refuse(self, target: JobTarget) -> Sequence[Fault]:
        """Refuse an upload that does not exist or is not complete."""
        upload = find_upload(self.upload)
        if upload is None:
            return [Fault("/arguments/upload", f"There is no upload {self.upload[:80]!r}.")]
        sentence = unfinished(upload)
        return [Fault("/arguments/upload", sentence)] if sentence else []

    def needs(self, target: JobTarget) -> Needs:
        """Return the disk for the content: at least as much again as was received."""
        upload = find_upload(self.upload)
        return Needs(disk=sum(file.size for file in upload.files.all()) if upload else 0)

    def run(self, target: JobTarget, run: RunContext) -> dict[str, Any]:
        """Unpack; return what was found."""
        upload = find_upload(self.upload)
        if upload is None:
            raise UploadConflict("The upload was discarded.")
        return {"upload": str(upload.pk), **unpack_upload(upload=upload, run=run).report}


def find_upload(text: str) -> Upload | None:
    """Return the upload with this id, or None."""
    try:
        return Upload.objects.filter(pk=UUID(text)).first()
    except ValueError:
        return None
