"""Pages of the admin that import a knowledge base: source, mapping, check, and the job that follows.

Between the steps everything is in the row of the upload, so that an import goes on after a reload, on another day, or
in the hands of another person.
"""

from __future__ import annotations

import json
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import URLPattern, path, reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST
from unfold.admin import ModelAdmin

from search.admin import import_shown
from search.admin.import_forms import FILES, PLACE, ImportForm, PlaceForm
from search.admin.import_mapping_form import (
    AS_BEFORE,
    AS_BEGUN,
    choices_of,
    columns_of,
    form_of,
    mapping_from,
    told_as_before,
)
from search.admin.job_shown import page_of
from search.domain.errors import Fault, InvalidRequest, NotAllowed, SearchError
from search.ingest.mapping.doubts import changed
from search.jobs.import_kb import too_many
from search.models import Upload
from search.services.imports.name_source import name_source
from search.services.imports.preview_upload import preview_upload
from search.services.imports.remembered import remembered
from search.services.jobs.launch import launch_job
from search.services.jobs.wake import wake
from search.services.uploads.discard_upload import discard_upload
from search.services.uploads.receive_whole import receive_whole
from search.services.uploads.unpack_upload import unfinished

FOLDER = "admin/search/import"
MEND, LEAVE_OUT = "mend", "leave_out"
"""Buttons of the check: one changes the mapping, the other leaves the bad rows out."""
LIKE = "like"
"""Parameter that names the knowledge base, or the begun import, whose mapping is taken."""
START, STEP, MAPPING, CHECK = (f"admin:search_import{name}" for name in ("", "_step", "_mapping", "_check"))


class ImportPages(ModelAdmin):
    """The import pages, as part of the admin of knowledge bases."""

    def get_urls(self) -> list[URLPattern]:
        """Add the pages of an import."""
        view = self.admin_site.admin_view
        own = "import/<uuid:pk>/"
        return [
            path("import/", view(self.import_start), name="search_import"),
            path(own, view(never_cache(self.import_step)), name="search_import_step"),
            path(f"{own}unpack/", view(require_POST(self.import_unpack)), name="search_import_unpack"),
            path(f"{own}mapping/", view(self.import_mapping), name="search_import_mapping"),
            path(f"{own}check/", view(self.import_check), name="search_import_check"),
            path(f"{own}faults/", view(self.import_faults), name="search_import_faults"),
            path(f"{own}discard/", view(require_POST(self.import_discard)), name="search_import_discard"),
            *super().get_urls(),
        ]

    def import_start(self, request: HttpRequest) -> HttpResponse:
        """Step 1: take files, or the name of a folder or a database."""
        _check_right(request)
        form = PlaceForm(request.POST if PLACE in request.POST else None)
        fault = ""
        if request.method == "POST":
            try:
                if PLACE not in request.POST:
                    return self._sent(request)
                if form.is_valid():
                    named = name_source(source=form.cleaned_data[PLACE].strip(), user=request.user)
                    return redirect(STEP, named.pk)
            except SearchError as error:
                fault = _sentence(error)
        unfinished_imports = import_shown.unfinished_imports()
        shown = {"form": form, "fault": fault, "step": 1, "unfinished": unfinished_imports}
        return self._page(request, "start", shown | import_shown.sending(None), status=400 if fault else 200)

    def import_step(self, request: HttpRequest, pk: UUID) -> HttpResponse:
        """Lead to the step at which an import is: files that are missing, unpacking, mapping, or check."""
        _check_right(request)
        upload = _found(pk)
        if upload.state == Upload.State.READY:
            # Looking at large files takes seconds: the page that followed the unpacking says so before it leaves.
            if request.headers.get("HX-Request") and "looking" not in request.GET:
                return render(request, f"{FOLDER}/_looking.html", {"upload": upload})
            return _to(request, MAPPING if import_shown.wants_mapping(upload) else CHECK, pk)
        job = import_shown.unpacking(upload)
        if request.headers.get("HX-Request"):
            if job is None or job.state not in job.LIVE:
                return HttpResponse(headers={"HX-Redirect": reverse(STEP, args=[pk])})
            return render(request, f"{FOLDER}/_unpacking.html", page_of(job) | {"upload": upload})
        shown = {"step": 1, **import_shown.sending(upload)}
        if job is not None and job.state in job.LIVE:
            shown |= page_of(job)
        elif job is not None and upload.state == Upload.State.RECEIVING:
            shown |= {"fault": job.reason}
        return self._page(request, "files", shown)

    def import_unpack(self, request: HttpRequest, pk: UUID) -> HttpResponse:
        """Launch the job that checks and unpacks the files."""
        _check_right(request)
        try:
            job, _ = launch_job(
                kind="unpack", arguments={"upload": str(_found(pk).pk)}, user=request.user, origin="page"
            )
            wake(job.queue)
        except InvalidRequest as error:
            messages.error(request, _sentence(error))
        return redirect(STEP, pk)

    def import_mapping(self, request: HttpRequest, pk: UUID) -> HttpResponse:
        """Step 2: what the columns are."""
        _check_right(request)
        upload = _ready(pk)
        preview = import_shown.looked_at(upload)
        if preview["mapping"] is None:
            return redirect(CHECK, pk)
        offered = remembered(preview, upload, request.user)
        taken = next((one for one in offered if one.key == request.GET.get(LIKE)), None)
        mapping, faults = taken.fitted.mapping if taken else preview["mapping"], []
        if request.method == "POST":
            mapping = mapping_from(request.POST, mapping, columns_of(preview), choices_of(preview))
            try:
                preview = preview_upload(upload, mapping)
                return redirect(CHECK, pk)
            except InvalidRequest as error:
                faults = list(error.faults)
        if taken:
            preview = told_as_before(preview, taken.fitted, AS_BEGUN if taken.begun else AS_BEFORE)
        shown = {
            "step": 2, "upload": upload, "preview": preview, "form": form_of(preview, mapping, faults),
            "offered": [one for one in offered if one is not taken], "taken": taken,
        }  # fmt: skip
        return self._page(request, "mapping", shown | {"faults": faults}, status=400 if faults else 200)

    def import_check(self, request: HttpRequest, pk: UUID) -> HttpResponse:
        """Step 3 and 4: what the import would make, and the button that launches it."""
        _check_right(request)
        upload = _ready(pk)
        preview = import_shown.looked_at(upload)
        if MEND in request.POST:
            return self._mended(request, upload, preview)
        name = import_shown.name_in(upload, preview)
        there = import_shown.there_already(name, request.user)
        posted = request.POST.copy()
        if LEAVE_OUT in posted:
            posted["tolerance"] = str(preview["bad_rows"])
        form = ImportForm(posted or None, there=there, initial={"name": name})
        if request.method == "POST" and form.is_valid() and not preview["problem"]:
            given = {**import_shown.arguments_of(upload, preview), **form.options()}
            check_only = "check_only" in request.POST
            try:
                if preview["bad_rows"] > given["tolerance"] and not check_only:
                    raise InvalidRequest([Fault("/tolerance", too_many(preview["bad_rows"], given["tolerance"]))])
                return self._launched(request, given | {"check_only": check_only})
            except InvalidRequest as error:
                form.add_error(None, [fault.message for fault in error.faults])
        shown = {"step": 3, "upload": upload, "form": form, "there": there}
        faulty = request.method == "POST"
        return self._page(
            request, "check", shown | import_shown.checked(upload, preview), status=400 if faulty else 200
        )

    def import_faults(self, request: HttpRequest, pk: UUID) -> HttpResponse:
        """Return the faults of the first rows as a file of JSON lines."""
        _check_right(request)
        upload = _ready(pk)
        preview = import_shown.looked_at(upload)
        lines = [{"level": "bad", **fault} for fault in preview["faults"]]
        lines += [{"level": "remark", **remark} for remark in preview["remarks"]]
        lines += [{"level": "group", **group} for group in preview["fault_groups"] if group["rows"] > 1]
        text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
        headers = {"Content-Disposition": 'attachment; filename="bad-rows.jsonl"'}
        return HttpResponse(text, content_type="application/x-ndjson; charset=utf-8", headers=headers)

    def import_discard(self, request: HttpRequest, pk: UUID) -> HttpResponse:
        """Delete an upload with its files, and return to the first step."""
        _check_right(request)
        try:
            discard_upload(_found(pk))
            messages.success(request, "The upload was discarded.")
        except SearchError as error:
            messages.error(request, str(error))
        return redirect(START)

    def _sent(self, request: HttpRequest) -> HttpResponse:
        """Take files that came with the form, and unpack them."""
        files = [(file.name or "file", file.size or 0, file) for file in request.FILES.getlist(FILES)]
        if not files:
            raise SearchError("Choose at least one file.")
        upload = receive_whole(user=request.user, files=files)
        return self.import_unpack(request, upload.pk)

    def _mended(self, request: HttpRequest, upload: Upload, preview: dict[str, Any]) -> HttpResponse:
        """Change the mapping as a warning offers it, and show what an import would make now."""
        offered = dict(import_shown.mends_of(preview))
        mend = offered.get(request.POST[MEND])
        if mend is None:
            messages.error(request, "This was changed in the meantime; the page shows what holds now.")
            return redirect(CHECK, upload.pk)
        try:
            preview_upload(upload, changed(upload.mapping or preview["mapping"], mend["changes"]))
            messages.success(request, f"Changed: {mend['label']}. The step Mapping changes it back.")
        except InvalidRequest as error:
            messages.error(request, _sentence(error))
        return redirect(CHECK, upload.pk)

    def _launched(self, request: HttpRequest, arguments: dict[str, Any]) -> HttpResponse:
        try:
            job, new = launch_job(kind="import", arguments=arguments, user=request.user, origin="page")
        except NotAllowed as error:
            raise PermissionDenied(str(error)) from error
        if new:
            wake(job.queue)
        else:
            messages.info(request, "The same job is waiting or running already; this is its page.")
        return redirect("admin:search_job_change", job.pk)

    def _page(self, request: HttpRequest, name: str, shown: dict[str, Any], status: int = 200) -> HttpResponse:
        title = {"opts": self.opts, "title": "Import a knowledge base", "chunk": 0}
        context = self.admin_site.each_context(request) | title | shown
        return render(request, f"{FOLDER}/{name}.html", context, status=status)


def _check_right(request: HttpRequest) -> None:
    if not request.user.has_perm("search.add_job"):
        raise PermissionDenied


def _to(request: HttpRequest, name: str, pk: UUID) -> HttpResponse:
    """Redirect, also where the page asks for its changing part only."""
    if request.headers.get("HX-Request"):
        return HttpResponse(headers={"HX-Redirect": reverse(name, args=[pk])})
    return redirect(name, pk)


def _found(pk: UUID) -> Upload:
    upload = Upload.objects.filter(pk=pk).first()
    if upload is None:
        raise Http404("There is no such upload; it was discarded, or deleted because nobody changed it for days.")
    return upload


def _ready(pk: UUID) -> Upload:
    upload = _found(pk)
    if upload.state != Upload.State.READY:
        raise Http404(unfinished(upload) or "This upload is not unpacked yet.")
    return upload


def _sentence(error: SearchError) -> str:
    if isinstance(error, InvalidRequest):
        return " ".join(fault.message for fault in error.faults)
    return str(error)
