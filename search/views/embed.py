"""The script of the search box that other sites embed."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import condition, require_safe

SCRIPT = Path(settings.BASE_DIR) / "static" / "embed" / "grasp.js"


@lru_cache(maxsize=1)
def _script(changed: float) -> bytes:
    return SCRIPT.read_bytes()


def _tag(request: HttpRequest) -> str:
    seen = SCRIPT.stat()
    return f'"{seen.st_mtime_ns:x}-{seen.st_size:x}"'


@require_safe
@condition(etag_func=_tag)
def embed_script(request: HttpRequest) -> HttpResponse:
    """Return the script; pages of any site may load it, since it only asks what their origin is allowed to ask."""
    answer = HttpResponse(_script(SCRIPT.stat().st_mtime), content_type="text/javascript; charset=utf-8")
    answer["Cache-Control"] = "public, max-age=3600"
    # For `integrity` and `type="module"`, and for sites that isolate themselves from other origins.
    answer["Access-Control-Allow-Origin"] = "*"
    answer["Cross-Origin-Resource-Policy"] = "cross-origin"
    return answer
