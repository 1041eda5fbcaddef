"""record_request: write the row of a requested search, with one statement where its choices are known already.

A plain request, without options and without a plan, of a public knowledge base always resolves to the same pin: the
active release, the active settings and the active version of the pipeline. The pin of such a request is kept, and the
statement that inserts the next run checks that it still holds. So nothing has to be read before, and nothing has to
tell the processes that a release or a version was activated.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from threading import Lock
from typing import Any

import psycopg
from django.conf import settings
from django.db import connection, models

from search.models import KnowledgeBase, PipelineVersion, SearchRun
from search.models.knowledge import KnowledgeBaseSettings
from search.services.searches.pin import Pin

MOST_KEPT = 200
"""Largest number of pins that are kept; above it, all are read again."""

_kept: dict[tuple[str, str], tuple[Mapping[str, Any], Pin]] = {}
_keeping = Lock()


def kept_pin(run: SearchRun) -> Pin | None:
    """Return the pin that the last plain request of this knowledge base and pipeline had, None if there was none."""
    found = _kept.get((run.knowledge_base_name, run.pipeline))
    # The specification of a pin also contains the site's own options.
    return found[1] if found is not None and found[0] is settings.GRASP_PIPELINES else None


def keep_pin(run: SearchRun) -> None:
    """Keep the choices of this run for further plain requests, if it is a plain request of a public knowledge base."""
    base, release = run.knowledge_base, run.release
    if base is None or release is None or run.options or run.plan is not None:
        return
    if base.visibility != KnowledgeBase.Visibility.PUBLIC:
        return
    release.knowledge_base = base
    pin = Pin(release, run.settings_version, run.pipeline, run.pipeline_version, run.specification)
    with _keeping:
        if len(_kept) >= MOST_KEPT:
            _kept.clear()
        _kept[base.name, run.pipeline] = (settings.GRASP_PIPELINES, pin)


def insert_pinned(run: SearchRun) -> bool:
    """Insert the run if the knowledge base is public and active as the run's pin says, and return whether it is."""
    fields = SearchRun._meta.concrete_fields
    values = [field.get_db_prep_save(field.pre_save(run, True), connection) for field in fields]
    holds = (
        run.knowledge_base_id, run.knowledge_base_name, run.release_id, run.settings_version,
        run.pipeline, run.pipeline_version_id,
    )  # fmt: skip
    connection.ensure_connection()
    with connection.wrap_database_errors:
        inserted = psycopg.Cursor(connection.connection).execute(_insert(), [*values, *holds]).rowcount
    run._state.adding, run._state.db = not inserted, connection.alias
    return bool(inserted)


@lru_cache(maxsize=1)
def _insert() -> str:
    """Return the statement: the values of a run's columns, then the six values that have to hold."""
    columns = [str(field.column) for field in SearchRun._meta.concrete_fields]
    base, version, values = _table(KnowledgeBase), _table(PipelineVersion), _table(KnowledgeBaseSettings)
    return (
        f"INSERT INTO {_table(SearchRun)} ({', '.join(columns)}) SELECT {', '.join(['%s'] * len(columns))} "
        f"FROM {base} base WHERE base.id = %s AND base.name = %s AND base.visibility = 'public' "
        "AND base.active_release_id = %s "
        f"AND coalesce((SELECT version FROM {values} WHERE id = base.active_settings_id), 0) = %s "
        f"AND (SELECT id FROM {version} WHERE knowledge_base_id = base.id AND pipeline = %s AND active) "
        "IS NOT DISTINCT FROM %s"
    )


def _table(model: type[models.Model]) -> str:
    return model._meta.db_table
