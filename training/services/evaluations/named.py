"""named: names of evaluations in a list, made of what tells each from the others of its knowledge base."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from uuid import UUID

from search.domain.differences import MISSING
from search.language.reader import moment, value_words
from search.services.pipelines.differing_settings import differing_settings
from training.models import Evaluation

MOST = 3
"""Pipelines, and differing settings, that a name tells."""


def named_evaluations(evaluations: Iterable[Evaluation]) -> dict[UUID, str]:
    """Return the name of each evaluation, such as `films: questions@2 val · grasp@3`.

    What all evaluations of a knowledge base in the list share is left out, except the pipelines. The time is told where
    names would be equal otherwise.
    """
    groups: dict[str, list[Evaluation]] = defaultdict(list)
    for one in evaluations:
        groups[one.knowledge_base.name].append(one)
    found: dict[UUID, str] = {}
    for base, rows in groups.items():
        facets = [_facets(one) for one in rows]
        vary = [len({values[at] for values in facets}) > 1 for at in range(len(facets[0]))]
        settings = _settings(rows, [values[-1] for values in facets])
        names = []
        for values, other in zip(facets, settings, strict=True):
            told = [value for value, kept in zip(values[:-1], vary, strict=False) if kept and value]
            names.append(f"{base}: {' · '.join([*told, values[-1], *other])}")
        repeated = Counter(names)
        for one, name in zip(rows, names, strict=True):
            found[one.pk] = f"{name} · {moment(one.created)}" if repeated[name] > 1 else name
    return found


def _facets(one: Evaluation) -> tuple[str, ...]:
    """Return what an evaluation may differ in, most telling first; the pipelines are last."""
    of = one.question_set
    pipelines = [_label(each) for each in one.specifications] or sorted(one.pipelines)
    more = f" and {len(pipelines) - MOST} more" if len(pipelines) > MOST else ""
    return (
        f"{of.name}@{of.version}" if of else "questions of a file", one.split, one.release_name,
        f"{one.questions:,} question{'s' * (one.questions != 1)}",
        f"settings {one.settings_version}", f"{', '.join(pipelines[:MOST])}{more}",
    )  # fmt: skip


def _label(pin: Mapping[str, Any]) -> str:
    label, version = str(pin["label"]), pin.get("version")
    return label if "@" in label or not version else f"{label}@{version}"


def _settings(rows: Sequence[Evaluation], pipelines: Sequence[str]) -> list[list[str]]:
    """Return for each evaluation the settings in which it differs from the oldest one with the same pipelines."""
    oldest: dict[str, Evaluation] = {}
    for one, labels in sorted(zip(rows, pipelines, strict=True), key=lambda pair: pair[0].created):
        oldest.setdefault(labels, one)
    return [_differing(oldest[labels], one) for one, labels in zip(rows, pipelines, strict=True)]


def _differing(before: Evaluation, after: Evaluation) -> list[str]:
    if before is after:
        return []
    told = []
    for old, new in zip(before.specifications, after.specifications, strict=False):
        if old.get("specification_hash") == new.get("specification_hash"):
            continue
        for one in differing_settings(old["specification"], new["specification"]):
            if one.whole:
                told.append(f"without {one.before}" if one.after is MISSING else f"with {one.after}")
            else:
                told.append(f"{one.label} {'left out' if one.after is MISSING else value_words(one.after)}")
    return told[:MOST] if len(told) <= MOST else [f"{len(told)} settings differ"]
