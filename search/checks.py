"""Django system checks: every dotted path of the settings leads to an object, and every option fits its stage.

The checks of dotted paths import no module that could load a model: `find_spec` finds the module, and its names are
read from its source.

| id | fault |
|---|---|
| search.E001 | `GRASP_TOOLS` has no row for a required tool |
| search.E002 | a dotted path of `GRASP_TOOLS` leads nowhere |
| search.E003 | a pipeline of `GRASP_PIPELINES` lacks a key, or names something that does not exist |
| search.E004 | a stage or an option of a pipeline does not fit |
| search.E005 | `GRASP_DEFAULT_PIPELINE` is no pipeline |
| search.E006 | a dotted path of `GRASP_HEALTH`, `GRASP_QUEUES`, `GRASP_WARM_UP…` or `GRASP_RETENTION` leads nowhere |
| search.E007 | `NEO4J_URL` cannot be read |
| search.E008 | the vectors of an active release need an encoder that this site does not have (reads the database) |
| search.E009 | a field of a stage's class is neither an option nor a tool, or a function takes no option of its row |
| search.E010 | a stage of a pipeline declares no role, or an unknown role |
| search.E011 | a kind of `GRASP_JOBS`, or a function that jobs need, leads nowhere |
| search.E012 | `VECTORS_URL` cannot be read |
"""

from __future__ import annotations

import ast
import dataclasses
import inspect
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, register
from django.db import DatabaseError
from django.db.models import F
from django.utils.module_loading import import_string

from search import wiring
from search.adapters.graph_neo4j.address import Address
from search.composition import Pipeline, variants_of
from search.domain.errors import InvalidRequest, nearest
from search.domain.flow import faults_of_flow, flow_of
from search.domain.options import tools_of
from search.models import Release
from search.models.vector_servers import servers
from search.neural.site_encoders import missing_encoder

TOOLS = (
    "encoder", "adjacency", "mentions", "values", "columns", "nodes", "text", "vectors", "no_vectors", "graph",
    "plan_scorers",
    "field_retrievers", "rankers", "scorers", "language_model", "plan_prompts",
)  # fmt: skip
PIPELINE_KEYS = ("TITLE", "DESCRIPTION", "BACKEND", "STAGES_CLASS", "STAGES")
OPTIONAL_KEYS = ("OPTIONS", "TITLES")


@register()
def check_tools(**_: Any) -> list[CheckMessage]:
    """E001 and E002: every tool has a backend that exists."""
    table = settings.GRASP_TOOLS
    faults: list[CheckMessage] = [
        Error(f"GRASP_TOOLS has no row {name!r}.", hint="Add it with a BACKEND.", id="search.E001")
        for name in TOOLS
        if name not in table
    ]
    for name, row in table.items():
        if missing := leads_nowhere(row.get("BACKEND", "")):
            faults.append(Error(f"GRASP_TOOLS[{name!r}]: {missing}", id="search.E002"))
    return faults


@register()
def check_pipelines(**_: Any) -> list[CheckMessage]:
    """E003, E004, E005, E009 and E010: every pipeline can be composed, and the default is one of them."""
    faults: list[CheckMessage] = []
    for name in settings.GRASP_PIPELINES:
        found = list(_faults(name)) or [("search.E004", text) for text in _unused_titles(wiring.pipeline(name))]
        faults += [Error(f"GRASP_PIPELINES[{name!r}]: {text}", id=fault_id) for fault_id, text in found]
    if settings.GRASP_DEFAULT_PIPELINE not in settings.GRASP_PIPELINES:
        known = ", ".join(settings.GRASP_PIPELINES) or "none"
        message = f"GRASP_DEFAULT_PIPELINE is {settings.GRASP_DEFAULT_PIPELINE!r}; there are: {known}."
        faults.append(Error(message, id="search.E005"))
    return faults


@register()
def check_health(**_: Any) -> list[CheckMessage]:
    """E006: the functions that check the health of the processes, warm them up, and delete what is old exist."""
    named = [(f"GRASP_HEALTH[{name!r}]", path) for name, path in settings.GRASP_HEALTH.items()]
    named += [("GRASP_QUEUES", settings.GRASP_QUEUES)]
    named += [(f"GRASP_WARM_UP[{queue!r}]", path) for queue, paths in settings.GRASP_WARM_UP.items() for path in paths]
    named += [("GRASP_WARM_UP_WEB", path) for path in settings.GRASP_WARM_UP_WEB]
    named += [(f"GRASP_RETENTION[{noun!r}]", path) for noun, path in settings.GRASP_RETENTION.items()]
    found = [(where, leads_nowhere(path)) for where, path in named]
    return [Error(f"{where}: {missing}", id="search.E006") for where, missing in found if missing]


@register()
def check_jobs(**_: Any) -> list[CheckMessage]:
    """E011: the classes of the kinds of jobs exist, and so do the functions by which jobs reach the site."""
    named = [(f"GRASP_JOBS[{name!r}]", row.get("KIND", "")) for name, row in settings.GRASP_JOBS.items()]
    named += [(name, getattr(settings, name)) for name in ("GRASP_QUESTION_SETS", "GRASP_WORKER_ARGUMENTS")]
    found = [(where, leads_nowhere(path)) for where, path in named]
    return [Error(f"{where}: {missing}", id="search.E011") for where, missing in found if missing]


@register()
def check_neo4j_url(**_: Any) -> list[CheckMessage]:
    """E007: the address of Neo4j, if there is one, can be parsed; the message does not repeat the address."""
    if not settings.NEO4J_URL:
        return []
    try:
        Address.parse(settings.NEO4J_URL)
    except ValueError as error:
        return [Error(str(error), hint="Leave it empty to have Postgres execute plans.", id="search.E007")]
    return []


@register()
def check_vectors_url(**_: Any) -> list[CheckMessage]:
    """E012: the addresses of the vector engine, if there is one, can be parsed; the message does not repeat them."""
    try:
        servers()
    except ValueError as error:
        return [Error(str(error), hint="Leave it empty to have the site's Postgres do it.", id="search.E012")]
    return []


@register(Tags.database)
def check_encoders(databases: Sequence[str] | None = None, **_: Any) -> list[CheckMessage]:
    """E008: every active release can be searched with the encoder that made its vectors."""
    if not databases:
        return []
    active = Release.objects.filter(pk=F("knowledge_base__active_release"), vector_set__isnull=False)
    try:
        rows = list(active.values_list("knowledge_base__name", "number", "vector_set__encoder"))
    except DatabaseError:
        # The tables do not exist yet, or Postgres does not answer: the releases cannot be checked.
        return []
    return [
        Error(
            f"The vectors of {base}-{number} cannot be searched: {reason}.",
            hint=f"Add the encoder there, or let `index_kb {base}` make vectors with {settings.GRASP_ENCODER}.",
            id="search.E008",
        )
        for base, number, name in sorted(rows)
        if (reason := missing_encoder(name))
    ]


def faults_of_pipeline(name: str) -> list[str]:
    """Return the faults that prevent the composition of a pipeline, including its tools; an empty list if none."""
    written = name, repr(settings.GRASP_PIPELINES.get(name)), repr(settings.GRASP_TOOLS)
    if written in _composable:
        return []
    faults = list(_lasting_faults(*written)) or list(_missing_tools(name))
    if not faults:
        _composable.add(written)
    return faults


_composable: set[tuple[str, str, str]] = set()
"""Pipelines without faults, with their row and the rows of the tools: what is installed stays so."""


@lru_cache(maxsize=128)
def _lasting_faults(name: str, _row: str, _tools: str) -> tuple[str, ...]:
    """Return the faults that come of the settings alone: every page with a question box asks, and they do not change.

    The written rows are what the answer depends on; whether a tool is there is asked each time.
    """
    return tuple(text for _, text in _faults(name))


_lead_somewhere: set[str] = set()
"""Dotted paths that were looked for and found: what is installed stays so while a process runs."""


def leads_nowhere(path: str) -> str:
    """Return why a dotted path cannot be loaded, without loading it, or an empty string if it can."""
    if path in _lead_somewhere:
        return ""
    module, _, attribute = path.rpartition(".")
    if not module:
        return f"{path!r} is no dotted path."
    try:
        spec = find_spec(module)
    except ModuleNotFoundError as error:
        return f"{path!r} leads nowhere: there is no module {error.name!r}."
    if spec is None:
        return f"{path!r} leads nowhere: there is no module {module!r}."
    if spec.origin and spec.origin.endswith(".py") and attribute not in _names(Path(spec.origin)):
        return f"{path!r} leads nowhere: {module} has no {attribute!r}."
    _lead_somewhere.add(path)
    return ""


@lru_cache(maxsize=128)
def _names(source: Path) -> frozenset[str]:
    """Return the names that a module defines or imports at its top level."""
    names: set[str] = set()
    for statement in ast.parse(source.read_text(encoding="utf-8")).body:
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(statement.name)
        elif isinstance(statement, ast.Import | ast.ImportFrom):
            names.update(alias.asname or alias.name for alias in statement.names)
        elif isinstance(statement, ast.Assign):
            names.update(target.id for target in statement.targets if isinstance(target, ast.Name))
        elif isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            names.add(statement.target.id)
    return frozenset(names)


def _faults(name: str) -> Iterator[tuple[str, str]]:
    """Yield (id, sentence) for every fault of a pipeline's row, except faults of tools."""
    if missing := list(_missing_parts(name)):
        yield from (("search.E003", text) for text in missing)
        return
    pipeline = wiring.pipeline(name)
    if unusable := list(_unusable(pipeline)):
        yield from (("search.E009", text) for text in unusable)
        return
    yield from (("search.E009", text) for text in _stray_fields(pipeline))
    yield from (("search.E010", text) for text in faults_of_flow(pipeline.stages))
    yield from (("search.E004", text) for text in _misfits(pipeline))


def _missing_parts(name: str) -> Iterator[str]:
    row = settings.GRASP_PIPELINES[name]
    yield from (f"it has no {key}." for key in PIPELINE_KEYS if key not in row)
    known = (*PIPELINE_KEYS, *OPTIONAL_KEYS)
    yield from (f"its key {key!r} is none of: {', '.join(known)}." for key in row if key not in known)
    paths = [row[key] for key in ("BACKEND", "STAGES_CLASS") if key in row]
    for stage, configured in row.get("STAGES", {}).items():
        if "VARIANTS" not in configured:
            paths.append(configured.get("BACKEND", ""))
            continue
        variants, default = configured["VARIANTS"], configured.get("DEFAULT")
        paths += [variant.get("BACKEND", "") for variant in variants.values() if variant is not None]
        if default not in variants:
            yield f"the DEFAULT of the stage {stage!r} is {default!r}, which is none of: {', '.join(variants)}."
    yield from (missing for path in paths if (missing := leads_nowhere(path)))


def _unusable(pipeline: Pipeline) -> Iterator[str]:
    """Yield a sentence for each option that the pipeline's function rejects, and each class that is no dataclass."""
    function = import_string(settings.GRASP_PIPELINES[pipeline.name]["BACKEND"])
    taken = [name for name, one in inspect.signature(function).parameters.items() if one.kind is one.KEYWORD_ONLY]
    for option in settings.GRASP_PIPELINES[pipeline.name].get("OPTIONS", {}):
        if option not in taken:
            yield f"its function takes no option {option!r}; it takes: {', '.join(taken) or 'none'}."
    classes = [(f"{pipeline.stages.__module__}.{pipeline.stages.__qualname__}", pipeline.stages)]
    classes += [(backend, import_string(backend)) for backend in _backends(pipeline)]
    for path, cls in classes:
        if not dataclasses.is_dataclass(cls):
            yield f"{path} is no dataclass, so that its fields cannot be read."


def _backends(pipeline: Pipeline) -> list[str]:
    return list(dict.fromkeys(v["BACKEND"] for row in pipeline.rows.values() for v in variants_of(row).values() if v))


def _stray_fields(pipeline: Pipeline) -> Iterator[str]:
    """Yield a sentence for every field of a stage's class that is neither an option nor the name of a tool."""
    known = wiring.tool_names()
    for backend in _backends(pipeline):
        for field in tools_of(import_string(backend)):
            if field not in known:
                near = nearest(field, known)
                meant = f"; did you mean {near!r}?" if near else f"; the tools are: {', '.join(known)}."
                yield f"{backend} has the field {field!r}, which is neither an option nor a tool{meant}"


def _misfits(pipeline: Pipeline) -> Iterator[str]:
    """Yield a sentence for every stage that does not fit the pipeline's dataclass, and every invalid option."""
    declared = {field.name: field for field in dataclasses.fields(pipeline.stages)}
    yield from (
        f"it has no stage {stage!r}; it has: {', '.join(declared)}." for stage in pipeline.rows if stage not in declared
    )
    for stage, field in declared.items():
        if stage not in pipeline.rows and field.default is dataclasses.MISSING:
            yield f"the stage {stage!r} is not configured."
        elif field.default is dataclasses.MISSING and None in variants_of(pipeline.rows[stage]).values():
            yield f"the stage {stage!r} has a variant without a stage, but the pipeline cannot do without it."
    for stage, row in pipeline.rows.items():
        for name, variant in variants_of(row).items():
            configured = {f"{stage}.{key}": value for key, value in (variant or {}).get("OPTIONS", {}).items()}
            try:
                pipeline.specification({stage: name} if "VARIANTS" in row else {}, configured)
            except InvalidRequest as error:
                yield from (fault.message for fault in error.faults)


def _unused_titles(pipeline: Pipeline) -> Iterator[str]:
    """Yield a sentence for every key of TITLES that cannot be the name of a list.

    A list is called as its stage declares, or by a string in the code of the pipeline, of its stages, or of what they
    import of their project.
    """
    declared = dict.fromkeys(name for field in flow_of(pipeline.stages) for name in (field.name, field.list_name))
    unknown = [name for name in pipeline.titles if name not in declared]
    row = settings.GRASP_PIPELINES[pipeline.name]
    waiting = [path.rpartition(".")[0] for path in (row["BACKEND"], row["STAGES_CLASS"], *_backends(pipeline))]
    seen = set(waiting)
    while waiting and unknown:
        source, imported = _source(waiting.pop())
        unknown = [name for name in unknown if f'"{name}"' not in source]
        waiting += imported - seen
        seen |= imported
    for name in unknown:
        near = nearest(name, [*declared])
        meant = f"; did you mean {near!r}?" if near else f"; those that stages declare are: {', '.join(declared)}."
        yield f"TITLES has {name!r}, which is the name of no list{meant}"


@lru_cache(maxsize=512)
def _source(module: str) -> tuple[str, frozenset[str]]:
    """Return the source of a module, and the modules of its own top package that it imports.

    It is not parsed: every command of `manage.py` runs the checks, and parsing a pipeline's modules takes a second.
    """
    spec = find_spec(module)
    if spec is None or not spec.origin or not spec.origin.endswith(".py"):
        return "", frozenset()
    source = Path(spec.origin).read_text(encoding="utf-8")
    own = re.escape(module.split(".")[0])
    return source, frozenset(re.findall(rf"^from ({own}\.[\w.]+) import", source, re.MULTILINE))


def _missing_tools(name: str) -> Iterator[str]:
    for tool in wiring.pipeline(name).tools():
        row = settings.GRASP_TOOLS.get(tool)
        if row is None and tool in TOOLS:
            yield f"GRASP_TOOLS has no row {tool!r}."
        elif row is not None and (missing := leads_nowhere(row.get("BACKEND", ""))):
            yield missing
