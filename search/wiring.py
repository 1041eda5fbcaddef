"""Settings and a pipeline's specification → stages with their tools, by dotted path.

A stage is a frozen dataclass. Its fields declared by `search.domain.options.option` are settings; every other field is
named after the tool that fills it. Whatever is loaded here is loaded once a process and shared by its threads.
"""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Callable, Mapping
from functools import cached_property, lru_cache, partial
from typing import Any

from django.conf import settings
from django.utils.module_loading import import_string

from search.domain.errors import Fault, InvalidRequest, nearest, pointer
from search.domain.graph import Schema
from search.domain.options import misfit, typed
from search.domain.question import Question
from search.domain.ranking import Ranking
from search.domain.schema_settings import adapted
from search.domain.trace import Trace
from search.interfaces import (
    Adjacency,
    Encoder,
    GraphStore,
    LanguageModel,
    MentionIndex,
    NodeStore,
    PlanScorers,
    TextIndex,
    VectorIndex,
)
from search.models import Release
from search.prompts import PlanPrompts

Specification = dict[str, Any]

_loading = threading.RLock()


def build(name: str, **arguments: Any) -> Any:
    """Build the tool of that name from `GRASP_TOOLS`: its backend, called with the arguments and its options."""
    row = settings.GRASP_TOOLS[name]
    return import_string(row["BACKEND"])(**arguments, **row.get("OPTIONS", {}))


@lru_cache(maxsize=1)
def encoder() -> Encoder:
    """Return the encoder of this process; the first call loads the model."""
    with _loading:
        return build("encoder")


@lru_cache(maxsize=1)
def plan_scorers() -> PlanScorers:
    """Return the trained planners of this process, each read when a search first names it."""
    with _loading:
        return build("plan_scorers")


def schema_of(release: Release) -> Schema:
    """Return the release's schema with the settings of its knowledge base laid over it."""
    active = release.knowledge_base.active_settings
    return adapted(release.snapshot.schema, active.values if active else {})


class Tools:
    """The tools of one release, each built when it is first needed."""

    def __init__(self, release: Release) -> None:
        self.release = release
        self.snapshot = release.snapshot
        self.schema: Schema = schema_of(release)

    @property
    def encoder(self) -> Encoder:
        """The encoder that made the release's vectors."""
        return encoder()

    @property
    def plan_scorers(self) -> PlanScorers:
        """The trained planners, of whichever knowledge base."""
        return plan_scorers()

    @cached_property
    def adjacency(self) -> Adjacency:
        """The memory-mapped graph."""
        return build("adjacency", directory=self.snapshot.directory / "adjacency", schema=self.schema)

    @cached_property
    def nodes(self) -> NodeStore:
        """Ids, names and whole nodes."""
        return build("nodes", snapshot=self.snapshot.pk, directory=self.snapshot.directory / "nodes",
                     schema=self.schema, adjacency=self.adjacency)  # fmt: skip

    @cached_property
    def mentions(self) -> MentionIndex:
        """Names and aliases."""
        return build("mentions", directory=self.snapshot.directory / "mentions")

    @cached_property
    def text(self) -> TextIndex:
        """BM25."""
        return build("text", directory=self.snapshot.directory / "bm25", schema=self.schema)

    @cached_property
    def vectors(self) -> VectorIndex:
        """Nearest neighbours."""
        return build("vectors", vector_set=self.release.vector_set, schema=self.schema)

    @cached_property
    def graph(self) -> GraphStore:
        """The engine that executes plans."""
        return build("graph", snapshot_id=self.snapshot.pk, schema=self.schema, nodes=self.nodes,
                     adjacency=self.adjacency)  # fmt: skip

    @cached_property
    def language_model(self) -> LanguageModel:
        """Whichever language model is configured when it is asked; none may be."""
        return build("language_model")

    @cached_property
    def plan_prompts(self) -> Callable[[], PlanPrompts]:
        """What makes the prompts for planning, with the settings of the knowledge base at the moment of the call."""
        return partial(build, "plan_prompts", release=self.release)


@lru_cache(maxsize=8)
def _tools(release_id: int, settings_id: int | None) -> Tools:
    release = Release.objects.select_related("snapshot", "vector_set", "knowledge_base__active_settings").get(
        pk=release_id
    )
    return Tools(release)


def tools(release: Release) -> Tools:
    """Return the tools of a release, loaded once; the least recently used releases are let go.

    New settings of its knowledge base make new tools, so that they count from the next search on.
    """
    with _loading:
        return _tools(release.pk, release.knowledge_base.active_settings_id)


def forget() -> None:
    """Let go of every release's tools, so that the next search builds them anew from the table."""
    with _loading:
        _tools.cache_clear()
        plan_scorers.cache_clear()


@dataclasses.dataclass(frozen=True)
class Pipeline:
    """A pipeline as the settings name it: a short function, the dataclass of its stages, and what each stage is."""

    name: str
    title: str
    description: str
    search: Callable[[Question, Any, Trace], Ranking]
    stages: type
    rows: Mapping[str, Specification]

    def options(self) -> dict[str, dataclasses.Field[Any]]:
        """Return every option as `stage.option` → its field."""
        found = {}
        for stage, row in self.rows.items():
            for field in dataclasses.fields(import_string(row["BACKEND"])):
                if "help" in field.metadata:
                    found[f"{stage}.{field.name}"] = field
        return found

    def tools(self) -> set[str]:
        """Return the names of the tools that its stages take."""
        return {
            field.name
            for row in self.rows.values()
            for field in dataclasses.fields(import_string(row["BACKEND"]))
            if "help" not in field.metadata
        }

    def defaults(self) -> dict[str, Any]:
        """Return the site's value of every option."""
        return {
            key: self.rows[stage].get("OPTIONS", {}).get(name, field.default)
            for key, field in self.options().items()
            for stage, name in [key.split(".", 1)]
        }

    def settings_schema(self) -> dict[str, Any]:
        """Return the options as a JSON schema, with the site's values as defaults."""
        defaults = self.defaults()
        return {
            "type": "object",
            "additionalProperties": False,
            "properties": {key: _json_schema(field, defaults[key]) for key, field in self.options().items()},
        }

    def specification(self, *layers: Mapping[str, Any]) -> Specification:
        """Lay options over the site's, the last layer on top, and return what a run freezes.

        Raises InvalidRequest with a fault for every key that does not exist and every value that does not fit.
        """
        options, fields = self.defaults(), self.options()
        faults: list[Fault] = []
        for layer in layers:
            for key, value in layer.items():
                if key not in fields:
                    known = ", ".join(sorted(fields)) or "none"
                    message = f"{self.name} has no setting {key[:80]!r}; it has: {known}."
                    faults.append(Fault(pointer("settings", key), message, nearest(key, fields)))
                elif problem := misfit(fields[key], value):
                    faults.append(Fault(pointer("settings", key), f"{key} {problem}"))
                else:
                    options[key] = typed(fields[key].default, value)
        if faults:
            raise InvalidRequest(faults)
        stages = {
            stage: {
                "BACKEND": row["BACKEND"],
                "OPTIONS": {k.split(".", 1)[1]: v for k, v in options.items() if k.split(".", 1)[0] == stage},
            }
            for stage, row in self.rows.items()
        }
        return {"pipeline": self.name, "stages": stages}

    def compose(self, specification: Specification, tools: Tools) -> Any:
        """Build the stages of a specification over the tools of a release."""
        return self.stages(**{
            name: _stage(row["BACKEND"], row["OPTIONS"], tools) for name, row in specification["stages"].items()
        })  # fmt: skip


def pipelines() -> list[str]:
    """Return the names of the pipelines, in the order of the settings."""
    return list(settings.GRASP_PIPELINES)


def row(name: str) -> Mapping[str, Any]:
    """Return the pipeline's row of the settings; KeyError when they have none. Imports nothing."""
    return settings.GRASP_PIPELINES[name]


def pipeline(name: str) -> Pipeline:
    """Return the pipeline of that name; KeyError when the settings have none."""
    named = row(name)
    return Pipeline(
        name=name,
        title=named["TITLE"],
        description=named["DESCRIPTION"],
        search=import_string(named["BACKEND"]),
        stages=import_string(named["STAGES_CLASS"]),
        rows=named["STAGES"],
    )


def _stage(backend: str, options: Mapping[str, Any], tools: Tools) -> Any:
    cls = import_string(backend)
    arguments = dict(options)
    for field in dataclasses.fields(cls):
        if "help" not in field.metadata:
            arguments[field.name] = getattr(tools, field.name)
        elif isinstance(field.default, tuple):
            arguments[field.name] = tuple(arguments[field.name])
    return cls(**arguments)


def _json_schema(field: dataclasses.Field[Any], default: Any) -> dict[str, Any]:
    kinds = {bool: "boolean", int: "integer", float: "number", str: "string", tuple: "array"}
    described: dict[str, Any] = {
        "type": kinds[type(field.default)],
        "description": field.metadata["help"],
        "default": list(default) if isinstance(default, tuple) else default,
    }
    bounds = {"minimum": field.metadata["low"], "maximum": field.metadata["high"]}
    described |= {key: bound for key, bound in bounds.items() if bound is not None}
    if field.metadata["choices"]:
        described["enum"] = list(field.metadata["choices"])
    if isinstance(field.default, tuple):
        described["items"] = {"type": "number"}
        described["minItems"] = described["maxItems"] = len(field.default)
    return described
