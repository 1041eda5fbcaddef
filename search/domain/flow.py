"""The stages that a pipeline's dataclass declares, in order, each with its role and its words on pages."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from search.domain.trace import ROLES, StepRole

_DECLARED = "role"
STEP_WORDINGS: Mapping[StepRole, tuple[str, str]] = {
    "plan": ("Plan", "Reading the question as walks through the graph"),
    "link": ("Link", "Tying the names in the question to entities"),
    "graph": ("Graph", "Following the relations"),
    "recover": ("Recover", "Changing the plan until it finds something"),
    "graph list": ("Graph list", "Listing what the graph found"),
    "text list": ("Text list", "Searching the documents"),
    "list": ("List", "Listing possible answers"),
    "fusion": ("Fuse", "Adding up the lists"),
    "check": ("Check", "Checking every condition"),
    "rerank": ("Rerank", "Reading the best results again"),
    "explain": ("Explain", "Explaining the results"),
    "expand": ("Expand", "Adding words to the question"),
    "follow up": ("Follow up", "Reading the question as a change of the one before"),
    "other": ("Step", "Working"),
}
"""Title and present participle of a step whose pipeline declares none, by role."""


@dataclasses.dataclass(frozen=True, slots=True)
class StageField:
    """A stage of a pipeline: name, role, title, its activity in words (`doing`), and its list's name in the fusion."""

    name: str
    role: StepRole
    title: str = ""
    doing: str = ""
    list_name: str = ""

    def to_json(self) -> dict[str, str]:
        """Return the stage as a described search shows it, without the name of its list."""
        return {"name": self.name, "role": self.role, "title": self.title, "doing": self.doing}


def stage(role: StepRole, title: str = "", doing: str = "", *, list_name: str = "", optional: bool = False) -> Any:
    """Return a dataclass field that declares a stage of a pipeline.

    The order of the fields is the order of the flow. If a required stage follows an optional one, declare the dataclass
    with `kw_only=True`. Pages show `title` as the name of the step and `doing` while it runs ("Searching the
    documents"); if they are empty, the words of the role are shown. `list_name` is the name of the stage's list in the
    fusion; if it is empty, that is the stage's name. An optional stage is None if the settings do not configure it.
    """
    metadata = {_DECLARED: StageField("", role, title, doing, list_name)}
    if optional:
        return dataclasses.field(default=None, metadata=metadata)
    return dataclasses.field(metadata=metadata)


def flow_of(stages: type) -> tuple[StageField, ...]:
    """Return the stages that a pipeline's dataclass declares, in order, with defaults in place of empty words.

    Fields without a valid role are left out; `faults_of_flow` names them.
    """
    found = []
    for field in dataclasses.fields(stages):
        declared: StageField | None = field.metadata.get(_DECLARED)
        if declared is None or declared.role not in ROLES:
            continue
        title, doing = STEP_WORDINGS[declared.role]
        found.append(
            StageField(
                field.name,
                declared.role,
                declared.title or title,
                declared.doing or doing,
                declared.list_name or field.name,
            )
        )
    return tuple(found)


def faults_of_flow(stages: type) -> list[str]:
    """Return a sentence for every field that declares no role or an unknown role."""
    faults = []
    for field in dataclasses.fields(stages):
        declared: StageField | None = field.metadata.get(_DECLARED)
        if declared is None:
            faults.append(f"{stages.__name__}.{field.name} declares no role; write `{field.name}: … = stage(role)`.")
        elif declared.role not in ROLES:
            known = ", ".join(ROLES)
            faults.append(f"{stages.__name__}.{field.name} has the role {declared.role!r}, which is none of: {known}.")
    return faults
