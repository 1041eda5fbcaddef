"""find_release: the release that a training or a synthesis of questions works on."""

from __future__ import annotations

from django.db.models import F

from search.domain.errors import Fault, InvalidRequest
from search.models import KnowledgeBase, Release
from search.models.knowledge import BuildStatus


def find_release(name: str, wanted: str = "") -> Release:
    """Return a release of a knowledge base, the active one if `wanted` is empty. Raises InvalidRequest without one."""
    base = KnowledgeBase.objects.filter(name=name).first()
    if base is None:
        raise InvalidRequest([Fault("/knowledge_base", f"There is no knowledge base {name!r}.")])
    releases = Release.objects.select_related("snapshot", "vector_set", "knowledge_base__active_settings")
    if wanted:
        of_base = releases.filter(knowledge_base=base, status=BuildStatus.READY)
        named = next((release for release in of_base if release.name == wanted), None)
        if named is None:
            raise InvalidRequest([Fault("/release", f"{wanted} is no release of {name} that can be searched.")])
        return named
    release = releases.filter(pk=F("knowledge_base__active_release"), knowledge_base=base).first()
    if release is None:
        message = f"{name} has no active release: index it, or activate one of its releases."
        raise InvalidRequest([Fault("/knowledge_base", message)])
    return release
