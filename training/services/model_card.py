"""model_card: a description of an artifact for people, as a Markdown file beside its weights."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from search.services.code_version import code_version
from training.data.splits import VAL
from training.learning.task import Card, Evaluated
from training.models import QuestionSet

CARD = "README.md"


def model_card(
    card: Card,
    kind: str,
    configuration: Mapping[str, Any],
    evaluated: Evaluated,
    questions: int,
    question_set: QuestionSet | None,
) -> str:
    """Return the model card as Markdown: description, training questions, measures and settings."""
    source = f"{question_set.name}, version {question_set.version}" if question_set else "a list of questions"
    splits = ", ".join(
        f"{count:,} {split or 'without a split'}" for split, count in configuration["splits"].items()
    )  # fmt: skip
    parts = [
        f"# {card.title}", card.what, card.limits, "## Learned from",
        f"{questions:,} questions of {source} ({splits}), over {configuration['release']}.",
    ]  # fmt: skip
    if VAL in configuration["splits"]:
        parts.append("It has learned from questions of `val`, as requested, so figures on `val` say nothing about it.")
    parts += ["## How good it is", _table(evaluated.table), "## Settings", _settings(configuration)]
    parts.append(f"A {kind}, trained by version {code_version()} of the code.")
    return "\n\n".join(part for part in parts if part) + "\n"


def _table(table: Mapping[str, Mapping[str, float]]) -> str:
    columns = list(dict.fromkeys(column for figures in table.values() for column in figures))
    if not columns:
        return "Nothing was measured."
    head = ["| | " + " | ".join(columns) + " |", "|---" * (len(columns) + 1) + "|"]
    rows = [
        f"| {name} | " + " | ".join(_figure(figures.get(c)) for c in columns) + " |" for name, figures in table.items()
    ]
    return "\n".join(head + rows)


def _figure(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"


def _settings(configuration: Mapping[str, Any]) -> str:
    return "```json\n" + json.dumps(configuration, indent=1, ensure_ascii=False, default=str) + "\n```"
