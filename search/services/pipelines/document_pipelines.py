"""document_pipelines: the page of the documentation that lists the settings of each pipeline."""

from __future__ import annotations

import json
from typing import Any

from search import wiring

HEAD = """# Pipelines and their settings

Each pipeline answers a question in its own way. A setting is given as `settings` in the API, as `--set key=value` to
`ask` and `evaluate`, or kept in a pipeline version of a knowledge base. `GET /api/v1/pipelines/` tells the same.

This page is written by `manage.py document_pipelines > docs/pipelines.md`.
"""


def document_pipelines() -> str:
    """Return the page as Markdown: each pipeline with its steps, and its settings with bounds and defaults."""
    return "\n".join([HEAD, *(_section(name) for name in wiring.pipelines())])


def _section(name: str) -> str:
    pipeline = wiring.pipeline(name)
    schema = pipeline.settings_schema()["properties"]
    rows = [_row(key, described) for key, described in schema.items()]
    table = ["| setting | takes | default | |", "|---|---|---|---|", *rows] if rows else ["It takes no settings."]
    stages = ", ".join(f"`{stage}`" for stage in pipeline.rows)
    return "\n".join(
        [f"## `{name}`: {pipeline.title}", "", pipeline.description, "", f"Stages: {stages}.", "", *table, ""]
    )


def _row(key: str, described: dict[str, Any]) -> str:
    help_text = described["description"].replace("|", "\\|")
    return f"| `{key}` | {_takes(described)} | `{json.dumps(described['default'])}` | {help_text} |"


def _takes(described: dict[str, Any]) -> str:
    if "enum" in described:
        return ", ".join(f"`{choice}`" for choice in described["enum"])
    if described["type"] == "array":
        return f"{described['minItems']} numbers"
    low, high = (described.get(bound) for bound in ("minimum", "maximum"))
    bounds = [f"from {low:,}"] if low is not None else []
    bounds += [f"to {high:,}"] if high is not None else []
    return f"{described['type']} {' '.join(bounds)}".strip()
