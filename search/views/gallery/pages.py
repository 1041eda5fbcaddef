"""The gallery's pages: the list of all states, one state of one component, and a frame around it with its choices.

They are for staff, and for everybody where `DEBUG` or `GRASP_GALLERY` is on: nothing in them is real. A state is shown
to a made-up person who may do everything, so that every button is there; the content security policy of the gallery
lets no form be sent.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps

from django.conf import settings
from django.contrib.auth.models import User
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.shortcuts import render
from django.views.decorators.clickjacking import xframe_options_sameorigin
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_safe

from search.views.gallery.states import ALL, COMPONENTS, STATES, GalleryState

THEMES = {"light": "light", "dark": "dark"}
DIRECTIONS = {"ltr": "left to right", "rtl": "right to left"}
WIDTHS = {
    "320": "320: a narrow phone, or 1280 at 400 %",
    "375": "375: a phone",
    "768": "768: a tablet",
    "1280": "1280: a desk",
}
"""Pixels of the frame, with what is as wide."""
View = Callable[..., HttpResponseBase]


def for_staff(view: View) -> View:
    """Let staff in, and everybody where the gallery is open; ask others to sign in. Raises PermissionDenied."""

    @wraps(view)
    def checked(request: HttpRequest, *args: str, **kwargs: str) -> HttpResponseBase:
        if settings.DEBUG or settings.GRASP_GALLERY or getattr(request.user, "is_staff", False):
            return view(request, *args, **kwargs)
        if request.user.is_authenticated:
            raise PermissionDenied("The gallery is for staff.")
        return redirect_to_login(request.get_full_path(), "sign-in")

    return checked


@require_safe
@for_staff
def gallery(request: HttpRequest) -> HttpResponse:
    """List every component with its states."""
    return render(request, "gallery/index.html", {"components": COMPONENTS, "count": len(ALL)})


@require_safe
@for_staff
@xframe_options_sameorigin
def state(request: HttpRequest, component: str, name: str) -> HttpResponse:
    """Show one state of a component; `theme` in the query chooses `light` or `dark`, `direction` `ltr` or `rtl`."""
    shown = _found(component, name)
    theme, direction = request.GET.get("theme", ""), request.GET.get("direction", "")
    if theme in THEMES:
        request.COOKIES["theme"] = theme
    request.user = User(username="ada", is_staff=True, is_superuser=True)
    template, context = shown.made(request)
    more = {"gallery_template": template, "theme": theme, "direction": direction if direction in DIRECTIONS else ""}
    return render(request, "gallery/state.html", context | more)


@require_safe
@for_staff
def framed(request: HttpRequest, component: str, name: str) -> HttpResponse:
    """Show one state in a frame of a chosen width, theme and direction, with the way to the next state."""
    shown, given = _found(component, name), request.GET
    place = ALL.index(shown)
    context = {
        "state": shown, "themes": THEMES, "directions": DIRECTIONS, "widths": WIDTHS,
        "theme": given["theme"] if given.get("theme") in THEMES else "light",
        "to": given["direction"] if given.get("direction") in DIRECTIONS else "ltr",
        "width": given["width"] if given.get("width") in WIDTHS else "1280",
        "before": ALL[place - 1] if place else None, "after": ALL[place + 1] if place + 1 < len(ALL) else None,
    }  # fmt: skip
    return render(request, "gallery/framed.html", context)


@csrf_exempt
@for_staff
def data(request: HttpRequest, component: str, name: str, part: str) -> JsonResponse:
    """Return a made-up answer of the site for the script of a state, which brings it (`gallery_data`)."""
    _, context = _found(component, name).made(request)
    told = context.get("gallery_data", {})
    if part not in told:
        raise Http404("This state has no such part.")
    return JsonResponse(told[part])


def _found(component: str, name: str) -> GalleryState:
    shown = STATES.get((component, name))
    if shown is None:
        raise Http404("The gallery has no such state.")
    return shown
