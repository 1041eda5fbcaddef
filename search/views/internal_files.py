"""Files for the workers of other machines, which sign their requests with the site's SECRET_KEY."""

from __future__ import annotations

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.http import require_GET

from search.adapters.index_files import source
from search.services.knowledge.index_files import servable


@require_GET
def internal_file(request: HttpRequest, name: str) -> HttpResponse:
    """Return the piece of a file that begins at `begin`; one shorter than `PIECE` is the last."""
    if not source.is_signed(name, request.headers.get(source.HEADER, "")):
        raise PermissionDenied("Only workers of this site fetch files here.")
    begin = request.GET.get("begin", "0")
    path = servable(name)
    if path is None or not begin.isdecimal() or len(begin) > 18:
        raise Http404
    try:
        with path.open("rb") as file:
            file.seek(int(begin))
            piece = file.read(source.PIECE)
    except OSError as error:
        raise Http404 from error
    return HttpResponse(piece, content_type="application/octet-stream", headers={"Cache-Control": "no-store"})
