"""model_card: a description of an artifact for people, as a Markdown file beside its weights; and its `job.json`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from search.artifact_files import CARD
from search.models import Release
from search.neural.encoder_names import parts
from search.services.code_version import code_version
from training.data.splits import VAL
from training.learning.task import Evaluated, TrainingCard
from training.models import QuestionSet
from training.services.question_sets import described_set

__all__ = ["CARD", "job_of", "model_card"]


def job_of(
    release: Release, configuration: Mapping[str, Any], served: Mapping[str, Any], question_set: QuestionSet | None
) -> dict[str, Any]:
    """Return what `job.json` says about the data and the model that a training began with.

    `served` names the base model: `base_model` and `base_revision`, or `encoder`, whose name has its revision.
    """
    encoder = served.get("encoder") or (release.vector_set.encoder if release.vector_set else "")
    model, revision = parts(str(encoder))
    return {
        "release": release.name,
        "snapshot": release.snapshot_id,
        "settings_version": version.version if (version := release.knowledge_base.active_settings) else 0,
        "vectors": release.vector_set.encoder if release.vector_set else None,
        "seed": configuration.get("seed"),
        "base_model": {"name": served.get("base_model", model), "revision": served.get("base_revision", revision)},
        "question_set": described_set(question_set),
    }


def model_card(
    card: TrainingCard,
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
    asked = f"{questions:,} questions of {source} ({splits}), over {configuration['release']}."
    made = configuration.get("synthesised")
    parts = [
        f"# {card.title}", card.what, card.limits, "## Learned from",
        asked if questions or not made else f"No question that people asked, over {configuration['release']}.",
        _synthesised(made) if made else "",
    ]  # fmt: skip
    if VAL in configuration["splits"]:
        parts.append("It has learned from questions of `val`, as requested, so figures on `val` say nothing about it.")
    parts += ["## How good it is", _table(evaluated.table), "## Settings", _settings(configuration)]
    parts.append(f"A {kind}, trained by version {code_version()} of the code.")
    return "\n\n".join(part for part in parts if part) + "\n"


def _synthesised(made: Mapping[str, Any]) -> str:
    """Return what is said of the synthesised questions: number, seed and mixture."""
    mixture = ", ".join(f"{count:,} {kind}" for kind, count in sorted(made["kinds"].items(), key=lambda one: -one[1]))
    return f"{made['number']:,} questions made of the knowledge base alone, with the seed {made['seed']}: {mixture}."


def _table(table: Mapping[str, Mapping[str, float]]) -> str:
    columns = list(dict.fromkeys(column for figures in table.values() for column in figures))
    if not columns:
        return "Nothing was measured."
    head = ["| What | " + " | ".join(columns) + " |", "|---" * (len(columns) + 1) + "|"]
    rows = [
        f"| {name} | " + " | ".join(_figure(figures.get(c)) for c in columns) + " |" for name, figures in table.items()
    ]
    return "\n".join(head + rows)


def _figure(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"


def _settings(configuration: Mapping[str, Any]) -> str:
    return "```json\n" + json.dumps(configuration, indent=1, ensure_ascii=False, default=str) + "\n```"
