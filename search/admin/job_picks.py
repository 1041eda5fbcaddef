"""job_picks: what the arguments of jobs name that is there already, as choices of the form that launches them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django import forms
from django.conf import settings
from django.utils.module_loading import import_string
from unfold.widgets import UnfoldAdminCheckboxSelectMultipleWidget, UnfoldAdminSelectWidget

from search import wiring
from search.domain.job_kinds import LEARNER, PIPELINE, SPLIT, VERSION
from search.models import PipelineVersion, Release
from search.models.knowledge import BuildStatus

Choices = list[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class SetListed:
    """A question set as the form offers it; `taught` is the number of questions to learn from."""

    base: str
    name: str
    questions: int
    taught: int
    splits: Mapping[str, int]


def listed_sets(bases: Sequence[str]) -> list[SetListed]:
    """Return the question sets of these knowledge bases; the settings name who lists them: training does."""
    return [
        row for each in import_string(settings.GRASP_LISTED_QUESTION_SETS)() if (row := SetListed(*each)).base in bases
    ]


def set_choices(sets: Iterable[SetListed], fewest: int) -> Choices:
    """Return the choices of a question set.

    Where it takes `fewest` questions, each set says how many of its questions count, and whether they are too few.
    """
    found = []
    for row in sets:
        told = f"{row.name} · {row.base} · {row.questions:,} questions"
        splits = ", ".join(f"{number:,} {name}" for name, number in sorted(row.splits.items()) if name)
        if fewest and row.taught != row.questions:
            told += f", {row.taught:,} to learn from"
        elif splits:
            told += f" ({splits})"
        found.append((f"{row.base}/{row.name}", f"{told}: too few" if row.taught < fewest else told))
    return found


def release_choices(bases: Sequence[str]) -> Choices:
    """Return the releases of these knowledge bases that can be searched; the empty choice is the active one."""
    rows = Release.objects.filter(knowledge_base__name__in=bases, status=BuildStatus.READY)
    rows = rows.select_related("knowledge_base").order_by("knowledge_base__name", "-number")
    active = [(row.name, f"{row.name}{_active(row)}") for row in rows]
    return [("", "the active one"), *active]


def _active(row: Release) -> str:
    return " · active" if row.knowledge_base.active_release_id == row.pk else ""


def pick_field(
    pick: str, many: bool, bases: Sequence[str], sets: Sequence[SetListed], given: Any, **common: Any
) -> forms.Field:
    """Return the field that offers what there is to `pick`; values that were given otherwise are offered too."""
    offered = _OFFERED[pick](bases, sets)
    values = given if isinstance(given, list | tuple) else [given]
    known = {value for value, _ in offered}
    offered += [(str(value), str(value)) for value in values if value and value not in known]
    if many:
        common |= {"initial": list(common.get("initial") or ())}
        return forms.MultipleChoiceField(choices=offered, widget=UnfoldAdminCheckboxSelectMultipleWidget, **common)
    usual = ("", "–" if common.get("required") else _EMPTY[pick])
    return forms.ChoiceField(choices=[usual, *offered], widget=UnfoldAdminSelectWidget, **common)


def _pipelines(bases: Sequence[str], sets: Sequence[SetListed]) -> Choices:
    return [(name, f"{wiring.row(name)['TITLE']} ({name})") for name in wiring.pipelines()]


def _versions(bases: Sequence[str], sets: Sequence[SetListed]) -> Choices:
    """Return the pipelines as searches use them, then each kept version with its knowledge bases."""
    found: dict[str, list[str]] = {}
    kept = PipelineVersion.objects.filter(knowledge_base__name__in=bases).order_by("pipeline", "-version")
    for pipeline, version, base in kept.values_list("pipeline", "version", "knowledge_base__name"):
        found.setdefault(f"{pipeline}@{version}", []).append(base)
    return [*_pipelines(bases, sets), *((name, f"{name} of {', '.join(of)}") for name, of in found.items())]


def _splits(bases: Sequence[str], sets: Sequence[SetListed]) -> Choices:
    return [(name, name) for name in sorted({split for row in sets for split in row.splits if split})]


def _learners(bases: Sequence[str], sets: Sequence[SetListed]) -> Choices:
    return [(name, name.replace("_", " ")) for name in settings.GRASP_LEARNERS]


_OFFERED: Mapping[str, Callable[[Sequence[str], Sequence[SetListed]], Choices]] = {
    PIPELINE: _pipelines, VERSION: _versions, SPLIT: _splits, LEARNER: _learners,
}  # fmt: skip
_EMPTY = {PIPELINE: "the site's default", VERSION: "the site's default", SPLIT: "not chosen", LEARNER: "not chosen"}
