"""remembered: the mappings of earlier imports that fit the files of a new one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from search.ingest.mapping.refit import Refitted, refit
from search.models import KnowledgeBase, Snapshot

MOST = 3
"""Knowledge bases whose mapping is offered."""


@dataclass(frozen=True)
class Remembered:
    """A knowledge base whose last import with a mapping had files like these, and that mapping on the new files."""

    knowledge_base: KnowledgeBase
    fitted: Refitted


def remembered(preview: Mapping[str, Any]) -> Sequence[Remembered]:
    """Return the mappings of earlier imports that know a file of the preview: of most files first, then the newest."""
    guessed = preview["mapping"]
    if not guessed:
        return []
    columns = {file["path"]: [column["name"] for column in file["columns"]] for file in preview["files"]}
    newest = Snapshot.objects.filter(mapping__isnull=False).order_by("knowledge_base_id", "-pk")
    found = [
        Remembered(snapshot.knowledge_base, refit(snapshot.mapping, guessed, columns))
        for snapshot in newest.distinct("knowledge_base_id").select_related("knowledge_base")
        if snapshot.mapping
    ]
    known = [one for one in found if one.fitted.known]
    return sorted(known, key=lambda one: (-len(one.fitted.known), -one.knowledge_base.pk))[:MOST]
