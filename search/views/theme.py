"""The theme of the pages: light, dark or that of the device. A cookie stores it, so the first paint has its colours."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_POST

THEMES = ("auto", "light", "dark")
A_YEAR = 365 * 24 * 3600


@require_POST
def theme(request: HttpRequest) -> HttpResponse:
    """Store the chosen theme in a cookie and redirect to the page on which it was chosen."""
    chosen = request.POST.get("theme", "")
    back = request.POST.get("next", "")
    safe = url_has_allowed_host_and_scheme(back, {request.get_host()}, require_https=request.is_secure())
    # `redirect` is not used: it treats a URL that looks like the name of a view as that name.
    answer = HttpResponseRedirect(back if safe else reverse("search-home"))
    answer.set_cookie("theme", chosen if chosen in THEMES else "auto", max_age=A_YEAR, samesite="Lax")
    return answer
