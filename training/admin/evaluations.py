"""Evaluations in the admin: what was measured, on which questions, with links to every search."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.safestring import SafeString
from unfold.decorators import display

from search.admin.heat_map import heat_maps_shown, surfaces_of
from search.admin.parts import CountedColumn, ReadOnlyAdmin, table
from search.admin.readable import readable
from search.admin.runs import STATUS_LABELS
from training.admin import empty
from training.admin.links import link
from training.models import Evaluation
from training.services.evaluations.named import named_evaluations

MEASURES = ("H@1", "H@5", "R@20", "MRR")
LARGE = ("report",)


class _Named(CountedColumn):
    """A list of evaluations that knows the name of each row, made of what tells it from the others on its page."""

    def get_results(self, request: HttpRequest) -> None:
        """Give each row of the page its name."""
        super().get_results(request)
        self.result_list: Any = list(self.result_list)
        names = named_evaluations(self.result_list)
        for row in self.result_list:
            row.name = names[row.pk]


@admin.register(Evaluation)
class EvaluationAdmin(ReadOnlyAdmin):
    """Evaluations and tunings."""

    when_empty = empty.EVALUATIONS
    list_display = ("name_shown", "purpose", "state", "question_set", "split", "questions", "created")
    list_filter = ("purpose", "status", "knowledge_base", "question_set")
    search_fields = ("id", "release_name", "split")
    list_select_related = ("knowledge_base", "question_set__knowledge_base")
    date_hierarchy = "created"
    fieldsets = (
        (None, {"fields": ("name_shown", "purpose", "status", "reason", "figures", "surfaces", "its_searches")}),
        ("Asked", {"fields": ("question_set", "split", "questions")}),
        ("Of", {"fields": ("knowledge_base", "release_name", "settings_version", "pipelines_shown", "code_version")}),
        ("Report", {"fields": ("report_shown", "created", "finished", "id")}),
    )  # fmt: skip
    readonly_fields = (
        "name_shown",
        "id",
        "status",
        "created",
        "figures",
        "surfaces",
        "its_searches",
        "pipelines_shown",
        "report_shown",
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[Evaluation]:
        """Leave large columns out of lists."""
        found: QuerySet[Evaluation] = super().get_queryset(request)
        match = request.resolver_match
        return found.defer(*LARGE) if match and (match.url_name or "").endswith("_changelist") else found

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[_Named]:
        """Return the list that names its rows."""
        return _Named

    @display(description="Evaluation", ordering="created")
    def name_shown(self, evaluation: Evaluation) -> str:
        """Its name: what tells it from the others of a list; alone, its knowledge base and pipelines."""
        return str(getattr(evaluation, "name", None) or named_evaluations([evaluation])[evaluation.pk])

    @display(description="Status", label=STATUS_LABELS, ordering="status")
    def state(self, evaluation: Evaluation) -> tuple[str, str]:
        """Status of the evaluation."""
        return evaluation.status, evaluation.get_status_display()

    @display(description="Figures")
    def figures(self, evaluation: Evaluation) -> SafeString | str:
        """The measures of each pipeline, or of the settings before and after a tuning."""
        rows = list(_rows(evaluation.report or {}))
        return table(("Pipeline", *MEASURES, "Learned from"), rows) if rows else "–"

    @display(description="What the weights do")
    def surfaces(self, evaluation: Evaluation) -> SafeString | str:
        """The surfaces of a tuning as heat maps, each with a table of the same numbers."""
        return heat_maps_shown(surfaces_of(evaluation.report)) or "–"

    @display(description="Its searches")
    def its_searches(self, evaluation: Evaluation) -> SafeString:
        """A link to the searches of the evaluation."""
        return link("Show its searches", "search_searchrun", asked_by="evaluations", evaluation=str(evaluation.pk))

    @display(description="Pipelines")
    def pipelines_shown(self, evaluation: Evaluation) -> SafeString | str:
        """Version and specification of each pipeline, as a table."""
        return readable(evaluation.pipelines)

    @display(description="Report")
    def report_shown(self, evaluation: Evaluation) -> SafeString | str:
        """The whole report, as a table."""
        return readable(evaluation.report)


def _rows(report: dict[str, Any]) -> Iterator[tuple[str, ...]]:
    """Yield a row of figures for each pipeline of a report, or for each of the settings that a tuning compared."""
    tuned = {"in use": "before", "best": "after", "held out of the choice": "held_out"}
    parts = report.get("pipelines") or {name: report[key] for name, key in tuned.items() if key in report}
    for name, part in parts.items():
        seen = part.get("seen_in_training")
        figures = (f"{part['metrics'][measure]:.1f}" for measure in MEASURES)
        yield (name, *figures, "–" if seen is None else f"{seen:,}")
