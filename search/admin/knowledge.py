"""Knowledge bases in the admin, with their snapshots, vector sets and releases."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.db.models import Count, Field, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from unfold.admin import TabularInline
from unfold.decorators import action, display

from search.admin import empty
from search.admin.import_pages import ImportPages
from search.admin.lines_field import LinesField
from search.admin.parts import OfVisibleBases, ReadOnlyAdmin, number, table
from search.admin.removal_pages import RemovalOfBases, RemovalOfReleases
from search.models import KnowledgeBase, Release, Snapshot, VectorSet
from search.models.knowledge import BuildStatus
from search.services.knowledge.releases import ReleaseError, activate_release

STATUS_LABELS = {"ready": "success", "building": "info", "failed": "danger", "dropped": "warning"}


class ReleaseInline(TabularInline):
    """The releases of a knowledge base, newest first."""

    model = Release
    fk_name = "knowledge_base"
    fields = readonly_fields = ("number", "status", "snapshot", "vector_set", "created", "activated")
    show_change_link = True
    extra = 0
    max_num = 0
    can_delete = False

    def get_queryset(self, request: HttpRequest) -> QuerySet[Release]:
        """Fetch the related rows that are shown in the same query."""
        return super().get_queryset(request).select_related("snapshot__knowledge_base", "vector_set", "knowledge_base")


@admin.register(KnowledgeBase)
class KnowledgeBaseAdmin(RemovalOfBases, ImportPages, OfVisibleBases):
    """Knowledge bases: their descriptions, their visibility, and their active releases."""

    list_display = ("name", "title", "visibility", "answers", "nodes", "edges", "releases_count")
    list_filter = ("visibility", "domain", "language")
    search_fields = ("name", "title", "description")
    list_select_related = ("active_release__snapshot", "active_release__knowledge_base")
    readonly_fields = ("name", "created", "schema_shown", "settings_shown")
    when_empty = empty.KNOWLEDGE_BASES
    inlines = (ReleaseInline,)
    fieldsets = (
        (None, {"fields": ("name", "title", "description", "examples", "created")}),
        ("Who may search it, and what answers", {"fields": ("visibility", "members", "active_release")}),
        ("What planners are told", {"fields": ("settings_shown",)}),
        ("About", {"fields": ("domain", "language", "licence", "source"), "classes": ("collapse",)}),
        ("Schema", {"fields": ("schema_shown",)}),
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[KnowledgeBase]:
        """Count the releases in the same query."""
        return super().get_queryset(request).annotate(release_count=Count("releases"))

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Knowledge bases are made by imports, which are jobs; who may launch them sees the button that leads there."""
        return request.user.has_perm("search.add_job")

    def add_view(self, request: HttpRequest, form_url: str = "", extra_context: Any = None) -> HttpResponse:
        """Redirect to the import pages."""
        return redirect("admin:search_import")

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any) -> Any:
        """Offer only the releases that are ready."""
        form = super().get_form(request, obj, change, **kwargs)
        field = form.base_fields.get("active_release")
        if isinstance(field, forms.ModelChoiceField) and obj is not None:
            field.queryset = obj.releases.filter(status=BuildStatus.READY).select_related("knowledge_base")
            field.help_text = "Searches use this release as soon as it is saved; choose an earlier one to roll back."
        return form

    def formfield_for_dbfield(self, db_field: Field[Any, Any], request: HttpRequest, **kwargs: Any) -> Any:
        """Take the examples as lines, because nobody writes JSON by hand."""
        if db_field.name == "examples":
            return LinesField(help_text="Questions that the search page offers, one a line; it shows the first three.")
        return super().formfield_for_dbfield(db_field, request, **kwargs)

    def save_model(self, request: HttpRequest, obj: KnowledgeBase, form: Any, change: bool) -> None:
        """Save the description; another release is activated by the service that all doors use."""
        chosen = obj.active_release
        switched = "active_release" in form.changed_data and chosen is not None
        if switched:
            obj.active_release_id = form.initial.get("active_release")
        super().save_model(request, obj, form, change)
        if switched and chosen is not None:
            _activate(request, chosen)

    @display(description="Answers", ordering="active_release__number")
    def answers(self, base: KnowledgeBase) -> str:
        """Name of the active release."""
        return base.active_release.name if base.active_release else "nothing: no active release"

    @display(description="Entities", ordering="active_release__snapshot__nodes")
    def nodes(self, base: KnowledgeBase) -> str:
        """Number of nodes of the active release."""
        return number(base.active_release.snapshot.nodes if base.active_release else None)

    @display(description="Relations", ordering="active_release__snapshot__edges")
    def edges(self, base: KnowledgeBase) -> str:
        """Number of edges of the active release."""
        return number(base.active_release.snapshot.edges if base.active_release else None)

    @display(description="Releases", ordering="release_count")
    def releases_count(self, base: Any) -> str:
        """Number of releases."""
        return number(base.release_count)

    @display(description="Settings")
    def settings_shown(self, base: KnowledgeBase) -> SafeString | str:
        """Link to the page with guidance, aliases and hidden types, with the active version."""
        if base.active_release is None:
            return "–"
        version = base.active_settings.version if base.active_settings else None
        version_shown = f"version {version}" if version else "unchanged"
        address = reverse("search-settings", args=[base.name])
        return format_html(
            '<a class="text-primary-600 underline" href="{}">Guidance, wordings, types</a> ({})', address, version_shown
        )

    @display(description="Types and relations")
    def schema_shown(self, base: KnowledgeBase) -> SafeString | str:
        """The schema of the active release."""
        return schema_tables(base.active_release.snapshot) if base.active_release else "–"


@admin.register(Snapshot)
class SnapshotAdmin(ReadOnlyAdmin):
    """Snapshots: counts, schema, and the seconds of each part of the import."""

    when_empty = empty.SNAPSHOTS
    counted = ("import", "imports")
    list_display = ("__str__", "state", "nodes_shown", "edges_shown", "bad_rows", "total_seconds", "created")
    list_filter = ("status", "knowledge_base")
    list_select_related = ("knowledge_base",)
    fields = readonly_fields = (
        "knowledge_base", "status", "source", "content_hash", "nodes_shown", "edges_shown", "bad_rows", "seconds_shown",
        "schema_shown", "created", "finished",
    )  # fmt: skip

    def get_queryset(self, request: HttpRequest) -> QuerySet[Snapshot]:
        """Leave the schema out of lists, because it is large."""
        found = super().get_queryset(request)
        return found.defer("schema_json") if _is_list(request) else found

    @display(description="Status", label=STATUS_LABELS, ordering="status")
    def state(self, snapshot: Snapshot) -> tuple[str, str]:
        """Build status."""
        return snapshot.status, snapshot.get_status_display()

    @display(description="Entities", ordering="nodes")
    def nodes_shown(self, snapshot: Snapshot) -> str:
        """Number of nodes."""
        return number(snapshot.nodes)

    @display(description="Relations", ordering="edges")
    def edges_shown(self, snapshot: Snapshot) -> str:
        """Number of edges."""
        return number(snapshot.edges)

    @display(description="Seconds")
    def total_seconds(self, snapshot: Snapshot) -> str:
        """Seconds of the whole import."""
        return f"{snapshot.seconds.get('total', sum(snapshot.seconds.values())):.1f}" if snapshot.seconds else "–"

    @display(description="Seconds of each part")
    def seconds_shown(self, snapshot: Snapshot) -> SafeString | str:
        """Seconds of each part."""
        if not snapshot.seconds:
            return "–"
        return table(("part", "seconds"), ((part, f"{value:.2f}") for part, value in snapshot.seconds.items()))

    @display(description="Types and relations")
    def schema_shown(self, snapshot: Snapshot) -> SafeString:
        """The schema with its counts."""
        return schema_tables(snapshot)


@admin.register(VectorSet)
class VectorSetAdmin(ReadOnlyAdmin):
    """Vector sets: one encoder's vectors of one snapshot."""

    when_empty = empty.VECTOR_SETS
    list_display = ("__str__", "snapshot", "dimensions", "vectors_shown", "state", "created")
    list_filter = ("status", "encoder")
    list_select_related = ("snapshot__knowledge_base",)
    fields = readonly_fields = ("snapshot", "encoder", "dimensions", "kinds", "vectors_shown", "status", "created")

    @display(description="Vectors", ordering="vectors")
    def vectors_shown(self, vectors: VectorSet) -> str:
        """Number of vectors."""
        return number(vectors.vectors)

    @display(description="Status", label=STATUS_LABELS, ordering="status")
    def state(self, vectors: VectorSet) -> tuple[str, str]:
        """Build status."""
        return vectors.status, vectors.get_status_display()


@admin.register(Release)
class ReleaseAdmin(RemovalOfReleases, ReadOnlyAdmin):
    """Releases: a snapshot with vectors and indexes, used by searches."""

    when_empty = empty.RELEASES
    list_display = ("__str__", "knowledge_base", "answers", "state", "snapshot", "vector_set", "created", "activated")
    list_filter = ("status", "knowledge_base")
    list_select_related = ("knowledge_base", "snapshot__knowledge_base", "vector_set")
    fields = readonly_fields = (
        "knowledge_base",
        "number",
        "status",
        "answers",
        "snapshot",
        "vector_set",
        "created",
        "activated",
    )
    actions = ("let_answer",)

    @action(description="Let this release answer", permissions=["activate"])
    def let_answer(self, request: HttpRequest, chosen: QuerySet[Release]) -> None:
        """Activate the selected release."""
        if chosen.count() != 1:
            messages.error(request, "Choose one release: a knowledge base has one active release.")
            return
        _activate(request, chosen.select_related("knowledge_base").get())

    def has_activate_permission(self, request: HttpRequest) -> bool:
        """Users who may change knowledge bases may activate releases."""
        return request.user.has_perm("search.change_knowledgebase")

    @display(description="Status", label=STATUS_LABELS, ordering="status")
    def state(self, release: Release) -> tuple[str, str]:
        """Build status."""
        return release.status, release.get_status_display()

    @display(description="Answers", boolean=True)
    def answers(self, release: Release) -> bool:
        """Whether this is the active release."""
        return release.knowledge_base.active_release_id == release.pk


def schema_tables(snapshot: Snapshot) -> SafeString:
    """Return the schema as two HTML tables: node types with fields, and relation types, both with counts."""
    schema = snapshot.schema
    types = table(
        ("type", "entities", "may answer", "fields"),
        (
            (
                t.name,
                number(t.count),
                "yes" if t.answerable else "no",
                ", ".join(f"{f.name} ({f.kind})" for f in t.fields),
            )
            for t in schema.node_types
        ),
    )
    relations = table(
        ("from", "relation", "to", "how many"),
        ((r.source, r.relation, r.target, number(r.count)) for r in schema.relation_types),
    )
    return format_html('{}<div class="mt-6">{}</div>', types, relations)


def _activate(request: HttpRequest, release: Release) -> None:
    try:
        activate_release(knowledge_base=release.knowledge_base, release=release)
    except ReleaseError as error:
        messages.error(request, str(error))
    else:
        messages.success(request, f"{release} is now the active release of {release.knowledge_base.name}.")


def _is_list(request: HttpRequest) -> bool:
    match = request.resolver_match
    return match is not None and (match.url_name or "").endswith("_changelist")
