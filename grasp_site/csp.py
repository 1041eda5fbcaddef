"""Content security policy: strict for the site's own pages, looser for the admin and the API viewer."""

from collections.abc import Callable

from csp.constants import NONE, SELF, UNSAFE_EVAL, UNSAFE_INLINE
from django.http import HttpRequest, HttpResponse

STRICT: dict[str, list[str]] = {
    "default-src": [SELF],
    "object-src": [NONE],
    "base-uri": [SELF],
    "form-action": [SELF],
    "frame-ancestors": [NONE],
}

# The admin's Alpine evaluates expressions in attributes; the API viewer starts from an inline script.
LOOSER_PATHS: dict[str, dict[str, list[str]]] = {
    "/admin/": {
        "script-src": [SELF, UNSAFE_INLINE, UNSAFE_EVAL],
        "style-src": [SELF, UNSAFE_INLINE],
        "img-src": [SELF, "data:"],
        "font-src": [SELF, "data:"],
    },
    "/api/docs/": {
        "script-src": [SELF, UNSAFE_INLINE],
        "style-src": [SELF, UNSAFE_INLINE],
        "img-src": [SELF, "data:"],
        "worker-src": [SELF, "blob:"],
    },
}
LOOSER_PATHS["/gallery/admin-"] = LOOSER_PATHS["/admin/"]
# The gallery shows its pages in frames of its own, and none of their forms may be sent: what they name is made up. The
# forms with which one chooses a theme and a width belong to the page around the frame.
OTHER_PATHS: dict[str, dict[str, list[str]]] = {"/gallery/": {"form-action": [NONE], "frame-ancestors": [SELF]}}
FRAMES = "/framed/"


def policy_by_path(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """Middleware, placed directly below django-csp: adds what LOOSER_PATHS and OTHER_PATHS say of the path."""

    def answer(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        for prefix, directives in LOOSER_PATHS.items():
            if request.path_info.startswith(prefix):
                response._csp_update = directives  # type: ignore[attr-defined]
        for prefix, directives in OTHER_PATHS.items():
            if request.path_info.startswith(prefix) and not request.path_info.endswith(FRAMES):
                response._csp_replace = directives  # type: ignore[attr-defined]
        return response

    return answer
