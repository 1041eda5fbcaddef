"""save_knowledge_settings: settings that extend a knowledge base's schema; each change is saved as a new version.

A search uses the version that is active when it is requested, and says which.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Max

from search.domain.errors import Fault, InvalidRequest
from search.domain.schema_settings import faults_of
from search.models import KnowledgeBase, KnowledgeBaseSettings
from search.services.audit.note import note


def save_knowledge_settings(
    *, knowledge_base: KnowledgeBase, values: Mapping[str, Any], author: User | None = None
) -> KnowledgeBaseSettings:
    """Save settings (their form: `search.domain.schema_settings`) as a new version, activate it, and return it.

    If the settings equal the active version, that version is returned. Raises InvalidRequest with every fault, each
    with its pointer.
    """
    if knowledge_base.active_release is None:
        message = f"{knowledge_base.name!r} has no active release; import it again, or activate one of its releases."
        raise InvalidRequest([Fault("", message)])
    if faults := faults_of(values, knowledge_base.active_release.snapshot.schema):
        raise InvalidRequest(faults)
    with transaction.atomic():
        # The lock on the knowledge base's row serialises the numbering of its versions.
        locked = KnowledgeBase.objects.select_for_update().get(pk=knowledge_base.pk)
        active = locked.active_settings
        if active is not None and active.values == values:
            return active
        newest = locked.settings_versions.aggregate(newest=Max("version"))["newest"] or 0
        version = KnowledgeBaseSettings.objects.create(
            knowledge_base=locked, version=newest + 1, values=dict(values), author=author
        )
        note("settings saved", locked, user=author, version=version.version)
        activate_knowledge_settings(version)
    return version


def activate_knowledge_settings(version: KnowledgeBaseSettings) -> None:
    """Make this version the one that the knowledge base's searches use from now on."""
    KnowledgeBase.objects.filter(pk=version.knowledge_base_id).update(active_settings=version)
    note("settings activated", version.knowledge_base, version=version.version)
