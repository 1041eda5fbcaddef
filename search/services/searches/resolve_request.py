"""Resolves a search request: the release that it is of, and the specification that it runs."""

from __future__ import annotations

from collections.abc import Mapping

from search import wiring
from search.domain.errors import Fault, InvalidRequest, nearest
from search.models import KnowledgeBase, PipelineVersion, SearchRun
from search.models.knowledge import BuildStatus
from search.models.pipelines import specification_hash
from search.services.access.visitors import User, is_privileged
from search.services.searches.check_request import shown
from search.services.searches.storable import storable_text


def point_at_release(run: SearchRun, name: object, user: User) -> list[Fault]:
    """Set the run's release to the active one of a knowledge base that `user` may see; return the faults."""
    # The snapshot is not joined: its schema is slow to read and only needed to check a plan.
    visible = KnowledgeBase.objects.visible_to(user).select_related("active_settings", "active_release")
    named = visible.filter(name=storable_text(name)).order_by() if isinstance(name, str) and name else ()
    base = next(iter(named), None)
    if base is None:
        names = list(visible.values_list("name", flat=True)[:20])
        known = f"There are: {', '.join(names)}." if names else "None has been imported yet."
        if not isinstance(name, str) or not name:
            return [Fault("/knowledge_base", f"Name the knowledge base to search. {known}")]
        return [Fault("/knowledge_base", f"There is no knowledge base {shown(name)}. {known}", nearest(name, names))]
    run.knowledge_base = base
    run.settings_version = base.active_settings.version if base.active_settings else 0
    if base.active_release is None:
        message = f"{base.name!r} has no active release; import it again, or activate one of its releases."
        return [Fault("/knowledge_base", message)]
    run.release, run.release_name = base.active_release, base.active_release.name
    return []


def choose_release(run: SearchRun, base: KnowledgeBase, name: str) -> list[Fault]:
    """Set the run's release to the one with this name; return the faults."""
    releases = {release.name: release for release in base.releases.select_related("knowledge_base__active_settings")}
    found = releases.get(name)
    if found is None:
        known = ", ".join(releases) or "none"
        return [Fault("/release", f"{base.name} has no release {shown(name)}; it has: {known}.")]
    if found.status != BuildStatus.READY:
        return [Fault("/release", f"The release {name} is {found.get_status_display()}, so it cannot be searched.")]
    run.release, run.release_name = found, found.name
    return []


def specify(run: SearchRun, settings: object, user: User, number: int | None = None) -> list[Fault]:
    """Set the run's specification from the options of the site, then of the pipeline version, then of the caller.

    `number` is the version; None means the active one. Return the faults. Everybody gets the options of site and
    version; some options only staff may set in a request.
    """
    names = wiring.pipelines()
    if run.pipeline not in names:
        message = f"There is no pipeline {shown(run.pipeline)}. There are: {', '.join(names)}."
        return [Fault("/pipeline", message, nearest(run.pipeline, names))]
    if not isinstance(settings, Mapping | None):
        return [Fault("/settings", 'settings is an object of options, such as {"fuse.k": 5}.')]
    version = None
    if run.knowledge_base is not None:
        versions = PipelineVersion.objects.filter(knowledge_base=run.knowledge_base, pipeline=run.pipeline)
        wanted = {"active": True} if number is None else {"version": number}
        version = next(iter(versions.filter(**wanted).order_by()), None)
        if version is None and number:
            there = ", ".join(map(str, [0, *versions.order_by("version").values_list("version", flat=True)]))
            message = f"{run.pipeline} has no such version for {run.knowledge_base_name or run.knowledge_base.name}"
            return [Fault("/pipeline", f"{message}; it has: {there}.")]
    run.pipeline_version, run.pipeline_number = version, version.version if version is not None else 0
    pipeline = wiring.pipeline(run.pipeline)
    try:
        run.specification = pipeline.specification(version.options if version else {}, settings or {})
    except InvalidRequest as error:
        return list(error.faults)
    run.specification_hash = specification_hash(run.specification)
    return [] if is_privileged(user) else pipeline.refused_to_visitors(settings or {})
