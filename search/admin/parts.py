"""Shared by several pages of the admin: read-only rows, readable JSON, tables."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from django.contrib import admin
from django.db.models import Model, QuerySet
from django.http import HttpRequest
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from unfold.admin import ModelAdmin
from unfold.views import ChangeList

from search.services.access.visible import path_to_base, rows_for

SHOWN_CHARACTERS = 20_000
"""Characters of a JSON value that a page shows."""


class CountedColumn(ChangeList):
    """A list that counts all rows only once if no filter is set."""

    def get_results(self, request: HttpRequest) -> None:
        """Use the count of the listed rows as the count of all rows if no filter is set."""
        super().get_results(request)
        if not self.filter_params:
            self.full_result_count = self.result_count


class OfVisibleBases(ModelAdmin):
    """An admin that shows only rows of knowledge bases that the person may see, and offers only such rows to choose.

    Every admin of a model that leads to a knowledge base is one; a test goes through all of them.
    """

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """Return the rows that the person may see."""
        return rows_for(super().get_queryset(request), request.user)

    def get_field_queryset(self, db: str | None, db_field: Any, request: HttpRequest) -> QuerySet[Any] | None:
        """Return the rows that a field of a form offers, None for all."""
        chosen = super().get_field_queryset(db, db_field, request)
        rows = db_field.remote_field.model._default_manager.all() if chosen is None else chosen
        return chosen if path_to_base(rows.model) is None else rows_for(rows, request.user)


class VisibleRelated(admin.RelatedFieldListFilter):
    """The filter of a list by a related row: it offers rows of knowledge bases that the person may see."""

    def field_choices(self, field: Any, request: HttpRequest, model_admin: Any) -> list[Any]:
        """Return the choices as keys and names."""
        if path_to_base(field.related_model) is None:
            return super().field_choices(field, request, model_admin)
        ordering = self.field_admin_ordering(field, request, model_admin)
        rows = rows_for(field.related_model._default_manager.complex_filter(field.get_limit_choices_to()), request.user)
        return [(row.pk, str(row)) for row in (rows.order_by(*ordering) if ordering else rows)]


class VisibleValues(admin.AllValuesFieldListFilter):
    """The filter of a list by the values of a column, also one of a related row: it offers values that are listed."""

    def __init__(
        self, field: Any, request: HttpRequest, params: dict[str, Any], model: type[Model], model_admin: Any,
        field_path: str,
    ) -> None:  # fmt: skip
        super().__init__(field, request, params, model, model_admin, field_path)
        values = model_admin.get_queryset(request).order_by(field_path).values_list(field_path, flat=True)
        self.lookup_choices = values.distinct()


admin.FieldListFilter.register(lambda field: bool(field.remote_field), VisibleRelated, take_priority=True)


class ReadOnlyAdmin(OfVisibleBases):
    """Records of past events: read-only, and deleted only together with the rows that they belong to."""

    list_per_page = 50
    show_full_result_count = False
    counted: tuple[str, str] | None = None
    """What the number below the list counts, one and several, where the names of the model do not say it."""

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ChangeList]:
        """Return the list that avoids the second count."""
        return CountedColumn

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Records are never added by hand."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Records are never changed."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Records are deleted by commands, with everything that depends on them."""
        return False


def pretty(value: Any) -> SafeString | str:
    """Return a JSON value as readable HTML, collapsed if it is long."""
    if value in (None, {}, [], ""):
        return "–"
    text = json.dumps(value, ensure_ascii=False, indent=2)
    shown = (
        text
        if len(text) <= SHOWN_CHARACTERS
        else f"{text[:SHOWN_CHARACTERS]}\n… {len(text) - SHOWN_CHARACTERS:,} more characters"
    )
    block = format_html('<pre class="text-xs">{}</pre>', shown)
    if len(text) < 400:
        return block
    return format_html("<details><summary>{} characters</summary>{}</details>", f"{len(text):,}", block)


def table(headers: Sequence[str], rows: Iterable[Sequence[Any]]) -> SafeString:
    """Return an HTML table; cells are escaped unless they are safe strings."""
    head = format_html_join(
        "", '<th scope="col" class="text-left font-semibold px-3 py-1">{}</th>', ((h,) for h in headers)
    )
    cells = (
        (
            format_html_join(
                "", '<td class="px-3 py-1 align-top" data-label="{}">{}</td>', zip(headers, row, strict=False)
            ),
        )
        for row in rows
    )
    body = format_html_join("", '<tr class="border-t border-base-200 dark:border-base-800">{}</tr>', cells)
    whole = format_html('<table class="stacks w-full"><thead><tr>{}</tr></thead><tbody>{}</tbody></table>', head, body)
    return format_html('<div class="overflow-x-auto" tabindex="0">{}</div>', whole)


def number(value: int | None) -> str:
    """Return a count with separators."""
    return "–" if value is None else f"{value:,}"
