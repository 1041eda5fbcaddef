"""Pages of the admin that import question sets: upload or paste, look at what was found, save; and what changed."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.core.files.uploadedfile import UploadedFile
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from unfold.admin import ModelAdmin

from search.domain.errors import InvalidRequest
from training.admin.question_set_forms import FeedbackForm, OptionsForm, UploadForm
from training.data.examples import BadQuestions
from training.data.splits import counts
from training.models import QuestionSet
from training.services.check_questions import Prepared, prepare_questions
from training.services.question_drafts import QuestionDraft, drop_draft, keep_draft, read_draft
from training.services.question_sets import changes_since, existing_base, store_prepared, version_before
from training.services.questions_from_feedback import notes_of, questions_from_feedback
from training.services.read_upload import PASTED, ReadUpload, read_upload

FOLDER = "admin/training/questionset"
QUESTIONS_SHOWN, CHANGES_SHOWN, PAIRS_SHOWN, NOTES_SHOWN = 10, 100, 30, 100


class QuestionSetPages(ModelAdmin):
    """The pages of the import, for an admin of question sets. The page that adds a set is the upload."""

    def get_urls(self) -> list[URLPattern]:
        """Add the pages before those of the rows."""
        pages = {
            "from-feedback/": (self.feedback_view, "feedback"),
            "preview/<str:token>/": (self.preview_view, "preview"),
            "<int:set_id>/changes/": (self.changes_view, "changes"),
        }
        own = [
            path(route, self.admin_site.admin_view(view), name=f"training_questionset_{name}")
            for route, (view, name) in pages.items()
        ]
        return [*own, *super().get_urls()]

    def add_view(self, request: HttpRequest, form_url: str = "", extra_context: Any = None) -> HttpResponse:
        """Show the upload; on POST read it, and go on to its preview."""
        self._check(request, add=True)
        posted = request.method == "POST"
        form = UploadForm(request, request.POST if posted else None, request.FILES if posted else None)
        if posted and form.is_valid():
            file, pasted = form.cleaned_data["file"], form.cleaned_data["pasted"]
            try:
                examples = read_upload(
                    file=_upload(file), qrels=_upload(form.cleaned_data["qrels"]), pasted=pasted,
                    form=form.cleaned_data["form"],
                )  # fmt: skip
            except BadQuestions as error:
                form.add_error(None, list(error.faults))
            else:
                source = file.name if file else PASTED
                name = form.cleaned_data["name"] or source.split(".")[0] or PASTED
                base = form.cleaned_data["knowledge_base"].name
                return self._to_preview(request, QuestionDraft(base, name, source, tuple(examples)))
        return self._page(request, "upload", "Import questions", form=form, status=400 if form.errors else 200)

    def feedback_view(self, request: HttpRequest) -> HttpResponse:
        """Ask which feedback becomes questions; on POST gather it, and go on to its preview."""
        self._check(request, add=True)
        form = FeedbackForm(request, request.POST if request.method == "POST" else None)
        if form.is_bound and form.is_valid():
            base = form.cleaned_data["knowledge_base"]
            try:
                gathered = questions_from_feedback(base, form.moment())
            except BadQuestions as error:
                form.add_error(None, list(error.faults))
            else:
                name = form.cleaned_data["name"] or "feedback"
                draft = QuestionDraft(base.name, name, "feedback", gathered.examples, notes_of(gathered))
                return self._to_preview(request, draft)
        title = "Make questions of feedback"
        return self._page(request, "from_feedback", title, form=form, status=400 if form.errors else 200)

    def preview_view(self, request: HttpRequest, token: str) -> HttpResponse:
        """Show what a draft would give; on POST check it with other options, or save it."""
        self._check(request, add=True)
        draft = read_draft(token, _account(request))
        if draft is None:
            messages.error(request, "This preview is no longer kept, or is another account's; import the file again.")
            return HttpResponseRedirect(reverse("admin:training_questionset_add"))
        splits = list(counts(draft.examples))
        posted = request.POST if request.method == "POST" else None
        form = OptionsForm(splits, posted, initial={"name": draft.name, "duplicates": "refuse", "seed": 0})
        try:
            prepared = prepare_questions(existing_base(draft.knowledge_base), draft.examples, form.options())
            if posted is not None and "save" in posted and form.is_valid() and not prepared.refused:
                return self._save(request, token, draft, form.cleaned_data["name"], prepared)
        except (BadQuestions, InvalidRequest) as error:
            form.add_error(None, str(error)) if form.is_bound else messages.error(request, str(error))
            prepared = Prepared(draft.examples, {})
        return self._page(
            request, "preview", f"Preview of {draft.name}", form=form, draft=draft, prepared=prepared,
            checks=prepared.checks, shown=prepared.examples[:QUESTIONS_SHOWN], notes=draft.notes[:NOTES_SHOWN],
            pairs=prepared.checks.get("duplicates", {}).get("shown", [])[:PAIRS_SHOWN],
            status=400 if form.errors else 200,
        )  # fmt: skip

    def changes_view(self, request: HttpRequest, set_id: int) -> HttpResponse:
        """Show what changed from an earlier version, the one before unless `before` names another."""
        self._check(request)
        after = get_object_or_404(QuestionSet, pk=set_id)
        versions = QuestionSet.objects.filter(knowledge_base=after.knowledge_base_id, name=after.name)
        others = list(versions.exclude(pk=after.pk).order_by("-version"))
        given = request.GET.get("before", "")
        before = next((one for one in others if str(one.pk) == given), None)
        if given and before is None:
            raise Http404("There is no such version of this set.")
        before = before or version_before(after)
        changes = changes_since(before, after) if before else None
        return self._page(
            request, "changes", f"What changed in {after}", after=after, before=before, others=others, changes=changes,
            shown_slice=f":{CHANGES_SHOWN}",
        )  # fmt: skip

    def _save(
        self, request: HttpRequest, token: str, draft: QuestionDraft, name: str, prepared: Prepared
    ) -> HttpResponseRedirect:
        made, new = store_prepared(
            knowledge_base=draft.knowledge_base, prepared=prepared, name=name, source=draft.source, author=request.user
        )
        drop_draft(token)
        said = "is saved" if new else "was there already with exactly these questions"
        messages.success(request, f"{made} {said}.")
        return HttpResponseRedirect(reverse("admin:training_questionset_change", args=[made.pk]))

    def _to_preview(self, request: HttpRequest, draft: QuestionDraft) -> HttpResponseRedirect:
        token = keep_draft(draft, _account(request))
        return HttpResponseRedirect(reverse("admin:training_questionset_preview", args=[token]))

    def _check(self, request: HttpRequest, *, add: bool = False) -> None:
        if not (self.has_add_permission(request) if add else self.has_view_permission(request)):
            raise PermissionDenied

    def _page(self, request: HttpRequest, page: str, title: str, *, status: int = 200, **more: Any) -> HttpResponse:
        context = {**self.admin_site.each_context(request), "title": title, "opts": QuestionSet._meta, **more}
        return TemplateResponse(request, f"{FOLDER}/{page}.html", context, status=status)


def _upload(file: UploadedFile | None) -> ReadUpload | None:
    return ReadUpload(file.name or "questions", file.chunks()) if file is not None else None


def _account(request: HttpRequest) -> int:
    return int(request.user.pk or 0)
