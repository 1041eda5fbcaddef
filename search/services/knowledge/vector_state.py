"""vector_state: whether the vector engine looks for neighbours in every large knowledge base, and if not, why."""

from __future__ import annotations

from django.db import DatabaseError

from search.domain.errors import StageError
from search.domain.vector_kinds import IN_MEMORY
from search.ingest.vector_engine import held
from search.models import KnowledgeBase
from search.models.vector_servers import servers


def vector_state() -> str:
    """Return a sentence that says what the vector engine does not do, or an empty string if it does everything."""
    try:
        there = [held(server) for server in servers()]
    except ValueError as error:
        return str(error)
    except StageError as error:
        return f"{error.reason[0].upper()}{error.reason[1:]}. Large knowledge bases are searched by words."
    try:
        large = dict(
            KnowledgeBase.objects.filter(
                active_release__vector_set__isnull=False, active_release__snapshot__nodes__gt=IN_MEMORY
            ).values_list("name", "active_release__vector_set_id")
        )
    except DatabaseError:
        return "The vector engine answers. What it should hold is unknown while Postgres does not answer."
    missing = sorted(name for name, owner in large.items() if any(owner not in share for share in there))
    if not missing:
        return ""
    return (
        f"The vector engine does not hold the vectors of {', '.join(missing)}, so Postgres looks for them. "
        "`index_kb` copies them."
    )
