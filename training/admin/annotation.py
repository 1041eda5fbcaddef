"""Annotation queues in the admin: made by a rule that is counted first, watched, closed; and their items."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import Count, Q, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString
from unfold.decorators import display

from search.admin.parts import ReadOnlyAdmin, number, table
from search.admin.readable import readable
from search.domain.errors import InvalidRequest
from training.admin import empty
from training.admin.annotation_forms import QueueForm
from training.admin.links import link
from training.models import AnnotationItem, AnnotationQueue, Assignment, Judgement
from training.models.annotation import COUNTED
from training.services.annotation.hand_out import with_places
from training.services.annotation.make_queue import make_queue, plan_queue

STATE_LABELS = {"filling": "info", "open": "success", "closed": "warning", "retired": "danger"}


@admin.register(AnnotationQueue)
class AnnotationQueueAdmin(ReadOnlyAdmin):
    """Queues of items to judge."""

    when_empty = empty.ANNOTATION_QUEUES
    list_display = ("name", "knowledge_base", "rule", "said", "done", "overlap", "author", "created")
    list_filter = ("knowledge_base", "rule", "state")
    search_fields = ("name",)
    list_select_related = ("knowledge_base", "author")
    date_hierarchy = "created"
    fieldsets = (
        (None, {"fields": ("name", "state", "guideline", "page")}),
        ("How far it is", {"fields": ("done", "people", "held", "its_items")}),
        ("What it holds", {"fields": (
            "knowledge_base", "rule", "arguments_shown", "seed", "limit", "matched_shown", "items_count", "overlap",
            "release_name", "pipelines", "its_evaluation", "author", "created",
        )}),
    )  # fmt: skip
    readonly_fields = (
        "page", "done", "people", "held", "its_items", "knowledge_base", "rule", "arguments_shown", "seed", "limit",
        "matched_shown", "items_count", "overlap", "release_name", "pipelines", "its_evaluation", "author", "created",
    )  # fmt: skip
    actions = ("close", "open_again")

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Queues are made by accounts with the right to add them."""
        return super(ReadOnlyAdmin, self).has_add_permission(request)

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Name, guideline and state are changed by accounts with the right."""
        return super(ReadOnlyAdmin, self).has_change_permission(request, obj)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """A queue with judgements is closed, never deleted: nothing that people have said is lost."""
        allowed = super(ReadOnlyAdmin, self).has_delete_permission(request, obj)
        return allowed and obj is not None and not Judgement.objects.filter(item__queue=obj).exists()

    def add_view(self, request: HttpRequest, form_url: str = "", extra_context: Any = None) -> HttpResponse:
        """Show the form of a new queue; count what its rule matches, or make it."""
        if not self.has_add_permission(request):
            raise PermissionDenied
        posted = request.method == "POST"
        form = QueueForm(request, request.POST if posted else None, request.FILES, initial=_initial(request))
        counted = ""
        if posted and form.is_valid():
            try:
                plan = plan_queue(**form.asked(), user=request.user)
                counted = plan.sentence
                if "_make" in request.POST:
                    values = form.cleaned_data
                    queue = make_queue(
                        plan, name=values["name"], overlap=values["overlap"], guideline=values["guideline"],
                        author=request.user,
                    )  # fmt: skip
                    said = f"has {queue.items_count:,} items"
                    if plan.searched:
                        said = f"is being filled: {plan.sentence}"
                    messages.success(request, f"The queue “{queue}” {said.rstrip('.')}.")
                    # Not to judging: whoever is handed an item takes part, and sees no agreement until all have judged.
                    return HttpResponseRedirect(f"{reverse('annotate')}#queue{queue.pk}")
            except InvalidRequest as error:
                counted = ""
                form.add_faults(error.faults)
        context = self.admin_site.each_context(request) | {
            "title": "Make an annotation queue", "form": form, "counted": counted, "opts": self.opts,
            "making": "_make" in request.POST,
        }  # fmt: skip
        return TemplateResponse(request, "admin/training/annotationqueue/new.html", context)

    def formfield_for_dbfield(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        """Give the guideline room."""
        field = super().formfield_for_dbfield(db_field, request, **kwargs)
        if db_field.name == "guideline" and isinstance(field, forms.Field):
            field.widget.attrs["rows"] = 16
        return field

    @admin.action(description="Close: hand out nothing more", permissions=["change"])
    def close(self, request: HttpRequest, queues: QuerySet[AnnotationQueue]) -> None:
        """Close queues; judgements that are on their way are still kept."""
        queues.update(state=AnnotationQueue.State.CLOSED)

    @admin.action(description="Open again", permissions=["change"])
    def open_again(self, request: HttpRequest, queues: QuerySet[AnnotationQueue]) -> None:
        """Open closed queues."""
        queues = queues.filter(state=AnnotationQueue.State.CLOSED)
        queues.update(state=AnnotationQueue.State.OPEN)

    @display(description="State", label=STATE_LABELS, ordering="state")
    def said(self, queue: AnnotationQueue) -> tuple[str, str]:
        """Open or closed."""
        return queue.state, queue.get_state_display()

    @display(description="Done")
    def done(self, queue: AnnotationQueue) -> str:
        """Items that as many people have judged as the overlap says."""
        items = AnnotationItem.objects.filter(queue=queue)
        done = with_places(items.filter(state=AnnotationItem.State.OPEN), timezone.now())
        retired = items.filter(state=AnnotationItem.State.RETIRED).count()
        said = f"{done.filter(done__gte=queue.overlap).count():,} of {queue.items_count - retired:,}"
        return f"{said} ({retired:,} retired)" if retired else said

    @display(description="By whom")
    def people(self, queue: AnnotationQueue) -> SafeString | str:
        """What each annotator has said, by verdict."""
        counts = (
            Judgement.objects.filter(item__queue=queue).values("annotator_name", "model")
            .annotate(
                given=Count("pk", filter=Q(verdict__in=COUNTED)), skipped=Count("pk", filter=Q(verdict="skipped"))
            )
            .order_by("annotator_name")
        )  # fmt: skip
        rows = [
            (one["annotator_name"] + (" (language model)" if one["model"] else ""), number(one["given"]),
             number(one["skipped"]))
            for one in counts
        ]  # fmt: skip
        return table(("Who", "Judged", "Skipped"), rows) if rows else "nobody yet"

    @display(description="Held now")
    def held(self, queue: AnnotationQueue) -> str:
        """Who holds items at this moment."""
        now = Assignment.objects.filter(item__queue=queue, judged=False, expires__gt=timezone.now())
        counts = now.values("annotator__username").annotate(n=Count("pk")).order_by("annotator__username")
        return ", ".join(f"{one['annotator__username']}: {one['n']}" for one in counts) or "nothing"

    @display(description="Page")
    def page(self, queue: AnnotationQueue) -> SafeString:
        """Links to the judging page and the guideline."""
        shape = '<a class="text-primary-600 underline dark:text-primary-500" href="{}">{}</a>'
        judge = format_html(shape, reverse("annotate-queue", args=[queue.pk]), "Judge")
        guide = format_html(shape, reverse("annotate-guideline", args=[queue.pk]), "Guideline")
        return format_html("{} · {}", judge, guide)

    @display(description="Its items")
    def its_items(self, queue: AnnotationQueue) -> SafeString:
        """A link to the list of its items."""
        return link("Show its items", "training_annotationitem", queue__id__exact=queue.pk)

    @display(description="Evaluation")
    def its_evaluation(self, queue: AnnotationQueue) -> SafeString | str:
        """A link to the report whose outcomes the rule looked at."""
        if queue.evaluation_id is None:
            return "–"
        address = reverse("evaluation-report", args=[queue.evaluation_id])
        return format_html('<a class="text-primary-600 underline dark:text-primary-500" href="{}">Report</a>', address)

    @display(description="Arguments of the rule")
    def arguments_shown(self, queue: AnnotationQueue) -> SafeString | str:
        """The arguments as a table."""
        return readable(queue.arguments)

    @display(description="Matched")
    def matched_shown(self, queue: AnnotationQueue) -> str:
        """The candidates that the rule matched."""
        return number(queue.matched)


@admin.register(AnnotationItem)
class AnnotationItemAdmin(ReadOnlyAdmin):
    """Items with everything about them; not for annotators, who judge blind."""

    when_empty = empty.ANNOTATION_QUEUES
    list_display = ("question_shown", "node_name", "node_type", "said", "grades", "queue")
    list_filter = ("queue", "state")
    search_fields = ("question", "node_id", "node_name", "question_identifier")
    list_select_related = ("queue",)
    fields = readonly_fields = (
        "queue", "position", "question", "question_identifier", "node_id", "node_name", "node_type", "state", "reason",
        "grades", "origin_shown", "shown_shown",
    )  # fmt: skip

    def get_queryset(self, request: HttpRequest) -> QuerySet[AnnotationItem]:
        """Read the judgements of a page of items at once."""
        return super().get_queryset(request).prefetch_related("judgements")

    @display(description="Question", ordering="question")
    def question_shown(self, item: AnnotationItem) -> str:
        """The beginning of the question."""
        return item.question[:120]

    @display(description="State", label=STATE_LABELS, ordering="state")
    def said(self, item: AnnotationItem) -> tuple[str, str]:
        """Open or retired."""
        return item.state, item.get_state_display()

    @display(description="Judgements")
    def grades(self, item: AnnotationItem) -> str:
        """What each annotator says."""
        return "; ".join(map(str, item.judgements.all())) or "–"

    @display(description="Where it comes from")
    def origin_shown(self, item: AnnotationItem) -> SafeString | str:
        """The rule's reason, and ranks by pipeline."""
        return readable(item.origin)

    @display(description="What annotators see")
    def shown_shown(self, item: AnnotationItem) -> SafeString | str:
        """The copy that annotators see."""
        return readable(item.shown)


def _initial(request: HttpRequest) -> dict[str, Any]:
    """Return the values that a link to the form brings; lists are given by repeating their name."""
    several = ("evaluations", "pipelines", "searches", "saved", "stages", "kinds")
    given: dict[str, Any] = {name: request.GET[name] for name in request.GET if name not in several}
    return given | {name: "\n".join(request.GET.getlist(name)) for name in several if name in request.GET}
