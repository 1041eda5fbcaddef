"""removal: what goes with a release or a knowledge base, what stays, and what refuses its removal."""

from __future__ import annotations

from dataclasses import dataclass

from django.conf import settings
from django.db import models
from django.utils.module_loading import import_string

from search.ingest.locks import backup_runs
from search.models import Artifact, Job, KnowledgeBase, PipelineVersion, Release
from search.models.knowledge import BuildStatus

MOST_NAMED = 5
"""Uses that a sentence names; the others are counted."""


@dataclass(frozen=True, slots=True)
class Removal:
    """What goes, what stays, and the reasons for which it is refused now; each a sentence or a noun with a count."""

    goes: tuple[str, ...]
    stays: tuple[str, ...]
    refused: tuple[str, ...]


def uses_of_release(release: Release) -> list[str]:
    """Return what reads a release now, as nouns with names: jobs and evaluations that have not ended."""
    return _live_jobs(Job.objects.filter(release=release)) + _others(release.knowledge_base, release)


def uses_of_base(knowledge_base: KnowledgeBase) -> list[str]:
    """Return what reads a knowledge base now, as nouns with names: jobs and evaluations that have not ended."""
    return _live_jobs(Job.objects.filter(knowledge_base=knowledge_base)) + _others(knowledge_base, None)


def in_use(what: str, uses: list[str]) -> str:
    """Return the sentence that says by what something is in use."""
    more = f" and {len(uses) - MOST_NAMED} more" if len(uses) > MOST_NAMED else ""
    return f"{what} is in use by {', '.join(uses[:MOST_NAMED])}{more}; wait until this has ended, or cancel it."


def removal_of_release(release: Release) -> Removal:
    """Return what the removal of a release means."""
    base = release.knowledge_base
    refused = _during_backup()
    if base.active_release_id == release.pk:
        refused.append(f"{release} is the active release: searches use it. Let another release answer first.")
    if release.status == BuildStatus.DROPPED:
        refused.append(f"{release} is dropped already.")
    if uses := uses_of_release(release):
        refused.append(in_use(str(release), uses))
    others = Release.objects.exclude(status=BuildStatus.DROPPED).exclude(pk=release.pk)
    goes, stays = ["the release and its files"], ["its row and its number, so that no other release gets them"]
    shared = others.filter(snapshot=release.snapshot).first()
    if shared is None:
        goes.append(f"its graph and texts: {release.snapshot.nodes:,} entities, {release.snapshot.edges:,} relations")
    else:
        stays.append(f"its graph and texts, which {shared} uses")
    if release.vector_set is not None:
        shared = others.filter(vector_set=release.vector_set).first()
        if shared is None:
            goes.append(f"{release.vector_set.vectors:,} vectors")
        else:
            stays.append(f"its vectors, which {shared} uses")
    stays.append("searches and evaluations that were done with it, without their links to entities")
    return Removal(tuple(goes), tuple(stays), tuple(refused))


def removal_of_base(knowledge_base: KnowledgeBase) -> Removal:
    """Return what the deletion of a knowledge base means."""
    refused = _during_backup()
    if uses := uses_of_base(knowledge_base):
        refused.append(in_use(knowledge_base.name, uses))
    kept = artifacts_elsewhere(knowledge_base)
    stays = ["the searches that were asked of it, without their links to entities", "the log of who did what"]
    stays += [f"the trained part {pk}: {owner} uses it, and gets it" for pk, owner in kept]
    return Removal(tuple(_belongings(knowledge_base, len(kept))), tuple(stays), tuple(refused))


def artifacts_elsewhere(knowledge_base: KnowledgeBase) -> list[tuple[str, KnowledgeBase]]:
    """Return the artifacts that versions of another knowledge base name, each with the first of those bases."""
    own = set(Artifact.objects.filter(knowledge_base=knowledge_base).values_list("pk", flat=True))
    found: dict[str, KnowledgeBase] = {}
    versions = PipelineVersion.objects.exclude(knowledge_base=knowledge_base).select_related("knowledge_base")
    for version in versions.order_by("pk"):
        for value in version.options.values():
            if isinstance(value, str) and value in own:
                found.setdefault(value, version.knowledge_base)
    return sorted(found.items())


def _belongings(knowledge_base: KnowledgeBase, handed_over: int) -> list[str]:
    """Return the rows of every model that are deleted with the knowledge base, counted: whichever apps there are."""
    listed = [f"the knowledge base {knowledge_base.name} with its description, members and settings"]
    for relation in KnowledgeBase._meta.related_objects:
        model = relation.related_model
        if not relation.one_to_many or getattr(relation, "on_delete", None) is not models.CASCADE:
            continue
        count = model._default_manager.filter(**{relation.field.name: knowledge_base}).count()
        count -= handed_over if model is Artifact else 0
        if count:
            named = model._meta.verbose_name if count == 1 else model._meta.verbose_name_plural
            listed.append(f"{count:,} {named}")
    return listed


def _during_backup() -> list[str]:
    return ["A backup is running, and it reads this; try again when it has ended."] if backup_runs() else []


def _live_jobs(jobs: models.QuerySet[Job]) -> list[str]:
    return [f"the job {job.pk} ({job.kind})" for job in jobs.filter(state__in=Job.LIVE).order_by("created")]


def _others(knowledge_base: KnowledgeBase, release: Release | None) -> list[str]:
    return [use for path in settings.GRASP_KNOWLEDGE_USES for use in import_string(path)(knowledge_base, release)]
