"""document_pipelines: the page of the documentation that lists the settings of each pipeline."""

from __future__ import annotations

import json
from typing import Any

from search import wiring
from search.composition import Pipeline

HEAD = """# Pipelines and their settings

Each pipeline answers a question in its own way. A setting is given as `settings` in the API, as `--set key=value` to
`ask` and `evaluate`, or kept in a pipeline version of a knowledge base. `GET /api/v1/pipelines/` tells each caller the
settings that are theirs to give: visitors may give those that are not for staff, and no more than where it says so.
In brackets stands what each stage is for. A stage may have variants: the setting with its name chooses one
(`--set retrieve=bm25`), and settings of another variant are refused.

This page is written by `manage.py document_pipelines > docs/pipelines.md`.
"""


def document_pipelines() -> str:
    """Return the page as Markdown: each pipeline with its steps, and its settings with bounds and defaults."""
    return "\n".join([HEAD, *(_section(name) for name in wiring.pipelines())])


def _section(name: str) -> str:
    pipeline = wiring.pipeline(name)
    schema, public = (pipeline.settings_schema(visitor=visitor)["properties"] for visitor in (False, True))
    rows = [_row(key, described, public.get(key)) for key, described in schema.items()]
    table = ["| setting | takes | default | |", "|---|---|---|---|", *rows] if rows else ["It takes no settings."]
    return "\n".join(
        [f"## `{name}`: {pipeline.title}", "", pipeline.description, "", _stages(pipeline), "", *table, ""]
    )


def _stages(pipeline: Pipeline) -> str:
    """Return the stages in their order, each with its role, and the variants of those that have some."""
    variants = pipeline.variants()
    told = []
    for part in pipeline.flow:
        if part.name in pipeline.rows:
            some = f"; one of {', '.join(variants[part.name])}" if part.name in variants else ""
            told.append(f"`{part.name}` ({part.role}{some})")
    return f"Stages: {', '.join(told)}."


def _row(key: str, described: dict[str, Any], public: dict[str, Any] | None) -> str:
    help_text = described["description"].replace("|", "\\|")
    if "variants" in described:
        help_text += f" Only of {', '.join(described['variants'])}."
    takes = _takes(described) + _for_visitors(described, public)
    return f"| `{key}` | {takes} | `{json.dumps(described['default'])}` | {help_text} |"


def _for_visitors(described: dict[str, Any], public: dict[str, Any] | None) -> str:
    if public is None:
        return "; staff only"
    high = public.get("maximum")
    return f"; visitors to {high:,}" if high != described.get("maximum") else ""


def _takes(described: dict[str, Any]) -> str:
    if "enum" in described:
        return ", ".join(f"`{choice}`" for choice in described["enum"])
    if described["type"] == "array":
        return f"{described['minItems']} numbers"
    low, high = (described.get(bound) for bound in ("minimum", "maximum"))
    bounds = [f"from {low:,}"] if low is not None else []
    bounds += [f"to {high:,}"] if high is not None else []
    return f"{described['type']} {' '.join(bounds)}".strip()
