"""Builds learners from the settings by dotted path, so that torch is loaded only when a learner is built."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.utils.module_loading import import_string

from search.domain.errors import Fault, InvalidRequest, nearest, pointer
from search.domain.options import option_fault, option_schema, options_of, typed
from training.learning.task import Learner


def learners() -> list[str]:
    """Return the kinds that can be trained, in the order of the settings. Imports nothing."""
    return list(settings.GRASP_LEARNERS)


def option_of(kind: str) -> tuple[str, str]:
    """Return the pipeline and the option that name the artifact in use."""
    row = settings.GRASP_LEARNERS[kind]
    return row["PIPELINE"], row["OPTION"]


def variants_for(kind: str) -> dict[str, str]:
    """Return which variant of the option's stage uses the artifact, by the present variant (`Pipeline.taking`)."""
    row: Mapping[str, Any] = settings.GRASP_LEARNERS[kind]
    return dict(row.get("VARIANTS", {}))


def fold_option(kind: str) -> str:
    """Return the option that selects the scorer fitted without a fold; an empty string when there is none."""
    row: Mapping[str, str] = settings.GRASP_LEARNERS.get(kind, {})
    return row.get("FOLD", "")


def learns_from_searches(kind: str) -> bool:
    """Return whether a learner learns from what searches find for questions."""
    row: Mapping[str, Any] = settings.GRASP_LEARNERS.get(kind, {})
    return bool(row.get("SEARCHES"))


def learns_from_bare_words(kind: str) -> bool:
    """Return whether a learner also takes synthesised questions in the bare words of texts and names."""
    row: Mapping[str, Any] = settings.GRASP_LEARNERS.get(kind, {})
    return bool(row.get("BARE"))


def learner(kind: str, assigned: Mapping[str, Any]) -> tuple[Learner, dict[str, Any]]:
    """Return a learner, and all of its settings: those of the site, overridden by `assigned`.

    Raises InvalidRequest for an unknown kind, or with a fault for every unknown setting and invalid value.
    """
    values = checked_settings(kind, assigned)
    made = import_string(settings.GRASP_LEARNERS[kind]["BACKEND"])(**values)
    return made, dataclasses.asdict(made)


def settings_schema(kind: str) -> dict[str, dict[str, Any]]:
    """Return setting → JSON schema of a learner, with the values of the site as defaults.

    There are none for a learner whose row names no SETTINGS, because it might load a model library.
    """
    row: Mapping[str, Any] = settings.GRASP_LEARNERS.get(kind, {})
    if "SETTINGS" not in row:
        return {}
    site = row.get("OPTIONS", {})
    return {
        name: option_schema(field, site.get(name, field.default))
        for name, field in options_of(import_string(row["SETTINGS"])).items()
    }


def fewest_questions(kind: str) -> int:
    """Return how many questions a learner takes at least, 0 if its row does not name SETTINGS that say so."""
    row: Mapping[str, Any] = settings.GRASP_LEARNERS.get(kind, {})
    return int(getattr(import_string(row["SETTINGS"]), "FEWEST", 0)) if "SETTINGS" in row else 0


def fewest_alone(kind: str) -> int:
    """Return how many synthesised questions a learner takes at least where there are no others; 0 if none says so."""
    row: Mapping[str, Any] = settings.GRASP_LEARNERS.get(kind, {})
    return int(getattr(import_string(row["SETTINGS"]), "FEWEST_ALONE", 0)) if "SETTINGS" in row else 0


def too_few(kind: str, assigned: Mapping[str, Any], real: int, synthesised: int) -> Fault | None:
    """Return what a learner with these settings lacks to learn from so many questions; None if it lacks nothing.

    Its pointer is `/question_set`, `/synthesised` or `/settings/…`. A learner whose row names no SETTINGS says so only
    when it learns. Raises InvalidRequest as `checked_settings` does.
    """
    row: Mapping[str, Any] = settings.GRASP_LEARNERS.get(kind, {})
    values = checked_settings(kind, assigned)
    asked = getattr(import_string(row["SETTINGS"])(**values), "too_few", None) if "SETTINGS" in row else None
    return asked(real, synthesised) if asked else None


def checked_settings(kind: str, assigned: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of the site, overridden by `assigned`; raises InvalidRequest as `learner` does.

    It loads no model library if the learner's row names its SETTINGS, the class that declares them.
    """
    if kind not in settings.GRASP_LEARNERS:
        known = ", ".join(learners())
        raise InvalidRequest([Fault("/kind", f"{kind!r} is nothing that can be trained; these can be: {known}.")])
    row = settings.GRASP_LEARNERS[kind]
    cls = import_string(row.get("SETTINGS", row["BACKEND"]))
    fields = {field.name: field for field in dataclasses.fields(cls)}
    values = dict(row.get("OPTIONS", {}))
    faults = []
    for key, value in assigned.items():
        if key not in fields:
            message = f"Training a {kind} has no setting {key[:80]!r}; it has: {', '.join(sorted(fields))}."
            faults.append(Fault(pointer("settings", key), message, nearest(key, fields)))
        elif problem := option_fault(fields[key], value):
            faults.append(Fault(pointer("settings", key), f"{key} {problem}"))
        else:
            values[key] = typed(fields[key].default, value)
    if faults:
        raise InvalidRequest(faults)
    return values
