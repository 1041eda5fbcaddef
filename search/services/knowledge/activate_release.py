"""activate_release: switches a knowledge base to another release, in one transaction."""

from __future__ import annotations

from django.db import transaction
from django.utils import timezone

from search.models import KnowledgeBase, Release
from search.models.knowledge import BuildStatus

DESCRIBED_BY_BUNDLE = ("title", "description", "domain", "language", "licence", "source", "examples")


class ReleaseError(Exception):
    """The release cannot be used in this way; the text is a sentence for people."""


def find_release(*, knowledge_base: KnowledgeBase, release: str) -> Release:
    """Return a release by its number (`3`) or its name (`movies-3`); ReleaseError if there is none."""
    number = release.removeprefix(f"{knowledge_base.name}-")
    found = knowledge_base.releases.filter(number=int(number)).first() if number.isdecimal() else None
    if found is None:
        numbers = ", ".join(str(n) for n in knowledge_base.releases.order_by("number").values_list("number", flat=True))
        has = f"its releases are {numbers}" if numbers else "it has no releases"
        raise ReleaseError(f"'{knowledge_base.name}' has no release '{release}'; {has}.")
    return found


def activate_release(*, knowledge_base: KnowledgeBase, release: Release) -> None:
    """Make `release` the active one; the knowledge base takes over the description of the release's bundle.

    Raises ReleaseError if the release belongs to another knowledge base or is not ready.
    """
    with transaction.atomic():
        locked = KnowledgeBase.objects.select_for_update().get(pk=knowledge_base.pk)
        current = Release.objects.select_for_update(of=("self",)).select_related("snapshot").get(pk=release.pk)
        if current.knowledge_base_id != locked.pk:
            raise ReleaseError(f"{release} is no release of '{locked.name}'.")
        if current.status != BuildStatus.READY:
            raise ReleaseError(f"{release} is {current.get_status_display()}; only a release that is ready can answer.")
        locked.active_release = current
        for attribute in DESCRIBED_BY_BUNDLE:
            if attribute in current.snapshot.about:
                setattr(locked, attribute, current.snapshot.about[attribute])
        locked.full_clean()
        locked.save()
        Release.objects.filter(pk=current.pk).update(activated=timezone.now())
    knowledge_base.refresh_from_db()
    release.refresh_from_db()
