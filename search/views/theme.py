"""Light, dark, or as the device says: remembered by a cookie, so that pages arrive in the right colours."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_POST

THEMES = ("auto", "light", "dark")
A_YEAR = 365 * 24 * 3600


@require_POST
def theme(request: HttpRequest) -> HttpResponse:
    """Remember the chosen theme and go back to the page it was chosen on."""
    chosen = request.POST.get("theme", "")
    back = request.POST.get("next", "")
    safe = url_has_allowed_host_and_scheme(back, {request.get_host()}, require_https=request.is_secure())
    # Not `redirect`, which takes an address for the name of a page where it looks like one.
    answer = HttpResponseRedirect(back if safe else reverse("search-home"))
    answer.set_cookie("theme", chosen if chosen in THEMES else "auto", max_age=A_YEAR, samesite="Lax")
    return answer
