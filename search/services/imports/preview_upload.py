"""preview_upload: look at an upload before it is imported, and keep the mapping that somebody gives it."""

from __future__ import annotations

from typing import Any

from search.domain.errors import Fault, InvalidRequest
from search.models import Upload
from search.services.imports.look import LookRefused, look
from search.services.imports.place import content_of


def preview_upload(upload: Upload, mapping: Any = None) -> dict[str, Any]:
    """Return the preview of an upload that is unpacked, with the mapping given, else the one kept, else the guess.

    A given mapping without a fault is kept. Raises InvalidRequest, also for an upload that is not unpacked, or
    that hits a bound of looking.
    """
    folder = content_of(str(upload.pk))
    if mapping is not None and not isinstance(mapping, dict):
        raise InvalidRequest([Fault("/mapping", "'mapping' is an object; docs/importing.md describes it.")])
    try:
        answer = look("preview", folder, mapping=mapping or upload.mapping, called=name_of(upload))
    except LookRefused as refused:
        raise InvalidRequest([Fault("/upload", str(refused))]) from refused
    except InvalidRequest as error:
        faults = [fault.below("/mapping") for fault in error.faults]
        raise InvalidRequest(faults) from error
    if mapping:
        upload.mapping = mapping
        upload.save(update_fields=["mapping", "changed"])
    return answer


def name_of(upload: Upload) -> str:
    """Return what the knowledge base of an upload may be called: its title, else the name of its first file."""
    first = upload.files.first()
    return upload.title or (first.name.split(".")[0] if first else "")
