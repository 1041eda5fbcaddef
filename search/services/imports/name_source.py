"""name_source: begin an import from a folder of the server or from a database."""

from __future__ import annotations

from search.domain.errors import Fault, InvalidRequest
from search.ingest.mapping.guess import base_name
from search.models import Upload
from search.services.access.visitors import User
from search.services.imports.place import SourcePlace, check_place, is_neo4j
from search.services.uploads.begin_upload import begin_upload

LONGEST_SOURCE = 1000


def name_source(*, source: str, user: User) -> Upload:
    """Return a row for the source, which keeps its mapping between the steps of an import.

    `source` is a folder below one of `import_roots`, or an address on GRASP_IMPORT_NEO4J_HOSTS. Raises InvalidRequest.
    """
    if len(source) > LONGEST_SOURCE or "\0" in source:
        raise InvalidRequest([Fault("/source", f"A source is a text of at most {LONGEST_SOURCE} characters.")])
    database = is_neo4j(source)
    if not database and not source.startswith("/"):
        message = "Give the absolute path of a folder, or an address that begins with neo4j://."
        raise InvalidRequest([Fault("/source", message)])
    place = check_place(SourcePlace(neo4j=source) if database else SourcePlace(folder=source))
    upload = begin_upload(user=user, title=base_name(source.rstrip("/").rpartition("/")[2]))
    # The resolved path, so that a link that is changed afterwards leads nowhere else.
    upload.source, upload.state = source if database else str(place), Upload.State.READY
    upload.save(update_fields=["source", "state", "changed"])
    return upload
