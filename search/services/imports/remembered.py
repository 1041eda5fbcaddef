"""remembered: the mappings of earlier imports, and of imports that were begun, that fit the files of a new one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from search.ingest.mapping.refit import Refitted, refit
from search.models import Snapshot, Upload
from search.services.access.visible import may_write, rows_for
from search.services.access.visitors import User

MOST = 3
"""Mappings that are offered."""
MOST_UPLOADS = 20
"""Newest uploads that are looked at."""


@dataclass(frozen=True)
class Remembered:
    """A mapping that somebody gave to files like these, on the new files.

    `name` is that of its knowledge base. `begun` is set if nothing was imported with it: the id of its upload.
    """

    name: str
    fitted: Refitted
    when: datetime
    begun: str = ""

    @property
    def key(self) -> str:
        """What names it in the address of a page."""
        return self.begun or self.name


def remembered(preview: Mapping[str, Any], upload: Upload, user: User) -> Sequence[Remembered]:
    """Return the mappings that know a file of the preview of an upload: of most files first, then the newest.

    A mapping of an upload that was only begun is among them, because files are mended and sent again. Those of
    knowledge bases that the user may not see are not offered.
    """
    guessed = preview["mapping"]
    if not guessed:
        return []
    columns = {file["path"]: [column["name"] for column in file["columns"]] for file in preview["files"]}
    found = [
        Remembered(name, refit(mapping, guessed, columns), when, begun)
        for name, mapping, when, begun in _given(upload, user)
    ]
    known = [one for one in found if one.fitted.known]
    return sorted(known, key=lambda one: (-len(one.fitted.known), -one.when.timestamp()))[:MOST]


def _given(upload: Upload, user: User) -> Iterator[tuple[str, dict[str, Any], datetime, str]]:
    """Yield the last mapping of each knowledge base, and the newer ones that were given but not imported with."""
    given = rows_for(Snapshot.objects.filter(mapping__isnull=False), user)
    newest = given.order_by("knowledge_base_id", "-pk")
    last: dict[str, datetime] = {}
    for snapshot in newest.distinct("knowledge_base_id").select_related("knowledge_base"):
        if snapshot.mapping:
            last[snapshot.knowledge_base.name] = snapshot.created
            yield snapshot.knowledge_base.name, snapshot.mapping, snapshot.created, ""
    begun = Upload.objects.filter(mapping__isnull=False).exclude(pk=upload.pk).order_by("-changed")
    seen: set[str] = set()
    for other in begun[:MOST_UPLOADS]:
        name = str((other.mapping or {}).get("name", ""))
        newer = name not in last or other.changed > last[name]
        if other.mapping and newer and name not in seen and may_write(name, user):
            seen.add(name)
            yield name, other.mapping, other.changed, str(other.pk)
