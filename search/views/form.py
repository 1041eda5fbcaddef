"""The question box: its choices, and the values typed into it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from django.conf import settings
from django.db.models import QuerySet
from django.http import HttpRequest

from search.domain.errors import Fault
from search.domain.question import LONGEST_QUESTION
from search.models import KnowledgeBase, SearchRun
from search.services.pipelines.list_pipelines import pipeline_choices

_SHOWN = (
    "name", "title", "description", "examples", "active_release__number", "active_release__snapshot__nodes",
    "active_release__snapshot__edges",
)  # fmt: skip
"""Columns that the pages print; a schema, which is not among them, takes longer to read than the page to write."""


@dataclass
class SearchBox:
    """The form with its present values.

    `faults` are messages by field; `longest` is the largest number of characters of a question. With `chooses` the form
    may leave the knowledge base open; `fitting` is then the name of the one that was chosen for the present question,
    and `others` are names of others that it may be for.
    """

    knowledge_bases: Sequence[KnowledgeBase]
    pipelines: Sequence[dict[str, Any]]
    knowledge_base: str = ""
    question: str = ""
    pipeline: str = ""
    chooses: bool = False
    fitting: str = ""
    others: Sequence[str] = ()
    faults: dict[str, list[str]] = field(default_factory=dict)
    longest: int = LONGEST_QUESTION

    @property
    def fitting_base(self) -> KnowledgeBase | None:
        """The knowledge base that was chosen for the question, if the reader may ask it."""
        return next((base for base in self.knowledge_bases if base.name == self.fitting), None)

    @property
    def other_bases(self) -> list[KnowledgeBase]:
        """The other knowledge bases that the question may be for, of those that the reader may ask."""
        return [base for base in self.knowledge_bases if base.name in self.others]

    @property
    def elsewhere(self) -> list[str]:
        """The messages of faults that belong to no field of the box."""
        own = ("question", "knowledge_base", "pipeline")
        return [message for name, messages in self.faults.items() if name not in own for message in messages]


def question_box(request: HttpRequest, **values: Any) -> SearchBox:
    """Return the form with the given values and the knowledge bases that the user may search."""
    bases = list(askable(request).select_related("active_release__snapshot").only(*_SHOWN))
    box = SearchBox(bases, pipeline_choices(), **values)
    box.chooses = box.chooses and len(bases) > 1
    box.knowledge_base = box.knowledge_base or (bases[0].name if bases and not box.chooses else "")
    box.pipeline = box.pipeline or settings.GRASP_DEFAULT_PIPELINE
    return box


def asked_box(request: HttpRequest, run: SearchRun) -> SearchBox:
    """Return the form as it was when a search was asked; where it left the knowledge base open, it does so again."""
    values = {"question": run.question, "pipeline": run.pipeline, "chooses": True}
    if run.other_bases is None:
        return question_box(request, **values, knowledge_base=run.knowledge_base_name)
    return question_box(request, **values, fitting=run.knowledge_base_name, others=run.other_bases)


def askable(request: HttpRequest) -> QuerySet[KnowledgeBase]:
    """Return the knowledge bases that the user may search, and that have something to search."""
    return KnowledgeBase.objects.visible_to(request.user).filter(active_release__isnull=False)


def typed_text(text: str) -> str:
    """Return the text of a field of several lines with LF as line end; browsers send CR LF.

    The `maxlength` of a field counts a line end as one character. With LF, the later check of the length does too.
    """
    return text.replace("\r\n", "\n")


def by_field(faults: Sequence[Fault]) -> dict[str, list[str]]:
    """Return the messages by the first part of their pointer.

    If the pointer has further parts, as in a plan, the message begins with the whole pointer.
    """
    found: dict[str, list[str]] = {}
    for fault in faults:
        name, _, rest = fault.pointer.lstrip("/").partition("/")
        found.setdefault(name, []).append(f"{fault.pointer}: {fault.sentence}" if rest else fault.sentence)
    return found
