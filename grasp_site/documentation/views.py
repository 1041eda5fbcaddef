"""The pages below `/docs/`."""

import json
import mimetypes
from functools import lru_cache
from pathlib import Path

from django.core.exceptions import SuspiciousFileOperation
from django.http import HttpRequest, HttpResponse, HttpResponseNotModified, HttpResponseRedirect
from django.shortcuts import render
from django.utils._os import safe_join
from django.views.decorators.gzip import gzip_page
from django.views.decorators.http import require_safe

from grasp_site.documentation import build
from grasp_site.documentation.sources import built, folder

ASSET_SECONDS = 30 * 24 * 3600
RETRY_SECONDS = "2"


@require_safe
@gzip_page
def documentation(request: HttpRequest, path: str = "") -> HttpResponse:
    """Answer with a built page or one of its files; while the pages are being built, with a page that says so."""
    root = built()
    if not root.is_dir():
        return _not_built(request)
    file = _file(root, path)
    if file is None:
        missing = HttpResponse((root / "404.html").read_bytes(), status=404)
        return _with_policy(missing, root)
    if file.is_dir():
        return HttpResponseRedirect(f"{request.path}/")
    return _with_policy(_answer(request, root, file, path), root)


def _file(root: Path, path: str) -> Path | None:
    """Return the file of an address; a folder without the final slash as it is; None if there is neither."""
    if path == build.POLICY or "\0" in path:
        return None
    try:
        file = Path(safe_join(root, path))
    except SuspiciousFileOperation:
        return None
    if not (file / "index.html").is_file():
        return file if file.is_file() else None
    return file / "index.html" if not path or path.endswith("/") else file


def _answer(request: HttpRequest, root: Path, file: Path, path: str) -> HttpResponse:
    tag = f'"{root.name}"'
    if tag in request.headers.get("If-None-Match", ""):
        response: HttpResponse = HttpResponseNotModified()
    else:
        kind, _ = mimetypes.guess_type(file.name)
        text = kind and (kind.startswith("text/") or kind == "application/json")
        response = HttpResponse(
            file.read_bytes(), content_type=f"{kind}; charset=utf-8" if text else kind or "application/octet-stream"
        )
    response.headers["ETag"] = tag
    # The theme's files have a hash in their names.
    asset = path.startswith("assets/") and file.name.count(".") > 2
    response.headers["Cache-Control"] = f"max-age={ASSET_SECONDS}, immutable" if asset else "no-cache"
    return response


def _with_policy(response: HttpResponse, root: Path) -> HttpResponse:
    """Have the middleware of django-csp allow what the built pages hold inline."""
    response._csp_update = _policy(root)  # type: ignore[attr-defined]
    return response


@lru_cache(maxsize=4)
def _policy(root: Path) -> dict[str, list[str]]:
    return json.loads((root / build.POLICY).read_text(encoding="utf-8"))


def _not_built(request: HttpRequest) -> HttpResponse:
    """Answer with the page that says that the pages are being built or why not; start building if nobody does."""
    reason = build.failure()
    if not reason and not build.building(folder()):
        build.start_building()
    response = render(request, "docs/not_built.html", {"reason": reason}, status=503)
    response.headers["Retry-After"] = RETRY_SECONDS
    if not reason:
        response.headers["Refresh"] = RETRY_SECONDS
    return response
