"""The tools and pipelines that the settings name by dotted path.

Tools are loaded once per process and shared by its threads. `search.composition` builds the stages of a pipeline.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from functools import cached_property, lru_cache, partial
from typing import Any
from weakref import WeakValueDictionary

from django.conf import settings
from django.utils.module_loading import import_string

from search.composition import Pipeline
from search.domain.errors import StageError
from search.domain.graph import Schema
from search.domain.schema_settings import adapted
from search.interfaces import (
    Adjacency,
    Columns,
    Encoder,
    FieldRetrievers,
    GraphStore,
    LanguageModel,
    MentionIndex,
    NodeStore,
    PlanScorers,
    Rankers,
    Scorers,
    SimilarIndex,
    TextIndex,
    ValueIndex,
    VectorIndex,
)
from search.models import Release, Snapshot
from search.neural.site_encoders import encoder
from search.prompts import PlanPrompts

_loading = threading.RLock()
_opened: WeakValueDictionary[int, Release] = WeakValueDictionary()
"""The releases of the tools of this process, by their primary keys."""
_also_forgotten: list[Callable[[], None]] = []
_with_files: set[int] = set()
"""The releases whose index files were found right."""


def build(name: str, **arguments: Any) -> Any:
    """Return the tool with this name in `GRASP_TOOLS`: its backend, called with the arguments and its options."""
    row = settings.GRASP_TOOLS[name]
    return import_string(row["BACKEND"])(**arguments, **row.get("OPTIONS", {}))


@lru_cache(maxsize=1)
def plan_scorers() -> PlanScorers:
    """Return the trained planners of this process; each is loaded when a search first needs it."""
    with _loading:
        return build("plan_scorers")


@lru_cache(maxsize=1)
def rankers() -> Rankers:
    """Return the trained rankers of this process; each is loaded when a search first needs it."""
    with _loading:
        return build("rankers")


@lru_cache(maxsize=1)
def scorers() -> Scorers:
    """Return the rerankers of this process; each is loaded when a search first needs it."""
    with _loading:
        return build("scorers")


@lru_cache(maxsize=1)
def field_retrievers() -> FieldRetrievers:
    """Return the trained retrievers of fields of this process; each is loaded when a search first needs it."""
    with _loading:
        return build("field_retrievers")


def schema_of(release: Release, settings_version: int | None = None) -> Schema:
    """Return the release's schema with the settings of its knowledge base: the given version, or the active one.

    Version 0 is the schema of the bundle without settings. Raises a permanent StageError if the version does not exist.
    """
    active = release.knowledge_base.active_settings
    if settings_version is None or (active is not None and active.version == settings_version):
        return adapted(release.snapshot.schema, active.values if active else {})
    if settings_version == 0:
        return release.snapshot.schema
    version = release.knowledge_base.settings_versions.filter(version=settings_version).first()
    if version is None:
        reason = f"version {settings_version} of the settings of {release.knowledge_base.name} is gone"
        raise StageError("search", reason, permanent=True)
    return adapted(release.snapshot.schema, version.values)


class Tools:
    """The tools of one release, each built when it is first needed."""

    release: Release
    snapshot: Snapshot
    schema: Schema

    def __init__(self, release: Release, settings_version: int | None = None) -> None:
        self.release = release
        self.snapshot = release.snapshot
        self._settings_version = settings_version
        self.schema = schema_of(release, settings_version)

    @property
    def encoder(self) -> Encoder:
        """The encoder that made the release's vectors; for a release without vectors, the site's own encoder.

        Raises a permanent StageError if that encoder does not exist, or if its number of dimensions is different.
        """
        vector_set = self.release.vector_set
        if vector_set is None:
            return encoder()
        try:
            made_by = encoder(vector_set.encoder)
        except StageError as error:
            reason = f"the vectors of {self.release.name} cannot be searched: {error.reason}"
            raise StageError("encoder", reason, permanent=True) from error
        if made_by.dimensions != vector_set.dimensions:
            reason = (
                f"the vectors of {self.release.name} have {vector_set.dimensions} dimensions, and those of its encoder "
                f"{made_by.name} have {made_by.dimensions}"
            )
            raise StageError("encoder", reason, permanent=True)
        return made_by

    @property
    def plan_scorers(self) -> PlanScorers:
        """The trained planners of all knowledge bases."""
        return plan_scorers()

    @property
    def rankers(self) -> Rankers:
        """The trained rankers of all knowledge bases."""
        return rankers()

    @property
    def scorers(self) -> Scorers:
        """The rerankers of this site."""
        return scorers()

    @property
    def field_retrievers(self) -> FieldRetrievers:
        """The trained retrievers of fields of all knowledge bases."""
        return field_retrievers()

    @cached_property
    def adjacency(self) -> Adjacency:
        """The memory-mapped graph."""
        return build("adjacency", directory=self.snapshot.directory / "adjacency", schema=self.schema)

    @cached_property
    def nodes(self) -> NodeStore:
        """The store of ids, names and whole nodes."""
        return build("nodes", snapshot=self.snapshot.pk, directory=self.snapshot.directory / "nodes",
                     schema=self.schema, adjacency=self.adjacency)  # fmt: skip

    @cached_property
    def mentions(self) -> MentionIndex:
        """The index of names and aliases."""
        folder = self.snapshot.directory
        return build("mentions", directory=folder / "mentions", near=folder / "near_names")

    @cached_property
    def values(self) -> ValueIndex:
        """The index of values of fields; a release that was indexed without values has an empty one."""
        return build("values", directory=self.snapshot.directory / "values", schema=self.schema)

    @cached_property
    def columns(self) -> Columns:
        """The fields of nodes as columns; a release that was indexed without them has none."""
        return build("columns", directory=self.snapshot.directory / "columns", schema=self.schema)

    @cached_property
    def text(self) -> TextIndex:
        """The BM25 index."""
        return build("text", directory=self.snapshot.directory / "bm25", schema=self.schema)

    @cached_property
    def vectors(self) -> VectorIndex:
        """The index for nearest neighbours among the vectors; a release without vectors has an empty one."""
        if self.release.vector_set is None:
            return build("no_vectors")
        return build("vectors", vector_set=self.release.vector_set, schema=self.schema)

    @cached_property
    def similar(self) -> SimilarIndex:
        """The similarity edges; a release that was made without them has an empty index."""
        return build("similar", directory=self.release.similar_directory)

    @cached_property
    def graph(self) -> GraphStore:
        """The engine that executes plans."""
        return build("graph", snapshot_id=self.snapshot.pk, schema=self.schema, nodes=self.nodes,
                     adjacency=self.adjacency, columns=self.columns)  # fmt: skip

    @cached_property
    def language_model(self) -> LanguageModel:
        """The language model that is configured at the time of each call; there may be none."""
        return build("language_model")

    @cached_property
    def plan_prompts(self) -> Callable[[], PlanPrompts]:
        """A function that returns the prompts for planning, with the same version of the settings as the schema."""
        return partial(build, "plan_prompts", release=self.release, settings_version=self._settings_version)


def tool_names() -> list[str]:
    """Return the names of the tools; a field of a stage with one of these names is filled with the tool."""
    return sorted(name for name in {*vars(Tools), *Tools.__annotations__} if not name.startswith("_"))


@lru_cache(maxsize=8)
def _tools(release_id: int, settings_version: int) -> Tools:
    release = Release.objects.select_related("snapshot", "vector_set", "knowledge_base__active_settings").get(
        pk=release_id
    )
    _opened[release_id] = release
    return Tools(release, settings_version)


def opened(release_id: int | None) -> Release | None:
    """Return a release, with its snapshot, vectors and base, if this process has its tools; its status may be older."""
    return None if release_id is None else _opened.get(release_id)


def tools(release: Release, settings_version: int | None = None) -> Tools:
    """Return the tools of a release, from a cache of 8 that drops the least recently used.

    Their schema has the given version of the knowledge base's settings, or the active one. New settings make new tools,
    so that they apply to later searches, and not to searches that were requested before. Raises StageError if this
    machine lacks index files of the release and cannot fetch them.
    """
    if settings_version is None:
        active = release.knowledge_base.active_settings
        settings_version = active.version if active else 0
    if release.pk not in _with_files:
        # Outside the lock: fetching files from another machine takes time, and other releases are searched meanwhile.
        if "index_files" in settings.GRASP_TOOLS:
            build("index_files", release=release)
        _with_files.add(release.pk)
    with _loading:
        return _tools(release.pk, settings_version)


def forget() -> None:
    """Empty the caches of tools and of everything trained, so that the next search builds them again."""
    forget_releases()
    with _loading:
        plan_scorers.cache_clear()
        rankers.cache_clear()
        scorers.cache_clear()
        field_retrievers.cache_clear()


def forget_with_releases(clear: Callable[[], None]) -> None:
    """Call a function whenever the tools of releases are forgotten: it empties a cache of something made from them."""
    _also_forgotten.append(clear)


def forget_releases() -> None:
    """Empty the cache of tools, so that the next search checks the index files of its release and opens them again."""
    with _loading:
        _tools.cache_clear()
        for clear in _also_forgotten:
            clear()
        _with_files.clear()


def pipelines() -> list[str]:
    """Return the names of the pipelines, in the order of the settings."""
    return list(settings.GRASP_PIPELINES)


def row(name: str) -> Mapping[str, Any]:
    """Return the pipeline's row of the settings; imports nothing. Raises KeyError if there is none."""
    return settings.GRASP_PIPELINES[name]


def pipeline(name: str) -> Pipeline:
    """Return the pipeline with this name. Raises KeyError if the settings have none."""
    named = row(name)
    return Pipeline(
        name=name,
        title=named["TITLE"],
        description=named["DESCRIPTION"],
        search=partial(import_string(named["BACKEND"]), **named.get("OPTIONS", {})),
        stages=import_string(named["STAGES_CLASS"]),
        rows=named["STAGES"],
        titles=named.get("TITLES", {}),
    )


def pipeline_or_none(name: str) -> Pipeline | None:
    """Return the pipeline with this name, or None if the settings do not have it or it cannot be imported.

    This is for code that reads recorded searches: they stay readable after their pipeline was removed.
    """
    try:
        return pipeline(name)
    except (KeyError, ImportError):
        return None
